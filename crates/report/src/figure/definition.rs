//! Figure definitions: what a figure shows, as data.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::ReportError;
use crate::results::AxisValue;
use crate::stats::Statistic;

/// The most figures of a file, and the most panels of a figure.
pub const MAX_FIGURES: usize = 200;
/// The most panels of a figure.
pub const MAX_PANELS: usize = 6;
/// The longest name of a line that stands beside it, in characters.
const MAX_NAME: usize = 4;

/// A file of figure definitions.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definitions {
    /// The figures, `[[figure]]`.
    #[serde(rename = "figure")]
    pub figures: Vec<FigureDefinition>,
}

/// Kind of data that a figure is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FigureKind {
    /// Means with their intervals, joined by lines.
    #[default]
    Line,
    /// Means with their intervals, as bars beside each other.
    Bar,
    /// Means or medians alone, as dots: of any points of a sweep, wherever they lie.
    Dots,
    /// Means with their intervals in words and numbers: a panel a column, a series at a place a row.
    Table,
    /// A quantity over the time of one run.
    Series,
    /// A sequence diagram of packets between two ends.
    Ladder,
    /// States, a network or formats, out of a program's own tables.
    Drawing,
}

/// One figure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureDefinition {
    /// Its name, also of its files: letters, digits, `-`, `_`, `.`.
    pub id: String,
    /// The title above it.
    pub title: String,
    /// Line, bar, dots, table, series, ladder or drawing.
    #[serde(default, rename = "type")]
    pub kind: FigureKind,
    /// Caption in a report.
    #[serde(default)]
    pub caption: Option<String>,
    /// One panel, written into the figure itself ...
    #[serde(default)]
    pub panel: Option<PanelDefinition>,
    /// ... or several beside each other.
    #[serde(default)]
    pub panels: Vec<PanelDefinition>,
    /// The sequence diagram.
    #[serde(default)]
    pub ladder: Option<LadderDefinition>,
    /// The drawing.
    #[serde(default)]
    pub drawing: Option<DrawingDefinition>,
}

/// One system of coordinates.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PanelDefinition {
    /// A title of its own, if the figure has several.
    #[serde(default)]
    pub title: Option<String>,
    /// The result file, relative to the folder of the results.
    pub results: String,
    /// The horizontal axis.
    pub x: XDefinition,
    /// The vertical axis.
    pub y: YDefinition,
    /// Meaning of the curves.
    #[serde(default)]
    pub series: Option<SeriesDefinition>,
    /// Axes that are held at a value.
    #[serde(default)]
    pub filter: BTreeMap<String, AxisValue>,
    /// Lines and bands for comparison.
    #[serde(default)]
    pub marks: Vec<Mark>,
    /// Published values beside the measured ones.
    #[serde(default)]
    pub reference: Vec<Reference>,
}

/// The horizontal axis.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XDefinition {
    /// The axis of the sweep; a series has none, it runs over the time.
    #[serde(default)]
    pub axis: Option<String>,
    /// Text below it.
    pub label: String,
    /// The unit, after scaling.
    #[serde(default)]
    pub unit: Option<String>,
    /// Factor from the base unit to the shown one.
    #[serde(default = "one")]
    pub scale: f64,
    /// Logarithmic.
    #[serde(default)]
    pub log: bool,
    /// The end on the left, in the shown unit.
    #[serde(default)]
    pub from: Option<f64>,
    /// The end on the right, in the shown unit.
    #[serde(default)]
    pub to: Option<f64>,
    /// Other names for values that are words.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
    /// Values of the axis that are drawn; all if there are none.
    #[serde(default)]
    pub only: Vec<AxisValue>,
}

/// The vertical axis.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct YDefinition {
    /// The metric; left out if the series are metrics.
    #[serde(default)]
    pub metric: Option<String>,
    /// Divide by this metric, run by run.
    #[serde(default)]
    pub divided_by: Option<String>,
    /// Multiply by the value of the horizontal axis, as shown.
    #[serde(default)]
    pub times_x: bool,
    /// Text beside it.
    pub label: String,
    /// The unit, after scaling.
    #[serde(default)]
    pub unit: Option<String>,
    /// Factor from the metric's unit to the shown one.
    #[serde(default = "one")]
    pub scale: f64,
    /// The mean or the median.
    #[serde(default)]
    pub statistic: Statistic,
    /// Logarithmic.
    #[serde(default)]
    pub log: bool,
    /// The lower end, in the shown unit; 0 unless logarithmic or something is negative.
    #[serde(default)]
    pub from: Option<f64>,
    /// The upper end, in the shown unit.
    #[serde(default)]
    pub to: Option<f64>,
}

/// Meaning of the curves: the values of an axis, or metrics.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeriesDefinition {
    /// The axis whose values are curves.
    #[serde(default)]
    pub axis: Option<String>,
    /// Other names for its values.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
    /// Values of it that are drawn; all if there are none.
    #[serde(default)]
    pub only: Vec<AxisValue>,
    /// Metrics that are curves, in their order.
    #[serde(default)]
    pub metrics: Vec<MetricCurve>,
}

/// A metric that is a curve.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricCurve {
    /// The metric.
    pub metric: String,
    /// The curve's name.
    pub name: String,
}

/// A line or a band for comparison: `at` is a line, `from` and `to` a band.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// Which axis the numbers are on.
    pub on: MarkAxis,
    /// A line at this value.
    #[serde(default)]
    pub at: Option<f64>,
    /// A band from this value ...
    #[serde(default)]
    pub from: Option<f64>,
    /// ... to this.
    #[serde(default)]
    pub to: Option<f64>,
    /// Text at the mark.
    #[serde(default)]
    pub label: String,
}

impl Mark {
    /// True of a line across x whose name is so short that it stands beside it, and not in the legend.
    pub(super) fn is_named_in_place(&self) -> bool {
        self.on == MarkAxis::X && self.at.is_some() && self.label.chars().count() <= MAX_NAME
    }
}

/// The axis of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MarkAxis {
    /// Horizontal.
    X,
    /// Vertical.
    Y,
}

/// Published values: points in the shown units.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Source of these values.
    pub name: String,
    /// (x, y).
    pub points: Vec<(f64, f64)>,
}

/// A sequence diagram.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LadderDefinition {
    /// The event file, relative to the folder of the results.
    pub events: String,
    /// Name of the left end, as the events have it.
    #[serde(default = "sender")]
    pub left: String,
    /// Name of the right end.
    #[serde(default = "receiver")]
    pub right: String,
    /// Name of a node between the two that sends packets of its own to either.
    #[serde(default)]
    pub between: Option<String>,
    /// The first moment that is shown; the first event if left out.
    #[serde(default)]
    pub from_s: Option<f64>,
    /// The last moment that is shown.
    #[serde(default)]
    pub to_s: Option<f64>,
    /// Show the probing map beside the diagram.
    #[serde(default)]
    pub map: bool,
    /// The length of the time lines, in pixels.
    #[serde(default)]
    pub height: Option<f64>,
}

/// A drawing: the file that says what it shows, and where a graph has that on the paper.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawingDefinition {
    /// The file, relative to the folder of the results.
    pub file: String,
    /// Pixels between neighbouring places, across and down.
    #[serde(default = "cell")]
    pub cell: (f64, f64),
    /// Place of each node: across and down.
    #[serde(default)]
    pub places: BTreeMap<String, (f64, f64)>,
    /// Places that a way goes by; a way is called "FROM to TO".
    #[serde(default)]
    pub bends: BTreeMap<String, Vec<(f64, f64)>>,
    /// Places of texts that do not stand in the middle of their ways.
    #[serde(default)]
    pub labels: BTreeMap<String, (f64, f64)>,
}

impl SeriesDefinition {
    /// True if a value of the axis is drawn.
    pub(super) fn draws(&self, value: &AxisValue) -> bool {
        self.only.is_empty() || self.only.contains(value)
    }
}

fn cell() -> (f64, f64) {
    (150.0, 90.0)
}

fn one() -> f64 {
    1.0
}

fn sender() -> String {
    "sender".to_owned()
}

fn receiver() -> String {
    "receiver".to_owned()
}

/// TOML with the line of what is wrong.
pub(crate) fn parse_toml<T: serde::de::DeserializeOwned>(text: &str, place: &str) -> Result<T, ReportError> {
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let line =
            text.char_indices().take_while(|(at, _)| *at < start).filter(|(_, c)| *c == '\n').count() + 1;
        ReportError::line(place, line, error.message())
    })
}

impl FigureDefinition {
    /// The panels, wherever they are written.
    pub fn panels(&self) -> impl Iterator<Item = &PanelDefinition> {
        self.panel.iter().chain(&self.panels)
    }
}

//! Reading of definitions, with the checks that their parser cannot make.

use std::path::Path;

use super::definition::{
    Definitions, DrawingDefinition, FigureDefinition, FigureKind, MAX_FIGURES, MAX_PANELS, Mark,
    PanelDefinition, parse_toml,
};
use super::ticks::{MAX_VALUE, MIN_LOG_VALUE};
use crate::ReportError;
use crate::stats::Statistic;

impl Definitions {
    /// Reads a file of figure definitions.
    ///
    /// # Errors
    /// Names file and line: not to be read, not TOML, an unknown key, a wrong type, or what [`Self::parse`]
    /// refuses.
    pub fn read(path: &Path) -> Result<Self, ReportError> {
        let text = std::fs::read_to_string(path).map_err(|source| ReportError::read(path, source))?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Parses a text; `place` stands for the file's name in messages.
    ///
    /// # Errors
    /// As [`Self::read`]; also an id that is no file name or stands there twice, and figures whose parts do
    /// not fit.
    pub fn parse(text: &str, place: &str) -> Result<Self, ReportError> {
        let definitions: Self = parse_toml(text, place)?;
        check(&definitions)?;
        Ok(definitions)
    }
}

fn check(all: &Definitions) -> Result<(), ReportError> {
    if all.figures.len() > MAX_FIGURES {
        let message = format!("{} figures; at most {MAX_FIGURES} in a file", all.figures.len());
        return Err(ReportError::item("figures", message));
    }
    for (i, figure) in all.figures.iter().enumerate() {
        file_name(&figure.id)?;
        if all.figures[..i].iter().any(|other| other.id == figure.id) {
            return Err(ReportError::item(&figure.id, "two figures have this id"));
        }
        one_figure(figure).map_err(|message| ReportError::item(&figure.id, message))?;
    }
    Ok(())
}

/// An id is part of a file's name: 1 to 64 letters, digits, `-`, `_` and `.`, with no dot in front.
pub(crate) fn file_name(id: &str) -> Result<(), ReportError> {
    let fits = (1..=64).contains(&id.len()) && !id.starts_with('.');
    if fits && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
        return Ok(());
    }
    let message = "an id is 1 to 64 letters, digits, '-', '_' and '.', with no dot in front";
    Err(ReportError::item(&format!("id '{}'", id.chars().take(80).collect::<String>()), message))
}

fn one_figure(figure: &FigureDefinition) -> Result<(), String> {
    let panels = figure.panels().count();
    if (figure.kind == FigureKind::Ladder) != figure.ladder.is_some() {
        return Err("a ladder, and nothing else, has type = \"ladder\" and a table 'ladder'".to_owned());
    }
    if figure.kind == FigureKind::Ladder {
        let numbers =
            figure.ladder.iter().flat_map(|ladder| [ladder.from_s, ladder.to_s, ladder.height]).flatten();
        if numbers.into_iter().any(|number| !number.is_finite()) {
            return Err("from_s, to_s and height are finite numbers".to_owned());
        }
        return if panels == 0 { Ok(()) } else { Err("a ladder has no panels".to_owned()) };
    }
    if (figure.kind == FigureKind::Drawing) != figure.drawing.is_some() {
        return Err("a drawing, and nothing else, has type = \"drawing\" and a table 'drawing'".to_owned());
    }
    if let Some(drawing) = &figure.drawing {
        return if panels == 0 { one_drawing(drawing) } else { Err("a drawing has no panels".to_owned()) };
    }
    if figure.panel.is_some() && !figure.panels.is_empty() {
        return Err("either 'panel' or 'panels', not both".to_owned());
    }
    if panels == 0 || panels > MAX_PANELS {
        return Err(format!(
            "{panels} panels; 1 to {MAX_PANELS} are possible: [figure.panel] or [[figure.panels]]"
        ));
    }
    figure.panels().try_for_each(|panel| one_panel(panel, figure.kind))
}

fn one_panel(panel: &PanelDefinition, kind: FigureKind) -> Result<(), String> {
    if (kind == FigureKind::Series) == panel.x.axis.is_some() {
        return Err(
            "x.axis names an axis of the sweep; only a series, which runs over the time, has none".to_owned()
        );
    }
    if panel.x.axis.is_none() && !panel.x.only.is_empty() {
        return Err("x.only names values of x.axis, which a series does not have".to_owned());
    }
    if kind == FigureKind::Table && panel.y.statistic != Statistic::Mean {
        return Err("a table shows means with their intervals, no medians".to_owned());
    }
    let by_metrics = panel.series.as_ref().is_some_and(|series| !series.metrics.is_empty());
    if by_metrics == panel.y.metric.is_some() {
        return Err("either y.metric or series.metrics says what is drawn, not both".to_owned());
    }
    if by_metrics && panel.series.as_ref().is_some_and(|series| series.axis.is_some()) {
        return Err("series has either an axis or metrics, not both".to_owned());
    }
    let numbers =
        [Some(panel.x.scale), Some(panel.y.scale), panel.x.from, panel.x.to, panel.y.from, panel.y.to];
    if numbers.into_iter().flatten().any(|number| number.is_nan() || number.abs() > MAX_VALUE)
        || panel.x.scale * panel.y.scale == 0.0
    {
        return Err(format!("scale, from and to are numbers up to {MAX_VALUE:e}, and a scale is not 0"));
    }
    ends(panel.x.from, panel.x.to, panel.x.log, "x")?;
    ends(panel.y.from, panel.y.to, panel.y.log, "y")?;
    panel.marks.iter().try_for_each(one_mark)
}

/// Places lie on a sheet of 100 by 100, whose cells are no larger than a picture.
fn one_drawing(drawing: &DrawingDefinition) -> Result<(), String> {
    let places =
        drawing.places.values().chain(drawing.labels.values()).chain(drawing.bends.values().flatten());
    let is_place = |(x, y): &(f64, f64)| (0.0..=100.0).contains(x) && (0.0..=100.0).contains(y);
    if !places.into_iter().all(is_place) {
        return Err("places of a drawing are pairs of numbers from 0 to 100".to_owned());
    }
    let (width, height) = drawing.cell;
    let is_size = |pixels: f64| (10.0..=1000.0).contains(&pixels);
    if is_size(width) && is_size(height) { Ok(()) } else { Err("a cell has 10 to 1000 pixels".to_owned()) }
}

fn ends(from: Option<f64>, to: Option<f64>, log: bool, axis: &str) -> Result<(), String> {
    if let (Some(from), Some(to)) = (from, to)
        && from >= to
    {
        return Err(format!("{axis}.from = {from} is not below {axis}.to = {to}"));
    }
    if log && from.into_iter().chain(to).any(|end| end < MIN_LOG_VALUE) {
        return Err(format!("{axis} is logarithmic: its ends are above 0"));
    }
    Ok(())
}

fn one_mark(mark: &Mark) -> Result<(), String> {
    match (mark.at, mark.from, mark.to) {
        (Some(at), None, None) if at.is_finite() => Ok(()),
        (None, Some(from), Some(to)) if from.is_finite() && to.is_finite() && from < to => Ok(()),
        _ => Err("a mark has either 'at', or 'from' below 'to'".to_owned()),
    }
}

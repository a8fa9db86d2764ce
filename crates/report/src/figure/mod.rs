//! Figures: defined by data, filled from results, drawn as one scene for SVG and PNG.

mod axes;
mod bars;
mod check;
mod curves;
pub mod definition;
pub mod drawing;
pub mod ladder;
mod legend;
mod look;
mod panel;
mod samples;
mod select;
mod table;
pub(crate) mod ticks;

use std::collections::BTreeMap;
use std::path::Path;

pub(crate) use check::file_name;
pub use definition::{Definitions, FigureDefinition, FigureKind, Mark, MarkAxis, PanelDefinition};
pub use samples::{MAX_SAMPLES, MetricSample, Samples};
pub use select::{Curve, Datum, MAX_CURVES, MAX_POINTS, PanelData};

use self::drawing::Drawing;
use self::ladder::{Ladder, read_events};
use crate::ReportError;
use crate::results::{Results, read_results};
use crate::scene::{Anchor, Rect, Scene, wrapped};

#[cfg(test)]
mod figure_tests;
#[cfg(test)]
pub(crate) mod pictures_tests;
#[cfg(test)]
mod ticks_tests;

/// Size of a panel with its labels, in pixels.
const PANEL: (f64, f64) = (620.0, 430.0);
const MARGIN: f64 = 14.0;
const TITLE_SIZE: f64 = 16.0;

/// A figure with its numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Definition of its contents.
    pub definition: FigureDefinition,
    /// The numbers of each panel.
    pub panels: Vec<PanelData>,
    /// The packets of a ladder diagram.
    pub ladder: Option<Ladder>,
    /// Contents of a drawing.
    pub drawing: Option<Drawing>,
}

impl Figure {
    /// Fills a definition from the result files that it names, relative to `folder`.
    ///
    /// # Errors
    /// A result file that cannot be read; an axis or metric that is not there; several points of the sweep at
    /// one place of a curve; more than [`MAX_CURVES`] curves or [`MAX_POINTS`] points in one.
    pub fn from_definition(definition: &FigureDefinition, folder: &Path) -> Result<Self, ReportError> {
        if let Some(ladder) = &definition.ladder {
            return Self::from_events(definition, read_events(&folder.join(&ladder.events))?);
        }
        if let Some(drawing) = &definition.drawing {
            return Self::from_drawing(definition, Drawing::read(&folder.join(&drawing.file))?);
        }
        if definition.kind == FigureKind::Series {
            let panels = definition.panels().map(|panel| {
                samples::select(&definition.id, panel, &Samples::read(&folder.join(&panel.results), panel)?)
            });
            return Ok(Self {
                definition: definition.clone(),
                panels: panels.collect::<Result<_, _>>()?,
                ladder: None,
                drawing: None,
            });
        }
        let mut files: BTreeMap<&str, Results> = BTreeMap::new();
        for panel in definition.panels() {
            if !files.contains_key(panel.results.as_str()) {
                files.insert(&panel.results, read_results(&folder.join(&panel.results))?);
            }
        }
        Self::with(definition, |name| files.get(name))
    }

    /// Fills a definition whose panels all read the same `results`, whatever file they name.
    ///
    /// # Errors
    /// As [`Self::from_definition`].
    pub fn from_results(definition: &FigureDefinition, results: &Results) -> Result<Self, ReportError> {
        Self::with(definition, |_| Some(results))
    }

    /// Fills a definition whose panels read the results of these names.
    ///
    /// # Errors
    /// As [`Self::from_definition`].
    pub fn from_named_results(
        definition: &FigureDefinition,
        results: &BTreeMap<&str, Results>,
    ) -> Result<Self, ReportError> {
        Self::with(definition, |name| results.get(name))
    }

    fn with<'a>(
        definition: &FigureDefinition,
        results: impl Fn(&str) -> Option<&'a Results>,
    ) -> Result<Self, ReportError> {
        let panels = definition.panels().map(|panel| {
            let missing = || ReportError::item(&definition.id, format!("no results for {}", panel.results));
            select::select(
                &definition.id,
                panel,
                results(&panel.results).ok_or_else(missing)?,
                definition.kind,
            )
        });
        let panels = panels.collect::<Result<_, _>>()?;
        Ok(Self { definition: definition.clone(), panels, ladder: None, drawing: None })
    }

    /// A ladder diagram of packets at hand.
    ///
    /// # Errors
    /// No ladder; nothing to show; a packet from neither end; more than [`ladder::MAX_PACKETS`] packets.
    pub fn from_events(definition: &FigureDefinition, ladder: Ladder) -> Result<Self, ReportError> {
        let figure = Self { ladder: Some(ladder), ..Self::bare(definition) };
        figure.scene()?;
        Ok(figure)
    }

    /// A drawing of parts at hand.
    ///
    /// # Errors
    /// A part without a place, or a place without its part.
    pub fn from_drawing(definition: &FigureDefinition, drawing: Drawing) -> Result<Self, ReportError> {
        let figure = Self { drawing: Some(drawing), ..Self::bare(definition) };
        figure.scene()?;
        Ok(figure)
    }

    fn bare(definition: &FigureDefinition) -> Self {
        Self { definition: definition.clone(), panels: Vec::new(), ladder: None, drawing: None }
    }

    /// Draws it.
    ///
    /// # Errors
    /// A ladder diagram or a drawing that cannot be shown, see [`Self::from_events`], [`Self::from_drawing`].
    pub fn scene(&self) -> Result<Scene, ReportError> {
        if let (Some(definition), Some(drawing)) = (&self.definition.drawing, &self.drawing) {
            return drawing::scene(&self.definition.id, &self.definition.title, definition, drawing);
        }
        match (&self.definition.ladder, &self.ladder) {
            (Some(definition), Some(ladder)) => {
                ladder::scene(&self.definition.id, &self.definition.title, definition, ladder)
            }
            (None, None) if self.definition.kind == FigureKind::Table => {
                Ok(table::scene(&self.definition, &self.panels))
            }
            (None, None) => Ok(self.scene_of_panels()),
            _ => {
                Err(ReportError::item(&self.definition.id, "a ladder diagram needs a definition and packets"))
            }
        }
    }

    fn scene_of_panels(&self) -> Scene {
        // Three stand in one row as wide as two: a second row would be half empty.
        let columns = if self.panels.len() == 3 { 3 } else { self.panels.len().clamp(1, 2) };
        let rows = self.panels.len().div_ceil(columns);
        let width = PANEL.0 * columns.min(2) as f64 + MARGIN * (columns.min(2) + 1) as f64;
        let panel_width = (width - MARGIN * (columns + 1) as f64) / columns as f64;
        let title = wrapped(&self.definition.title, TITLE_SIZE, true, width - 2.0 * MARGIN, 2);
        let top = MARGIN + title.len() as f64 * TITLE_SIZE * 1.3 + 6.0;
        let mut scene = Scene::new(width, top + rows as f64 * (PANEL.1 + MARGIN), &self.definition.title);
        for (i, line) in title.iter().enumerate() {
            let baseline = MARGIN + (i as f64 + 0.85) * TITLE_SIZE * 1.3;
            scene.text((width / 2.0, baseline), line, TITLE_SIZE, Anchor::Middle).bold = true;
        }
        for (i, (definition, data)) in self.definition.panels().zip(&self.panels).enumerate() {
            // A panel that is alone in the last row stands in its middle.
            let missing = (i - i % columns + columns).saturating_sub(self.panels.len());
            let column = (i % columns) as f64 + missing as f64 / 2.0;
            let x = MARGIN + column * (panel_width + MARGIN);
            let y = top + (i / columns) as f64 * (PANEL.1 + MARGIN);
            let area = Rect { x, y, width: panel_width, height: PANEL.1 };
            panel::draw(&mut scene, area, self.definition.kind, definition, data);
        }
        scene
    }

    /// The figure as an SVG document.
    ///
    /// # Errors
    /// See [`Self::scene`].
    pub fn to_svg(&self) -> Result<String, ReportError> {
        Ok(self.scene()?.to_svg())
    }

    /// The figure as a PNG file, `scale` dots to a pixel.
    ///
    /// # Errors
    /// See [`Self::scene`] and [`Scene::to_png`].
    pub fn to_png(&self, scale: f64) -> Result<Vec<u8>, ReportError> {
        self.scene()?.to_png(scale)
    }

    /// The figure as a PDF file.
    ///
    /// # Errors
    /// See [`Self::scene`].
    pub fn to_pdf(&self) -> Result<Vec<u8>, ReportError> {
        Ok(self.scene()?.to_pdf())
    }

    /// Remarks beside the picture: failed and missing runs, points without a value.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.panels.iter().flat_map(|panel| panel.notes.iter().map(String::as_str))
    }
}

//! The legend: above the axes, where it covers nothing.

use super::bars::paint;
use super::curves::{MARKED, add_interval, reference_marker};
use super::definition::{FigureKind, PanelDefinition};
use super::look::Look;
use super::look::{BAND, MARK};
use super::select::{Datum, PanelData};
use crate::scene::{Anchor, Color, Item, Rect, Scene, ellipsized, line, rectangle, text_width};
use crate::stats::Statistic;

const SIZE: f64 = 12.5;
const SAMPLE: f64 = 38.0;
const GAP: f64 = 20.0;
const ROW: f64 = 19.0;

/// How an entry looks.
#[derive(Debug, Clone, Copy)]
enum LegendSample {
    Line(Look),
    /// A curve that is drawn without markers.
    Plain(Look),
    Bar(usize),
    Reference(Look),
    /// Dots in the place of bars.
    Dot(Look),
    MarkLine,
    Band,
    /// An error bar.
    Interval,
}

/// An entry: its look and its name.
pub(super) struct LegendEntry {
    sample: LegendSample,
    name: String,
}

pub(super) fn entries(kind: FigureKind, panel: &PanelDefinition, data: &PanelData) -> Vec<LegendEntry> {
    let curves = data.curves.iter().enumerate().map(|(i, curve)| LegendEntry {
        sample: match kind {
            FigureKind::Dots => LegendSample::Dot(Look::of(i)),
            FigureKind::Bar if panel.y.log => LegendSample::Dot(Look::of(i)),
            FigureKind::Bar => LegendSample::Bar(i),
            FigureKind::Series if curve.data.len() > MARKED => LegendSample::Plain(Look::of(i)),
            _ => LegendSample::Line(Look::of(i)),
        },
        name: curve.name.clone(),
    });
    let references = panel.reference.iter().enumerate().map(|(i, reference)| LegendEntry {
        sample: LegendSample::Reference(Look::of(i + data.curves.len())),
        name: reference.name.clone(),
    });
    let marks = panel.marks.iter().filter(|mark| !mark.is_named_in_place()).map(|mark| LegendEntry {
        sample: if mark.at.is_some() { LegendSample::MarkLine } else { LegendSample::Band },
        name: mark.label.clone(),
    });
    let all = curves.chain(references).chain(marks).filter(|entry| !entry.name.is_empty());
    all.chain((kind != FigureKind::Dots).then(|| interval(data)).flatten()).collect()
}

/// What the error bars are, if there may be any.
fn interval(data: &PanelData) -> Option<LegendEntry> {
    let mut all = data.curves.iter().flat_map(|curve| &curve.data);
    let differs = |datum: &Datum| datum.y.shown(data.statistic).1.is_some_and(|(low, high)| low < high);
    let name = match data.statistic {
        Statistic::Mean => "mean and its 95 % interval",
        Statistic::Median => "median, smallest and largest value",
    };
    all.any(differs).then(|| LegendEntry { sample: LegendSample::Interval, name: name.into() })
}

/// Draws the entries in as many centred rows as they need and returns the height that they take.
pub(super) fn draw(scene: &mut Scene, area: Rect, entries: &[LegendEntry]) -> f64 {
    let most = area.width - SAMPLE - 8.0;
    let names: Vec<String> = entries.iter().map(|entry| ellipsized(&entry.name, SIZE, false, most)).collect();
    let width = |i: usize| SAMPLE + 6.0 + text_width(&names[i], SIZE, false);
    let mut rows: Vec<Vec<usize>> = Vec::new();
    let mut used = f64::INFINITY;
    for i in 0..entries.len() {
        if used + GAP + width(i) > area.width {
            rows.push(Vec::new());
            used = -GAP;
        }
        used += GAP + width(i);
        if let Some(row) = rows.last_mut() {
            row.push(i);
        }
    }
    for (r, row) in rows.iter().enumerate() {
        let total: f64 = row.iter().map(|i| width(*i)).sum::<f64>() + GAP * (row.len() - 1) as f64;
        let mut x = area.x + (area.width - total) / 2.0;
        let y = area.y + ROW * (r as f64 + 0.6);
        for i in row {
            draw_sample(scene, entries[*i].sample, (x, y));
            scene.text((x + SAMPLE + 6.0, y + SIZE * 0.35), &names[*i], SIZE, Anchor::Start);
            x += width(*i) + GAP;
        }
    }
    if rows.is_empty() { 0.0 } else { ROW * rows.len() as f64 + 4.0 }
}

fn draw_sample(scene: &mut Scene, sample: LegendSample, (x, y): (f64, f64)) {
    let middle = (x + SAMPLE / 2.0, y);
    let patch = Rect { x: x + 5.0, y: y - 6.0, width: SAMPLE - 10.0, height: 12.0 };
    let items: Vec<Item> = match sample {
        LegendSample::Line(look) => vec![line((x, y), (x + SAMPLE, y), look.stroke()), look.marker(middle)],
        LegendSample::Plain(look) => vec![line((x, y), (x + SAMPLE, y), look.stroke())],
        LegendSample::Reference(look) => vec![reference_marker(look, middle)],
        LegendSample::MarkLine => vec![line((x, y), (x + SAMPLE, y), MARK)],
        LegendSample::Band => vec![rectangle(patch, Some(BAND), None)],
        LegendSample::Bar(index) => {
            let (fill, stroke) = paint(index);
            vec![rectangle(patch, Some(fill), Some(stroke))]
        }
        LegendSample::Dot(look) => vec![look.marker(middle)],
        LegendSample::Interval => {
            let mut items = Vec::new();
            add_interval(&mut items, middle.0, (y + 7.0, y - 7.0), Color::INK);
            items
        }
    };
    scene.items.extend(items);
}

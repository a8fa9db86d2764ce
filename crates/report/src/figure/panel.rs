//! One system of coordinates: its title, legend, axes, and what is in it.

use super::axes::{self, Frame};
use super::definition::{FigureKind, Mark, MarkAxis, PanelDefinition};
use super::look::{BAND, Look, MARK};
use super::select::PanelData;
use super::ticks::Scale;
use super::{bars, curves, legend};
use crate::scene::{Anchor, Item, Rect, Scene, line, rectangle, wrapped};

const TITLE_SIZE: f64 = 14.0;
/// Names at lines.
const NAME_SIZE: f64 = 12.5;

pub(super) fn draw(
    scene: &mut Scene,
    area: Rect,
    kind: FigureKind,
    panel: &PanelDefinition,
    data: &PanelData,
) {
    let mut top = area.y;
    for title in wrapped(panel.title.as_deref().unwrap_or_default(), TITLE_SIZE, true, area.width, 2) {
        top += TITLE_SIZE * 1.3;
        scene.text((area.x + area.width / 2.0, top - 3.0), title, TITLE_SIZE, Anchor::Middle).bold = true;
    }
    top += if top > area.y { 4.0 } else { 0.0 };
    let entries = legend::entries(kind, panel, data);
    top += legend::draw(scene, Rect { y: top, ..area }, &entries);
    let below = Rect { y: top, height: area.bottom() - top, ..area };
    let frame = axes::draw(scene, below, panel, &data.categories, x_scale(panel, data), y_scale(panel, data));
    let marks = || panel.marks.iter().map(|mark| mark_item(mark, &frame));
    let mut items: Vec<Item> = Vec::new();
    if kind == FigureKind::Bar {
        bars::add(&mut items, data, &frame);
        items.extend(marks()); // bars would hide them
    } else {
        items.extend(marks());
        curves::add(&mut items, data, &frame, kind);
    }
    for (i, reference) in panel.reference.iter().enumerate() {
        curves::add_reference(&mut items, &reference.points, Look::of(i + data.curves.len()), &frame);
    }
    // A marker on the edge is shown whole; what lies outside of the axes is not.
    let plot = frame.plot;
    let to = Rect { x: plot.x - 7.0, y: plot.y - 7.0, width: plot.width + 14.0, height: plot.height + 7.0 };
    scene.items.push(Item::Clipped { to, items });
    axes::draw_edges(scene, &frame);
    for mark in panel.marks.iter().filter(|mark| mark.is_named_in_place()) {
        let at = (frame.x(mark.at.unwrap_or_default()) + 4.0, frame.plot.y + NAME_SIZE);
        scene.text(at, &mark.label, NAME_SIZE, Anchor::Start);
    }
}

fn x_scale(panel: &PanelDefinition, data: &PanelData) -> Scale {
    if !data.categories.is_empty() {
        return Scale { from: -0.5, to: data.categories.len() as f64 - 0.5, log: false };
    }
    let mut values: Vec<f64> =
        data.curves.iter().flat_map(|curve| curve.data.iter().map(|datum| datum.x)).collect();
    values.extend(panel.reference.iter().flat_map(|reference| reference.points.iter().map(|point| point.0)));
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut scale = Scale::around(&values, panel.x.log, false, (panel.x.from, panel.x.to));
    if !panel.x.log && low == 0.0 && panel.x.from.is_none() {
        scale.from = -0.02 * high.max(f64::MIN_POSITIVE);
    }
    scale
}

fn y_scale(panel: &PanelDefinition, data: &PanelData) -> Scale {
    let summaries = data.curves.iter().flat_map(|curve| &curve.data).map(|datum| &datum.y);
    let mut values: Vec<f64> = summaries
        .flat_map(|y| {
            let (value, range) = y.shown(data.statistic);
            let (low, high) = range.unwrap_or((value, value));
            // An interval that reaches below 0 must not push a logarithmic axis, or one of positive values,
            // there.
            let low = if y.min >= 0.0 { low.max(if panel.y.log { value / 3.0 } else { 0.0 }) } else { low };
            [low, high]
        })
        .collect();
    values.extend(panel.reference.iter().flat_map(|reference| reference.points.iter().map(|point| point.1)));
    let marks = panel.marks.iter().filter(|mark| mark.on == MarkAxis::Y);
    values.extend(marks.flat_map(|mark| [mark.at, mark.from, mark.to]).flatten());
    Scale::around(&values, panel.y.log, true, (panel.y.from, panel.y.to))
}

fn mark_item(mark: &Mark, frame: &Frame) -> Item {
    let plot = frame.plot;
    match (mark.on, mark.at) {
        (MarkAxis::Y, Some(at)) => line((plot.x, frame.y(at)), (plot.right(), frame.y(at)), MARK),
        (MarkAxis::X, Some(at)) => line((frame.x(at), plot.y), (frame.x(at), plot.bottom()), MARK),
        (on, None) => {
            let (from, to) = (mark.from.unwrap_or(0.0), mark.to.unwrap_or(0.0));
            let rect = if on == MarkAxis::Y {
                let (low, high) =
                    (frame.y(from).clamp(plot.y, plot.bottom()), frame.y(to).clamp(plot.y, plot.bottom()));
                Rect { y: high, height: low - high, ..plot }
            } else {
                let (left, right) =
                    (frame.x(from).clamp(plot.x, plot.right()), frame.x(to).clamp(plot.x, plot.right()));
                Rect { x: left, width: right - left, ..plot }
            };
            rectangle(rect, Some(BAND), None)
        }
    }
}

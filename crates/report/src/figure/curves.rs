//! Curves: lines, markers, intervals.

use super::axes::Frame;
use super::definition::FigureKind;
use super::look::Look;
use super::select::{Curve, Datum, PanelData};
use crate::scene::{Color, Item, Point, Stroke, line};
use crate::stats::Statistic;

const CAP: f64 = 3.5;
/// More points than this in a series are drawn without markers.
pub(super) const MARKED: usize = 40;

pub(super) fn add(items: &mut Vec<Item>, data: &PanelData, frame: &Frame, kind: FigureKind) {
    for (i, curve) in data.curves.iter().enumerate() {
        add_intervals(items, curve, data.statistic, Look::of(i), frame);
    }
    for (i, curve) in data.curves.iter().enumerate() {
        let point = |datum: &Datum| (frame.x(datum.x), frame.y(datum.y.shown(data.statistic).0));
        let points: Vec<Point> = curve.data.iter().map(point).collect();
        let marked = kind != FigureKind::Series || points.len() <= MARKED;
        add_line(items, points, Look::of(i), marked);
    }
}

fn add_line(items: &mut Vec<Item>, points: Vec<Point>, look: Look, marked: bool) {
    let stroke = Some(look.stroke());
    if points.len() > 1 {
        items.push(Item::Lines { points: points.clone(), closed: false, fill: None, stroke });
    }
    if marked || points.len() == 1 {
        items.extend(points.into_iter().map(|point| look.marker(point)));
    }
}

fn add_intervals(items: &mut Vec<Item>, curve: &Curve, statistic: Statistic, look: Look, frame: &Frame) {
    for datum in &curve.data {
        if let (_, Some((low, high))) = datum.y.shown(statistic) {
            add_interval(items, frame.x(datum.x), (frame.y(low), frame.y(high)), look.color());
        }
    }
}

/// An error bar with its caps; one that is hidden by any marker is left out.
pub(super) fn add_interval(items: &mut Vec<Item>, x: f64, (low, high): (f64, f64), color: Color) {
    if low - high < 1.0 {
        return;
    }
    let stroke = Stroke::solid(color, 1.3);
    items.push(line((x, low), (x, high), stroke));
    for y in [low, high] {
        items.push(line((x - CAP, y), (x + CAP, y), stroke));
    }
}

/// Published values: hollow markers in grey, without a line that would say more than was published.
pub(super) fn add_reference(items: &mut Vec<Item>, points: &[Point], look: Look, frame: &Frame) {
    items.extend(points.iter().map(|(x, y)| reference_marker(look, (frame.x(*x), frame.y(*y)))));
}

pub(super) fn reference_marker(look: Look, at: Point) -> Item {
    let mut marker = look.marker(at);
    if let Item::Lines { fill, stroke, .. } | Item::Circle { fill, stroke, .. } = &mut marker {
        *fill = Some(Color::WHITE);
        *stroke = Some(Stroke::solid(Color::SOFT, 1.5));
    }
    marker
}

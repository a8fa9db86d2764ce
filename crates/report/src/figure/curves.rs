//! Curves: lines, markers, intervals.

use super::axes::Frame;
use super::definition::FigureKind;
use super::look::Look;
use super::select::{Curve, Datum, PanelData};
use crate::scene::{Color, Item, Point, Stroke, line};
use crate::stats::Statistic;

const CAP: f64 = 3.5;
/// Distance of intervals of neighbouring curves, where there is room.
const BESIDE: f64 = 2.0 * CAP + 2.0;
/// Share of the distance between two places that all curves at one of them may take.
const MOST_BESIDE: f64 = 0.6;
/// More points than this in a series are drawn without markers.
pub(super) const MARKED: usize = 40;

pub(super) fn add(items: &mut Vec<Item>, data: &PanelData, frame: &Frame, kind: FigureKind) {
    if kind == FigureKind::Dots {
        return add_dots(items, data, frame);
    }
    let beside = beside(data, frame);
    for (i, curve) in data.curves.iter().enumerate() {
        add_intervals(items, curve, data.statistic, Look::of(i), (frame, beside(i)));
    }
    for (i, curve) in data.curves.iter().enumerate() {
        let point = |datum: &Datum| (frame.x(datum.x) + beside(i), frame.y(datum.y.shown(data.statistic).0));
        let points: Vec<Point> = curve.data.iter().map(point).collect();
        let marked = kind != FigureKind::Series || points.len() <= MARKED;
        add_line(items, points, Look::of(i), marked);
    }
}

/// Markers alone; what lies outside of the axes is drawn on their edge.
fn add_dots(items: &mut Vec<Item>, data: &PanelData, frame: &Frame) {
    let plot = frame.plot;
    for (i, curve) in data.curves.iter().enumerate() {
        let point = |datum: &Datum| {
            let y = frame.y(datum.y.shown(data.statistic).0);
            (frame.x(datum.x).clamp(plot.x, plot.right()), y.clamp(plot.y, plot.bottom()))
        };
        items.extend(curve.data.iter().map(|datum| Look::of(i).marker(point(datum))));
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

/// How far each curve is drawn from its place, so that intervals of several stand beside each other: nothing
/// where no two curves have intervals at one place.
fn beside(data: &PanelData, frame: &Frame) -> impl Fn(usize) -> f64 {
    let places = |curve: &Curve| {
        let seen = curve.data.iter().filter(|datum| has_interval(datum, data.statistic, frame));
        seen.map(|datum| frame.x(datum.x)).collect::<Vec<f64>>()
    };
    let mut all: Vec<f64> = data.curves.iter().flat_map(places).collect();
    all.sort_by(f64::total_cmp);
    let is_shared = all.windows(2).any(|pair| pair[1] - pair[0] < BESIDE);
    all.dedup();
    let room = all.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    let count = data.curves.len() as f64;
    let step = if is_shared { BESIDE.min(MOST_BESIDE * room / count) } else { 0.0 };
    move |i| step * (i as f64 - (count - 1.0) / 2.0)
}

/// True if the interval of a value is seen in the picture.
pub(super) fn has_interval(datum: &Datum, statistic: Statistic, frame: &Frame) -> bool {
    datum.y.shown(statistic).1.is_some_and(|(low, high)| is_seen((frame.y(low), frame.y(high))))
}

fn add_intervals(
    items: &mut Vec<Item>,
    curve: &Curve,
    statistic: Statistic,
    look: Look,
    (frame, beside): (&Frame, f64),
) {
    for datum in &curve.data {
        if let (_, Some((low, high))) = datum.y.shown(statistic) {
            add_interval(items, frame.x(datum.x) + beside, (frame.y(low), frame.y(high)), look.color());
        }
    }
}

/// False of an interval that any marker hides.
fn is_seen((low, high): (f64, f64)) -> bool {
    low - high >= 1.0
}

/// An error bar with its caps, if it is seen.
pub(super) fn add_interval(items: &mut Vec<Item>, x: f64, range: (f64, f64), color: Color) {
    if !is_seen(range) {
        return;
    }
    let (low, high) = range;
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

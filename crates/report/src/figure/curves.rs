//! Curves: lines, markers, intervals.

use std::collections::BTreeSet;

use super::axes::Frame;
use super::definition::FigureKind;
use super::look::Look;
use super::select::{Curve, Datum, PanelData};
use crate::scene::{Color, Item, Point, Stroke, line};
use crate::stats::Statistic;

const CAP: f64 = 3.5;
/// Distance of intervals of neighbouring curves, where there is room.
const BESIDE: f64 = 2.0 * CAP + 2.0;
/// Room below or above an interval in which another one at its place seems to go on from it.
const NEAR: f64 = 28.0;
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

/// How far each curve is drawn from its place: those whose intervals cover each other, or nearly, stand
/// beside each other, and all others where they belong.
fn beside(data: &PanelData, frame: &Frame) -> impl Fn(usize) -> f64 {
    let drawn = |(i, curve): (usize, &Curve)| {
        let seen = curve.data.iter().filter(|datum| has_interval(datum, data.statistic, frame));
        let interval = |datum: &Datum| {
            let (low, high) = datum.y.shown(data.statistic).1?;
            Some((frame.x(datum.x), i, [frame.y(high), frame.y(low)]))
        };
        seen.filter_map(interval).collect::<Vec<(f64, usize, [f64; 2])>>()
    };
    let mut intervals: Vec<_> = data.curves.iter().enumerate().flat_map(drawn).collect();
    intervals.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut moved = BTreeSet::new();
    for (n, &(x, i, [top, bottom])) in intervals.iter().enumerate() {
        let at_this_place = intervals[n + 1..].iter().take_while(|other| other.0 - x < BESIDE);
        let covers = |&&(_, j, range): &&(f64, usize, [f64; 2])| {
            i != j && top < range[1] + NEAR && range[0] < bottom + NEAR
        };
        moved.extend(at_this_place.filter(covers).flat_map(|other| [i, other.1]));
    }
    let gaps = intervals.windows(2).map(|pair| pair[1].0 - pair[0].0);
    let room = gaps.filter(|gap| *gap > 0.0).fold(f64::INFINITY, f64::min);
    let count = moved.len() as f64;
    let step = BESIDE.min(MOST_BESIDE * room / count);
    move |i| {
        let place = moved.iter().position(|&one| one == i);
        place.map_or(0.0, |place| step * (place as f64 - (count - 1.0) / 2.0))
    }
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

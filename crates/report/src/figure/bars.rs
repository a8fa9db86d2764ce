//! Bars beside each other, with their intervals.

use super::axes::Frame;
use super::curves::add_interval;
use super::look::Look;
use super::select::PanelData;
use crate::scene::{Color, Item, Rect, Stroke, rectangle};

/// The share of a place that its bars take.
const GROUP: f64 = 0.78;

pub(super) fn add(items: &mut Vec<Item>, data: &PanelData, frame: &Frame) {
    if frame.is_log() {
        return add_dots(items, data, frame);
    }
    let width = frame.slot_width() * GROUP / data.curves.len().max(1) as f64;
    for (i, curve) in data.curves.iter().enumerate() {
        let (fill, stroke) = paint(i);
        for datum in &curve.data {
            let left = frame.x(datum.x) + width * (i as f64 - data.curves.len() as f64 / 2.0);
            let (value, range) = datum.y.shown(data.statistic);
            let (end, base) = (frame.y(value), frame.base());
            let gap = (width * 0.06).min(2.0);
            let rect = Rect {
                x: left + gap,
                y: end.min(base),
                width: width - 2.0 * gap,
                height: (end - base).abs(),
            };
            items.push(rectangle(rect, Some(Color::WHITE), None));
            items.push(rectangle(rect, Some(fill), Some(stroke)));
            if let Some((low, high)) = range {
                add_interval(items, left + width / 2.0, (frame.y(low), frame.y(high)), Color::INK);
            }
        }
    }
}

/// Dots in the places of bars: on a logarithmic axis the length of a bar says nothing, since nothing is its
/// beginning.
fn add_dots(items: &mut Vec<Item>, data: &PanelData, frame: &Frame) {
    let width = frame.slot_width() * GROUP / data.curves.len().max(1) as f64;
    for (i, curve) in data.curves.iter().enumerate() {
        for datum in &curve.data {
            let x = frame.x(datum.x) + width * (i as f64 + 0.5 - data.curves.len() as f64 / 2.0);
            let (value, range) = datum.y.shown(data.statistic);
            if let Some((low, high)) = range {
                add_interval(items, x, (frame.y(low), frame.y(high)), Look::of(i).color());
            }
            items.push(Look::of(i).marker((x, frame.y(value))));
        }
    }
}

/// Every second colour is light inside, so that neighbours differ in print without colours, too.
pub(super) fn paint(index: usize) -> (Color, Stroke) {
    let color = Look::of(index).color();
    (color.faint(if index.is_multiple_of(2) { 85 } else { 30 }), Stroke::solid(color, 1.3))
}

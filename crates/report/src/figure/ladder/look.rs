//! How packets look: colour and dash by kind.

use super::PacketKind;
use crate::scene::{Color, Item, Point, Stroke, line};

pub(super) fn stroke(kind: PacketKind) -> Stroke {
    let (color, dashes): (Color, &'static [f64]) = match kind {
        PacketKind::Data => (Color::solid(0x00, 0x72, 0xb2), &[]),
        PacketKind::Poll => (Color::solid(0xd5, 0x5e, 0x00), &[]),
        PacketKind::Stat => (Color::solid(0x00, 0x9e, 0x73), &[]),
        PacketKind::Ustat => (Color::solid(0xb0, 0x4f, 0x86), &[7.0, 3.0]),
        PacketKind::Probe => (Color::solid(0xb3, 0x7b, 0x00), &[7.0, 3.0]),
        PacketKind::Other => (Color::SOFT, &[2.0, 2.0]),
    };
    Stroke { color, width: if kind == PacketKind::Data { 1.2 } else { 1.5 }, dashes }
}

pub(super) fn name(kind: PacketKind) -> &'static str {
    match kind {
        PacketKind::Data => "data",
        PacketKind::Poll => "POLL",
        PacketKind::Stat => "STAT",
        PacketKind::Ustat => "USTAT",
        PacketKind::Probe => "probe",
        PacketKind::Other => "other",
    }
}

/// An arrow's head at `end`, coming from `start`.
pub(crate) fn head(start: Point, end: Point, color: Color) -> Option<Item> {
    let (dx, dy) = (end.0 - start.0, end.1 - start.1);
    let length = libm::hypot(dx, dy);
    if length < 1.0 {
        return None;
    }
    let (ux, uy) = (dx / length, dy / length);
    let back = |along: f64, aside: f64| (end.0 - ux * along - uy * aside, end.1 - uy * along + ux * aside);
    let points = vec![end, back(8.5, 3.2), back(7.0, 0.0), back(8.5, -3.2)];
    Some(Item::Lines { points, closed: true, fill: Some(color), stroke: None })
}

/// The cross at which a lost packet ends.
pub(super) fn cross(at: Point) -> [Item; 2] {
    let stroke = Stroke::solid(Color::solid(0xc0, 0x1c, 0x28), 2.0);
    let arm = 4.5;
    [
        line((at.0 - arm, at.1 - arm), (at.0 + arm, at.1 + arm), stroke),
        line((at.0 - arm, at.1 + arm), (at.0 + arm, at.1 - arm), stroke),
    ]
}

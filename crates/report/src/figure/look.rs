//! Look of curves and marks: colours of Okabe and Ito that colour-blind eyes tell apart, and never by colour
//! alone.

use crate::scene::{Color, Item, Point, Stroke};

const COLORS: [Color; 8] = [
    Color::solid(0x00, 0x72, 0xb2),
    Color::solid(0xd5, 0x5e, 0x00),
    Color::solid(0x00, 0x9e, 0x73),
    Color::solid(0xcc, 0x79, 0xa7),
    Color::solid(0xe6, 0x9f, 0x00),
    Color::solid(0x56, 0xb4, 0xe9),
    Color::solid(0x00, 0x00, 0x00),
    Color::solid(0x8a, 0x7f, 0x00),
];
const DASHES: [&[f64]; 4] = [&[], &[7.0, 3.0], &[2.0, 2.5], &[9.0, 3.0, 2.0, 3.0]];
pub(super) const MARK: Stroke = Stroke { color: Color::SOFT, width: 1.2, dashes: &[5.0, 3.0] };
pub(super) const BAND: Color = Color::SOFT.faint(14);

/// The look of curve `index`: colours repeat after 8, shapes after 7, so that 16 curves differ.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    index: usize,
}

impl Look {
    pub(super) fn of(index: usize) -> Self {
        Self { index }
    }

    pub(super) fn color(self) -> Color {
        COLORS[self.index % COLORS.len()]
    }

    pub(super) fn stroke(self) -> Stroke {
        Stroke { color: self.color(), width: 1.8, dashes: DASHES[self.index % DASHES.len()] }
    }

    pub(super) fn marker(self, at: Point) -> Item {
        let r = 4.0;
        let solid = |points: &[(f64, f64)]| Item::Lines {
            points: points.iter().map(|(x, y)| (at.0 + x * r, at.1 + y * r)).collect(),
            closed: true,
            fill: Some(if self.index >= 8 { Color::WHITE } else { self.color() }),
            stroke: Some(Stroke::solid(self.color(), 1.4)),
        };
        match self.index % 7 {
            0 => Item::Circle {
                center: at,
                radius: r,
                fill: Some(if self.index >= 8 { Color::WHITE } else { self.color() }),
                stroke: Some(Stroke::solid(self.color(), 1.4)),
            },
            1 => solid(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            2 => solid(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
            3 => solid(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]),
            4 => solid(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]),
            5 => solid(&[(0.0, -1.2), (1.15, -0.35), (0.7, 1.0), (-0.7, 1.0), (-1.15, -0.35)]),
            _ => solid(&[
                (-0.4, -1.2),
                (0.4, -1.2),
                (0.4, -0.4),
                (1.2, -0.4),
                (1.2, 0.4),
                (0.4, 0.4),
                (0.4, 1.2),
                (-0.4, 1.2),
                (-0.4, 0.4),
                (-1.2, 0.4),
                (-1.2, -0.4),
                (-0.4, -0.4),
            ]),
        }
    }
}

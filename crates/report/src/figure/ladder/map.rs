//! The probing map beside a diagram: one row of cells for each change.

use super::MapState;
use super::labels::spread;
use crate::scene::{Anchor, Color, Rect, Scene, Stroke, ellipsized, rectangle, text_width};

const CELL: (f64, f64) = (58.0, 17.0);
const ROW: f64 = 21.0;
const SIZE: f64 = 10.5;
const LEADER: f64 = 26.0;
const FILLED: Color = Color::solid(0x56, 0xb4, 0xe9).faint(45);
const RESERVED: Color = Color::solid(0x57, 0x60, 0x6a).faint(25);
const EDGE: Stroke = Stroke::solid(Color::SOFT, 1.0);

/// The width that the map takes.
pub(super) fn width(states: &[&MapState]) -> f64 {
    let entries = states.iter().map(|state| state.map.len()).max().unwrap_or(0) as f64;
    LEADER + entries * CELL.0 + label_width(states) + 10.0
}

fn label_width(states: &[&MapState]) -> f64 {
    states.iter().map(|state| text_width(&state.label, SIZE, false)).fold(0.0, f64::max).min(150.0)
}

/// The height that so many states need.
pub(super) fn height(states: &[&MapState]) -> f64 {
    states.len() as f64 * ROW
}

/// Draws the states from `x` on, each as near to its moment (`y`) as the others allow.
pub(super) fn draw(scene: &mut Scene, states: &[&MapState], x: f64, area: Rect, y: impl Fn(f64) -> f64) {
    let mut places: Vec<f64> = states.iter().map(|state| y(state.at_s)).collect();
    spread(&mut places, ROW, area.y + CELL.1 / 2.0, area.bottom() - CELL.1 / 2.0);
    let entries = states.iter().map(|state| state.map.len()).max().unwrap_or(0);
    let cells = x + LEADER;
    for entry in 0..entries {
        let at = (cells + CELL.0 * (entry as f64 + 0.5), area.y - 8.0);
        scene.text(at, format!("entry {}", entry + 1), SIZE, Anchor::Middle);
    }
    let middle = (cells + CELL.0 * entries as f64 / 2.0, area.y - 24.0);
    scene.text(middle, "Probing map", 13.0, Anchor::Middle).bold = true;
    for (state, place) in states.iter().zip(places) {
        let moment = y(state.at_s);
        scene.line((x, moment), (x + LEADER * 0.3, moment), EDGE);
        scene.line((x + LEADER * 0.3, moment), (cells - 3.0, place), EDGE);
        for (entry, text) in state.map.iter().enumerate() {
            let left = cells + CELL.0 * entry as f64;
            let rect = Rect { x: left, y: place - CELL.1 / 2.0, width: CELL.0, height: CELL.1 };
            let fill = match text.as_str() {
                "" => Color::WHITE,
                "reserved" => RESERVED,
                _ => FILLED,
            };
            scene.items.push(rectangle(rect, Some(fill), Some(EDGE)));
            let text = ellipsized(text, SIZE, false, CELL.0 - 4.0);
            scene.text((left + CELL.0 / 2.0, place + SIZE * 0.36), text, SIZE, Anchor::Middle);
        }
        let left = cells + CELL.0 * entries as f64 + 6.0;
        let label = ellipsized(&state.label, SIZE, false, 150.0);
        scene.text((left, place + SIZE * 0.36), label, SIZE, Anchor::Start);
    }
}

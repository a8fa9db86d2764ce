//! Formats of packets: rows of 32 bits.

use super::{Format, FormatField};
use crate::scene::{Anchor, Color, Point, Rect, Scene, Stroke, ellipsized, rectangle, wrapped};

const MARGIN: f64 = 18.0;
const TITLE_SIZE: f64 = 16.0;
const NAME_SIZE: f64 = 13.0;
const SIZE: f64 = 11.5;
/// Bits of a row.
const ROW_BITS: usize = 32;
pub(super) const BIT: f64 = 13.0;
const ROW: f64 = 24.0;
/// Room above a format, for its name and the bits' numbers.
const ABOVE: f64 = 42.0;
/// Room between formats, and between columns.
const GAP: f64 = 22.0;
const EDGE: Stroke = Stroke::solid(Color::INK, 1.1);
/// Edge of a field that ends where its value does.
const OPEN: Stroke = Stroke { color: Color::SOFT, width: 1.1, dashes: &[4.0, 3.0] };

/// Draws formats in two columns: the first ones on the left, up to half of the height.
pub(super) fn scene(title: &str, formats: &[Format]) -> Scene {
    let heights: Vec<f64> = formats.iter().map(height).collect();
    let half = heights.iter().sum::<f64>() / 2.0;
    let mut columns: [f64; 2] = [0.0; 2];
    let mut places: Vec<(usize, f64)> = Vec::new();
    for height in &heights {
        let column = usize::from(columns[1] > 0.0 || columns[0] + height / 2.0 > half);
        places.push((column, columns[column]));
        columns[column] += height;
    }
    let row_width = BIT * ROW_BITS as f64;
    let width = 2.0 * (MARGIN + row_width) + GAP;
    let heading = wrapped(title, TITLE_SIZE, true, width - 2.0 * MARGIN, 2);
    let top = MARGIN + heading.len() as f64 * TITLE_SIZE * 1.3 + 4.0;
    let mut scene = Scene::new(width, top + columns[0].max(columns[1]), title);
    for (i, line) in heading.iter().enumerate() {
        let baseline = MARGIN + (i as f64 + 0.85) * TITLE_SIZE * 1.3;
        scene.text((width / 2.0, baseline), line, TITLE_SIZE, Anchor::Middle).bold = true;
    }
    for (format, (column, y)) in formats.iter().zip(places) {
        draw(&mut scene, format, (MARGIN + column as f64 * (row_width + GAP), top + y));
    }
    scene
}

/// Rows of a format: those of fixed width, one more for what has none.
fn rows(format: &Format) -> usize {
    let bits: usize = format.fields.iter().filter_map(|field| field.bits).sum();
    bits.div_ceil(ROW_BITS) + format.fields.iter().filter(|field| field.bits.is_none()).count()
}

fn height(format: &Format) -> f64 {
    let above = if format.fields.is_empty() { ABOVE / 2.0 } else { ABOVE };
    above + rows(format) as f64 * ROW + GAP
}

fn draw(scene: &mut Scene, format: &Format, (x, y): Point) {
    scene.text((x, y + 18.0), &format.name, NAME_SIZE, Anchor::Start).bold = true;
    let right = x + BIT * ROW_BITS as f64;
    let size = match (format.octets(), format.fields.iter().any(|field| field.bits.is_none())) {
        (0, true) => String::new(),
        (0, false) => "no body".to_owned(),
        (octets, true) => format!("{octets} octets and more"),
        (octets, false) => format!("{octets} octets"),
    };
    let remarks = [format.remark.as_str(), &size].into_iter().filter(|text| !text.is_empty());
    let remarks = remarks.collect::<Vec<_>>().join(", ");
    scene.text((right, y + 18.0), remarks, SIZE, Anchor::End).color = Color::SOFT;
    if format.fields.is_empty() {
        return;
    }
    for bit in [0_u8, 8, 16, 24, 31] {
        let middle = x + (f64::from(bit) + 0.5) * BIT;
        scene.text((middle, y + ABOVE - 5.0), bit.to_string(), 9.5, Anchor::Middle).color = Color::SOFT;
    }
    let top = y + ABOVE;
    let mut at = 0;
    for field in &format.fields {
        at = at_next(scene, field, (x, top), at);
    }
}

/// Draws a field that begins at bit `at`, and returns where the next one does.
fn at_next(scene: &mut Scene, field: &FormatField, (x, top): Point, at: usize) -> usize {
    let y = |bit: usize| top + (bit / ROW_BITS) as f64 * ROW;
    let Some(bits) = field.bits else {
        let from = at.next_multiple_of(ROW_BITS);
        let rect = Rect { x, y: y(from), width: BIT * ROW_BITS as f64, height: ROW };
        scene.items.push(rectangle(rect, None, Some(OPEN)));
        name(scene, &field.name, rect);
        return from + ROW_BITS;
    };
    let end = at + bits;
    let mut from = at;
    while from < end {
        let column = from % ROW_BITS;
        let whole = if column == 0 { (end - from) / ROW_BITS } else { 0 };
        let taken = if whole > 0 { whole * ROW_BITS } else { (end - from).min(ROW_BITS - column) };
        let width = BIT * taken.min(ROW_BITS) as f64;
        let rect = Rect { x: x + column as f64 * BIT, y: y(from), width, height: ROW * whole.max(1) as f64 };
        scene.items.push(rectangle(rect, None, Some(EDGE)));
        name(scene, &field.name, rect);
        from += taken;
    }
    end
}

fn name(scene: &mut Scene, name: &str, rect: Rect) {
    let text = ellipsized(name, SIZE, false, rect.width - 4.0);
    let at = (rect.x + rect.width / 2.0, rect.y + rect.height / 2.0 + SIZE * 0.36);
    scene.text(at, text, SIZE, Anchor::Middle);
}

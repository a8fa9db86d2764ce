//! Text: its width and its outlines, from the fonts in `assets/` (see the README there).

use std::sync::LazyLock;

use ttf_parser::{Face, OutlineBuilder};

static REGULAR: &[u8] = include_bytes!("../../assets/Arimo-Regular.ttf");
static BOLD: &[u8] = include_bytes!("../../assets/Arimo-Bold.ttf");

static FACES: LazyLock<[Face<'static>; 2]> = LazyLock::new(|| {
    // The fonts are part of the program; a test reads them.
    [REGULAR, BOLD].map(|bytes| Face::parse(bytes, 0).expect("the embedded font is a font"))
});

fn face(bold: bool) -> &'static Face<'static> {
    &FACES[usize::from(bold)]
}

fn advance(face: &Face<'_>, c: char) -> f64 {
    let glyph = face.glyph_index(c).unwrap_or_default();
    f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)) / f64::from(face.units_per_em())
}

/// The width of a text in pixels.
pub(crate) fn text_width(text: &str, size: f64, bold: bool) -> f64 {
    text.chars().map(|c| advance(face(bold), c)).sum::<f64>() * size
}

/// Draws the outlines of a text from (0, 0) on, y downwards, into `pen`.
pub(super) fn outline(text: &str, size: f64, bold: bool, pen: &mut impl Pen) {
    let face = face(bold);
    let scale = size / f64::from(face.units_per_em());
    let mut x = 0.0;
    for c in text.chars() {
        let glyph = face.glyph_index(c).unwrap_or_default();
        face.outline_glyph(glyph, &mut Placed { pen, x, scale });
        x += advance(face, c) * size;
    }
}

/// Receiver of outlines: coordinates in pixels.
pub(super) trait Pen {
    fn start(&mut self, x: f32, y: f32);
    fn line(&mut self, x: f32, y: f32);
    fn quad(&mut self, x1: f32, y1: f32, x: f32, y: f32);
    fn cubic(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32);
    fn close(&mut self);
}

struct Placed<'a, P> {
    pen: &'a mut P,
    x: f64,
    scale: f64,
}

impl<P> Placed<'_, P> {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        ((self.x + f64::from(x) * self.scale) as f32, (-f64::from(y) * self.scale) as f32)
    }
}

impl<P: Pen> OutlineBuilder for Placed<'_, P> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.pen.start(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.pen.line(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.pen.quad(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.pen.cubic(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.pen.close();
    }
}

/// The text, shortened with an ellipsis until it fits into `width`.
pub(crate) fn ellipsized(text: &str, size: f64, bold: bool, width: f64) -> String {
    if text_width(text, size, bold) <= width {
        return text.to_owned();
    }
    let mut used = text_width("…", size, bold);
    let mut kept = String::new();
    for c in text.chars() {
        used += advance(face(bold), c) * size;
        if used > width {
            break;
        }
        kept.push(c);
    }
    kept.trim_end().to_owned() + "…"
}

/// The text in at most `most` lines that fit into `width`; the last is shortened if it must be.
pub(crate) fn wrapped(text: &str, size: f64, bold: bool, width: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let full = lines.len() == most;
        match lines.last_mut() {
            Some(last) if full || text_width(&format!("{last} {word}"), size, bold) <= width => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| ellipsized(line, size, bold, width)).collect()
}

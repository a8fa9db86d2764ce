//! Writes a scene as PDF: one page, text as outlines, so that no font is needed and nothing is drawn
//! otherwise than in the PNG [ISO 32000-1].

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::font::{self, Pen};
use super::{Anchor, Color, Item, Point, Rect, Scene, Stroke, Text, rectangle, text_width};

/// Points of PDF (72 to the inch) in a pixel (96 to the inch).
const POINTS: f64 = 0.75;
/// Distance of the inner points of a curve of Bezier that is a quarter of a circle of radius 1.
const QUARTER: f64 = 0.552_285;

pub(super) fn render(scene: &Scene) -> Vec<u8> {
    let mut page = Page::default();
    let (width, height) = (scene.width * POINTS, scene.height * POINTS);
    let _ = writeln!(page.out, "{POINTS} 0 0 -{POINTS} 0 {} cm 1 j", number(height));
    for item in &scene.items {
        page.draw(item);
    }
    let states: String = page.opacities.iter().fold(String::new(), |mut text, percent| {
        let share = number(f64::from(*percent) / 100.0);
        let _ = write!(text, "/G{percent} <</ca {share} /CA {share}>> ");
        text
    });
    let title: String = scene.title.encode_utf16().fold("FEFF".into(), |mut text, unit| {
        let _ = write!(text, "{unit:04X}");
        text
    });
    file(&[
        "<</Type /Catalog /Pages 2 0 R>>".into(),
        "<</Type /Pages /Kids [3 0 R] /Count 1>>".into(),
        format!(
            "<</Type /Page /Parent 2 0 R /MediaBox [0 0 {} {}] /Contents 4 0 R /Resources <</ExtGState \
             <<{states}>>>>>>",
            number(width),
            number(height)
        ),
        format!("<</Length {}>>\nstream\n{}endstream", page.out.len(), page.out),
        format!("<</Title <{title}>>>"),
    ])
}

/// A file of these objects, numbered from 1: the first is the catalog, the last says what it is.
fn file(objects: &[String]) -> Vec<u8> {
    let mut out = String::from("%PDF-1.4\n");
    let mut places = Vec::new();
    for (object, number) in objects.iter().zip(1..) {
        places.push(out.len());
        let _ = write!(out, "{number} 0 obj\n{object}\nendobj\n");
    }
    let (table, size) = (out.len(), objects.len() + 1);
    let _ = write!(out, "xref\n0 {size}\n0000000000 65535 f \n");
    for place in places {
        let _ = writeln!(out, "{place:010} 00000 n ");
    }
    let info = objects.len();
    let _ =
        write!(out, "trailer\n<</Size {size} /Root 1 0 R /Info {info} 0 R>>\nstartxref\n{table}\n%%EOF\n");
    out.into_bytes()
}

/// Contents of the page, as far as it is written.
#[derive(Default)]
struct Page {
    out: String,
    /// Opacities that are used, in percent.
    opacities: BTreeSet<u8>,
}

impl Page {
    fn draw(&mut self, item: &Item) {
        match item {
            Item::Lines { points, closed, fill, stroke } => {
                self.lines(points, *closed);
                self.paint(*fill, stroke.as_ref());
            }
            Item::Circle { center, radius, fill, stroke } => {
                self.circle(*center, *radius);
                self.paint(*fill, stroke.as_ref());
            }
            Item::Text(text) => self.text(text),
            Item::Clipped { to, items } => self.clipped(*to, items),
        }
    }

    fn clipped(&mut self, to: Rect, items: &[Item]) {
        let Item::Lines { points, .. } = rectangle(to, None, None) else { return };
        self.out.push_str("q\n");
        self.lines(&points, true);
        self.out.push_str("W n\n");
        for item in items {
            self.draw(item);
        }
        self.out.push_str("Q\n");
    }

    fn lines(&mut self, points: &[Point], closed: bool) {
        for (place, point) in points.iter().enumerate() {
            self.operator(&[point.0, point.1], if place == 0 { "m" } else { "l" });
        }
        if closed {
            self.out.push_str("h\n");
        }
    }

    fn circle(&mut self, (x, y): Point, r: f64) {
        let k = r * QUARTER;
        self.operator(&[x + r, y], "m");
        self.operator(&[x + r, y + k, x + k, y + r, x, y + r], "c");
        self.operator(&[x - k, y + r, x - r, y + k, x - r, y], "c");
        self.operator(&[x - r, y - k, x - k, y - r, x, y - r], "c");
        self.operator(&[x + k, y - r, x + r, y - k, x + r, y], "c");
        self.out.push_str("h\n");
    }

    /// Fills and strokes the path that was written. Both may have an opacity of their own.
    fn paint(&mut self, fill: Option<Color>, stroke: Option<&Stroke>) {
        if let Some(color) = fill {
            self.state(color);
            self.color(color, "rg");
        }
        if let Some(stroke) = stroke {
            self.state(fill.unwrap_or(stroke.color));
            self.color(stroke.color, "RG");
            let _ = writeln!(self.out, "{} w", number(stroke.width));
            let dashes: Vec<String> = stroke.dashes.iter().map(|dash| number(*dash)).collect();
            let _ = writeln!(self.out, "[{}] 0 d", dashes.join(" "));
        }
        self.out.push_str(match (fill, stroke) {
            (Some(_), Some(_)) => "B\n",
            (Some(_), None) => "f\n",
            (None, Some(_)) => "S\n",
            (None, None) => "n\n",
        });
    }

    fn state(&mut self, color: Color) {
        let percent = color.opacity_percent.min(100);
        self.opacities.insert(percent);
        let _ = writeln!(self.out, "/G{percent} gs");
    }

    fn color(&mut self, color: Color, operator: &str) {
        self.operator(&color.rgb.map(|part| f64::from(part) / 255.0), operator);
    }

    fn text(&mut self, text: &Text) {
        let back = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5,
            Anchor::End => 1.0,
        } * text_width(&text.text, text.size, text.bold);
        let angle = text.turned.to_radians();
        let (sin, cos) = (libm::sin(angle), libm::cos(angle));
        self.out.push_str("q\n");
        self.operator(&[cos, sin, -sin, cos, text.at.0 - back * cos, text.at.1 - back * sin], "cm");
        let mut outline = Outline { page: self, at: (0.0, 0.0) };
        font::outline(&text.text, text.size, text.bold, &mut outline);
        self.paint(Some(text.color), None);
        self.out.push_str("Q\n");
    }

    fn operator(&mut self, numbers: &[f64], operator: &str) {
        for value in numbers {
            self.out.push_str(&number(*value));
            self.out.push(' ');
        }
        self.out.push_str(operator);
        self.out.push('\n');
    }
}

/// Outlines of letters. PDF has no quadratic curves: they become cubic ones.
struct Outline<'a> {
    page: &'a mut Page,
    at: (f32, f32),
}

impl Outline<'_> {
    fn put(&mut self, numbers: &[f32], operator: &str) {
        let numbers: Vec<f64> = numbers.iter().map(|value| f64::from(*value)).collect();
        self.page.operator(&numbers, operator);
    }
}

impl Pen for Outline<'_> {
    fn start(&mut self, x: f32, y: f32) {
        self.put(&[x, y], "m");
        self.at = (x, y);
    }

    fn line(&mut self, x: f32, y: f32) {
        self.put(&[x, y], "l");
        self.at = (x, y);
    }

    fn quad(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let towards = |from: f32, to: f32| from + (to - from) * 2.0 / 3.0;
        let (x0, y0) = self.at;
        self.cubic(towards(x0, x1), towards(y0, y1), towards(x, x1), towards(y, y1), x, y);
    }

    fn cubic(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.put(&[x1, y1, x2, y2, x, y], "c");
        self.at = (x, y);
    }

    fn close(&mut self) {
        self.page.out.push_str("h\n");
    }
}

/// At most three decimals, and never an exponent, which PDF does not know.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

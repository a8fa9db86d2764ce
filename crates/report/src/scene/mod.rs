//! A picture as a list of shapes, from which SVG, PNG and PDF are made alike.

mod font;
mod pdf;
mod png;
mod svg;

pub(crate) use font::{ellipsized, text_width, wrapped};
pub(crate) use svg::escaped;

#[cfg(test)]
mod scene_tests;

/// A colour with its opacity in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Color {
    pub(crate) rgb: [u8; 3],
    pub(crate) opacity_percent: u8,
}

impl Color {
    pub(crate) const INK: Self = Self::solid(0x1f, 0x23, 0x28);
    pub(crate) const SOFT: Self = Self::solid(0x57, 0x60, 0x6a);
    pub(crate) const GRID: Self = Self::solid(0xe3, 0xe6, 0xe9);
    pub(crate) const WHITE: Self = Self::solid(0xff, 0xff, 0xff);

    pub(crate) const fn solid(red: u8, green: u8, blue: u8) -> Self {
        Self { rgb: [red, green, blue], opacity_percent: 100 }
    }

    pub(crate) const fn faint(self, opacity_percent: u8) -> Self {
        Self { opacity_percent, ..self }
    }
}

/// A point in pixels, from the upper left corner.
pub(crate) type Point = (f64, f64);

/// An upright rectangle in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Rect {
    pub(crate) fn right(&self) -> f64 {
        self.x + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.y + self.height
    }
}

/// A line's look: lengths of dash and gap in turn, none for a solid line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) color: Color,
    pub(crate) width: f64,
    pub(crate) dashes: &'static [f64],
}

impl Stroke {
    pub(crate) const fn solid(color: Color, width: f64) -> Self {
        Self { color, width, dashes: &[] }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Text on its baseline; `turned` reads upwards.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    pub(crate) at: Point,
    pub(crate) text: String,
    pub(crate) size: f64,
    pub(crate) bold: bool,
    pub(crate) color: Color,
    pub(crate) anchor: Anchor,
    /// Degrees, clockwise.
    pub(crate) turned: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Item {
    /// A run of straight lines, closed or not.
    Lines { points: Vec<Point>, closed: bool, fill: Option<Color>, stroke: Option<Stroke> },
    /// A circle.
    Circle { center: Point, radius: f64, fill: Option<Color>, stroke: Option<Stroke> },
    /// Text.
    Text(Text),
    /// Items of which the parts inside the rectangle are shown.
    Clipped { to: Rect, items: Vec<Item> },
}

/// A picture: shapes on white, in pixels of CSS (96 to the inch).
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Title, which a screen reader says.
    pub(crate) title: String,
    pub(crate) items: Vec<Item>,
}

impl Scene {
    pub(crate) fn new(width: f64, height: f64, title: &str) -> Self {
        Self { width, height, title: title.to_owned(), items: Vec::new() }
    }

    /// The picture as an SVG document; equal pictures give equal text.
    pub fn to_svg(&self) -> String {
        svg::render(self)
    }

    /// The picture as a PNG file, `scale` dots to a pixel of the SVG (2 is fine for a screen, 4 for print).
    ///
    /// # Errors
    /// More than 64 million dots, or a scale that is no positive number.
    pub fn to_png(&self, scale: f64) -> Result<Vec<u8>, crate::ReportError> {
        png::render(self, scale)
    }

    /// The picture as a PDF file of one page; equal pictures give equal bytes.
    pub fn to_pdf(&self) -> Vec<u8> {
        pdf::render(self)
    }

    pub(crate) fn line(&mut self, from: Point, to: Point, stroke: Stroke) {
        self.items.push(line(from, to, stroke));
    }

    pub(crate) fn text(
        &mut self,
        at: Point,
        text: impl Into<String>,
        size: f64,
        anchor: Anchor,
    ) -> &mut Text {
        let text = Text { at, text: text.into(), size, bold: false, color: Color::INK, anchor, turned: 0.0 };
        self.items.push(Item::Text(text));
        let Some(Item::Text(text)) = self.items.last_mut() else {
            unreachable!("a text was pushed just now");
        };
        text
    }
}

pub(crate) fn line(from: Point, to: Point, stroke: Stroke) -> Item {
    Item::Lines { points: vec![from, to], closed: false, fill: None, stroke: Some(stroke) }
}

pub(crate) fn rectangle(rect: Rect, fill: Option<Color>, stroke: Option<Stroke>) -> Item {
    let Rect { x, y, .. } = rect;
    let points = vec![(x, y), (rect.right(), y), (rect.right(), rect.bottom()), (x, rect.bottom())];
    Item::Lines { points, closed: true, fill, stroke }
}

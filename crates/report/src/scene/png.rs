//! Rasterises a scene. The rasteriser's own arithmetic, without the processor's extensions: equal bytes
//! everywhere.

use tiny_skia::{
    Color as Ink, FillRule, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, StrokeDash, Transform,
};

use super::font::{self, Pen};
use super::{Anchor, Color, Item, Point, Rect, Scene, Stroke, Text, rectangle, text_width};
use crate::ReportError;

/// The most dots of a picture: 64 million take 256 MB while it is made.
const MAX_DOTS: f64 = 64e6;

pub(super) fn render(scene: &Scene, scale: f64) -> Result<Vec<u8>, ReportError> {
    let (width, height) = ((scene.width * scale).ceil(), (scene.height * scale).ceil());
    let possible = scale.is_finite() && width >= 1.0 && height >= 1.0 && width * height <= MAX_DOTS;
    let pixmap = possible.then(|| Pixmap::new(width as u32, height as u32)).flatten();
    let Some(mut pixmap) = pixmap else {
        return Err(ReportError::Picture(format!(
            "{width} x {height} dots; at most {MAX_DOTS} can be drawn"
        )));
    };
    pixmap.fill(Ink::WHITE);
    let mut canvas =
        Canvas { pixmap: &mut pixmap, transform: Transform::from_scale(scale as f32, scale as f32) };
    for item in &scene.items {
        canvas.draw(item, None);
    }
    pixmap.encode_png().map_err(|error| ReportError::Picture(error.to_string()))
}

struct Canvas<'a> {
    pixmap: &'a mut Pixmap,
    transform: Transform,
}

impl Canvas<'_> {
    fn draw(&mut self, item: &Item, mask: Option<&Mask>) {
        match item {
            Item::Lines { points, closed, fill, stroke } => {
                if let Some(path) = lines(points, *closed) {
                    self.paint(&path, *fill, stroke.as_ref(), mask);
                }
            }
            Item::Circle { center, radius, fill, stroke } => {
                if let Some(path) = PathBuilder::from_circle(center.0 as f32, center.1 as f32, *radius as f32)
                {
                    self.paint(&path, *fill, stroke.as_ref(), mask);
                }
            }
            Item::Text(text) => self.text(text, mask),
            Item::Clipped { to, items } => {
                let mask = self.mask(*to);
                for item in items {
                    self.draw(item, mask.as_ref());
                }
            }
        }
    }

    fn mask(&self, to: Rect) -> Option<Mask> {
        let Item::Lines { points, .. } = rectangle(to, None, None) else {
            return None;
        };
        let mut mask = Mask::new(self.pixmap.width(), self.pixmap.height())?;
        mask.fill_path(&lines(&points, true)?, FillRule::Winding, true, self.transform);
        Some(mask)
    }

    fn paint(&mut self, path: &Path, fill: Option<Color>, stroke: Option<&Stroke>, mask: Option<&Mask>) {
        if let Some(color) = fill {
            self.pixmap.fill_path(path, &paint(color), FillRule::Winding, self.transform, mask);
        }
        if let Some(stroke) = stroke {
            let dashes: Vec<f32> = stroke.dashes.iter().map(|dash| *dash as f32).collect();
            let line = tiny_skia::Stroke {
                width: stroke.width as f32,
                line_cap: LineCap::Butt,
                line_join: LineJoin::Round,
                dash: StrokeDash::new(dashes, 0.0),
                ..tiny_skia::Stroke::default()
            };
            self.pixmap.stroke_path(path, &paint(stroke.color), &line, self.transform, mask);
        }
    }

    fn text(&mut self, text: &Text, mask: Option<&Mask>) {
        let mut pen = Outline(PathBuilder::new());
        font::outline(&text.text, text.size, text.bold, &mut pen);
        let Some(path) = pen.0.finish() else {
            return;
        };
        let back = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5,
            Anchor::End => 1.0,
        } * text_width(&text.text, text.size, text.bold);
        let placed = self
            .transform
            .pre_translate(text.at.0 as f32, text.at.1 as f32)
            .pre_rotate(text.turned as f32)
            .pre_translate(-back as f32, 0.0);
        self.pixmap.fill_path(&path, &paint(text.color), FillRule::Winding, placed, mask);
    }
}

fn paint(color: Color) -> Paint<'static> {
    let [red, green, blue] = color.rgb;
    let opacity = (u16::from(color.opacity_percent.min(100)) * 255 / 100) as u8;
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(red, green, blue, opacity);
    paint
}

fn lines(points: &[Point], closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (i, (x, y)) in points.iter().enumerate() {
        if i == 0 {
            builder.move_to(*x as f32, *y as f32);
        } else {
            builder.line_to(*x as f32, *y as f32);
        }
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

struct Outline(PathBuilder);

impl Pen for Outline {
    fn start(&mut self, x: f32, y: f32) {
        self.0.move_to(x, y);
    }

    fn line(&mut self, x: f32, y: f32) {
        self.0.line_to(x, y);
    }

    fn quad(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.quad_to(x1, y1, x, y);
    }

    fn cubic(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.0.close();
    }
}

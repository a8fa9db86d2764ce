//! Writes a scene as SVG: plain shapes and selectable text, no identifiers, no external resources.

use std::fmt::Write as _;

use super::{Anchor, Color, Item, Point, Scene, Stroke, Text, text_width};

/// Metric-compatible families, so that the layout holds whichever is installed.
const FAMILIES: &str = "Arimo, 'Liberation Sans', Arial, Helvetica, sans-serif";

pub(super) fn render(scene: &Scene) -> String {
    let (width, height) = (number(scene.width), number(scene.height));
    let title = escaped(&scene.title);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{FAMILIES}\" role=\"img\">\n<title>{title}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    for item in &scene.items {
        write_item(&mut out, item);
    }
    out.push_str("</svg>\n");
    out
}

fn write_item(out: &mut String, item: &Item) {
    match item {
        Item::Lines { points, closed, fill, stroke } => {
            let _ = write!(out, "<path d=\"{}\"", path_data(points, *closed));
            paint(out, *fill, stroke.as_ref());
            out.push_str("/>\n");
        }
        Item::Circle { center, radius, fill, stroke } => {
            let (x, y, r) = (number(center.0), number(center.1), number(*radius));
            let _ = write!(out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\"");
            paint(out, *fill, stroke.as_ref());
            out.push_str("/>\n");
        }
        Item::Text(text) => write_text(out, text),
        Item::Clipped { to, items } => {
            // A nested picture clips what it holds without an identifier, which another picture on a page
            // could share.
            let [x, y, width, height] = [to.x, to.y, to.width, to.height].map(number);
            let _ = writeln!(
                out,
                "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" viewBox=\"{x} {y} {width} {height}\" \
                 overflow=\"hidden\">"
            );
            for item in items {
                write_item(out, item);
            }
            out.push_str("</svg>\n");
        }
    }
}

fn path_data(points: &[Point], closed: bool) -> String {
    let mut data = String::new();
    for (i, (x, y)) in points.iter().enumerate() {
        let _ = write!(data, "{}{} {}", if i == 0 { "M" } else { "L" }, number(*x), number(*y));
    }
    if closed {
        data.push('Z');
    }
    data
}

fn paint(out: &mut String, fill: Option<Color>, stroke: Option<&Stroke>) {
    match fill {
        Some(color) => color_attribute(out, "fill", color),
        None => out.push_str(" fill=\"none\""),
    }
    let Some(stroke) = stroke else {
        return;
    };
    color_attribute(out, "stroke", stroke.color);
    let _ = write!(out, " stroke-width=\"{}\" stroke-linejoin=\"round\"", number(stroke.width));
    if !stroke.dashes.is_empty() {
        let dashes: Vec<String> = stroke.dashes.iter().map(|dash| number(*dash)).collect();
        let _ = write!(out, " stroke-dasharray=\"{}\"", dashes.join(" "));
    }
}

fn color_attribute(out: &mut String, name: &str, color: Color) {
    let [red, green, blue] = color.rgb;
    let _ = write!(out, " {name}=\"#{red:02x}{green:02x}{blue:02x}\"");
    if color.opacity_percent < 100 {
        let _ = write!(out, " {name}-opacity=\"{}\"", number(f64::from(color.opacity_percent) / 100.0));
    }
}

fn write_text(out: &mut String, text: &Text) {
    let (x, y) = (number(text.at.0), number(text.at.1));
    let _ = write!(out, "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"", number(text.size));
    color_attribute(out, "fill", text.color);
    match text.anchor {
        Anchor::Start => {}
        Anchor::Middle => out.push_str(" text-anchor=\"middle\""),
        Anchor::End => out.push_str(" text-anchor=\"end\""),
    }
    if text.bold {
        out.push_str(" font-weight=\"bold\"");
    }
    // The width that the layout counted on, should a viewer have none of the families.
    let length = text_width(&text.text, text.size, text.bold);
    if length > 0.0 {
        let _ = write!(out, " textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"", number(length));
    }
    if text.turned != 0.0 {
        let _ = write!(out, " transform=\"rotate({} {x} {y})\"", number(text.turned));
    }
    let _ = writeln!(out, ">{}</text>", escaped(&text.text));
}

/// A coordinate to a hundredth of a pixel, without needless digits; never `-0`.
fn number(value: f64) -> String {
    let rounded = (value * 100.0).round() / 100.0;
    if rounded == 0.0 || !rounded.is_finite() { "0".to_owned() } else { format!("{rounded}") }
}

/// Text for XML and HTML: the five characters as entities, what XML forbids as a replacement character.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

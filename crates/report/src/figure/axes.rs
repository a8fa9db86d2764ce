//! Axes: lines, ticks, numbers, labels with units.

use super::definition::PanelDefinition;
use super::ticks::{Scale, Tick, TickLabel};
use crate::scene::{Anchor, Color, Rect, Scene, Stroke, ellipsized, text_width, wrapped};

const TICK_SIZE: f64 = 12.0;
const LABEL_SIZE: f64 = 13.5;
const TICK_LENGTH: f64 = 5.0;
const GRID: Stroke = Stroke::solid(Color::GRID, 1.0);
const EDGE: Stroke = Stroke::solid(Color::INK, 1.1);

/// Where values lie in the picture.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) plot: Rect,
    x: Scale,
    y: Scale,
}

impl Frame {
    pub(super) fn x(&self, value: f64) -> f64 {
        self.plot.x + bounded(self.x.share(value)) * self.plot.width
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        self.plot.bottom() - bounded(self.y.share(value)) * self.plot.height
    }

    /// Where bars stand: 0, or the end of the axis that is next to it.
    pub(super) fn base(&self) -> f64 {
        self.y(0.0_f64.clamp(self.y.from, self.y.to))
    }

    /// True if the vertical axis is logarithmic.
    pub(super) fn is_log(&self) -> bool {
        self.y.log
    }

    pub(super) fn slot_width(&self) -> f64 {
        self.plot.width / (self.x.to - self.x.from)
    }
}

/// Far outside is as good as outside, and a rasteriser can count so far.
fn bounded(share: f64) -> f64 {
    if share.is_finite() { share.clamp(-20.0, 20.0) } else { 0.0 }
}

/// Draws grid, ticks and labels of both axes into `area`; what remains is the frame.
pub(super) fn draw(
    scene: &mut Scene,
    area: Rect,
    panel: &PanelDefinition,
    categories: &[String],
    x: Scale,
    y: Scale,
) -> Frame {
    let y_ticks = y.ticks(7);
    let widest = y_ticks.iter().filter_map(|tick| tick.label.as_ref()).map(label_width).fold(0.0, f64::max);
    let left = LABEL_SIZE * 1.5 + widest + TICK_LENGTH + 5.0;
    let width = area.width - left - 16.0;
    let lines = name_lines(categories, width);
    let names = if categories.is_empty() { TICK_SIZE * 1.4 } else { names_height(lines.as_ref()) };
    let bottom = TICK_LENGTH + names + LABEL_SIZE * 1.6;
    let plot = Rect { x: area.x + left, y: area.y + 8.0, width, height: area.height - bottom - 8.0 };
    let frame = Frame { plot, x, y };
    draw_y(scene, &frame, &y_ticks);
    if categories.is_empty() {
        draw_x(scene, &frame);
    } else {
        draw_names(scene, &frame, categories, lines.as_ref());
    }
    let text = with_unit(&panel.x.label, panel.x.unit.as_deref());
    let text = ellipsized(&text, LABEL_SIZE, false, area.width);
    let center = (plot.x + plot.width / 2.0).min(area.right() - text_width(&text, LABEL_SIZE, false) / 2.0);
    scene.text((center, area.bottom() - 4.0), text, LABEL_SIZE, Anchor::Middle);
    let text = with_unit(&panel.y.label, panel.y.unit.as_deref());
    let text = ellipsized(&text, LABEL_SIZE, false, plot.height);
    let at = (area.x + LABEL_SIZE, plot.y + plot.height / 2.0);
    scene.text(at, text, LABEL_SIZE, Anchor::Middle).turned = -90.0;
    frame
}

/// The axes' lines, over what is drawn between them.
pub(super) fn draw_edges(scene: &mut Scene, frame: &Frame) {
    let plot = frame.plot;
    scene.line((plot.x, plot.y), (plot.x, plot.bottom()), EDGE);
    scene.line((plot.x - 0.55, plot.bottom()), (plot.right(), plot.bottom()), EDGE);
}

fn with_unit(label: &str, unit: Option<&str>) -> String {
    match unit {
        Some(unit) if !unit.is_empty() => format!("{label} ({unit})"),
        _ => label.to_owned(),
    }
}

fn draw_y(scene: &mut Scene, frame: &Frame, ticks: &[Tick]) {
    let plot = frame.plot;
    for tick in ticks {
        let y = frame.y(tick.at);
        let length = if tick.label.is_some() { TICK_LENGTH } else { TICK_LENGTH / 2.0 };
        if let Some(label) = &tick.label {
            scene.line((plot.x, y), (plot.right(), y), GRID);
            let x = plot.x - TICK_LENGTH - 4.0 - label_width(label) / 2.0;
            draw_label(scene, (x, y + TICK_SIZE * 0.36), label);
        }
        scene.line((plot.x - length, y), (plot.x, y), EDGE);
    }
}

fn draw_x(scene: &mut Scene, frame: &Frame) {
    let plot = frame.plot;
    let mut most = 9;
    // Fewer ticks until their numbers keep apart.
    let ticks = loop {
        let ticks = frame.x.ticks(most);
        if most <= 2 || !crowded(frame, &ticks) {
            break ticks;
        }
        most -= 1;
    };
    let mut free_from = f64::NEG_INFINITY;
    for tick in &ticks {
        let x = frame.x(tick.at);
        let length = if tick.label.is_some() { TICK_LENGTH } else { TICK_LENGTH / 2.0 };
        scene.line((x, plot.bottom()), (x, plot.bottom() + length), EDGE);
        let Some(label) = &tick.label else {
            continue;
        };
        scene.line((x, plot.y), (x, plot.bottom()), GRID);
        let half = label_width(label) / 2.0;
        if x - half >= free_from {
            draw_label(scene, (x, plot.bottom() + TICK_LENGTH + TICK_SIZE * 1.1), label);
            free_from = x + half + 4.0;
        }
    }
}

fn crowded(frame: &Frame, ticks: &[Tick]) -> bool {
    let labels = ticks.iter().filter_map(|tick| Some((frame.x(tick.at), label_width(tick.label.as_ref()?))));
    let labels: Vec<(f64, f64)> = labels.collect();
    labels.windows(2).any(|pair| pair[1].0 - pair[1].1 / 2.0 - (pair[0].0 + pair[0].1 / 2.0) < 8.0)
}

/// Room for turned names, below the ticks.
const TURNED: f64 = 74.0;
const NAME_LINES: usize = 3;

/// How the names on an axis of words are written: in lines side by side, or turned where a word alone is too
/// wide.
fn name_lines(names: &[String], width: f64) -> Option<Vec<Vec<String>>> {
    let slot = width / names.len() as f64 - 8.0;
    let lines = |name: &String| wrapped(name, TICK_SIZE, false, slot, NAME_LINES);
    let all: Vec<Vec<String>> = names.iter().map(lines).collect();
    let whole = |(lines, name): (&Vec<String>, &String)| {
        lines.iter().all(|line| !line.ends_with('…') || name.ends_with('…'))
    };
    all.iter().zip(names).all(whole).then_some(all)
}

fn names_height(lines: Option<&Vec<Vec<String>>>) -> f64 {
    lines.map_or(TURNED, |all| all.iter().map(Vec::len).max().unwrap_or(1) as f64 * TICK_SIZE * 1.2 + 3.0)
}

fn draw_names(scene: &mut Scene, frame: &Frame, names: &[String], lines: Option<&Vec<Vec<String>>>) {
    let plot = frame.plot;
    let top = plot.bottom() + TICK_LENGTH;
    if let Some(lines) = lines {
        for (i, name) in lines.iter().enumerate() {
            for (l, line) in name.iter().enumerate() {
                let y = top + TICK_SIZE * (1.1 + 1.2 * l as f64);
                scene.text((frame.x(i as f64), y), line, TICK_SIZE, Anchor::Middle);
            }
        }
        return;
    }
    // Turned names need a line's height each: where there are too many, not all are written.
    let every = (TICK_SIZE * 1.8 / frame.slot_width()).ceil().max(1.0) as usize;
    for (i, name) in names.iter().enumerate().step_by(every) {
        let x = frame.x(i as f64);
        let room = (TURNED / 0.62 - 18.0).min((x - plot.x + 60.0) / 0.79);
        let text = ellipsized(name, TICK_SIZE, false, room);
        scene.text((x + 4.0, top + 9.0), text, TICK_SIZE, Anchor::End).turned = -38.0;
    }
}

fn label_width(label: &TickLabel) -> f64 {
    match label {
        TickLabel::Plain(text) => text_width(text, TICK_SIZE, false),
        TickLabel::Power(exponent) => {
            text_width("10", TICK_SIZE, false) + text_width(&power(*exponent), TICK_SIZE * 0.74, false)
        }
    }
}

fn power(exponent: i32) -> String {
    exponent.to_string().replace('-', "−")
}

/// Draws a label with its middle at `at`.
fn draw_label(scene: &mut Scene, at: (f64, f64), label: &TickLabel) {
    match label {
        TickLabel::Plain(text) => {
            scene.text(at, text, TICK_SIZE, Anchor::Middle);
        }
        TickLabel::Power(exponent) => {
            let left = at.0 - label_width(label) / 2.0;
            scene.text((left, at.1), "10", TICK_SIZE, Anchor::Start);
            let left = left + text_width("10", TICK_SIZE, false);
            let raised = at.1 - TICK_SIZE * 0.38;
            scene.text((left, raised), power(*exponent), TICK_SIZE * 0.74, Anchor::Start);
        }
    }
}

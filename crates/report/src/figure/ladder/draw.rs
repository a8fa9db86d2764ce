//! Lays out and draws a ladder diagram.

use super::labels::{self, LINE, LadderLabel, spread};
use super::{Band, Ladder, LadderPacket, MAX_PACKETS, MapState, PacketKind, look, map};
use crate::ReportError;
use crate::error::listed;
use crate::figure::definition::LadderDefinition;
use crate::figure::ticks::{self, Scale};
use crate::scene::{
    Anchor, Color, Item, Point, Rect, Scene, Stroke, ellipsized, line, rectangle, text_width, wrapped,
};

const MARGIN: f64 = 14.0;
const TITLE_SIZE: f64 = 16.0;
const SIZE: f64 = 11.5;
const MAX_LABEL_WIDTH: f64 = 230.0;
const BAND_COLUMN: f64 = 120.0;
const BETWEEN: f64 = 330.0;
const LIFE: Stroke = Stroke::solid(Color::INK, 1.6);
const LEADER: Stroke = Stroke::solid(Color::SOFT.faint(60), 0.8);
const BANDS: [Color; 3] = [
    Color::solid(0x56, 0xb4, 0xe9).faint(20),
    Color::solid(0xf0, 0xe4, 0x42).faint(30),
    Color::solid(0xcc, 0x79, 0xa7).faint(20),
];

/// Shown parts, and their places.
struct Layout<'a> {
    definition: &'a LadderDefinition,
    packets: Vec<&'a LadderPacket>,
    bands: Vec<&'a Band>,
    map: Vec<&'a MapState>,
    from_s: f64,
    to_s: f64,
    /// Between the two time lines.
    area: Rect,
}

impl Layout<'_> {
    fn y(&self, time_s: f64) -> f64 {
        // Far outside is as good as outside, and a rasteriser can count so far.
        let share = ((time_s - self.from_s) / (self.to_s - self.from_s)).clamp(-20.0, 20.0);
        self.area.y + if share.is_finite() { share } else { 0.0 } * self.area.height
    }

    /// True if a packet comes from the left end; one from between the ends, if it goes there.
    fn is_left(&self, packet: &LadderPacket) -> bool {
        let end = if self.is_between(packet) { packet.to.as_deref() } else { Some(packet.from.as_str()) };
        end == Some(self.definition.left.as_str())
    }

    fn is_between(&self, packet: &LadderPacket) -> bool {
        self.definition.between.as_deref() == Some(packet.from.as_str())
    }

    fn middle_x(&self) -> f64 {
        f64::midpoint(self.area.x, self.area.right())
    }

    fn end_x(&self, left: bool) -> f64 {
        if left { self.area.x } else { self.area.right() }
    }

    fn side(&self, left: bool) -> Vec<LadderLabel> {
        let own =
            self.packets.iter().filter(|packet| self.is_left(packet) == left && packet.t_s >= self.from_s);
        labels::joined(own.map(|packet| (*packet, self.y(packet.t_s))))
    }

    /// Part of its way after which a lost packet has its cross: within the shortest band in which it left, as
    /// that of a link which is down; behind the middle at most, as nobody knows where it was lost. Where a
    /// node stands between the ends, on its side of that.
    fn lost_share(&self, packet: &LadderPacket, usual_s: f64) -> f64 {
        if let Some(share) = self.side_share(packet) {
            return share;
        }
        let covering = self.bands.iter().filter(|band| (band.from_s..band.to_s).contains(&packet.t_s));
        let left_s = covering.map(|band| band.to_s - packet.t_s).fold(f64::INFINITY, f64::min);
        (0.75 * left_s / usual_s).min(0.62)
    }

    /// Part of its way after which a packet of an end was lost, where a node stands in the middle and the
    /// link is known: behind the middle of that link.
    fn side_share(&self, packet: &LadderPacket) -> Option<f64> {
        let (lost, _) = packet.lost_between.as_ref().zip(self.definition.between.as_ref())?;
        let is_near = lost.contains(&packet.from);
        (!self.is_between(packet)).then_some(if is_near { 0.31 } else { 0.81 })
    }

    /// The usual way of a packet that arrived from this end, for those that did not.
    fn usual_delay_s(&self, left: bool) -> f64 {
        let is_own = |packet: &&&LadderPacket| self.is_left(packet) == left && !self.is_between(packet);
        let own = self.packets.iter().filter(is_own);
        let mut delays: Vec<f64> = own.filter_map(|packet| Some(packet.arrived_s? - packet.t_s)).collect();
        delays.sort_by(f64::total_cmp);
        delays.get(delays.len() / 2).copied().unwrap_or((self.to_s - self.from_s) / 20.0)
    }
}

/// Draws the diagram that `definition` asks for under `title`.
///
/// # Errors
/// Nothing to show; a packet from neither end; more than [`MAX_PACKETS`] packets.
pub(crate) fn scene(
    id: &str,
    title: &str,
    definition: &LadderDefinition,
    ladder: &Ladder,
) -> Result<Scene, ReportError> {
    let mut layout = shown(definition, ladder).map_err(|message| ReportError::item(id, message))?;
    let height = definition.height.unwrap_or(560.0).clamp(200.0, 4000.0);
    layout.area.height = height;
    // Once more with the height that the labels of the fuller side need.
    let lines = layout.side(true).len().max(layout.side(false).len()) as f64;
    layout.area.height = height.max(lines * LINE + LINE).max(map::height(&layout.map));
    let widest = |labels: &[LadderLabel]| {
        labels
            .iter()
            .map(|label| text_width(&label.text, SIZE, false))
            .fold(0.0, f64::max)
            .min(MAX_LABEL_WIDTH)
    };
    let (left, right) = (layout.side(true), layout.side(false));
    let (left_width, right_width) = (widest(&left), widest(&right));
    layout.area.x = MARGIN + 62.0 + left_width + 22.0;
    let bands = if layout.bands.is_empty() { 0.0 } else { BAND_COLUMN };
    let map_width = if layout.map.is_empty() { 0.0 } else { map::width(&layout.map) + 10.0 };
    let beside = layout.area.right() + 22.0 + right_width + 14.0;
    let width = (beside + bands + map_width + MARGIN).max(560.0);
    let title_lines = wrapped(title, TITLE_SIZE, true, width - 2.0 * MARGIN, 2);
    layout.area.y = MARGIN + title_lines.len() as f64 * TITLE_SIZE * 1.3 + 62.0;
    let mut scene = Scene::new(width, layout.area.bottom() + 2.0 * MARGIN, title);
    for (i, text) in title_lines.iter().enumerate() {
        let at = (width / 2.0, MARGIN + (i as f64 + 0.85) * TITLE_SIZE * 1.3);
        scene.text(at, text, TITLE_SIZE, Anchor::Middle).bold = true;
    }
    draw_legend(&mut scene, &layout);
    draw_bands(&mut scene, &layout, beside);
    draw_time(&mut scene, &layout);
    draw_packets(&mut scene, &layout);
    draw_labels(&mut scene, &layout, true);
    draw_labels(&mut scene, &layout, false);
    if !layout.map.is_empty() {
        map::draw(&mut scene, &layout.map, beside + bands, layout.area, |at_s| layout.y(at_s));
    }
    Ok(scene)
}

fn shown<'a>(definition: &'a LadderDefinition, ladder: &'a Ladder) -> Result<Layout<'a>, String> {
    let ends = [&definition.left, &definition.right].into_iter().chain(&definition.between);
    let ends: Vec<&String> = ends.collect();
    if let Some(packet) = ladder.packets.iter().find(|packet| !ends.contains(&&packet.from)) {
        return Err(format!("a packet comes from '{}'; the ends are {}", packet.from, listed(&ends)));
    }
    let last = |packet: &LadderPacket| packet.arrived_s.unwrap_or(packet.t_s);
    let first_s = ladder.packets.iter().map(|packet| packet.t_s).fold(f64::INFINITY, f64::min);
    let last_s = ladder.packets.iter().map(last).fold(f64::NEG_INFINITY, f64::max);
    let (from_s, to_s) = (definition.from_s.unwrap_or(first_s), definition.to_s.unwrap_or(last_s));
    let (low, high) = (from_s, to_s);
    let within = |start: f64, end: f64| start <= high && end >= low;
    let packets: Vec<&LadderPacket> =
        ladder.packets.iter().filter(|packet| within(packet.t_s, last(packet))).collect();
    if packets.is_empty() || from_s >= to_s {
        return Err(format!(
            "no packet between {from_s} s and {to_s} s; the file has {first_s} s to {last_s} s"
        ));
    }
    if packets.len() > MAX_PACKETS {
        let count = packets.len();
        return Err(format!(
            "{count} packets; at most {MAX_PACKETS} are legible: choose from_s and to_s closer"
        ));
    }
    let bands = ladder.bands.iter().filter(|band| within(band.from_s, band.to_s)).collect();
    let map = ladder.map.iter().filter(|state| definition.map && within(state.at_s, state.at_s)).collect();
    let area = Rect { x: 0.0, y: 0.0, width: BETWEEN, height: 0.0 };
    Ok(Layout { definition, packets, bands, map, from_s, to_s, area })
}

fn draw_legend(scene: &mut Scene, layout: &Layout<'_>) {
    let mut kinds: Vec<PacketKind> = layout.packets.iter().map(|packet| packet.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let lost = layout.packets.iter().any(|packet| packet.arrived_s.is_none());
    let width = |name: &str| 36.0 + text_width(name, 12.0, false) + 18.0;
    let total: f64 = kinds.iter().map(|kind| width(look::name(*kind))).sum::<f64>()
        + if lost { width("lost") } else { 0.0 };
    let mut x = (scene.width - total) / 2.0;
    let y = layout.area.y - 48.0;
    for kind in kinds {
        let stroke = look::stroke(kind);
        scene.line((x, y), (x + 28.0, y), stroke);
        scene.items.extend(look::head((x, y), (x + 30.0, y), stroke.color));
        scene.text((x + 36.0, y + 4.2), look::name(kind), 12.0, Anchor::Start);
        x += width(look::name(kind));
    }
    if lost {
        scene.items.extend(look::cross((x + 22.0, y)));
        scene.text((x + 36.0, y + 4.2), "lost", 12.0, Anchor::Start);
    }
}

fn draw_bands(scene: &mut Scene, layout: &Layout<'_>, column: f64) {
    let area = layout.area;
    let mut lines: Vec<(f64, Vec<String>, f64, f64)> = Vec::new();
    for (i, band) in layout.bands.iter().enumerate() {
        let top = layout.y(band.from_s.max(layout.from_s));
        let bottom = layout.y(band.to_s.min(layout.to_s));
        let rect = Rect { y: top, height: (bottom - top).max(1.0), ..area };
        scene.items.push(rectangle(rect, Some(BANDS[i % BANDS.len()]), None));
        let text = wrapped(&band.band, SIZE, false, BAND_COLUMN - 26.0, 3);
        lines.push((f64::midpoint(top, bottom), text, top, bottom));
    }
    let mut free = area.y;
    for (middle, text, top, bottom) in lines {
        let height = text.len() as f64 * LINE;
        let start = (middle - height / 2.0).max(free);
        free = start + height + 4.0;
        let bracket = Stroke::solid(Color::SOFT, 1.0);
        scene.line((column, top + 1.0), (column, bottom - 1.0), bracket);
        for y in [top + 1.0, bottom - 1.0] {
            scene.line((column - 4.0, y), (column, y), bracket);
        }
        if (start + height / 2.0 - middle).abs() > 2.0 {
            scene.line((column, middle), (column + 8.0, start + height / 2.0), LEADER);
        }
        for (i, line) in text.into_iter().enumerate() {
            scene.text((column + 11.0, start + LINE * (i as f64 + 0.8)), line, SIZE, Anchor::Start);
        }
    }
}

fn draw_time(scene: &mut Scene, layout: &Layout<'_>) {
    let area = layout.area;
    let axis = MARGIN + 58.0;
    let scale = Scale { from: layout.from_s, to: layout.to_s, log: false };
    scene.line((axis, area.y), (axis, area.bottom()), Stroke::solid(Color::SOFT, 1.0));
    for tick in scale.ticks((area.height / 55.0) as usize) {
        let y = layout.y(tick.at);
        scene.line((axis - 5.0, y), (axis, y), Stroke::solid(Color::SOFT, 1.0));
        scene.line((area.x, y), (area.right(), y), Stroke::solid(Color::GRID, 1.0));
        if let Some(ticks::TickLabel::Plain(text)) = tick.label {
            scene.text((axis - 8.0, y + 4.0), text, SIZE, Anchor::End);
        }
    }
    let at = (MARGIN + 14.0, area.y + area.height / 2.0);
    scene.text(at, "Time (s)", 12.5, Anchor::Middle).turned = -90.0;
    let definition = layout.definition;
    let ends = [(layout.end_x(true), &definition.left), (layout.end_x(false), &definition.right)];
    let between = definition.between.iter().map(|name| (layout.middle_x(), name));
    for (x, name) in ends.into_iter().chain(between) {
        scene.line((x, area.y - 6.0), (x, area.bottom() + 6.0), LIFE);
        scene
            .text((x, area.y - 13.0), ellipsized(name, 13.0, true, BETWEEN - 20.0), 13.0, Anchor::Middle)
            .bold = true;
    }
}

fn draw_packets(scene: &mut Scene, layout: &Layout<'_>) {
    let usual = [layout.usual_delay_s(false), layout.usual_delay_s(true)];
    let mut items: Vec<Item> = Vec::new();
    for packet in &layout.packets {
        let left = layout.is_left(packet);
        let stroke = look::stroke(packet.kind);
        let (from_x, to_x) = if layout.is_between(packet) {
            (layout.middle_x(), layout.end_x(left))
        } else {
            (layout.end_x(left), layout.end_x(!left))
        };
        let start: Point = (from_x, layout.y(packet.t_s));
        let arrival = packet.arrived_s.unwrap_or(packet.t_s + usual[usize::from(left)]);
        let end: Point = (to_x, layout.y(arrival));
        if packet.arrived_s.is_some() {
            items.push(line(start, end, stroke));
            items.extend(look::head(start, end, stroke.color));
        } else {
            let share = layout.lost_share(packet, usual[usize::from(left)]);
            let end = (start.0 + (end.0 - start.0) * share, start.1 + (end.1 - start.1) * share);
            items.push(line(start, end, stroke));
            items.extend(look::cross(end));
        }
    }
    let area = layout.area;
    let to = Rect { x: area.x - 1.0, y: area.y - 6.0, width: area.width + 2.0, height: area.height + 12.0 };
    scene.items.push(Item::Clipped { to, items });
}

fn draw_labels(scene: &mut Scene, layout: &Layout<'_>, left: bool) {
    let labels = layout.side(left);
    let mut places: Vec<f64> = labels.iter().map(|label| label.y).collect();
    spread(&mut places, LINE, layout.area.y, layout.area.bottom());
    let (x, away, anchor) =
        if left { (layout.area.x, -1.0, Anchor::End) } else { (layout.area.right(), 1.0, Anchor::Start) };
    for (label, place) in labels.iter().zip(places) {
        let text = ellipsized(&label.text, SIZE, false, MAX_LABEL_WIDTH);
        let color = look::stroke(label.kind).color;
        scene.text((x + away * 20.0, place + SIZE * 0.36), text, SIZE, anchor).color = color;
        if label.to > label.from {
            scene.line((x + away * 5.0, label.from), (x + away * 5.0, label.to), LEADER);
        }
        scene.line((x + away * 5.0, label.y), (x + away * 17.0, place), LEADER);
    }
}

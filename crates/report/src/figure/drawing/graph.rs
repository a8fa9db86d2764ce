//! Graphs: boxes at the places that the definition gives, joined by lines.

use std::collections::BTreeMap;

use super::{DrawingDefinition, Node, NodeKind, Way};
use crate::figure::ladder::head;
use crate::scene::{Anchor, Color, Item, Point, Rect, Scene, Stroke, rectangle, text_width, wrapped};

const MARGIN: f64 = 18.0;
const TITLE_SIZE: f64 = 16.0;
const NAME_SIZE: f64 = 12.5;
const SIZE: f64 = 11.0;
const LINE: f64 = 14.0;
/// Room between a box and its text.
const PADDING: f64 = 8.0;
const EDGE: Stroke = Stroke::solid(Color::INK, 1.3);
const WAY: Stroke = Stroke::solid(Color::SOFT, 1.3);
const STATE: Color = Color::solid(0xea, 0xf3, 0xfa);
const ROUTER: Color = Color::solid(0xe8, 0xea, 0xed);

/// Draws nodes and ways.
///
/// # Errors
/// In words: a node without a place, or what is placed and is not there.
pub(super) fn scene(
    title: &str,
    definition: &DrawingDefinition,
    nodes: &[Node],
    ways: &[Way],
) -> Result<Scene, String> {
    check(definition, nodes, ways)?;
    let (cell_x, cell_y) = definition.cell;
    let at = |place: &(f64, f64)| (place.0 * cell_x, place.1 * cell_y);
    let boxes: BTreeMap<&str, Rect> = nodes
        .iter()
        .filter_map(|node| Some((node.name.as_str(), area(node, at(definition.places.get(&node.name)?)))))
        .collect();
    let mut shapes = Shapes::default();
    for way in joined(ways) {
        let (Some(from), Some(to)) = (boxes.get(way.from.as_str()), boxes.get(way.to.as_str())) else {
            continue; // both were checked
        };
        let name = way.name();
        let bends = definition.bends.get(&name).into_iter().flatten().map(at);
        let points: Vec<Point> = std::iter::once(middle(from)).chain(bends).chain([middle(to)]).collect();
        let points = clipped(points, from, to);
        let label = definition.labels.get(&name).map(at);
        shapes.add_way(&way, points, label);
    }
    for node in nodes {
        shapes.add_node(node, boxes[node.name.as_str()]);
    }
    Ok(shapes.scene(title))
}

fn check(definition: &DrawingDefinition, nodes: &[Node], ways: &[Way]) -> Result<(), String> {
    let is_node = |name: &String| nodes.iter().any(|node| node.name == *name);
    if let Some(node) = nodes.iter().find(|node| !definition.places.contains_key(&node.name)) {
        return Err(format!("'{}' has no place: name it in drawing.places", node.name));
    }
    if let Some(name) = definition.places.keys().find(|name| !is_node(name)) {
        return Err(format!("drawing.places has '{name}', which is not in the drawing"));
    }
    if let Some(way) = ways.iter().find(|way| !is_node(&way.from) || !is_node(&way.to)) {
        return Err(format!("the way {} has an end that is no node", way.name()));
    }
    let named = definition.bends.keys().chain(definition.labels.keys());
    match named.into_iter().find(|name| !ways.iter().any(|way| way.name() == **name)) {
        Some(name) => Err(format!("drawing.bends or drawing.labels has '{name}', which is no way")),
        None => Ok(()),
    }
}

/// Ways, those between the same nodes as one.
fn joined(ways: &[Way]) -> Vec<Way> {
    let mut all: Vec<Way> = Vec::new();
    for way in ways {
        match all.iter_mut().find(|other| other.name() == way.name()) {
            Some(other) => other.lines.extend(way.lines.iter().cloned()),
            None => all.push(way.clone()),
        }
    }
    all
}

/// Box of a node around `center`.
fn area(node: &Node, center: Point) -> Rect {
    let lines = node.lines.iter().map(|line| text_width(line, SIZE, false));
    let width = lines.fold(text_width(&node.name, NAME_SIZE, true), f64::max) + 2.0 * PADDING;
    let height = NAME_SIZE * 1.2 + node.lines.len() as f64 * LINE + 2.0 * PADDING;
    Rect { x: center.0 - width / 2.0, y: center.1 - height / 2.0, width, height }
}

fn middle(rect: &Rect) -> Point {
    (rect.x + rect.width / 2.0, rect.y + rect.height / 2.0)
}

/// The way without its parts within the boxes at its ends.
fn clipped(mut points: Vec<Point>, from: &Rect, to: &Rect) -> Vec<Point> {
    let last = points.len() - 1;
    points[0] = leaving(from, points[1]);
    points[last] = leaving(to, points[last - 1]);
    points
}

/// Point at which the line from a box's middle towards `point` leaves the box.
fn leaving(rect: &Rect, point: Point) -> Point {
    let (x, y) = middle(rect);
    let (dx, dy) = (point.0 - x, point.1 - y);
    let share =
        |half: f64, distance: f64| if distance == 0.0 { f64::INFINITY } else { half / distance.abs() };
    let share = share(rect.width / 2.0, dx).min(share(rect.height / 2.0, dy)).min(1.0);
    (x + dx * share, y + dy * share)
}

/// Middle of the longest part of a way.
fn halfway(points: &[Point]) -> Point {
    let length = |pair: &[Point]| libm::hypot(pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
    let longest = points.windows(2).max_by(|a, b| length(a).total_cmp(&length(b)));
    longest
        .map_or((0.0, 0.0), |pair| (f64::midpoint(pair[0].0, pair[1].0), f64::midpoint(pair[0].1, pair[1].1)))
}

/// Shapes, and the area that they take.
#[derive(Default)]
struct Shapes {
    lines: Vec<Item>,
    boxes: Vec<Item>,
    /// (baseline, text, size, bold, colour), in the middle.
    texts: Vec<(Point, String, f64, bool, Color)>,
    labels: Vec<Rect>,
    corners: Vec<Point>,
}

impl Shapes {
    fn add_way(&mut self, way: &Way, points: Vec<Point>, label: Option<Point>) {
        self.corners.extend(&points);
        let at = label.unwrap_or_else(|| halfway(&points));
        if let (true, [.., before, end]) = (way.directed, &points[..]) {
            self.lines.extend(head(*before, *end, WAY.color));
        }
        self.lines.push(Item::Lines { points, closed: false, fill: None, stroke: Some(WAY) });
        if way.lines.is_empty() {
            return;
        }
        let width = way.lines.iter().map(|line| text_width(line, SIZE, false)).fold(0.0, f64::max) + 6.0;
        let height = way.lines.len() as f64 * LINE;
        let rect = Rect { x: at.0 - width / 2.0, y: at.1 - height / 2.0, width, height };
        self.labels.push(rect);
        self.corners.extend([(rect.x, rect.y), (rect.right(), rect.bottom())]);
        for (i, line) in way.lines.iter().enumerate() {
            let baseline = (at.0, rect.y + LINE * (i as f64 + 0.78));
            self.texts.push((baseline, line.clone(), SIZE, false, Color::INK));
        }
    }

    fn add_node(&mut self, node: &Node, rect: Rect) {
        self.corners.extend([(rect.x, rect.y), (rect.right(), rect.bottom())]);
        match node.kind {
            NodeKind::State => self.boxes.push(rounded(rect, 9.0, STATE)),
            NodeKind::Host => self.boxes.push(rectangle(rect, Some(Color::WHITE), Some(EDGE))),
            NodeKind::Router => self.boxes.push(rectangle(rect, Some(ROUTER), Some(EDGE))),
            NodeKind::Text => {}
        }
        let x = middle(&rect).0;
        let name = (x, rect.y + PADDING + NAME_SIZE * 0.92);
        self.texts.push((name, node.name.clone(), NAME_SIZE, true, Color::INK));
        for (i, line) in node.lines.iter().enumerate() {
            let baseline = (x, rect.y + PADDING + NAME_SIZE * 1.2 + LINE * (i as f64 + 0.8));
            self.texts.push((baseline, line.clone(), SIZE, false, Color::SOFT));
        }
    }

    /// Picture of them, moved into its frame.
    fn scene(self, title: &str) -> Scene {
        let least = |of: fn(&Point) -> f64| self.corners.iter().map(of).fold(f64::INFINITY, f64::min);
        let most = |of: fn(&Point) -> f64| self.corners.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        let ((left, right), (top, bottom)) =
            ((least(|p| p.0), most(|p| p.0)), (least(|p| p.1), most(|p| p.1)));
        let width = (right - left).max(text_width(title, TITLE_SIZE, true).min(700.0)) + 2.0 * MARGIN;
        let heading = wrapped(title, TITLE_SIZE, true, width - 2.0 * MARGIN, 2);
        let above = MARGIN + heading.len() as f64 * TITLE_SIZE * 1.3 + 12.0;
        let mut scene = Scene::new(width, above + bottom - top + MARGIN, title);
        for (i, line) in heading.iter().enumerate() {
            let baseline = MARGIN + (i as f64 + 0.85) * TITLE_SIZE * 1.3;
            scene.text((width / 2.0, baseline), line, TITLE_SIZE, Anchor::Middle).bold = true;
        }
        let by = ((width - (right - left)) / 2.0 - left, above - top);
        scene.items.extend(self.lines.into_iter().map(|item| moved(item, by)));
        for label in self.labels {
            let at = Rect { x: label.x + by.0, y: label.y + by.1, ..label };
            scene.items.push(rectangle(at, Some(Color::WHITE), None));
        }
        scene.items.extend(self.boxes.into_iter().map(|item| moved(item, by)));
        for (at, text, size, bold, color) in self.texts {
            let text = scene.text((at.0 + by.0, at.1 + by.1), text, size, Anchor::Middle);
            (text.bold, text.color) = (bold, color);
        }
        scene
    }
}

/// Lines, moved.
fn moved(item: Item, by: Point) -> Item {
    match item {
        Item::Lines { points, closed, fill, stroke } => {
            let points = points.into_iter().map(|(x, y)| (x + by.0, y + by.1)).collect();
            Item::Lines { points, closed, fill, stroke }
        }
        other => other,
    }
}

/// Box with round corners.
fn rounded(rect: Rect, radius: f64, fill: Color) -> Item {
    const STEPS: usize = 6;
    let centers = [
        (rect.right() - radius, rect.y + radius, -90.0),
        (rect.right() - radius, rect.bottom() - radius, 0.0),
        (rect.x + radius, rect.bottom() - radius, 90.0),
        (rect.x + radius, rect.y + radius, 180.0),
    ];
    let corner = |(x, y, from): (f64, f64, f64)| {
        (0..=STEPS).map(move |step| {
            let angle = (from + 90.0 * step as f64 / STEPS as f64).to_radians();
            (x + radius * libm::cos(angle), y + radius * libm::sin(angle))
        })
    };
    let points = centers.into_iter().flat_map(corner).collect();
    Item::Lines { points, closed: true, fill: Some(fill), stroke: Some(EDGE) }
}

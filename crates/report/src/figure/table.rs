//! Tables as pictures: a row for each series at each place, a column for each panel, published values beside
//! the measured ones.

use super::definition::{FigureDefinition, PanelDefinition};
use super::select::{Datum, PanelData};
use super::ticks::plain;
use crate::scene::{Anchor, Color, Scene, Stroke, text_width, wrapped};
use crate::table::with_interval;

const SIZE: f64 = 13.5;
const TITLE_SIZE: f64 = 16.0;
const MARGIN: f64 = 14.0;
const ROW: f64 = 22.0;
const LINE: f64 = SIZE * 1.3;
/// Room between columns.
const GAP: f64 = 30.0;
/// Room between a value and its interval.
const SPACE: f64 = 4.0;
const EDGE: Stroke = Stroke::solid(Color::INK, 1.4);
const RULE: Stroke = Stroke::solid(Color::INK, 0.7);

/// Column of values.
struct Column {
    /// Lines of the heading.
    heading: Vec<String>,
    /// Widest value, up to where intervals begin, and widest interval.
    width: (f64, f64),
    /// (value, interval) of each row that has one.
    cells: Vec<Option<(String, String)>>,
    color: Color,
}

/// Row: the name of a place, or a series at it.
enum Row<'a> {
    Place(&'a str),
    Series { place: f64, name: &'a str },
}

/// Picture of a table.
pub(super) fn scene(definition: &FigureDefinition, panels: &[PanelData]) -> Scene {
    let rows = rows(panels);
    let columns: Vec<Column> = definition
        .panels()
        .zip(panels)
        .flat_map(|(panel, data)| [Some(measured(panel, data, &rows)), published(panel, &rows)])
        .flatten()
        .collect();
    let name = |row: &Row<'_>| match row {
        Row::Place(name) => text_width(name, SIZE, true),
        Row::Series { name, .. } => text_width(name, SIZE, false) + SIZE,
    };
    let names = rows.iter().map(name).fold(60.0, f64::max);
    let width = MARGIN * 2.0 + names + columns.iter().map(|column| GAP + column.whole()).sum::<f64>();
    let title = wrapped(&definition.title, TITLE_SIZE, true, width - 2.0 * MARGIN, 3);
    let lines = columns.iter().map(|column| column.heading.len()).max().unwrap_or(1) as f64;
    let top = MARGIN + title.len() as f64 * TITLE_SIZE * 1.3 + 8.0;
    let body = top + lines * LINE + 10.0;
    let bottom = body + rows.len() as f64 * ROW + 6.0;
    let mut scene = Scene::new(width, bottom + MARGIN, &definition.title);
    for (i, line) in title.iter().enumerate() {
        let baseline = MARGIN + (i as f64 + 0.85) * TITLE_SIZE * 1.3;
        scene.text((MARGIN, baseline), line, TITLE_SIZE, Anchor::Start).bold = true;
    }
    for (y, stroke) in [(top, EDGE), (body - 2.0, RULE), (bottom, EDGE)] {
        scene.line((MARGIN, y), (width - MARGIN, y), stroke);
    }
    for (i, row) in rows.iter().enumerate() {
        let y = body + (i as f64 + 0.7) * ROW;
        match row {
            Row::Place(name) => scene.text((MARGIN, y), *name, SIZE, Anchor::Start).bold = true,
            Row::Series { name, .. } => {
                scene.text((MARGIN + SIZE, y), *name, SIZE, Anchor::Start);
            }
        }
    }
    let mut x = MARGIN + names;
    for column in &columns {
        x += GAP;
        column.draw(&mut scene, x, (top + lines * LINE + 2.0, body));
        x += column.whole();
    }
    scene
}

/// Rows of all panels: places in the order of the axis, below each its series in that of the sweep. A single
/// place that has several series is no row: the title says it.
fn rows(panels: &[PanelData]) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    let places: &[String] = panels.first().map_or(&[], |panel| &panel.categories);
    let is_told = places.len() != 1 || panels.iter().all(|panel| panel.curves.len() < 2);
    for (place, name) in places.iter().enumerate() {
        if is_told {
            rows.push(Row::Place(name));
        }
        let place = place as f64;
        let mut there: Vec<&str> = Vec::new();
        for curve in panels.iter().flat_map(|panel| &panel.curves) {
            let is_there = curve.data.iter().any(|datum| datum.x.total_cmp(&place).is_eq());
            if is_there && !there.contains(&curve.name.as_str()) {
                there.push(&curve.name);
            }
        }
        rows.extend(there.into_iter().map(|name| Row::Series { place, name }));
    }
    rows
}

fn measured(panel: &PanelDefinition, data: &PanelData, rows: &[Row<'_>]) -> Column {
    let unit = panel.y.unit.as_ref().filter(|unit| !unit.is_empty());
    let label = panel.title.as_ref().unwrap_or(&panel.y.label);
    let cell = |row: &Row<'_>| {
        let Row::Series { place, name } = row else { return None };
        let curve = data.curves.iter().find(|curve| curve.name == *name)?;
        let datum = curve.data.iter().find(|datum| datum.x.total_cmp(place).is_eq())?;
        Some(shown(datum))
    };
    let unit = unit.map(|unit| format!("({unit})"));
    Column::new(label, unit, rows.iter().map(cell).collect(), Color::INK)
}

/// Published values of a panel; none if it has none. Those at one place have as many digits behind the point
/// as the one with the most.
fn published(panel: &PanelDefinition, rows: &[Row<'_>]) -> Option<Column> {
    let digits = |value: f64| plain(value).split_once('.').map_or(0, |(_, digits)| digits.len());
    let cell = |row: &Row<'_>| {
        let Row::Series { place, name } = row else { return None };
        let at = |points: &[(f64, f64)]| {
            points.iter().find(|(x, _)| x.total_cmp(place).is_eq()).map(|point| point.1)
        };
        let reference = panel.reference.iter().find(|reference| reference.name == *name)?;
        let here = panel.reference.iter().filter_map(|reference| at(&reference.points));
        let most = here.map(digits).max().unwrap_or(0);
        let value = at(&reference.points)?;
        let text = if digits(value) < most { minus(&format!("{value:.most$}")) } else { plain(value) };
        Some((text, String::new()))
    };
    let cells = rows.iter().map(cell).collect();
    (!panel.reference.is_empty()).then(|| Column::new("published", None, cells, Color::SOFT))
}

/// Mean and interval, with the digits that the interval has a meaning for.
fn shown(datum: &Datum) -> (String, String) {
    let text = with_interval(&datum.y);
    match text.split_once(" ± ") {
        Some((mean, half)) => (minus(mean), format!("± {half}")),
        None => (minus(&text), String::new()),
    }
}

fn minus(number: &str) -> String {
    number.replace('-', "−")
}

impl Column {
    fn new(label: &str, unit: Option<String>, cells: Vec<Option<(String, String)>>, color: Color) -> Self {
        let widest = |part: fn(&(String, String)) -> &String| {
            cells.iter().flatten().map(|cell| text_width(part(cell), SIZE, false)).fold(0.0, f64::max)
        };
        let (value, interval) = (widest(|cell| &cell.0), widest(|cell| &cell.1));
        let interval = if interval > 0.0 { interval + SPACE } else { 0.0 };
        let mut heading = wrapped(label, SIZE, true, (value + interval).max(124.0), 3);
        heading.extend(unit);
        Self { heading, width: (value, interval), cells, color }
    }

    fn whole(&self) -> f64 {
        let heading = self.heading.iter().map(|line| text_width(line, SIZE, true)).fold(0.0, f64::max);
        heading.max(self.width.0 + self.width.1)
    }

    /// Draws the column from `x` on: the heading's last line on the baseline `heading`, rows from `body` on.
    fn draw(&self, scene: &mut Scene, x: f64, (heading, body): (f64, f64)) {
        let right = x + self.whole();
        for (i, line) in self.heading.iter().rev().enumerate() {
            let text = scene.text((right, heading - i as f64 * LINE), line, SIZE, Anchor::End);
            (text.bold, text.color) = (true, self.color);
        }
        let split = right - self.width.1;
        for (i, cell) in self.cells.iter().enumerate() {
            let Some((value, interval)) = cell else { continue };
            let y = body + (i as f64 + 0.7) * ROW;
            scene.text((split, y), value, SIZE, Anchor::End).color = self.color;
            scene.text((split + SPACE, y), interval, SIZE, Anchor::Start).color = Color::SOFT;
        }
    }
}

//! Drawings: what is read, what is refused, and what becomes of it on the paper.

use super::Drawing;
use crate::figure::Figure;
use crate::figure::definition::{Definitions, FigureDefinition};
use crate::scene::Item;

const GRAPH: &str = r#"{"drawing":"graph","nodes":[{"name":"A","kind":"state","lines":["timer"]},
{"name":"B","kind":"state"}],"ways":[{"from":"A","to":"B","lines":["x / y"],"directed":true},
{"from":"A","to":"B","lines":["z"],"directed":true}]}"#;
const FORMATS: &str = r#"{"drawing":"formats","formats":[{"name":"head","remark":"12 octets",
"fields":[{"name":"one","bits":16},{"name":"two","bits":48},{"name":"long","bits":64},{"name":"data","bits":null}]},
{"name":"bare","fields":[]}]}"#;

fn definition(places: &str) -> FigureDefinition {
    let text = format!(
        "[[figure]]\nid = \"D\"\ntitle = \"t\"\ntype = \"drawing\"\ndrawing = {{ file = \"d/drawing.json\"{places} }}\n"
    );
    Definitions::parse(&text, "d").unwrap().figures.remove(0)
}

fn drawn(places: &str, drawing: &str) -> Result<Figure, String> {
    let drawing = Drawing::parse(drawing, "d").map_err(|error| error.to_string())?;
    Figure::from_drawing(&definition(places), drawing).map_err(|error| error.to_string())
}

fn texts(figure: &Figure) -> Vec<String> {
    let items = figure.scene().unwrap().items;
    let text = |item: Item| if let Item::Text(text) = item { Some(text.text) } else { None };
    items.into_iter().filter_map(text).collect()
}

#[test]
fn a_graph_shows_its_nodes_and_joins_what_leads_the_same_way() {
    let figure = drawn(", places = { A = [0, 0], B = [1, 1] }", GRAPH).unwrap();
    for text in ["A", "timer", "B", "x / y", "z"] {
        assert!(texts(&figure).contains(&text.to_owned()), "{text}");
    }
    let is_head =
        |item: &&Item| matches!(item, Item::Lines { points, closed: true, .. } if points.len() == 4);
    assert_eq!(figure.scene().unwrap().items.iter().filter(is_head).count(), 2, "one head, and one label");
    assert!(figure.to_svg().is_ok() && figure.to_png(1.0).is_ok() && figure.to_pdf().is_ok());
}

/// A state that somebody adds makes the picture fail rather than vanish.
#[test]
fn what_has_no_place_and_what_is_placed_but_not_there_are_errors() {
    for (places, words) in [
        (", places = { A = [0, 0] }", "'B' has no place"),
        (", places = { A = [0, 0], B = [1, 1], C = [2, 2] }", "'C', which is not in the drawing"),
        (
            ", places = { A = [0, 0], B = [1, 1] }, bends = { \"B to A\" = [[0, 1]] }",
            "'B to A', which is no way",
        ),
        (
            ", places = { A = [0, 0], B = [1, 1] }, labels = { \"B to A\" = [0, 1] }",
            "'B to A', which is no way",
        ),
    ] {
        let error = drawn(places, GRAPH).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    assert!(drawn("", "{\"drawing\":\"graph\"}").is_err());
}

#[test]
fn formats_have_rows_of_32_bits() {
    let figure = drawn("", FORMATS).unwrap();
    let texts = texts(&figure);
    let count = |name: &str| texts.iter().filter(|text| *text == name).count();
    assert_eq!([count("one"), count("two"), count("long"), count("data"), count("bare")], [1, 2, 1, 1, 1]);
    let boxes = figure.scene().unwrap().items.into_iter().filter_map(|item| match item {
        Item::Lines { points, closed: true, stroke: Some(_), .. } => Some(points),
        _ => None,
    });
    let widths: Vec<f64> = boxes.map(|points| (points[1].0 - points[0].0) / super::formats::BIT).collect();
    assert_eq!(widths, [16.0, 16.0, 32.0, 32.0, 32.0]);
}

#[test]
fn parts_are_named_as_claims_name_them() {
    let graph = Drawing::parse(GRAPH, "d").unwrap().parts();
    assert_eq!(graph, ["A", "A: timer", "B", "A to B", "A to B: x / y", "A to B", "A to B: z"]);
    let formats = Drawing::parse(FORMATS, "d").unwrap().parts();
    assert_eq!(formats[..4], ["head", "head: 16 octets", "head: one, 16 bits", "head: two, 48 bits"]);
    assert_eq!(formats[4..], ["head: long, 64 bits", "head: data", "bare", "bare: 0 octets"]);
}

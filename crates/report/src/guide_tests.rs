//! The guide's examples are read by the code that the guide describes.

use crate::claims::Claims;
use crate::figure::definition::DrawingDefinition;
use crate::figure::drawing::Drawing;
use crate::figure::ladder::parse_events;
use crate::figure::{Definitions, Figure, FigureDefinition, FigureKind};

const GUIDE: &str = include_str!("../../../docs/guide/figures.md");

fn blocks(language: &str) -> Vec<&'static str> {
    let start = format!("```{language}\n");
    GUIDE.split(start.as_str()).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

fn without_places(figure: &FigureDefinition) -> FigureDefinition {
    let bare = |drawing: &DrawingDefinition| DrawingDefinition {
        places: std::collections::BTreeMap::new(),
        bends: std::collections::BTreeMap::new(),
        ..drawing.clone()
    };
    FigureDefinition { drawing: figure.drawing.as_ref().map(bare), ..figure.clone() }
}

#[test]
fn the_examples_of_the_guide_are_read() {
    let [line, ladder, drawing, claim] = blocks("toml")[..] else { panic!("four examples") };
    assert_eq!(Definitions::parse(line, "guide").unwrap().figures[0].panels().count(), 1);
    assert_eq!(Definitions::parse(ladder, "guide").unwrap().figures[0].kind, FigureKind::Ladder);
    assert_eq!(Claims::parse(claim, "guide").unwrap().claims.len(), 1);
    let drawing = Definitions::parse(drawing, "guide").unwrap().figures.remove(0);
    let [events, graph, formats] = blocks("json")[..] else { panic!("three examples") };
    for example in [graph, formats] {
        let figure = if example == graph { drawing.clone() } else { without_places(&drawing) };
        assert!(
            Figure::from_drawing(&figure, Drawing::parse(example, "guide").unwrap()).is_ok(),
            "{example}"
        );
    }
    let events = parse_events(events, "guide").unwrap();
    assert_eq!((events.packets.len(), events.bands.len(), events.map.len()), (2, 1, 1));
}

#[test]
fn the_guide_states_the_bounds_of_the_code() {
    use crate::figure::definition::{MAX_FIGURES, MAX_PANELS};
    let bounds = format!(
        "{} curves a panel, {} points a curve, {MAX_PANELS} panels, {MAX_FIGURES} figures a file",
        crate::figure::MAX_CURVES,
        crate::figure::MAX_POINTS
    );
    assert!(GUIDE.contains(&bounds), "{bounds}");
    assert!(GUIDE.contains(&format!("At most {} parts.", crate::figure::drawing::MAX_PARTS)));
    assert!(GUIDE.contains(&format!("At most {} packets are drawn", crate::figure::ladder::MAX_PACKETS)));
}

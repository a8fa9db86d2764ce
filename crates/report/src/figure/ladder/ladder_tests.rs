use std::fmt::Write as _;

use proptest::prelude::*;

use super::labels::spread;
use super::*;
use crate::figure::pictures_tests::keep;
use crate::figure::{Definitions, Figure};
use crate::scene::{Color, Item};

const DEFINITION: &str = r#"
[[figure]]
id = "X-3"
title = "The phases of a probing cycle"
type = "ladder"
ladder = { events = "events.jsonl", map = true }
"#;

/// A made-up exchange: data in bursts, polls and answers, an outage, then probes. Nothing of it was traced.
fn made_up_events() -> String {
    let mut text = String::new();
    let mut packet = |t_s: f64, from: &str, label: &str, arrives: bool, kind: &str, note: &str| {
        let arrived = if arrives { format!("{:.4}", t_s + 0.1) } else { "null".to_owned() };
        let note = if note.is_empty() { String::new() } else { format!(",\"note\":\"{note}\"") };
        writeln!(
            text,
            "{{\"t_s\":{t_s},\"from\":\"{from}\",\"label\":\"{label}\",\"arrived_s\":{arrived},\"kind\":\"{kind}\"{note}}}"
        )
        .unwrap();
    };
    for i in 0..24 {
        let t_s = 0.004 * f64::from(i);
        packet(t_s, "sender", &format!("SD {i}"), !(12..20).contains(&i), "data", "");
    }
    packet(0.07, "sender", "POLL 3", true, "poll", "");
    packet(0.171, "receiver", "STAT 3", true, "stat", "gaps 12 to 19");
    packet(0.174, "receiver", "USTAT", true, "ustat", "");
    for (i, arrives) in [(0, false), (1, false), (2, true), (3, true)] {
        packet(0.33 + 0.07 * f64::from(i), "sender", &format!("PROBE {i}"), arrives, "probe", "");
        if arrives {
            packet(0.43 + 0.07 * f64::from(i), "receiver", &format!("STAT {}", i + 4), true, "stat", "");
        }
    }
    text += "{\"band\":\"sending\",\"from_s\":0,\"to_s\":0.31}\n{\"band\":\"probing: the link is asked\",\"from_s\":0.31,\"to_s\":0.67}\n";
    text += "{\"map\":[\"reserved\",\"\",\"\",\"\"],\"at_s\":0.33,\"label\":\"start\"}\n";
    text += "{\"map\":[\"reserved\",\"\",\"0.20 s\",\"\"],\"at_s\":0.6699,\"label\":\"answer 1\"}\n";
    text += "{\"map\":[\"reserved\",\"\",\"0.20 s\",\"0.20 s\"],\"at_s\":0.67,\"label\":\"answer 2: end\"}\n";
    text
}

fn drawn(definition: &str, events: &str) -> Result<Figure, crate::ReportError> {
    let definition = Definitions::parse(definition, "d").unwrap().figures.remove(0);
    Figure::from_events(&definition, parse_events(events, "e.jsonl").unwrap())
}

fn refused(line: &str) -> String {
    parse_events(line, "e.jsonl").expect_err("refused").to_string()
}

#[test]
fn pictures_of_a_ladder() {
    let figure = drawn(DEFINITION, &made_up_events()).unwrap();
    let svg = figure.to_svg().unwrap();
    for text in [
        "sender",
        "receiver",
        "SD 0 … SD",
        "STAT 3 (gaps 12 to 19)",
        "probing: the",
        "entry 4",
        "lost",
        "Time (s)",
    ] {
        assert!(svg.contains(text), "{text}");
    }
    keep("ladder", &svg, &figure.to_png(1.5).unwrap());
    let part = DEFINITION.replace("map = true", "from_s = 0.15, to_s = 0.5, left = \"sender\"");
    let figure = drawn(&part, &made_up_events()).unwrap();
    keep("ladder-part", &figure.to_svg().unwrap(), &figure.to_png(1.5).unwrap());
}

/// Heights of the crosses of lost packets, and those between which the band lies.
fn crosses_and_band(events: &str) -> (Vec<f64>, (f64, f64)) {
    let scene = drawn(DEFINITION, events).unwrap().scene().unwrap();
    let red = Color::solid(0xc0, 0x1c, 0x28);
    let clipped = scene
        .items
        .iter()
        .filter_map(|item| if let Item::Clipped { items, .. } = item { Some(items) } else { None });
    let crosses = clipped.flatten().filter_map(|item| match item {
        Item::Lines { points, stroke: Some(stroke), .. } if stroke.color == red => {
            Some(f64::midpoint(points[0].1, points[1].1))
        }
        _ => None,
    });
    let band = scene.items.iter().find_map(|item| match item {
        Item::Lines { points, closed: true, fill: Some(fill), stroke: None }
            if fill.opacity_percent < 100 =>
        {
            Some((points[0].1, points[2].1))
        }
        _ => None,
    });
    (crosses.collect(), band.unwrap())
}

#[test]
fn the_cross_of_a_packet_lies_in_the_short_band_in_which_it_was_lost() {
    let events = "{\"t_s\":0.0,\"from\":\"sender\",\"label\":\"a\",\"arrived_s\":1.0}\n\
                  {\"t_s\":2.0,\"from\":\"sender\",\"label\":\"b\",\"arrived_s\":null}\n\
                  {\"band\":\"link down\",\"from_s\":1.95,\"to_s\":2.05}\n\
                  {\"t_s\":9.0,\"from\":\"sender\",\"label\":\"c\",\"arrived_s\":10.0}\n";
    let (crosses, (top, bottom)) = crosses_and_band(events);
    assert_eq!(crosses.len(), 2, "two strokes");
    assert!(crosses.iter().all(|y| (top..bottom).contains(y)), "{crosses:?} in {top} to {bottom}");
}

/// Beginnings and ends of what is drawn for packets of a router in the middle, across.
#[test]
fn packets_of_a_node_between_the_ends_go_to_either() {
    let events = "{\"t_s\":0.0,\"from\":\"sender\",\"label\":\"a\",\"arrived_s\":1.0}\n\
                  {\"t_s\":2.0,\"from\":\"router\",\"to\":\"sender\",\"label\":\"down\",\"arrived_s\":2.5}\n\
                  {\"t_s\":3.0,\"from\":\"router\",\"to\":\"receiver\",\"label\":\"noisy\",\"arrived_s\":3.5}\n";
    let definition = DEFINITION.replace("map = true", "between = \"router\"");
    let scene = drawn(&definition, events).unwrap().scene().unwrap();
    let clipped = scene
        .items
        .iter()
        .filter_map(|item| if let Item::Clipped { items, .. } = item { Some(items) } else { None });
    let ways: Vec<(f64, f64)> = clipped
        .flatten()
        .filter_map(|item| match item {
            Item::Lines { points, closed: false, .. } if points.len() == 2 => {
                Some((points[0].0, points[1].0))
            }
            _ => None,
        })
        .collect();
    let [(left, right), (from_left, to_left), (from_right, to_right)] = ways[..] else { panic!("{ways:?}") };
    let middle = f64::midpoint(left, right);
    let places = [(from_left, middle), (to_left, left), (from_right, middle), (to_right, right)];
    assert!(places.iter().all(|(at, expected)| (at - expected).abs() < 1e-9), "{ways:?}");
    let error = drawn(DEFINITION, events).unwrap_err().to_string();
    assert!(error.contains("a packet comes from 'router'"), "{error}");
}

/// Places of crosses across, as parts of the way between the ends.
#[test]
fn the_cross_of_a_packet_lies_at_the_side_of_the_node_between_the_ends_on_which_it_was_lost() {
    let packet = |t_s: f64, from: &str, link: &str| {
        format!(
            "{{\"t_s\":{t_s},\"from\":\"{from}\",\"label\":\"a\",\"arrived_s\":null,\"lost_between\":[{link}]}}\n"
        )
    };
    let (near, far) = ("\"sender\",\"router\"", "\"router\",\"receiver\"");
    let definition = DEFINITION.replace("map = true", "between = \"router\"");
    for (from, link, is_left) in
        [("sender", near, true), ("sender", far, false), ("receiver", near, true), ("receiver", far, false)]
    {
        let arrived = "{\"t_s\":9.0,\"from\":\"sender\",\"label\":\"b\",\"arrived_s\":10.0}\n";
        let events = packet(0.0, from, link) + arrived;
        let scene = drawn(&definition, &events).unwrap().scene().unwrap();
        let ways: Vec<(f64, f64)> = scene
            .items
            .iter()
            .filter_map(|item| if let Item::Clipped { items, .. } = item { Some(items) } else { None })
            .flatten()
            .filter_map(|item| match item {
                Item::Lines { points, closed: false, .. } if points.len() == 2 => {
                    Some((points[0].0, points[1].0))
                }
                _ => None,
            })
            .collect();
        let (left, right) = *ways.last().unwrap();
        let lost_at = ways[0].1;
        assert_eq!(lost_at < f64::midpoint(left, right), is_left, "{from} {link}: {ways:?}");
    }
}

#[test]
fn texts_keep_apart_and_inside() {
    let mut places = [0.0, 1.0, 2.0, 50.0, 98.0, 99.0, 100.0];
    spread(&mut places, 10.0, 0.0, 100.0);
    assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 10.0 - 1e-9), "{places:?}");
    assert!(places[6] <= 100.0 && places[0] >= 0.0);
}

#[test]
fn wrong_lines_are_refused_with_their_place() {
    assert!(refused("{\"t_s\":1}").starts_with("e.jsonl:1: neither packet, band nor map: missing field"));
    assert!(
        refused("\n{\"band\":\"x\",\"from_s\":2,\"to_s\":1}")
            .starts_with("e.jsonl:2: its times run backwards")
    );
    assert!(refused("{\"band\":\"x\",\"from_s\":1,\"to_s\":2,\"more\":1}").contains("unknown field `more`"));
    assert!(refused("{\"t_s\":1,\"from\":\"a\",\"label\":\"x\",\"arrived_s\":0.5}").contains("backwards"));
    assert!(refused("nonsense").contains("no JSON"));
}

#[test]
fn what_cannot_be_shown_is_refused() {
    let later = DEFINITION.replace("map = true", "from_s = 5, to_s = 6");
    assert!(
        drawn(&later, &made_up_events()).unwrap_err().to_string().contains("no packet between 5 s and 6 s")
    );
    let other = DEFINITION.replace("map = true", "left = \"ground\"");
    assert!(
        drawn(&other, &made_up_events()).unwrap_err().to_string().contains("the ends are ground, receiver")
    );
    assert!(drawn(DEFINITION, "").unwrap_err().to_string().contains("no packet"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_event_file_panics(
        times in prop::collection::vec((-1e12..1e12_f64, prop::option::of(0.0..1e9_f64)), 1..20),
        text in "\\PC{0,40}",
    ) {
        let _ = parse_events(&text, "x");
        let mut events = String::new();
        for (t_s, delay) in times {
            let arrived = delay.map_or("null".to_owned(), |delay| (t_s + delay).to_string());
            writeln!(events, "{{\"t_s\":{t_s},\"from\":\"sender\",\"label\":\"x\",\"arrived_s\":{arrived}}}").unwrap();
        }
        if let Ok(ladder) = parse_events(&events, "x") {
            let definition = Definitions::parse(DEFINITION, "d").unwrap().figures.remove(0);
            if let Ok(figure) = Figure::from_events(&definition, ladder) {
                let _ = figure.to_png(0.5);
            }
        }
    }
}

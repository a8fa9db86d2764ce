//! `docs/events.md` describes every event, every field and every value.

use alloc::vec::Vec;

const SOURCE: &str = include_str!("event.rs");
const PAGE: &str = include_str!("../../../docs/events.md");

/// The body of `pub enum NAME` in the source.
fn body(name: &str) -> &'static str {
    let opening = alloc::format!("pub enum {name} {{\n");
    let rest = SOURCE.split_once(&opening).unwrap_or_else(|| panic!("no enum {name} in event.rs")).1;
    rest.split_once("\n}").expect("an enum ends").0
}

/// Names at this depth of indentation that begin as `first` says.
fn names(body: &'static str, indent: usize, first: fn(char) -> bool) -> Vec<&'static str> {
    let name = |line: &'static str| {
        let text = line.get(indent..)?;
        let at_depth = line.len() - line.trim_start().len() == indent && text.starts_with(first);
        at_depth.then(|| text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(text))
    };
    body.lines().filter_map(name).collect()
}

/// Text of the page under the heading `### NAME`.
fn section(name: &str) -> &'static str {
    let heading = alloc::format!("\n### {name}\n");
    let rest = PAGE.split_once(&heading);
    let rest = rest.unwrap_or_else(|| panic!("docs/events.md has no heading `### {name}`")).1;
    rest.split_once("\n##").map_or(rest, |(section, _)| section)
}

fn assert_row(section_name: &str, name: &str) {
    let row = alloc::format!("\n| `{name}` |");
    assert!(section(section_name).contains(&row), "docs/events.md, {section_name}: no row for `{name}`");
}

#[test]
fn every_event_has_its_heading_and_every_field_its_row() {
    let body = body("Event");
    let variants = names(body, 4, char::is_uppercase);
    assert!(variants.len() > 10 && variants.contains(&"LinkDrop"), "{variants:?}");
    for variant in &variants {
        let after = body.split_once(&alloc::format!("    {variant} {{\n")).map_or("", |(_, rest)| rest);
        let fields = after.split_once("\n    }").map_or("", |(fields, _)| fields);
        for field in names(fields, 8, char::is_lowercase) {
            assert_row(variant, field);
        }
        section(variant);
    }
}

#[test]
fn every_value_of_a_field_has_its_row() {
    for line in SOURCE.lines() {
        let Some(name) = line.strip_prefix("pub enum ").and_then(|rest| rest.strip_suffix(" {")) else {
            continue;
        };
        if name != "Event" {
            for value in names(body(name), 4, char::is_uppercase) {
                assert_row(name, value);
            }
        }
    }
}

#[test]
fn the_page_names_nothing_that_does_not_exist() {
    let events = PAGE.split_once("\n## The events\n").expect("the page lists events").1;
    for heading in events.lines().filter_map(|line| line.strip_prefix("### ")) {
        let is_variant = names(body("Event"), 4, char::is_uppercase).contains(&heading);
        let is_enum = SOURCE.contains(&alloc::format!("pub enum {heading} {{"));
        assert!(is_variant || is_enum, "docs/events.md describes {heading}, which does not exist");
    }
}

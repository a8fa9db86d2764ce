//! The tables of `docs/spec/stp.md`, sections 8 and 13, list every field of [`Config`] and of
//! [`ProbingConfig`] with its value in both profiles. The fields come from the `Debug` output of the
//! profiles, so a new one cannot be forgotten.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::{Config, ProbingConfig};

const PAGE: &str = include_str!("../../../docs/spec/stp.md");

/// Profiles that both tables are checked against, by the name of the type.
fn profiles() -> [(&'static str, String, String); 2] {
    // What is inside has a table of its own.
    let config = |config: Config| {
        let inner = format!("{:?}", config.probing);
        format!("{config:?}").replace(&inner, if config.probing.is_some() { "on" } else { "off" })
    };
    let probing = |config: ProbingConfig| format!("{config:?}");
    [
        ("Config", config(Config::paper()), config(Config::standard())),
        ("ProbingConfig", probing(ProbingConfig::paper()), probing(ProbingConfig::standard())),
    ]
}

/// Value of every field as `Debug` prints it, without `Some(...)`.
fn fields(text: &str) -> BTreeMap<String, String> {
    let inside = text.split_once('{').and_then(|(_, rest)| rest.rsplit_once('}')).unwrap().0;
    let field = |pair: &str| {
        let (name, value) = pair.split_once(": ").unwrap_or_else(|| panic!("`{pair}` is no field"));
        let value = value.trim();
        let value = value.strip_prefix("Some(").and_then(|v| v.strip_suffix(')')).unwrap_or(value);
        (name.trim().to_string(), value.to_string())
    };
    inside.split(", ").map(field).collect()
}

/// The rows of the table of a type: field, `paper`, `default`.
fn rows(of: &str) -> Vec<(String, String, String)> {
    let header = format!("| field of `{of}` | `paper` | `default` |");
    let table = PAGE.split_once(&header).unwrap_or_else(|| panic!("no table begins with {header}")).1;
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let cells = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        assert!(cells.len() >= 6, "too few cells: {line}");
        (cells[1].trim_matches('`').to_string(), cells[2].to_string(), cells[3].to_string())
    };
    rows.map(cells).collect()
}

/// A cell's value as `Debug` prints it.
fn value(cell: &str, field: &str) -> String {
    let (number, unit) = cell.split_once(' ').unwrap_or((cell, ""));
    let times = |factor: u64| {
        let number: u64 = number.parse().unwrap_or_else(|_| panic!("{field}: `{cell}` is no number"));
        (number * factor).to_string()
    };
    match (number, unit) {
        ("none", "") => "None".to_string(),
        ("unlimited", "") => u32::MAX.to_string(),
        (_, "s") if field.ends_with("_ns") => times(1_000_000_000),
        (_, "ms") if field.ends_with("_ns") => times(1_000_000),
        (_, "MiB") if field.ends_with("_bytes") => times(1 << 20),
        (plain, "") => plain.to_string(),
        _ => panic!("{field}: `{cell}` is not a value that this test can read"),
    }
}

#[test]
fn the_table_of_defaults_lists_every_field_with_its_values() {
    for (of, paper, standard) in profiles() {
        check(of, &fields(&paper), &fields(&standard));
    }
}

fn check(of: &str, paper: &BTreeMap<String, String>, standard: &BTreeMap<String, String>) {
    let mut listed = Vec::new();
    for (field, in_paper, in_default) in rows(of) {
        let known = |profile: &BTreeMap<String, String>| {
            let value = profile.get(&field);
            value.unwrap_or_else(|| panic!("the table lists `{field}`, which {of} does not have")).clone()
        };
        assert_eq!(value(&in_paper, &field), known(paper), "{of}, `{field}`, column `paper`");
        let in_default = if in_default == "=" { &in_paper } else { &in_default };
        assert_eq!(value(in_default, &field), known(standard), "{of}, `{field}`, column `default`");
        assert!(!listed.contains(&field), "the table lists `{field}` twice");
        listed.push(field);
    }
    for field in paper.keys() {
        assert!(listed.contains(field), "docs/spec/stp.md does not list `{field}` of {of}");
    }
}

#[test]
fn an_equals_sign_stands_only_where_the_profiles_agree() {
    for (field, in_paper, in_default) in profiles().iter().flat_map(|(of, _, _)| rows(of)) {
        assert!(in_paper != in_default, "`{field}`: write = for the same value");
    }
}

#[test]
fn a_value_is_read_with_its_unit() {
    assert_eq!(value("10 ms", "a_ns"), "10000000");
    assert_eq!(value("64 MiB", "b_bytes"), "67108864");
    assert_eq!((value("none", "c"), value("OverRtt", "d")), ("None".into(), "OverRtt".into()));
}

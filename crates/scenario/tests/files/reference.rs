//! The reference is what the code says, and the code knows every field of what it configures.

use std::path::Path;

use super::{parse, register};
use skyhaul_scenario::reference;

#[test]
fn the_reference_page_is_what_the_code_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/scenario-reference.md");
    let page = reference(&register());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(there == page, "{path:?} is not what the code says; UPDATE_DOCS=1 makes it anew");
}

#[test]
fn the_example_of_the_reference_is_a_scenario() {
    let page = reference(&register());
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let file = parse("example.toml", example).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(file.points().count(), 1);
}

//! `dimension`, as the built binary does it.
#![allow(clippy::disallowed_methods, reason = "real processes")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;
#[path = "common/pages.rs"]
mod pages;

use common::{Said, run};
use pages::every_command_works;

const PAPER: [&str; 9] =
    ["dimension", "--satellite", "128k", "--wire", "2M", "--pdu", "600B", "--batch", "100"];

fn with(more: &[&str]) -> Said {
    run(&[&PAPER[..], more].concat())
}

/// Value of this name in the object of `--json`.
fn value(said: &Said, name: &str) -> f64 {
    let object: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let rows = object["dimensions"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap()["value"].as_f64().unwrap()
}

#[test]
fn every_command_of_the_page_about_dimensions_works() {
    let page = include_str!("../../../docs/guide/dimension.md");
    every_command_works(page, |_| true, str::to_owned, (4, 0), &[]);
}

/// [PETRA Fig. 4]: 10.01 s with a threshold of two.
#[test]
fn the_papers_set_has_the_papers_values() {
    let said = with(&["--threshold", "2", "--json"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!((value(&said, "utl_timeout_s") - 10.01).abs() < 0.01, "{said:?}");
    assert!((value(&said, "buffer_segments") - 34.0).abs() < 1e-9, "{said:?}");
}

#[test]
fn what_a_value_breaks_is_told_by_the_number_of_its_formula() {
    for (given, words) in [
        (["--threshold", "1"], "(16)"),
        (["--threshold", "20"], "(11)"),
        (["--buffer", "30"], "(19)"),
        (["--utl-timeout", "5s"], "(10)"),
        (["--utl-window", "1"], "(14)"),
        (["--stpp-window", "12"], "(1)"),
    ] {
        let said = with(&given);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.err.contains(words), "{given:?}: {}", said.err);
        assert!(said.out.contains("timeout of the end-to-end layer"), "{said:?}");
    }
}

#[test]
fn sets_that_cannot_be_are_refused_with_a_reason() {
    for (given, words) in [
        (vec!["--satellite", "2M", "--wire", "2M"], "not slower than the wire"),
        (vec!["--satellite", "128k", "--wire", "2M", "--bit-error-rate", "0.4", "--pdu", "600B"], "damaged"),
        (vec!["--satellite", "128k", "--wire", "2M", "--bit-error-rate", "NaN"], "--bit-error-rate"),
        (vec!["--satellite", "128k", "--wire", "2M", "--window", "0"], "window of the segments"),
        (vec!["--satellite", "128k", "--wire", "2M", "--batch", "0"], "segments of a batch"),
        (vec!["--satellite", "128k", "--wire", "2M", "--largest-pdu", "20B"], "--largest-pdu"),
        (
            vec!["--satellite", "128k", "--wire", "2M", "--satellite-rtt", "2h"],
            "round-trip time of the satellite",
        ),
        (vec!["--satellite", "128", "--wire", "2M"], "no unit"),
    ] {
        let said = run(&[&["dimension"], &given[..]].concat());
        assert_eq!(said.code, Some(2), "{given:?}: {said:?}");
        assert!(said.err.contains(words), "{given:?}: {}", said.err);
        assert!(said.out.is_empty() && !said.err.contains("panicked"), "{said:?}");
    }
}

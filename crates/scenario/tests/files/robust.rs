//! Any file gives a scenario or a message.

use proptest::prelude::*;

use super::{load, parse};

/// Words that scenario files are made of, so that what comes out gets further than the first line.
const WORDS: &[&str] = &[
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    ",",
    ".",
    "\"",
    "\n",
    "\n",
    "\n",
    "#",
    "run",
    "nodes",
    "links",
    "routes",
    "transports",
    "flows",
    "sweep",
    "together",
    "metrics",
    "a",
    "b",
    "kind",
    "\"host\"",
    "\"router\"",
    "between",
    "[\"a\", \"b\"]",
    "forward",
    "rate",
    "\"10Mbit/s\"",
    "delay",
    "\"1ms\"",
    "loss",
    "0.5",
    "-1",
    "nan",
    "inf",
    "1e999",
    "999999999999999999999999999999999999999999",
    "0x1F",
    "true",
    "2026-01-01",
    "workload",
    "\"bulk\"",
    "size",
    "\"1MB\"",
    "duration",
    "goal",
    "\"done\"",
    "probing",
    "channel",
    "outages",
    "outages_every",
    "preset",
    "\"geo\"",
    "trace",
    "trace_repeats",
    "\"t.csv\"",
];

const BASE: &str = include_str!("../../../../scenarios/scps.toml");

proptest! {
    #[test]
    fn words_in_any_order_never_panic(words in prop::collection::vec(prop::sample::select(WORDS), 0..60)) {
        let text = words.join(" ");
        if let Err(error) = parse("f.toml", &text) {
            prop_assert!(error.place.starts_with("f.toml:"), "{error}");
        }
    }

    #[test]
    fn any_text_never_panics(text in ".{0,200}") {
        let _ = parse("f.toml", &text);
    }

    #[test]
    fn a_scenario_with_a_piece_torn_out_or_put_elsewhere_never_panics(
        from in 0..BASE.len(), length in 0..80usize, to in 0..BASE.len(), word in prop::sample::select(WORDS),
    ) {
        let piece = BASE.get(from..(from + length).min(BASE.len())).unwrap_or_default();
        let mut text = BASE.to_string();
        if text.is_char_boundary(to) {
            text.insert_str(to, word);
        }
        let _ = parse("f.toml", &text.replacen(piece, "", 1));
        if text.is_char_boundary(to) {
            text.insert_str(to, piece);
        }
        let _ = parse("f.toml", &text);
    }

    #[test]
    fn no_override_panics(
        keys in prop::collection::vec(prop::sample::select(WORDS), 1..6),
        value in prop::sample::select(WORDS),
    ) {
        let _ = load("f.toml", BASE, &[(keys.join("."), value.to_string())]);
    }
}

/// Deeper than anybody nests, within the largest file.
#[test]
fn depth_does_not_overflow_the_stack() {
    for (open, close) in [("[", "]"), ("{a=", "}")] {
        let deep = 100_000;
        let text = format!("a = {}1{}", open.repeat(deep), close.repeat(deep));
        assert!(parse("f.toml", &text).is_err());
    }
    let text = format!("{}=1", vec!["a"; 200_000].join("."));
    assert!(parse("f.toml", &text).is_err());
    let key = vec!["a"; 100_000].join(".");
    assert!(load("f.toml", BASE, &[(key, "1".to_string())]).is_err());
}

//! Files of traces: what is refused and how, and that nothing panics.

use std::fmt::Write;
use std::sync::Arc;

use proptest::prelude::*;

use super::{MAX_TRACE_ROWS, Trace};
use crate::ScenarioError;
use crate::error::SourceText;

fn read(text: &str) -> Result<Trace, ScenarioError> {
    let source = SourceText { label: "t.csv".to_string(), text: text.to_string(), is_override: false };
    Trace::read(&Arc::new(source))
}

#[test]
fn every_mistake_has_its_place_and_says_what_is_allowed() {
    let mut all = String::new();
    for text in [
        "",
        "# only a comment\n\n",
        "time_s,rate_bps\n",
        "rate_bps\n5\n",
        "time_s,rate\n0,5\n",
        "time_s,colour\n0,5\n",
        "time_s,delay_ns\n0,5\n",
        "time_s,revers_rate_bps\n0,5\n",
        "time\n0\n",
        "time_s,up,up\n0,1,1\n",
        "time_s,up\n0,1\n1\n",
        "time_s,up\n0,1,\n",
        "time_s,up\n1,1\n",
        "time_s,up\n0,1\n2,0\n2,1\n",
        "time_s,up\n,1\n",
        "time_s,up\n-1,1\n",
        "time_s,up\n0,yes\n",
        "time_s,rate_bps\n0,0\n",
        "time_s, rate_bps\n0, 1e6\n",
        "time_s,rate_bps\n0,9999999999999\n",
        "time_s,delay_ms\n0,275ms\n",
        "time_s,delay_ms\n0,99999999999\n",
        "time_s;up\n0;1\n",
    ] {
        let error = read(text).map_or_else(|error| error.to_string(), |_| "NO ERROR".to_string());
        writeln!(all, "{text:?}\n    {error}").unwrap();
    }
    assert!(!all.contains("NO ERROR"), "{all}");
    insta::assert_snapshot!(all);
}

#[test]
fn comments_blanks_and_both_ends_of_line_are_fine() {
    let plain = read("time_s,up\n0,1\n1,0\n").unwrap();
    assert_eq!(read("# about\r\n\r\n time_s , up \r\n0, 1\r\n# more\r\n1 ,0").unwrap(), plain);
}

#[test]
fn more_rows_than_there_may_be() {
    let rows = |count: usize| (0..count).fold("time_s\n".to_string(), |text, n| text + &format!("{n}\n"));
    assert!(read(&rows(MAX_TRACE_ROWS)).is_ok());
    let error = read(&rows(MAX_TRACE_ROWS + 1)).unwrap_err();
    assert_eq!(error.to_string(), "t.csv:100002:1: found a further row; allowed at most 100000");
}

/// Words of traces, so that random ones get further than the first line.
const WORDS: &[&str] = &[
    "time_s",
    "rate_bps",
    "delay_ms",
    "up",
    "forward_rate_bps",
    "reverse_delay_ms",
    ",",
    ",",
    "\n",
    "\n",
    "0",
    "1",
    "2.5",
    "1000000",
    "-1",
    "nan",
    "1e9",
    "",
    " ",
    "#",
    "\r\n",
    "\"",
    "18446744073709551616",
    ".",
    "é",
];

proptest! {
    #[test]
    fn words_in_any_order_never_panic(words in prop::collection::vec(prop::sample::select(WORDS), 0..60)) {
        if let Err(error) = read(&words.concat()) {
            prop_assert!(error.place.starts_with("t.csv:"), "{error}");
        }
    }

    #[test]
    fn any_text_never_panics(text in "(?s).{0,200}", header in any::<bool>()) {
        let _ = read(&if header { format!("time_s,up\n0,1\n{text}") } else { text });
    }

    #[test]
    fn any_rows_give_a_link_that_is_valid(
        rows in prop::collection::vec((1u32..5000, prop::option::of(1u64..9999), prop::option::of(0u32..999), prop::option::of(0u8..2)), 1..40),
        end in 1u64..60_000, repeats in any::<bool>(),
    ) {
        let mut text = "time_s,forward_rate_bps,delay_ms,up\n".to_string();
        let shown = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
        let mut ms = 0;
        for (number, &(gap, rate, delay, up)) in rows.iter().enumerate() {
            ms += if number == 0 { 0 } else { gap };
            let (rate, delay, up) = (shown(rate), shown(delay.map(u64::from)), shown(up.map(u64::from)));
            writeln!(text, "{}.{:03},{rate},{delay},{up}", ms / 1000, ms % 1000).unwrap();
        }
        let trace = read(&text).unwrap();
        let span = if repeats { super::Span::RepeatedUntil { end_ns: end * 1_000_000 } } else { super::Span::Once };
        let mut config = skyhaul_link::preset("geo").unwrap();
        if trace.apply(&mut config, span).is_ok() {
            prop_assert_eq!(config.validate(), Ok(()));
        }
    }
}

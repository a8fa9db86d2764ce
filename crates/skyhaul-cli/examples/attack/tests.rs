//! Tests of the tool.

use crate::arguments::{Mode, parse};

fn parsed(words: &[&str]) -> Result<Mode, String> {
    parse(words.iter().map(ToString::to_string))
}

#[test]
fn what_is_no_attack_and_no_option_is_told() {
    for (words, expected) in [
        (&[][..], "the name of an attack is missing"),
        (&["junk"], "junk: no such attack"),
        (&["polls", "--fast"], "--fast: no such option"),
        (&["polls", "--size"], "--size needs a value"),
        (&["polls", "--size", "0"], "--size 0: nothing would be under way"),
    ] {
        assert_eq!(parsed(words).unwrap_err(), expected);
    }
}

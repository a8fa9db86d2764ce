//! Tests of the tool.

use crate::arguments::{Mode, parse};
use crate::attack::all;
use crate::binary;
use crate::measure::{Plan, measure};

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

#[test]
fn attacks_have_names_of_their_own() {
    let mut names: Vec<&str> = all().map(|attack| attack.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|two| two[0] != two[1]), "{names:?}");
}

#[test]
fn an_attack_is_measured_beside_an_honest_transfer_that_it_does_not_harm() {
    let binary = binary::beside().unwrap();
    if !binary.is_file() {
        return eprintln!("SKIPPED: {} is not built", binary.display());
    }
    let plan = Plan { bytes: 500_000, ..Plan::default() };
    let attack = all().find(|attack| attack.name == "junk-short").unwrap();
    let row = measure(&plan, &attack, &binary).unwrap();
    assert!(row.honest.is_some() && row.newcomer.is_some_and(|entry| entry.took.is_some()), "{row:?}");
    assert!(row.datagrams_per_s > 100.0, "{row:?}");
}

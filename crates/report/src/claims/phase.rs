//! Claims about a ladder diagram.

use std::fmt::Write as _;

use super::labels::ladder;
use super::paired::Decision;
use super::{Finding, Phase, short};
use crate::figure::Figure;
use crate::figure::ladder::{Band, Ladder, MapState};

pub(super) fn judge(figures: &[Figure], id: &str, test: &Phase) -> Finding {
    let ladder = ladder(figures, id)?;
    let Some(band) = ladder.bands.iter().find(|band| band.band.contains(&test.name)) else {
        return Ok((Decision::Fails, format!("no phase is called '{}'", test.name)));
    };
    let mut words = format!("'{}' from {} to {} s", band.band, short(band.from_s), short(band.to_s));
    let holds = judge_map(&states(ladder, band), test, &mut words);
    Ok((Decision::known(holds), words))
}

/// States of the map within a band.
fn states<'a>(ladder: &'a Ladder, band: &Band) -> Vec<&'a MapState> {
    let is_within = |state: &&MapState| (band.from_s..=band.to_s).contains(&state.at_s);
    ladder.map.iter().filter(is_within).collect()
}

fn judge_map(states: &[&MapState], test: &Phase, words: &mut String) -> bool {
    let mut holds = true;
    if let Some(begins) = &test.map_begins {
        let first = states.first().and_then(|state| state.map.first()).map_or("nothing", String::as_str);
        let _ = write!(words, "; the map's first entry begins as '{first}'");
        holds &= first == begins;
    }
    if let Some(most) = test.map_holds {
        let held = states.iter().map(|state| state.map.len()).max().unwrap_or(0);
        let _ = write!(words, "; it holds {held} entries at most");
        holds &= held == most;
    }
    if let Some(answers) = test.map_ends_with_answers {
        let longest = states.last().map_or(0, |state| longest_row(&state.map));
        let _ = write!(words, "; {longest} neighbours have answers at the end");
        holds &= longest == answers;
    }
    holds
}

/// The longest row of entries with a round trip.
fn longest_row(map: &[String]) -> usize {
    let is_answered = |entry: &String| entry.ends_with(" s");
    map.split(|entry| !is_answered(entry)).map(<[String]>::len).max().unwrap_or(0)
}

//! Window: what (1) of the paper fills of a clean link, by the time between statuses, and what a POLL adds.

use skyhaul_core::{MS, SECOND};
use skyhaul_petra::stpp::Config;

use crate::world::{Seen, World};

/// Rate of the paper's Figures 10 to 13.
const RATE_BPS: u64 = 384_000;
/// (1) for PDUs of 620 octets.
const LEAST_WINDOW: u16 = 39;

fn config(window_pdus: u16, status_interval_ms: u64, poll_percent: Option<u8>) -> Config {
    Config {
        window_pdus,
        status_interval_ns: Some(status_interval_ms * MS),
        poll_percent,
        rate_bps: Some(RATE_BPS),
        ..Config::standard()
    }
}

/// Part of the rate that PDUs have, of 1 MB.
fn use_of_rate(config: &Config) -> f64 {
    let mut world = World::new(config, 1_000_000, |_| false);
    world.finish();
    let data = world.trace.iter().filter(|seen| seen.data().is_some());
    let bits: usize = data.clone().map(|seen| seen.bytes.len() * 8).sum();
    let [first_ns, last_ns] =
        [data.clone().next(), data.clone().next_back()].map(|seen| seen.map_or(0, |seen| seen.at_ns));
    bits as f64 / (RATE_BPS as f64 * (last_ns - first_ns) as f64 / SECOND as f64)
}

/// The rule 1: with equality the window turns once a status, not once a round trip.
#[test]
fn the_least_window_leaves_a_link_idle_that_some_more_fills() {
    let by_rtt = use_of_rate(&config(LEAST_WINDOW, 500, None));
    assert!((0.48..0.52).contains(&by_rtt), "{by_rtt}");
    let by_eighth = use_of_rate(&config(LEAST_WINDOW, 500 / 8, None));
    assert!((0.86..0.92).contains(&by_eighth), "{by_eighth}");
    let ample = use_of_rate(&config(2 * LEAST_WINDOW + 2, 500, None));
    assert!(ample > 0.98, "{ample}");
    let ample = use_of_rate(&config(LEAST_WINDOW + 6, 500 / 8, None));
    assert!(ample > 0.98, "{ample}");
}

/// The rule 5: a relay polls by the window of its own hop.
#[test]
fn a_window_that_is_all_but_used_up_is_asked_about_once_a_round_trip() {
    let config = config(LEAST_WINDOW, 500, Some(90));
    let mut world = World::new(&config, 300_000, |_| false);
    world.finish();
    let polls: Vec<u64> =
        world.trace.iter().filter(|seen| seen.polls()).map(|seen| seen.at_ns / MS).collect();
    // 90 % of 39: with the 36th the window is short.
    let first = world.trace.iter().find(|seen| seen.polls()).and_then(Seen::data);
    assert_eq!(first, Some(36));
    assert!(polls.windows(2).all(|pair| pair[1] - pair[0] >= 500), "{polls:?}");
    assert_eq!(world.stats(1).stats as usize, polls.len(), "each is answered at once");
    let answers = world.trace.iter().filter(|seen| seen.status().is_some_and(|status| status.echo.is_some()));
    let answered: Vec<u64> = answers.map(|seen| seen.at_ns / MS).collect();
    assert_eq!(answered, polls.iter().map(|at| at + 250).collect::<Vec<_>>());
    assert_eq!(world.stats(0).rtt_min_ns, Some(500 * MS));
}

#[test]
fn a_poll_that_is_not_answered_goes_again_after_a_round_trip_alone_where_no_data_may() {
    let config = config(20, 10_000, Some(90));
    let mut lost = 0;
    let mut world = World::new(&config, 60_000, move |seen| {
        let is_answer = seen.status().is_some_and(|status| status.echo.is_some());
        lost += u32::from(is_answer);
        is_answer && lost <= 2
    });
    world.run_until(3 * SECOND);
    let polls: Vec<(u64, Option<u32>)> = world
        .trace
        .iter()
        .filter(|seen| seen.polls())
        .map(|seen| (seen.at_ns / MS, seen.data()))
        .take(3)
        .collect();
    let [(first_ms, first), (second_ms, None), (third_ms, None)] = polls[..] else { panic!("{polls:?}") };
    assert_eq!((first, second_ms - first_ms, third_ms - second_ms), (Some(19), 500, 500));
    world.finish();
}

//! STOP_TX and RESUME_TX: a reader that does not read, and what becomes of lost words.

use skyhaul_core::{MS, SECOND};
use skyhaul_petra::stpp::Config;

use crate::world::{Seen, World, octets};

fn config() -> Config {
    Config {
        rate_bps: Some(384_000),
        threshold_bytes: 10_000,
        receive_limit_bytes: 60_000,
        ..Config::standard()
    }
}

fn says_stop(seen: &Seen) -> Option<bool> {
    seen.status().map(|status| status.is_stopped)
}

/// Time of the first new data after this one, ms.
fn next_data(world: &World, after_ms: u64) -> Option<u64> {
    world.data().into_iter().map(|(at, _)| at).find(|&at| at > after_ms)
}

#[test]
fn a_full_reader_stops_the_sender_within_a_round_trip_and_resumes_it() {
    let mut world = World::new(&config(), 200_000, |_| false);
    world.reads = false;
    world.run_until(5 * SECOND);
    let stop_ms = world.trace.iter().find(|seen| says_stop(seen) == Some(true)).expect("STOP_TX").at_ns / MS;
    let last_ms = world.data().last().expect("data").0;
    assert!((stop_ms + 230..=stop_ms + 250).contains(&last_ms), "stopped {stop_ms}, last {last_ms}");
    // B_th, and what one round trip brings: 24 kB of PDUs.
    assert!((25_000..36_000).contains(&world.most_kept), "{}", world.most_kept);
    world.reads = true;
    world.run_until(7 * SECOND);
    let resume = world.trace.iter().find(|seen| says_stop(seen) == Some(false) && seen.at_ns >= 5 * SECOND);
    let resume_ms = resume.expect("RESUME_TX").at_ns / MS;
    let next_ms = next_data(&world, 5000).expect("it goes on");
    assert!((resume_ms + 250..resume_ms + 264).contains(&next_ms), "resumed {resume_ms}, next {next_ms}");
    world.finish();
    assert_eq!(world.read, octets(200_000));
    assert_eq!(world.stats(0).retransmitted_packets, 0);
}

/// The rule 5: whatever word is lost, and however often, the flow goes on.
#[test]
fn lost_words_of_stopping_and_resuming_hold_nothing_up_for_ever() {
    for (word, losses) in [(true, 1), (true, 30), (false, 1), (false, 3)] {
        let mut lost = 0;
        let mut was_stopped = false;
        let mut world = World::new(&config(), 200_000, move |seen| {
            let Some(is_stopped) = says_stop(seen) else { return false };
            was_stopped |= is_stopped;
            let is_it = is_stopped == word && was_stopped && lost < losses;
            lost += u32::from(is_it);
            is_it
        });
        world.reads = false;
        world.run_until(10 * SECOND);
        assert!(world.most_kept <= 60_000, "{word} {losses}: {} octets kept", world.most_kept);
        world.reads = true;
        let took_ns = world.finish();
        assert_eq!(world.read, octets(200_000), "{word} {losses}");
        assert!(took_ns < 20 * SECOND, "{word} {losses}: {} ms", took_ns / MS);
    }
}

#[test]
fn a_stopped_sender_asks_once_a_round_trip_and_is_silent_otherwise() {
    let mut world = World::new(&config(), 200_000, |_| false);
    world.reads = false;
    world.run_until(4 * SECOND);
    let before = world.trace.len();
    world.run_until(14 * SECOND);
    let asked = world.trace[before..].iter().filter(|seen| seen.from == 0);
    assert!(asked.clone().all(|seen| seen.polls() && seen.data().is_none()));
    assert_eq!(asked.count(), 20, "once a round trip");
    assert_eq!(world.trace.len() - before, 40, "and each time there is one answer");
}

/// A hop far shorter than it was said to be, and slow: answers come at once, and questions must not.
#[test]
fn questions_of_a_stopped_sender_leave_the_rate_to_what_follows() {
    let config = Config { rate_bps: Some(40_000), rtt_ns: MS, ..config() };
    let mut world = World::new(&config, 200_000, |_| false);
    world.delay_ns = MS / 5;
    world.reads = false;
    world.run_until(10 * SECOND);
    let before = world.trace.len();
    world.run_until(20 * SECOND);
    let asked = world.trace[before..].iter().filter(|seen| seen.from == 0 && seen.polls()).count();
    // 20 octets each 4 ms would be the rate: a twentieth of that.
    assert!((100..=126).contains(&asked), "{asked} questions");
    world.reads = true;
    let now_ms = world.now_ns() / MS;
    world.run_until(world.now_ns() + SECOND);
    let next_ms = next_data(&world, now_ms).expect("it goes on");
    assert!(next_ms <= now_ms + 200, "stopped until {now_ms}, next data at {next_ms}");
}

/// A peer that ignores STOP_TX fills what there is room for; nothing is lost that was taken.
#[test]
fn a_pdu_beyond_the_room_is_as_if_it_was_lost() {
    // The timers wait, since their repeats would leave no time for new data.
    let config = Config { timeout_ns: Some(60 * SECOND), ..config() };
    let mut world = World::new(&config, 200_000, |seen| says_stop(seen) == Some(true));
    world.reads = false;
    world.run_until(8 * SECOND);
    assert!((59_000..=60_000).contains(&world.most_kept), "{}", world.most_kept);
    assert!(world.stats(1).refused > 200, "{:?}", world.stats(1));
    world.reads = true;
    world.finish();
    assert_eq!(world.read, octets(200_000));
    assert!(world.most_kept <= 60_000, "{}", world.most_kept);
}

#[test]
fn a_reader_that_takes_a_little_at_a_time_gets_everything_in_order() {
    let mut world = World::new(&config(), 60_000, |_| false);
    world.reads = false;
    world.run_until(4 * SECOND);
    while world.read.len() < 60_000 {
        world.read_some(700);
        let now_ns = world.now_ns();
        world.run_until(now_ns + 20 * MS);
        assert!(world.now_ns() < 100 * SECOND);
    }
    assert_eq!(world.read, octets(60_000));
}

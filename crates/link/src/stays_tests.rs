use alloc::string::ToString;
use alloc::vec::Vec;

use skyhaul_core::{Instant, MS, SECOND, US};

use crate::ChannelState::{Bad, Good};
use crate::test_support::{state, with_channel};
use crate::{ChannelState, LinkConfig, StateConfig, Stay, Stays};

const GOOD: (u64, [u64; 2]) = (9 * SECOND, [100 * MS, 150 * MS]);
const BAD: (u64, [u64; 2]) = (SECOND, [20 * MS, 20 * MS]);

fn config(good_loss: f64, bad_loss: f64) -> LinkConfig {
    let named = LinkConfig { name: "l".to_string(), ..LinkConfig::default() };
    with_channel(named, state(GOOD.0, good_loss, GOOD.1), state(BAD.0, bad_loss, BAD.1))
}

fn first(config: &LinkConfig, seed: u64, count: usize) -> Vec<Stay> {
    Stays::new(config, seed).unwrap().take(count).collect()
}

fn length_ns(stay: &Stay) -> u64 {
    stay.to.since(stay.from)
}

fn lengths_s(stays: &[Stay], state: ChannelState) -> Vec<f64> {
    let seconds = |stay: &Stay| length_ns(stay) as f64 / SECOND as f64;
    stays.iter().filter(|stay| stay.state == state).map(seconds).collect()
}

#[test]
fn stays_are_as_long_as_configured_on_average_and_spread_like_an_exponential() {
    for seed in 1..4 {
        let stays = first(&config(0.0, 1.0), seed, 20_000);
        for (state, mean_s) in [(Good, 9.0), (Bad, 1.0)] {
            let lengths = lengths_s(&stays, state);
            let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
            // Standard deviation of the mean: 1% of it.
            assert!((mean / mean_s - 1.0).abs() < 0.05, "{state:?}: {mean} s");
            for (times, share) in [(1.0, 0.3679), (2.0, 0.1353)] {
                let longer = lengths.iter().filter(|&&length| length > times * mean_s).count();
                let longer = longer as f64 / lengths.len() as f64;
                assert!((longer - share).abs() < 0.02, "{state:?}: {longer} beyond {times} means");
            }
        }
    }
}

#[test]
fn each_begins_when_the_one_before_ends_in_the_other_state() {
    let mut config = config(0.0, 1.0);
    for start in [Good, Bad] {
        config.channel.as_mut().unwrap().start = start;
        let stays = first(&config, 5, 1000);
        assert_eq!((stays[0].from, stays[0].state), (Instant::ZERO, start));
        for pair in stays.windows(2) {
            assert_eq!(pair[1].from, pair[0].to);
            assert_eq!(pair[1].state, pair[0].state.other());
            assert!(pair[0].from < pair[0].to);
        }
    }
}

#[test]
fn each_has_one_of_the_two_delays_of_its_state_as_often_as_the_other() {
    let stays = first(&config(0.0, 1.0), 6, 10_000);
    let mut long = 0;
    for stay in &stays {
        let [min, max] = if stay.state == Good { GOOD.1 } else { BAD.1 };
        assert!(stay.delay_ns == min || stay.delay_ns == max, "{stay:?}");
        long += u64::from(stay.state == Good && stay.delay_ns == max);
    }
    assert!((2300..2700).contains(&long), "{long} of 5000");
}

#[test]
fn equal_seeds_and_names_give_equal_stays() {
    let plain = config(0.0, 1.0);
    assert_eq!(first(&plain, 1, 100), first(&plain, 1, 100));
    assert_ne!(first(&plain, 1, 100), first(&plain, 2, 100));
    let renamed = LinkConfig { name: "m".to_string(), ..plain.clone() };
    assert_ne!(first(&renamed, 1, 100), first(&plain, 1, 100));
}

#[test]
fn the_realised_stays_are_the_same_on_every_machine() {
    let stays = first(&config(0.0, 1.0), 1, 4);
    let seen: Vec<_> = stays.iter().map(|stay| (stay.to.as_ns(), stay.delay_ns / MS)).collect();
    assert_eq!(
        seen,
        [(3_765_082_159, 100), (4_734_819_593, 20), (11_214_122_808, 100), (11_684_782_633, 20)]
    );
}

#[test]
fn lengths_and_delays_do_not_depend_on_losses() {
    let span = |stay: &Stay| (stay.from, stay.to, stay.delay_ns);
    let spans = |config| first(&config, 8, 200).iter().map(span).collect::<Vec<_>>();
    assert_eq!(spans(config(0.0, 1.0)), spans(config(1.0, 0.25)));
    let mut slower = config(0.0, 1.0);
    slower.channel.as_mut().unwrap().good.max_delay_ns += MS;
    let lengths = |config| first(config, 8, 200).iter().map(length_ns).collect::<Vec<_>>();
    assert_eq!(lengths(&slower), lengths(&config(0.0, 1.0)));
}

#[test]
fn only_a_state_that_loses_everything_is_down() {
    let down = |good, bad| first(&config(good, bad), 1, 2).iter().map(|s| s.is_down).collect::<Vec<_>>();
    assert_eq!(down(0.0, 1.0), [false, true]);
    assert_eq!(down(1.0, 1.0 - f64::EPSILON), [true, false]);
}

#[test]
fn the_shortest_stays_still_move_on() {
    let state: StateConfig = state(US, 0.0, [0, 0]);
    let config = with_channel(LinkConfig::default(), state, state);
    let stays = first(&config, 1, 100_000);
    assert!(stays.iter().all(|stay| length_ns(stay) >= 1));
    let mean_ns = stays[99_999].to.as_ns() as f64 / 100_000.0;
    assert!((mean_ns - 1000.0).abs() < 20.0, "{mean_ns}");
}

#[test]
fn the_last_stay_reaches_the_end_of_time_and_covers_it() {
    let state = state(u64::MAX / 4, 0.0, [0, 0]);
    let config = with_channel(LinkConfig::default(), state, state);
    let stays: Vec<Stay> = Stays::new(&config, 1).unwrap().collect();
    let last = *stays.last().unwrap();
    assert_eq!(last.to, Instant::MAX);
    assert_eq!(Stays::new(&config, 1).unwrap().reach(Instant::MAX), Some(last));
}

#[test]
fn reaching_finds_the_stay_that_covers_an_instant() {
    let config = config(0.0, 1.0);
    let stays = first(&config, 3, 50);
    for stay in &stays {
        for at in [stay.from, stay.to.before(1)] {
            assert_eq!(Stays::new(&config, 3).unwrap().reach(at), Some(*stay));
        }
    }
    assert!(Stays::new(&LinkConfig::default(), 3).is_none());
}

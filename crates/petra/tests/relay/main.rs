//! Relays between two hops of STPP: nothing is lost, nothing is kept beyond the bounds, whatever vanishes.

mod chain;
mod end_to_end;
mod exhaustive;

use proptest::prelude::*;
use skyhaul_core::{CloseReason, Connections, MS, ResetReason, SECOND, StreamEvent};
use skyhaul_petra::relay::{Bounds, Control, Side};
use skyhaul_petra::stpp::Config;

use chain::{Chain, Setup, octets};

const BOUNDS: Bounds = Bounds { threshold_bytes: 5000, size_bytes: 40_000, control: Control::Hold };

/// First hop 2 Mbit/s, second hop 384 kbit/s; 50 ms each way on both.
fn setup(onwards: usize, back: usize) -> Setup {
    let hop = |rate_bps| Config {
        rate_bps: Some(rate_bps),
        rtt_ns: 100 * MS,
        window_pdus: 100,
        threshold_bytes: 20_000,
        receive_limit_bytes: 100_000,
        ..Config::standard()
    };
    Setup {
        hops: [hop(2_000_000), hop(384_000)],
        bounds: BOUNDS,
        delay_ns: 50 * MS,
        octets: [onwards, back],
        losses: Box::new(|_, _, _, _| false),
    }
}

fn run(setup: Setup, seed: u64) -> Chain {
    let mut chain = Chain::new(setup, seed);
    chain.run_until(3600 * SECOND);
    chain
}

fn check_whole(chain: &Chain, onwards: usize, back: usize) {
    let [at_host, at_other] = &chain.read;
    assert_eq!(at_other.len(), onwards);
    assert!(*at_other == octets(onwards) && *at_host == octets(back), "octets changed");
    for (end, events) in chain.events.iter().enumerate() {
        assert!(events.contains(&StreamEvent::Closed(None)), "end {end}: {events:?}");
    }
}

#[test]
fn a_fast_sender_is_held_back_at_the_threshold_and_everything_arrives_both_ways() {
    let chain = run(setup(300_000, 100_000), 1);
    check_whole(&chain, 300_000, 100_000);
    let onwards = chain.coupling.counters(Side::Near);
    assert_eq!((onwards.read_bytes, onwards.written_bytes), (300_000, 300_000));
    assert!(onwards.holds >= 3, "{onwards:?}");
    // B_th, and what arrives in the round trip that a STOP_TX takes: 25 kB at 2 Mbit/s.
    assert!((20_000..=35_000).contains(&onwards.most_bytes), "{onwards:?}");
    // 6.7 s for the octets on the second hop, with their headers.
    assert!((6..9).contains(&(chain.last_read.as_ns() / SECOND)), "{:?}", chain.last_read);
}

#[test]
fn a_plain_window_bounds_the_buffer_and_what_the_connection_keeps() {
    let plain = Bounds { control: Control::Window, ..BOUNDS };
    let chain = run(Setup { bounds: plain, ..setup(300_000, 0) }, 1);
    check_whole(&chain, 300_000, 0);
    let onwards = chain.coupling.counters(Side::Near);
    assert_eq!((onwards.holds, onwards.most_bytes), (0, 40_000));
}

#[test]
fn one_direction_ends_while_the_other_goes_on() {
    let mut chain = Chain::new(setup(1000, 200_000), 1);
    chain.run_until(2 * SECOND);
    assert_eq!(chain.read[1], octets(1000));
    let other = chain.ids[3].expect("accepted");
    assert_eq!(chain.ends[3].read(other, &mut [0; 8]), Ok(Some(0)), "the end has arrived");
    assert!(chain.read[0].len() < 200_000);
    chain.run_until(3600 * SECOND);
    check_whole(&chain, 1000, 200_000);
}

#[test]
fn a_reset_reaches_the_other_end() {
    for (from, to) in [(0, 3), (3, 0)] {
        let mut chain = Chain::new(setup(300_000, 300_000), 1);
        chain.run_until(2 * SECOND);
        let id = chain.ids[from].expect("it is open");
        chain.ends[from].abort(id);
        chain.run_until(4 * SECOND);
        let reset = StreamEvent::Closed(Some(CloseReason::Reset(Some(ResetReason::Aborted))));
        assert_eq!(chain.events[to].last(), Some(&reset), "from {from}");
        assert_eq!(chain.coupling.occupancy_bytes(Side::Near), 0);
    }
}

#[test]
fn a_reader_that_stands_still_holds_everybody_and_nobody_for_ever() {
    let mut chain = Chain::new(setup(400_000, 0), 1);
    chain.reads = false;
    chain.run_until(30 * SECOND);
    assert!(chain.coupling.occupancy_bytes(Side::Near) <= BOUNDS.size_bytes);
    let stood = chain.coupling.counters(Side::Near).read_bytes;
    chain.run_until(60 * SECOND);
    assert_eq!(chain.coupling.counters(Side::Near).read_bytes, stood, "nothing moves");
    chain.reads = true;
    chain.run_until(3600 * SECOND);
    check_whole(&chain, 400_000, 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_or_kept_beyond_its_bounds_whatever_vanishes(
        seed in 0u64..1000, percent in 0u64..30, outage_s in 0u64..20, threshold_bytes in 1u64..20_000,
        beyond_bytes in 1u64..30_000, onwards in 0usize..150_000, back in 0usize..60_000,
        holds in any::<bool>(),
    ) {
        let control = if holds { Control::Hold } else { Control::Window };
        let bounds = Bounds { threshold_bytes, size_bytes: threshold_bytes + beyond_bytes, control };
        let mut dice = skyhaul_core::Stream::new(seed, "losses");
        let losses = move |now_ns: u64, hop: usize, _: bool, _: &[u8]| {
            let is_out = hop == 1 && (3..3 + outage_s).contains(&(now_ns / SECOND));
            is_out || dice.below(100) < percent
        };
        let chain = run(Setup { bounds, losses: Box::new(losses), ..setup(onwards, back) }, seed);
        check_whole(&chain, onwards, back);
        for side in [Side::Near, Side::Far] {
            let counters = chain.coupling.counters(side);
            prop_assert!(counters.most_bytes <= bounds.size_bytes, "{counters:?} of {bounds:?}");
            prop_assert_eq!(counters.read_bytes, counters.written_bytes);
        }
    }

    /// What a relay has acknowledged and takes with it is why there is UTL: here the sender must at least not
    /// hang, and the receiver must have a beginning of the stream and no more.
    #[test]
    fn a_relay_that_dies_leaves_both_ends_with_an_error(at_ms in 500u64..6000) {
        let mut chain = Chain::new(setup(300_000, 0), 1);
        chain.run_until(at_ms * MS);
        chain.is_dead = true;
        chain.run_until(3600 * SECOND);
        let sent = octets(300_000);
        prop_assert!(sent.starts_with(&chain.read[1]));
        if chain.read[1].len() < sent.len() && !chain.events[0].contains(&StreamEvent::Finished) {
            let last = chain.events[0].last();
            prop_assert!(matches!(last, Some(StreamEvent::Closed(Some(CloseReason::Silence)))), "{last:?}");
        }
    }
}

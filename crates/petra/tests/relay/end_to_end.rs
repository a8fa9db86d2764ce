//! UTL over a path that a relay splits: nothing is called arrived that the far application has not read.

use proptest::prelude::*;
use skyhaul_core::{Connections, MS, SECOND};
use skyhaul_petra::relay::Side;
use skyhaul_petra::utl::{Config, Frame, UtlError, UtlEvent, UtlLayer};

use UtlError::{Closed, Timeout};

use crate::chain::{Chain, Setup, octets};
use crate::{BOUNDS, setup};

const UTL: Config =
    Config { batch_bytes: 10_000, window_batches: 20, timeout_ns: 20 * SECOND, send_limit_bytes: 1 << 20 };

fn chain(setup: Setup, config: Config, seed: u64) -> Chain {
    Chain::new(setup, seed).with_utl(config)
}

fn has_finished(chain: &Chain, place: usize) -> bool {
    chain.told[place].contains(&UtlEvent::Finished)
}

#[test]
fn everything_is_confirmed_both_ways_once_the_far_applications_have_it() {
    let mut chain = chain(setup(300_000, 50_000), UTL, 1);
    chain.run_until(60 * SECOND);
    assert!(chain.read[1] == octets(300_000) && chain.read[0] == octets(50_000));
    assert!(has_finished(&chain, 0) && has_finished(&chain, 1));
    assert_eq!(chain.layers.as_ref().expect("UTL").each_ref().map(UtlLayer::unconfirmed_bytes), [0, 0]);
}

#[test]
fn a_batch_is_not_confirmed_while_the_far_application_does_not_read_it() {
    let mut chain = chain(setup(30_000, 0), UTL, 1);
    chain.reads = false;
    chain.run_until(15 * SECOND);
    let unconfirmed = chain.layers.as_ref().expect("UTL")[0].unconfirmed_bytes();
    assert_eq!((unconfirmed, chain.told[0].contains(&UtlEvent::Finished)), (30_000, false));
    // The hops have confirmed all of it: that is what a split TCP would have gone by.
    let host = chain.ids[0].expect("open");
    assert_eq!(chain.ends[0].held_bytes(host), 0);
    chain.reads = true;
    chain.run_until(19 * SECOND);
    assert!(has_finished(&chain, 0));
}

#[test]
fn a_batch_that_is_not_confirmed_in_time_ends_the_connection_and_says_how_much() {
    let mut chain = chain(setup(100_000, 0), UTL, 1);
    chain.reads = false;
    chain.run_until(100 * SECOND);
    let late = Timeout { unconfirmed_bytes: 100_000 };
    assert_eq!(chain.told[0].last(), Some(&UtlEvent::Failed(late)));
    assert_eq!(late.to_string(), "the far application did not confirm 100000 bytes in time");
    // From the first bit of the first batch on, which left as soon as the connection was open.
    assert!((20_100 * MS..20_200 * MS).contains(&chain.failed_at_ns()), "{}", chain.failed_at_ns());
}

#[test]
fn a_window_of_batches_bounds_what_is_under_way() {
    let config = Config { window_batches: 2, ..UTL };
    let mut chain = chain(setup(100_000, 0), config, 1);
    chain.reads = false;
    chain.run_until(10 * SECOND);
    // Two batches with their frames, and the confirmation of the end of the other direction.
    assert_eq!(chain.coupling.counters(Side::Near).read_bytes, 2 * 10_012 + 12);
}

#[test]
fn a_peer_that_confirms_what_was_never_sent_or_sends_nonsense_ends_it() {
    for (octets, error) in [
        (Frame::Confirm { number: 9 }.encode(), UtlError::FalseConfirmation),
        (Frame::Batch { number: 2, length: 1, ends: false }.encode(), UtlError::Malformed),
        (Frame::Batch { number: 1, length: 0, ends: false }.encode(), UtlError::Malformed),
        ([7; 12], UtlError::Malformed),
    ] {
        let mut chain = chain(setup(10_000, 0), UTL, 1);
        chain.run_until(210 * MS);
        let other = chain.ids[3].expect("accepted");
        chain.ends[3].write(other, &octets).expect("there is room");
        chain.run_until(10 * SECOND);
        assert_eq!(chain.layers.as_ref().expect("UTL")[0].failure(), Some(error));
    }
}

#[test]
fn a_peer_that_ends_the_hop_before_its_stream_leaves_no_reader_waiting() {
    let mut chain = chain(setup(10_000, 0), UTL, 1);
    chain.run_until(210 * MS);
    let other = chain.ids[3].expect("accepted");
    chain.ends[3].finish(other);
    chain.run_until(10 * SECOND);
    let failure = chain.layers.as_ref().expect("UTL")[0].failure();
    assert!(matches!(failure, Some(Closed { .. })), "{failure:?}");
    assert!(chain.now.as_ns() < 10 * SECOND, "by the end of the hop, not by a timer");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// The promise that a split TCP breaks.
    #[test]
    fn a_relay_that_dies_at_any_moment_lets_no_sender_report_success_for_what_did_not_arrive(
        at_ms in 0u64..12_000, count in 1usize..300_000, batch_bytes in 500u32..40_000, percent in 0u64..10,
        seed in 0u64..1000,
    ) {
        let mut dice = skyhaul_core::Stream::new(seed, "losses");
        let losses = move |_: u64, _: usize, _: bool, _: &[u8]| dice.below(100) < percent;
        let setup = Setup { losses: Box::new(losses), bounds: BOUNDS, ..setup(count, 0) };
        let mut chain = chain(setup, Config { batch_bytes, ..UTL }, seed);
        chain.run_until(at_ms * MS);
        chain.is_dead = true;
        chain.run_until(3600 * SECOND);
        let arrived = chain.read[1].len();
        prop_assert!(octets(count).starts_with(&chain.read[1]));
        if has_finished(&chain, 0) {
            prop_assert_eq!(arrived, count);
        } else {
            let failure = chain.layers.as_ref().and_then(|layers| layers[0].failure());
            let unconfirmed = match failure {
                Some(Timeout { unconfirmed_bytes } | Closed { unconfirmed_bytes }) => unconfirmed_bytes,
                other => return Err(TestCaseError::fail(format!("{other:?}"))),
            };
            // What it says of the rest is no more than the truth.
            prop_assert!(count as u64 - unconfirmed <= arrived as u64, "{unconfirmed} of {count}, {arrived}");
        }
    }
}

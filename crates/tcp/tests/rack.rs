//! Losses by the time of sending, probes of the last segments, and what a timeout leaves [RFC 8985], as
//! packet traces.

mod common;

use common::pair::{content, transfer};
use common::{Heard, Lone, plain, stamps};
use skyhaul_core::{Instant, MS, SECOND};
use skyhaul_link::{DirectionConfig, LinkConfig, Outage, QueueLimit};
use skyhaul_tcp::segment::{Options, flags};
use skyhaul_tcp::{Config, ControllerKind, Recovery};

/// Round trip of the traces.
const RTT_MS: u64 = 100;

fn by_time() -> Config {
    Config { recovery: Recovery::Rack, ..plain() }
}

/// Round trips were measured, some ten segments of 1000 bytes left at the same moment, the first of them with
/// number 1001, and more wait.
fn under_way(config: &Config, bytes: usize) -> Lone {
    let mut lone = Lone::new(config);
    lone.say(flags::SYN, 0, 0, Options { mss: Some(1000), sack_permitted: true, ..Options::default() }, b"");
    lone.one();
    lone.wait_ms(RTT_MS);
    lone.ack(1, 1);
    lone.take();
    lone.write(1000);
    assert_eq!(lone.data_sent(), [1]);
    lone.wait_ms(RTT_MS);
    lone.ack(1, 1001);
    lone.write(bytes);
    assert_eq!(lone.data_sent().len(), 10.min(bytes / 1000));
    lone
}

fn retransmitted(lone: &Lone) -> u64 {
    lone.stats().retransmitted_packets
}

/// [RFC 8985 6.2, step 4]: three segments beyond, and no reordering was ever seen.
#[test]
fn rfc_8985_6_2_three_blocks_beyond_show_a_loss_at_once() {
    let mut lone = under_way(&by_time(), 40_000);
    lone.wait_ms(RTT_MS);
    lone.sack(1001, &[(2001, 4001)]);
    assert!(!lone.data_sent().contains(&1001), "two segments beyond");
    lone.sack(1001, &[(2001, 5001)]);
    assert_eq!(lone.data_sent()[0], 1001);
    assert_eq!((lone.stats().recoveries, lone.stats().timeouts), (1, 0));
}

/// [RFC 8985 6.2, step 5]: a segment that left before one that arrived is lost a quarter of the round trip
/// later, however few lie beyond it.
#[test]
fn rfc_8985_6_2_with_few_beyond_the_reordering_timer_shows_a_loss() {
    let mut lone = under_way(&by_time(), 2000);
    lone.wait_ms(RTT_MS);
    lone.sack(1001, &[(2001, 3001)]);
    assert_eq!(lone.data_sent(), []);
    assert_eq!(lone.wait(), RTT_MS / 4);
    assert_eq!(lone.data_sent(), [1001]);
    assert_eq!((lone.stats().recoveries, lone.stats().timeouts), (1, 0));
}

/// [RFC 8985 3.3.1, 6.2]: what arrives within the window was late, not lost; from then on all that is missing
/// gets that time.
#[test]
fn rfc_8985_6_2_reordering_within_the_window_is_no_loss() {
    let mut lone = under_way(&by_time(), 40_000);
    lone.wait_ms(RTT_MS);
    lone.sack(1001, &[(2001, 4001)]);
    lone.data_sent();
    lone.wait_ms(RTT_MS / 5);
    lone.ack(1, 4001);
    assert_eq!((retransmitted(&lone), lone.stats().recoveries), (0, 0));
    lone.data_sent();
    lone.sack(4001, &[(5001, 11_001)]);
    assert!(!lone.data_sent().contains(&4001), "six segments beyond, but reordering was seen");
    lone.wait();
    assert!(lone.data_sent().contains(&4001), "it is over");
    assert_eq!(lone.stats().timeouts, 0);
}

/// [RFC 8985 6.2, step 5]: the repeat is lost, too. What left after it and arrived shows that, once the round
/// trip of the repeat is over.
#[test]
fn rfc_8985_6_2_a_lost_repeat_is_found_without_the_timer() {
    for (recovery, found) in [(Recovery::Rack, true), (Recovery::Sack, false)] {
        let mut lone = under_way(&Config { recovery, min_rto_ns: SECOND, ..by_time() }, 40_000);
        lone.wait_ms(RTT_MS);
        lone.sack(1001, &[(2001, 8001)]);
        let sent = lone.data_sent();
        assert_eq!(sent[..2], [1001, 11_001], "the repeat, and new data behind it");
        lone.wait_ms(RTT_MS);
        lone.sack(1001, &[(2001, 12_001)]);
        assert_eq!(lone.data_sent().contains(&1001), found, "{recovery:?}");
        let stats = lone.stats();
        assert_eq!((stats.retransmitted_packets, stats.recoveries), (1 + u64::from(found), 1));
        assert_eq!(stats.timeouts, 0);
    }
}

/// [RFC 8985 6.2, step 2]: the original was late. Its answer is older than the shortest round trip after the
/// repeat, so it says nothing about what left before that.
#[test]
fn rfc_8985_6_2_the_answer_to_an_original_shows_no_loss() {
    let mut lone = under_way(&by_time(), 40_000);
    lone.wait_ms(RTT_MS);
    lone.sack(1001, &[(2001, 5001)]);
    assert_eq!(lone.data_sent()[0], 1001);
    let before = retransmitted(&lone);
    lone.wait_ms(RTT_MS / 10);
    lone.ack(1, 5001);
    lone.data_sent();
    assert_eq!(retransmitted(&lone), before, "5001 left before the repeat, and is not missed yet");
}

/// [RFC 8985 6.2, step 4]: a duplicate at the peer widens the window, up to the smoothed round trip.
#[test]
fn rfc_8985_6_2_a_needless_repeat_widens_the_window() {
    let mut lone = under_way(&by_time(), 2000);
    lone.wait_ms(RTT_MS);
    lone.sack(1001, &[(1, 1001)]);
    lone.sack(1001, &[(2001, 3001)]);
    assert_eq!(lone.data_sent(), []);
    assert_eq!(lone.wait(), RTT_MS / 2, "two quarters");
    assert_eq!(lone.data_sent(), [1001]);
}

/// [RFC 8985 7.2, 7.3]: two round trips without an answer; there is new data, which goes beyond the window.
#[test]
fn rfc_8985_7_3_a_silence_is_probed_by_new_data() {
    let mut lone = under_way(&Config { min_rto_ns: SECOND, ..by_time() }, 40_000);
    let in_flight_bytes = lone.stats().in_flight_bytes;
    assert_eq!(lone.wait(), 2 * RTT_MS);
    assert_eq!(lone.data_sent(), [11_001]);
    assert_eq!(lone.stats().in_flight_bytes, in_flight_bytes + 1000);
    assert_eq!(lone.wait(), 1000, "the retransmission timer waits for its answer");
    assert_eq!(lone.data_sent(), [1001]);
    assert_eq!((lone.stats().timeouts, retransmitted(&lone)), (1, 1));
}

/// [RFC 8985 7.3, 3.4]: nothing is new: the last segment goes again, and its answer shows what was lost
/// before it.
#[test]
fn rfc_8985_7_3_the_last_segment_is_probed_and_shows_losses_before_it() {
    let mut lone = under_way(&Config { min_rto_ns: SECOND, ..by_time() }, 5000);
    assert_eq!(lone.wait(), 2 * RTT_MS);
    assert_eq!(lone.data_sent(), [5001]);
    lone.wait_ms(RTT_MS);
    lone.sack(1001, &[(5001, 6001)]);
    assert_eq!(lone.data_sent(), [1001, 2001], "they left three round trips ago; a window of two");
    lone.wait_ms(RTT_MS);
    lone.ack(1, 3001);
    assert_eq!(lone.data_sent(), [3001, 4001]);
    assert_eq!(lone.stats().timeouts, 0);
}

/// [RFC 8985 7.2]: a lone segment gets the time of a delayed acknowledgement beyond the two round trips.
#[test]
fn rfc_8985_7_2_a_lone_segment_waits_for_a_delayed_acknowledgement() {
    let mut lone = under_way(&Config { min_rto_ns: SECOND, ..by_time() }, 1000);
    assert_eq!(lone.wait(), 2 * RTT_MS + 200);
    assert_eq!(lone.data_sent(), [1001]);
}

/// [RFC 8985 7.4.2]: the probe has repaired a loss that nobody else noticed; the window is halved for it. An
/// answer to both the original and the probe tells that nothing was lost.
#[test]
fn rfc_8985_7_4_a_loss_that_a_probe_repairs_halves_the_window() {
    for is_needless in [false, true] {
        let mut lone = under_way(&Config { min_rto_ns: SECOND, ..by_time() }, 5000);
        lone.wait();
        assert_eq!(lone.data_sent(), [5001]);
        let before = lone.stats().cwnd_bytes;
        lone.ack(1, 6001);
        if is_needless {
            lone.sack(6001, &[(5001, 6001)]);
        }
        lone.write(1000);
        assert_eq!(lone.data_sent(), [6001]);
        lone.ack(1, 7001);
        let after = lone.stats().cwnd_bytes;
        assert_eq!(after < before, !is_needless, "{after} of {before}");
    }
}

/// [RFC 8985 7.2]: no probe while blocks tell more.
#[test]
fn rfc_8985_7_2_what_blocks_tell_is_not_probed() {
    let mut lone = under_way(&Config { min_rto_ns: SECOND, ..by_time() }, 3000);
    lone.wait_ms(RTT_MS);
    lone.sack(1001, &[(3001, 4001)]);
    assert_eq!(lone.data_sent(), []);
    assert_eq!(lone.wait(), RTT_MS / 4);
    assert_eq!(lone.data_sent(), [1001, 2001]);
    assert_eq!(lone.wait(), SECOND / MS, "the retransmission timer alone, from the repeat on");
}

/// [RFC 8985 6.3]: what the peer has does not go again, and what left late is not lost yet.
#[test]
fn rfc_8985_6_3_a_timeout_keeps_the_board() {
    let mut lone = under_way(&by_time(), 40_000);
    lone.wait_ms(RTT_MS);
    lone.sack(1001, &[(3001, 8001)]);
    assert_eq!(lone.data_sent()[..2], [1001, 2001]);
    while lone.stats().timeouts == 0 {
        lone.wait();
    }
    let mut again = lone.data_sent();
    assert_eq!(again, [1001], "one segment [RFC 5681 3.1]");
    lone.wait_ms(RTT_MS);
    for una in [2001, 8001, 9001, 10_001, 11_001] {
        lone.ack(1, una);
        again.extend(lone.data_sent());
    }
    assert!(!again.iter().any(|number| (3001..8001).contains(number)), "{again:?} arrived before");
    assert!(again.contains(&2001) && again.contains(&8001), "{again:?} were missing");
}

/// [RFC 8985 6.3]: after a timeout a lost repeat is found by RACK, as before: one timeout for both losses.
#[test]
fn rfc_8985_6_3_after_a_timeout_losses_are_found_without_another() {
    let mut lone = under_way(&Config { min_rto_ns: 3 * SECOND, ..by_time() }, 40_000);
    while lone.stats().timeouts == 0 {
        lone.wait();
        lone.data_sent();
    }
    lone.wait_ms(RTT_MS);
    lone.ack(1, 2001);
    assert_eq!(lone.data_sent(), [2001, 3001], "slow start");
    lone.wait_ms(RTT_MS);
    lone.sack(2001, &[(3001, 4001)]);
    assert_eq!(lone.data_sent()[0], 2001, "its repeat left before that of 3001, which arrived");
    assert_eq!((lone.stats().timeouts, lone.stats().recoveries), (1, 1));
}

/// [RFC 2018 8, RFC 8985 6.3]: a peer that acknowledges the number where a block began has thrown it away.
#[test]
fn rfc_2018_8_a_timeout_forgets_what_the_peer_has_thrown_away() {
    let mut lone = under_way(&by_time(), 5000);
    lone.wait_ms(RTT_MS);
    lone.sack(1001, &[(2001, 4001)]);
    lone.data_sent();
    lone.ack(1, 2001);
    lone.data_sent();
    while lone.stats().timeouts == 0 {
        lone.wait();
    }
    assert_eq!(lone.data_sent(), [2001]);
    lone.ack(1, 3001);
    assert_eq!(lone.data_sent()[0], 3001);
}

/// A repeat into a window that the peer has closed goes on as a probe of it: the connection lasts as long as
/// it is answered [RFC 9293 3.8.6.1].
#[test]
fn rfc_9293_3_8_6_1_a_timeout_into_a_closed_window_probes_it() {
    let mut lone = under_way(&by_time(), 5000);
    lone.peer_window = 0;
    lone.ack(1, 2001);
    for _ in 0..60 {
        lone.wait();
        if !lone.hear().is_empty() {
            lone.ack(1, 2001);
        }
    }
    assert!(lone.stats().window_probes > 10);
    lone.peer_window = 10_000;
    lone.ack(1, 2001);
    assert_eq!(lone.data_sent()[0], 2001);
}

fn with_stamps() -> Config {
    Config { timestamps: true, ..by_time() }
}

/// [RFC 7323 4.1]: the peer answers the first SYN, which waited for the end of an outage, and so did its
/// answers. That is no round trip: the timeout stayed at 45 s.
#[test]
fn rfc_7323_4_1_the_answer_to_a_repeated_opening_is_no_sample() {
    let (mut lone, syn) = Lone::connecting(&with_stamps());
    let first = syn.options.timestamps.unwrap().value;
    for _ in 0..4 {
        lone.wait();
        lone.one();
    }
    lone.wait_ms(300);
    let answer = Options { mss: Some(1000), sack_permitted: true, ..stamps(7, first) };
    lone.say(flags::SYN | flags::ACK, 0, 1, answer, b"");
    lone.hear();
    let stats = lone.stats();
    assert_eq!(stats.rtt_smoothed_ns, None, "15.3 s since the first SYN");
    assert_eq!(stats.rto_ns, 3 * SECOND, "[RFC 6298 5.7]");
    lone.write(1000);
    let stamp = lone.one().options.timestamps.unwrap().value;
    lone.wait_ms(RTT_MS);
    lone.say(flags::ACK, 1, 989, stamps(8, stamp), b"");
    assert_eq!(lone.stats().rtt_smoothed_ns, Some(RTT_MS * MS));
}

/// [RFC 7323 4.1, RFC 6298 3]: what left before a timeout, and is acknowledged after it, may have waited for
/// the end of an outage.
#[test]
fn rfc_7323_4_1_what_left_before_a_timeout_measures_nothing_after_it() {
    let mut lone = Lone::accepted_with_stamps(&with_stamps(), 500);
    lone.write(60_000);
    let stamp = |heard: &[Heard]| heard[0].options.timestamps.unwrap().value;
    let before = stamp(&lone.hear());
    let srtt_ns = lone.stats().rtt_smoothed_ns;
    while lone.stats().timeouts < 4 {
        lone.wait();
        lone.hear();
    }
    lone.wait_ms(50);
    lone.say(flags::ACK, 1, 989, stamps(501, before), b"");
    assert_eq!(lone.stats().rtt_smoothed_ns, srtt_ns);
    let after = stamp(&lone.hear());
    lone.wait_ms(50);
    lone.say(flags::ACK, 1, 1 + 20 * 988, stamps(502, after), b"");
    assert!(lone.stats().rtt_smoothed_ns.is_some_and(|ns| ns <= 50 * MS), "samples count again");
}

fn noisy(loss: f64, queue_bytes: u64) -> LinkConfig {
    let direction = |loss: f64| DirectionConfig {
        rate_bps: Some(10_000_000),
        delay_ns: 275 * MS,
        queue: QueueLimit::Bytes(queue_bytes),
        loss,
        ..DirectionConfig::default()
    };
    LinkConfig {
        name: "noisy".into(),
        forward: direction(loss),
        reverse: direction(loss / 20.0),
        ..LinkConfig::default()
    }
}

/// One packet in ten is lost, one repeat in ten, too: by RFC 6675 each of those waits for a timeout.
#[test]
fn rfc_8985_random_losses_meet_few_timeouts() {
    let data = content(4_000_000);
    let timeouts = [Recovery::Sack, Recovery::Rack].map(|recovery| {
        let config = Config { recovery, controller: ControllerKind::Bbr, ..Config::standard() };
        let outcome = transfer(&config, noisy(0.1, 700_000), 1, &data, 900);
        assert!(outcome.ended && outcome.received == data, "{:?}", outcome.sender);
        outcome.sender.timeouts
    });
    assert!(timeouts[1] * 4 <= timeouts[0], "{timeouts:?}");
}

/// An outage begins at 5 s, the queue takes a fifth of a round trip. Before RACK, 20 MB took 382 s with BBR
/// where an outage lasted 8 s, and 442 s where it lasted 20 s.
#[test]
fn an_outage_in_front_of_a_short_queue_costs_bbr_little_more_than_itself() {
    let data = content(20_000_000);
    for discover_mtu in [false, true] {
        for length_s in [8, 20] {
            let (from, to) = (Instant::from_ns(5 * SECOND), Instant::from_ns((5 + length_s) * SECOND));
            let link = LinkConfig { outages: vec![Outage { from, to }], ..noisy(0.0, 100 * 1500) };
            let config = Config { controller: ControllerKind::Bbr, discover_mtu, ..Config::standard() };
            let outcome = transfer(&config, link, 1, &data, 900);
            assert!(outcome.ended && outcome.received == data, "{:?}", outcome.sender);
            let seconds = outcome.elapsed_ns / SECOND;
            assert!(seconds < 40 + length_s, "{seconds} s, {length_s} s of outage");
        }
    }
}

//! One mechanism a test, as a packet trace against a scripted peer.

mod common;

use common::{Lone, plain, stamps};
use skyhaul_core::{CloseReason, Connections, MS, SECOND, StreamEvent};
use skyhaul_tcp::segment::{Options, flags};
use skyhaul_tcp::{AckPolicy, Config, Recovery};

fn reno(recovery: Recovery) -> Config {
    Config { recovery, limited_transmit: false, ..plain() }
}

/// Ten segments of 1000 bytes are under way, the first of them with number 1, and more wait.
fn ten_under_way(config: &Config) -> Lone {
    let mut lone = Lone::ordinary(config);
    lone.write(40_000);
    assert_eq!(lone.data_sent(), (0..10).map(|n| 1 + 1000 * n).collect::<Vec<_>>());
    lone
}

#[test]
fn slow_start_opens_the_window() {
    let mut lone = ten_under_way(&plain());
    lone.wait_ms(100);
    lone.ack(1, 2001);
    assert_eq!(lone.data_sent(), [10_001, 11_001, 12_001, 13_001], "two that left and two of growth");
}

#[test]
fn the_timer_repeats_the_oldest_and_doubles() {
    let mut lone = ten_under_way(&plain());
    assert_eq!((lone.wait(), lone.data_sent()), (200, vec![1]));
    assert_eq!((lone.wait(), lone.data_sent()), (400, vec![1]));
    lone.ack(1, 1001);
    assert_eq!(lone.data_sent(), [1001, 2001], "slow start over what was sent before");
    lone.ack(1, 10_001);
    assert_eq!(lone.data_sent()[0], 10_001, "what arrived is not repeated");
}

#[test]
fn a_silent_peer_is_given_up() {
    let mut lone = ten_under_way(&Config { max_repeats: 3, ..plain() });
    while !matches!(lone.events().last(), Some(StreamEvent::Closed(Some(CloseReason::Silence)))) {
        lone.wait();
        lone.hear();
    }
    assert_eq!(lone.stats().timeouts, 3);
}

/// The user timeout of RFC 9293: the repeats alone took ten minutes.
#[test]
fn a_peer_that_answers_nothing_is_given_up_after_the_user_timeout() {
    let config = Config { user_timeout_ns: Some(5 * SECOND), ..plain() };
    let closes = |lone: &mut Lone, reason| {
        let begun = lone.now;
        while lone.events().last() != Some(&StreamEvent::Closed(Some(reason))) {
            lone.wait();
            lone.hear();
        }
        lone.now.since(begun)
    };
    let mut lone = Lone::ordinary(&config);
    lone.wait_ms(60_000);
    lone.write(10);
    lone.hear();
    assert_eq!(closes(&mut lone, CloseReason::Silence), 5 * SECOND, "not by the time before");
    let mut lone = Lone::ordinary(&config);
    lone.write(10);
    lone.hear();
    lone.wait_ms(4000);
    lone.hear();
    lone.ack(1, 1);
    lone.hear();
    assert_eq!(closes(&mut lone, CloseReason::Silence), 5 * SECOND, "it gave a sign of life");
    let mut lone = Lone::ordinary(&config);
    lone.peer_window = 0;
    lone.ack(1, 1);
    lone.write(10);
    lone.hear();
    lone.wait();
    assert_eq!(lone.hear().len(), 1, "its window is asked for");
    assert_eq!(closes(&mut lone, CloseReason::Silence), 5 * SECOND, "from the first question on");
    let (mut opener, _) = Lone::connecting(&config);
    assert_eq!(closes(&mut opener, CloseReason::ConnectTimeout), 5 * SECOND);
    assert_eq!(config.opening_ns(), 5 * SECOND);
}

#[test]
fn three_duplicates_repeat_at_once_and_halve() {
    let mut lone = ten_under_way(&reno(Recovery::NewReno));
    for _ in 0..2 {
        lone.ack(1, 1);
        assert_eq!(lone.data_sent(), []);
    }
    lone.ack(1, 1);
    assert_eq!(lone.data_sent(), [1]);
    assert_eq!(lone.stats().cwnd_bytes, 5000);
    for _ in 0..3 {
        lone.ack(1, 1);
    }
    assert_eq!(lone.data_sent(), [10_001], "six have left, five may be under way: 5 + 6 - 10");
    lone.ack(1, 10_001);
    assert_eq!(lone.data_sent(), [11_001], "no burst: the window opens by slow start");
    lone.ack(1, 11_001);
    assert_eq!(lone.data_sent(), [12_001, 13_001]);
}

#[test]
fn limited_transmit_sends_new_segments_for_the_first_two_duplicates() {
    let mut lone = ten_under_way(&Config { recovery: Recovery::NewReno, ..plain() });
    lone.ack(1, 1);
    assert_eq!(lone.data_sent(), [10_001]);
    lone.ack(1, 1);
    assert_eq!(lone.data_sent(), [11_001]);
    lone.ack(1, 1);
    assert_eq!(lone.data_sent(), [1]);
    let cwnd_bytes = lone.stats().cwnd_bytes;
    assert_eq!(cwnd_bytes, 5000, "what limited transmit sent does not count");
}

#[test]
fn newreno_repeats_one_segment_for_each_partial_acknowledgement_and_reno_waits_for_the_timer() {
    for (recovery, expected) in [(Recovery::NewReno, vec![4001]), (Recovery::Reno, vec![])] {
        let mut lone = ten_under_way(&reno(recovery));
        (0..3).for_each(|_| lone.ack(1, 1));
        assert_eq!(lone.data_sent(), [1]);
        lone.ack(1, 4001);
        assert_eq!(lone.data_sent(), expected, "{recovery:?}");
    }
}

#[test]
fn sack_repeats_exactly_what_is_missing() {
    let mut lone = ten_under_way(&plain());
    lone.sack(1, &[(2001, 4001)]);
    lone.data_sent();
    lone.sack(1, &[(5001, 7001), (2001, 4001)]);
    assert_eq!(lone.data_sent()[0], 1, "more than two segments lie beyond it");
    lone.sack(1, &[(5001, 10_001), (2001, 4001)]);
    assert_eq!(lone.data_sent(), [1001, 4001], "the other holes, within half the window");
    lone.ack(1, 12_001);
    let stats = lone.stats();
    assert_eq!((stats.retransmitted_packets, stats.recoveries, stats.timeouts), (3, 1, 0));
}

#[test]
fn the_last_segment_is_sent_once_more_when_nothing_else_is_known_to_be_missing() {
    let mut lone = Lone::ordinary(&plain());
    lone.write(10_000);
    lone.data_sent();
    lone.sack(1, &[(1001, 5001)]);
    assert_eq!(lone.data_sent(), [1]);
    lone.ack(1, 5001);
    assert_eq!(lone.data_sent(), [], "half the window is under way");
    lone.ack(1, 7001);
    assert_eq!(lone.data_sent(), [9001], "no block is left, yet three segments are under way");
    lone.sack(7001, &[(9001, 10_001)]);
    assert_eq!(lone.data_sent(), [7001, 8001]);
}

#[test]
fn sack_blocks_that_cannot_be_are_ignored() {
    let mut lone = ten_under_way(&plain());
    for _ in 0..5 {
        lone.sack(1, &[(50_001, 60_001), (5001, 4001), (1, 2001)]);
    }
    assert_eq!(lone.data_sent(), []);
    assert_eq!(lone.stats().in_flight_bytes, 10_000);
}

#[test]
fn a_timeout_forgets_what_sack_said() {
    let mut lone = ten_under_way(&plain());
    lone.sack(1, &[(1001, 2001)]);
    lone.data_sent();
    lone.wait();
    assert_eq!(lone.data_sent(), [1]);
    lone.ack(1, 1001);
    assert_eq!(lone.data_sent(), [1001, 2001], "the peer may have thrown it away");
}

#[test]
fn data_out_of_sequence_is_kept_and_reported_at_once() {
    let mut lone = Lone::ordinary(&plain());
    lone.data(1001, &[2; 1000]);
    let ack = lone.one();
    assert_eq!((ack.acknowledgement, ack.options.sack.as_slice().len()), (1, 1));
    let (first, end) = ack.options.sack.as_slice()[0];
    let offset = |number: u32| number.wrapping_sub(common::PEER_INITIAL);
    assert_eq!((offset(first), offset(end)), (1001, 2001));
    lone.data(1, &[1; 1000]);
    let ack = lone.one();
    assert_eq!((ack.acknowledgement, ack.options.sack.as_slice()), (2001, &[][..]));
    assert_eq!(lone.read(), [[1; 1000], [2; 1000]].concat());
}

#[test]
fn acknowledgements_wait_for_a_second_segment_or_for_the_timer() {
    let mut lone = Lone::ordinary(&plain());
    lone.data(1, b"a");
    assert_eq!(lone.hear(), []);
    lone.data(2, b"b");
    assert_eq!(lone.one().acknowledgement, 3);
    lone.data(3, b"c");
    assert_eq!((lone.hear(), lone.wait()), (vec![], 40));
    assert_eq!(lone.one().acknowledgement, 4);
    lone.data(4, b"d");
    lone.write(5);
    assert_eq!(lone.one().acknowledgement, 5, "data takes it along");
    let mut lone = Lone::ordinary(&Config { ack_policy: AckPolicy::Immediate, ..plain() });
    lone.data(1, b"a");
    assert_eq!(lone.one().acknowledgement, 2);
}

#[test]
fn nagle_holds_small_segments_back_while_something_is_under_way() {
    let mut lone = Lone::ordinary(&Config { nagle: true, ..plain() });
    lone.write(10);
    assert_eq!(lone.data_sent(), [1]);
    lone.write(10);
    lone.write(10);
    assert_eq!(lone.data_sent(), []);
    lone.ack(1, 11);
    assert_eq!(lone.one().payload.len(), 20);
}

#[test]
fn a_closed_window_is_probed_until_it_opens() {
    let mut lone = Lone::ordinary(&plain());
    lone.peer_window = 0;
    lone.ack(1, 1);
    lone.write(3000);
    assert_eq!(lone.hear(), []);
    let mut waits = Vec::new();
    for _ in 0..5 {
        waits.push(lone.wait());
        let probe = lone.one();
        assert_eq!((probe.sequence, probe.payload.len()), (1, 1));
        lone.ack(1, 1);
        assert_eq!(lone.hear(), []);
    }
    assert_eq!(waits, [200, 400, 800, 1600, 3200]);
    lone.peer_window = 10_000;
    lone.ack(1, 1);
    assert_eq!(lone.data_sent(), [1, 1001, 2001]);
}

#[test]
fn unanswered_probes_end_the_connection() {
    let mut lone = Lone::ordinary(&Config { max_repeats: 3, ..plain() });
    lone.peer_window = 0;
    lone.ack(1, 1);
    lone.write(10);
    for _ in 0..5 {
        lone.hear();
        lone.wait();
    }
    assert_eq!(lone.events().last(), Some(&StreamEvent::Closed(Some(CloseReason::Silence))));
}

#[test]
fn a_window_that_shrinks_is_survived() {
    let mut lone = ten_under_way(&plain());
    lone.peer_window = 100;
    lone.ack(1, 2001);
    assert_eq!(lone.data_sent(), []);
    lone.peer_window = 60_000;
    lone.ack(1, 10_001);
    assert!(!lone.data_sent().is_empty());
}

/// The window that its old number told was dropped, and the window of before was counted from the new
/// acknowledgement on: it ended where the peer had never said.
#[test]
fn a_repeat_with_a_new_acknowledgement_tells_the_window() {
    let mut lone = ten_under_way(&plain());
    lone.peer_window = 9000;
    lone.data(1001, &[1; 1000]);
    lone.hear();
    lone.peer_window = 8000;
    lone.say(flags::ACK, 1, 2001, Options::default(), &[1; 1000]);
    lone.write(20_000);
    assert_eq!(lone.data_sent(), [], "up to 10 001 as before");
}

#[test]
fn our_window_closes_while_nobody_reads_and_opens_by_a_worthwhile_step() {
    let mut lone = Lone::ordinary(&Config { receive_limit_bytes: 2000, ..plain() });
    lone.data(1, &[1; 1000]);
    lone.data(1001, &[2; 1000]);
    assert_eq!(lone.one().window, 0);
    lone.data(2001, b"x");
    let answer = lone.one();
    assert_eq!((answer.acknowledgement, answer.window), (2001, 0), "a probe is answered");
    assert_eq!(lone.read().len(), 2000);
    assert_eq!(lone.one().window, 2000);
}

/// Each read moved the edge by a segment, which was told at once: an acknowledgement for every segment.
#[test]
fn an_application_that_reads_at_once_does_not_undo_the_delay_of_acknowledgements() {
    let ack_policy = AckPolicy::Delayed { every_packets: 2, delay_ns: 100 * MS };
    let mut lone = Lone::ordinary(&Config { receive_limit_bytes: 64_000, ack_policy, ..plain() });
    for pair in 0..10 {
        let first = 1 + pair * 2000;
        lone.data(first, &[1; 1000]);
        assert_eq!(lone.read().len(), 1000);
        assert!(lone.hear().is_empty(), "it waits for company");
        lone.data(first + 1000, &[2; 1000]);
        assert_eq!(lone.one().acknowledgement, first + 2000);
        assert_eq!(lone.read().len(), 1000);
        assert!(lone.hear().is_empty());
    }
}

#[test]
fn windows_are_scaled_when_both_ask() {
    let config =
        Config { window_scale: true, receive_limit_bytes: 1 << 20, send_limit_bytes: 1 << 20, ..plain() };
    let (mut lone, syn) = Lone::connecting(&config);
    assert_eq!((syn.window, syn.options.window_scale), (65_535, Some(5)));
    let options = Options { mss: Some(1000), window_scale: Some(3), ..Options::default() };
    lone.peer_window = 500;
    lone.say(flags::SYN | flags::ACK, 0, 1, options, b"");
    assert_eq!(lone.one().window, 1 << 15);
    lone.write(9000);
    assert_eq!(lone.data_sent(), [1], "the window of a SYN is not scaled");
    lone.ack(1, 501);
    let more = lone.hear();
    let bytes: usize = more.iter().map(|heard| heard.payload.len()).sum();
    assert_eq!(bytes, 4000, "500 * 8");
    let (mut lone, _) = Lone::connecting(&config);
    lone.say(flags::SYN | flags::ACK, 0, 1, Options::default(), b"");
    assert_eq!(lone.one().window, 65_535, "the peer does not scale");
}

#[test]
fn timestamps_are_echoed_and_measure() {
    let config = Config { timestamps: true, min_rto_ns: SECOND, ..plain() };
    let mut lone = Lone::accepted_with_stamps(&config, 1000);
    lone.say(flags::ACK, 1, 1, stamps(1005, 0), b"ab");
    lone.write(1);
    let sent = lone.one().options.timestamps.unwrap();
    assert_eq!(sent.echo, 1005);
    lone.wait_ms(300);
    lone.say(flags::ACK, 3, 2, stamps(1305, sent.value), b"");
    let rtt_ns = lone.stats().rtt_smoothed_ns.unwrap();
    assert!(
        (37_000_000..=38_000_000).contains(&rtt_ns),
        "an eighth of 300 ms over a first sample of 0: {rtt_ns}"
    );
}

/// On one machine an answer comes within a tick: no round trip takes no time.
#[test]
fn an_echo_within_a_tick_measures_a_tick() {
    let config = Config { timestamps: true, ..plain() };
    let mut lone = Lone::new(&config);
    lone.say(flags::SYN, 0, 0, Options { mss: Some(1000), ..stamps(1000, 0) }, b"");
    let echo = lone.one().options.timestamps.unwrap().value;
    lone.wait_ms(30);
    lone.say(flags::ACK, 1, 1, stamps(1001, echo), b"");
    lone.take();
    lone.write(1);
    lone.one();
    lone.wait();
    let again = lone.one().options.timestamps.unwrap().value;
    lone.say(flags::ACK, 1, 2, stamps(1002, again), b"");
    assert_eq!(lone.stats().rtt_min_ns, Some(MS));
}

#[test]
fn paws_drops_what_is_older_than_the_newest_timestamp() {
    let mut lone = Lone::accepted_with_stamps(&Config { timestamps: true, ..plain() }, 1000);
    lone.say(flags::ACK, 1, 1, stamps(999, 0), b"old");
    assert_eq!((lone.one().acknowledgement, lone.read()), (1, vec![]));
    lone.say(flags::ACK, 1, 1, Options::default(), b"none");
    assert_eq!((lone.hear(), lone.read()), (vec![], vec![]), "without a timestamp: dropped");
    lone.say(flags::ACK, 1, 1, stamps(1001, 0), b"new");
    assert_eq!(lone.read(), b"new");
}

/// What is 24 days old was not replaced, so that nothing was dropped for weeks.
#[test]
fn a_timestamp_that_is_too_old_is_replaced_by_a_smaller_one() {
    const DAY_MS: u64 = 24 * 3600 * 1000;
    let mut lone = Lone::accepted_with_stamps(&Config { timestamps: true, ..plain() }, 1000);
    lone.wait_ms(25 * DAY_MS);
    lone.say(flags::ACK, 1, 1, stamps(500, 0), b"new");
    assert_eq!(lone.read(), b"new", "older by its number alone");
    lone.say(flags::ACK, 4, 1, stamps(499, 0), b"old");
    assert_eq!(lone.read(), b"", "from now on that counts");
    lone.say(flags::ACK, 4, 1, stamps(501, 0), b"newer");
    assert_eq!(lone.read(), b"newer");
}

#[test]
fn idle_restarts_from_the_first_window() {
    let mut lone = ten_under_way(&plain());
    lone.wait_ms(100);
    for n in 1..=40 {
        lone.ack(1, 1 + 1000 * n);
        lone.hear();
    }
    assert!(lone.stats().cwnd_bytes > 30_000);
    lone.wait_ms(60_000);
    lone.write(30_000);
    assert_eq!(lone.data_sent().len(), 10);
}

#[test]
fn a_spurious_wake_up_emits_nothing() {
    let mut lone = ten_under_way(&plain());
    for _ in 0..5 {
        lone.wait_ms(10);
        assert_eq!(lone.hear(), []);
    }
}

#[test]
fn a_heartbeat_acknowledges_at_its_ticks() {
    let ack_policy = AckPolicy::Heartbeat { every_packets: 2, tick_ns: 200_000_000 };
    let mut lone = Lone::ordinary(&Config { ack_policy, ..plain() });
    lone.wait_ms(150);
    lone.data(1, b"a");
    assert_eq!((lone.hear(), lone.wait()), (vec![], 49));
    assert_eq!(lone.one().acknowledgement, 2);
    lone.wait_ms(10);
    lone.data(2, b"b");
    assert_eq!((lone.hear(), lone.wait()), (vec![], 190));
}

#[test]
fn a_reduced_receiver_answers_seldom_whatever_is_missing() {
    let ack_policy = AckPolicy::Reduced { every_packets: 4, delay_ns: 500_000_000 };
    let mut lone = Lone::ordinary(&Config { ack_policy, ..plain() });
    for (sequence, answers) in [(1, 0), (201, 0), (301, 0), (401, 1), (501, 0)] {
        lone.data(sequence, &[7; 100]);
        assert_eq!(lone.hear().len(), answers, "the first hole is no reason");
    }
    assert_eq!(lone.wait(), 500);
    assert_eq!(lone.one().acknowledgement, 101);
    lone.say(flags::FIN | flags::ACK, 601, 1, Options::default(), b"");
    lone.data(101, &[7; 100]);
    assert_eq!(lone.one().acknowledgement, 602, "the end is");
}

/// What a way back has to carry for data: neither the answer to the SYN, nor the window that is told behind
/// it, nor the end.
#[test]
fn acknowledgements_of_data_are_counted_and_what_opens_and_ends_is_not() {
    let mut lone = Lone::new(&plain());
    let options = Options { mss: Some(1000), window_scale: Some(4), ..Options::default() };
    lone.say(flags::SYN, 0, 0, options, b"");
    assert!(!lone.hear().is_empty());
    lone.ack(1, 1);
    lone.take();
    lone.hear();
    assert_eq!(lone.stats().data_ack_bytes, 0);
    lone.data(1, &[0; 1000]);
    lone.data(1001, &[0; 1000]);
    assert_eq!(lone.one().acknowledgement, 2001);
    let counted = lone.stats().data_ack_bytes;
    assert_eq!((counted, lone.stats().control_bytes > counted), (40, true), "one of two segments");
    lone.write(100);
    lone.hear();
    lone.ack(2001, 101);
    lone.endpoint.finish(lone.id);
    assert_eq!(lone.one().flags, flags::FIN | flags::ACK);
    assert_eq!(
        lone.stats().data_ack_bytes,
        counted,
        "data takes an acknowledgement along, and so does the end"
    );
}

//! The finer points of repairs: rescue, bursts, duplicates, repeats that were not needed.

mod common;

use common::{Lone, plain, stamps};
use skyhaul_tcp::segment::{Options, flags};
use skyhaul_tcp::{Config, Recovery};

/// Ten segments of 1000 bytes are under way and nothing more waits.
fn all_under_way(config: &Config) -> Lone {
    let mut lone = Lone::ordinary(config);
    lone.write(10_000);
    assert_eq!(lone.data_sent().len(), 10);
    lone
}

#[test]
fn a_rescue_waits_for_the_first_repeat_and_takes_the_highest_hole() {
    let mut lone = all_under_way(&plain());
    lone.sack(1, &[(1001, 5001)]);
    assert_eq!(lone.data_sent(), [1]);
    lone.sack(1, &[(6001, 9001), (1001, 5001)]);
    assert_eq!(lone.data_sent(), [5001], "the other hole is lost too");
    lone.sack(1, &[(6001, 10_001), (1001, 5001)]);
    assert_eq!(lone.data_sent(), [], "no rescue while the first repeat is under way");
    lone.ack(1, 5001);
    assert_eq!(lone.data_sent(), [5001], "the highest that is missing");
    lone.ack(1, 5001);
    assert_eq!(lone.data_sent(), [], "once");
}

#[test]
fn a_hole_that_may_not_be_lost_goes_again_where_there_is_nothing_new() {
    let mut lone = all_under_way(&plain());
    lone.sack(1, &[(1001, 5001)]);
    assert_eq!(lone.data_sent(), [1]);
    lone.sack(1, &[(6001, 8001), (1001, 5001)]);
    assert_eq!(lone.data_sent(), [5001], "no more than two segments lie beyond it");
    let mut lone = Lone::ordinary(&plain());
    lone.write(30_000);
    lone.data_sent();
    lone.sack(1, &[(1001, 5001)]);
    assert_eq!(lone.data_sent(), [1]);
    lone.sack(1, &[(6001, 8001), (1001, 5001)]);
    assert_eq!(lone.data_sent(), [10_001], "new data goes first");
}

#[test]
fn an_end_of_recovery_is_no_burst() {
    let mut lone =
        Lone::ordinary(&Config { recovery: Recovery::NewReno, limited_transmit: false, ..plain() });
    lone.write(60_000);
    assert_eq!(lone.data_sent().len(), 10);
    for _ in 0..3 {
        lone.ack(1, 1);
    }
    assert_eq!(lone.data_sent(), [1]);
    lone.ack(1, 10_001);
    assert_eq!(lone.data_sent(), [10_001, 11_001], "of a window of five");
    lone.ack(1, 12_001);
    assert_eq!(lone.data_sent().len(), 3);
    lone.ack(1, 15_001);
    assert_eq!(lone.data_sent().len(), 4);
}

#[test]
fn duplicates_are_reported_once_and_first() {
    let mut lone = Lone::ordinary(&plain());
    let said = |lone: &mut Lone, sequence| {
        lone.data(sequence, &[7; 100]);
        let base = common::PEER_INITIAL;
        let behind = |(first, end): &(u32, u32)| (first.wrapping_sub(base), end.wrapping_sub(base));
        lone.one().options.sack.as_slice().iter().map(behind).collect::<Vec<_>>()
    };
    lone.data(1, &[7; 100]);
    assert_eq!(said(&mut lone, 1), [(1, 101)], "a whole segment below the window");
    assert_eq!(said(&mut lone, 301), [(301, 401)], "the report went");
    assert_eq!(said(&mut lone, 301), [(301, 401), (301, 401)], "behind it the range that it lies in");
    assert_eq!(said(&mut lone, 351), [(351, 401), (301, 451)], "a part");
    assert_eq!(said(&mut lone, 51), [(51, 101), (301, 451)]);
}

#[test]
fn a_late_answer_to_the_original_undoes_a_timeout() {
    let mut lone = Lone::accepted_with_stamps(&Config { timestamps: true, ..plain() }, 500);
    lone.write(60_000);
    let stamp = lone.hear()[0].options.timestamps.unwrap().value;
    let cwnd_bytes = lone.stats().cwnd_bytes;
    lone.wait();
    let again = lone.one().options.timestamps.unwrap().value;
    assert!(again > stamp && lone.stats().cwnd_bytes < cwnd_bytes);
    let mut real = lone.endpoint.clone();
    lone.say(flags::ACK, 1, 989, stamps(501, stamp), b"");
    let sent = lone.data_sent();
    assert_eq!(sent[0], 1 + 10 * 988, "nothing else goes again");
    let stats = lone.stats();
    assert_eq!((stats.spurious_repairs, stats.retransmitted_packets), (1, 1));
    std::mem::swap(&mut lone.endpoint, &mut real);
    lone.say(flags::ACK, 1, 989, stamps(501, again), b"");
    assert_eq!(lone.data_sent()[0], 989, "an answer to the repeat: it was needed");
    assert_eq!(lone.stats().spurious_repairs, 0);
}

#[test]
fn a_late_answer_undoes_a_fast_retransmit() {
    let mut lone = Lone::new(&Config { timestamps: true, ..plain() });
    let offer = Options { mss: Some(1000), sack_permitted: true, ..stamps(500, 0) };
    lone.say(flags::SYN, 0, 0, offer, b"");
    let echo = lone.one().options.timestamps.unwrap().value;
    lone.say(flags::ACK, 1, 1, stamps(500, echo), b"");
    lone.take();
    lone.write(60_000);
    let stamp = lone.hear()[0].options.timestamps.unwrap().value;
    lone.wait_ms(10);
    for n in 2..=4 {
        let mut options = stamps(501, stamp);
        assert!(options.sack.push(lone.initial.wrapping_add(989), lone.initial.wrapping_add(1 + 988 * n)));
        lone.say(flags::ACK, 1, 1, options, b"");
    }
    assert_eq!(lone.data_sent()[0], 1);
    lone.say(flags::ACK, 1, 1 + 988 * 4, stamps(502, stamp), b"");
    assert_eq!((lone.stats().spurious_repairs, lone.stats().recoveries), (1, 1), "reordered, not lost");
}

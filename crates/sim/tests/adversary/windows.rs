//! Windows that are absurd or shrink.

use skyhaul_core::SECOND;
use skyhaul_stp::{Config, State};

use crate::peer::Liar;

/// Bound: the send buffer takes `send_limit_bytes`, whatever window the peer announces.
#[test]
fn a_huge_window_opens_no_more_than_the_send_limit() {
    let limit = 50_000;
    let mut liar = Liar::new(Config { send_limit_bytes: limit, ..Config::standard() });
    for _ in 0..20 {
        let answer = liar.stat(|report| skyhaul_stp::segment::Report { window_bytes: u32::MAX, ..report });
        liar.say(&answer);
        liar.engine_writes(100_000);
        assert!(liar.stats().in_flight_bytes <= limit);
    }
    liar.wait(10 * SECOND);
    let unconfirmed = liar.payload_heard() as u64;
    assert!(unconfirmed > 0 && liar.stats().in_flight_bytes <= limit);
}

/// Bound: behind a window that has shrunk to nothing no new data leaves.
#[test]
fn a_window_that_shrinks_below_what_is_under_way_stops_new_data() {
    let mut liar = Liar::new(Config::standard());
    liar.engine_writes(5_000);
    let before = liar.stats().data_packets;
    assert!(before > 0);
    let next = liar.heard.iter().rev().find_map(|heard| heard.segment.poll).unwrap().next;
    let nothing = liar.stat(|report| skyhaul_stp::segment::Report { window_bytes: 0, ..report });
    liar.say(&nothing);
    liar.engine_writes(50_000);
    liar.wait(60 * SECOND);
    assert_eq!(liar.stats().data_packets, before, "window 0 from {next} on");
    let polls = liar.stats().polls;
    assert!((3..40).contains(&polls), "it asks now and then, not all the time: {polls}");
    let open = liar.stat(|report| report);
    liar.say(&open);
    liar.wait(SECOND);
    assert!(liar.stats().data_packets > before, "and it goes on when the window opens");
    assert_eq!(liar.state(), Some(State::Established));
}

/// Bound: a window of one octet gives no packets of one octet.
#[test]
fn a_tiny_window_makes_no_tiny_packets() {
    let mut liar = Liar::new(Config::standard());
    let tiny = liar.stat(|report| skyhaul_stp::segment::Report { window_bytes: 1, ..report });
    liar.say(&tiny);
    liar.engine_writes(10_000);
    liar.wait(30 * SECOND);
    assert_eq!(liar.payload_heard(), 0);
}

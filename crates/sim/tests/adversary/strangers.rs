//! Segments of other instances.

use skyhaul_core::{Connections, ResetReason, SECOND};
use skyhaul_stp::segment::Segment;
use skyhaul_stp::{Config, State};

use crate::peer::{Liar, opening};

/// Bound: of 65 535 wrong instances none has an effect on the connection.
#[test]
fn every_other_instance_is_dropped() {
    let mut liar = Liar::new(Config::standard());
    let before = liar.stats();
    let right = liar.blank.instance;
    for instance in (0..=u16::MAX).filter(|&instance| instance != right) {
        liar.say(&Segment { instance, rst: Some(ResetReason::Aborted), ..liar.blank.clone() });
    }
    assert_eq!(liar.state(), Some(State::Established));
    assert_eq!(liar.stats().received_packets, before.received_packets);
    assert_eq!(liar.engine.endpoint_stats().wrong_instance, 65_535);
}

/// Bound: each BGN of another instance costs one POLL, and none while that one waits.
#[test]
fn an_opening_of_another_instance_costs_a_poll() {
    let mut liar = Liar::new(Config::standard());
    let polls = liar.stats().polls;
    for instance in 1000..1100 {
        let bgn = Some(opening(1 << 20));
        liar.say(&Segment { instance, bgn, ..liar.blank.clone() });
    }
    liar.wait(SECOND / 100);
    assert!(liar.stats().polls <= polls + 100);
    assert_eq!(liar.state(), Some(State::Established));
    assert_eq!(liar.engine.connection_count(), 1);
}

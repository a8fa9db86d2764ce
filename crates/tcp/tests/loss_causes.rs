//! Causes that losses are taken for, and what follows.

mod common;

use std::sync::Arc;

use common::{Lone, plain, way};
use skyhaul_core::{Engine, Event, Instant, Verdict};
use skyhaul_tcp::{Config, LossEvidence, LossJudge, LossSign};

/// Ten segments are under way, and losses have this cause.
fn ten_under_way(config: &Config, cause: Verdict) -> Lone {
    let mut lone = Lone::ordinary(config);
    lone.endpoint.assume_loss_cause(lone.now, way(), cause);
    lone.write(40_000);
    assert_eq!(lone.data_sent().len(), 10);
    lone
}

fn lose_the_first(lone: &mut Lone) {
    lone.sack(1, &[(1001, 4001)]);
    assert_eq!(lone.data_sent()[0], 1);
}

#[test]
fn a_loss_by_corruption_leaves_window_and_timer() {
    for (cause, cwnd_bytes) in
        [(Verdict::Corruption, 10_000), (Verdict::Congestion, 5000), (Verdict::Unknown, 5000)]
    {
        let mut lone = ten_under_way(&plain(), cause);
        lose_the_first(&mut lone);
        assert_eq!(lone.stats().cwnd_bytes, cwnd_bytes, "{cause:?}");
    }
    let mut lone = ten_under_way(&plain(), Verdict::Corruption);
    for _ in 0..3 {
        assert_eq!((lone.wait(), lone.data_sent().len()), (200, 10), "no backoff, the whole window");
    }
    assert_eq!(lone.stats().cwnd_bytes, 10_000);
}

#[test]
fn in_an_outage_one_segment_at_a_time_asks() {
    let mut lone = ten_under_way(&plain(), Verdict::Outage);
    for _ in 0..3 {
        assert_eq!((lone.wait(), lone.data_sent()), (200, vec![1]));
    }
    lone.ack(1, 1001);
    let again = lone.data_sent();
    assert_eq!((again.len(), again[0]), (10, 1001), "the window is as it was");
}

#[derive(Debug)]
struct Suspicious;

impl LossJudge for Suspicious {
    fn judge(&self, evidence: &LossEvidence) -> Verdict {
        assert_eq!((evidence.assumed, evidence.in_flight_bytes), (Verdict::Corruption, 10_000));
        match evidence.sign {
            LossSign::Duplicates => Verdict::Corruption,
            LossSign::Timeout => Verdict::Congestion,
        }
    }
}

#[test]
fn a_judge_sees_the_evidence_and_has_the_last_word() {
    let config = Config { loss_judge: Some(Arc::new(Suspicious)), ..plain() };
    let mut lone = ten_under_way(&config, Verdict::Corruption);
    lose_the_first(&mut lone);
    assert_eq!(lone.stats().cwnd_bytes, 10_000);
    let mut lone = ten_under_way(&config, Verdict::Corruption);
    let mut events: Vec<(Instant, u64, Event)> = Vec::new();
    lone.now = lone.endpoint.deadline().unwrap();
    lone.endpoint.handle_timeout(lone.now, &mut events);
    let lost = events.iter().filter_map(|(_, _, event)| match event {
        Event::Lost { first, end, verdict } => Some((end - first, *verdict)),
        _ => None,
    });
    assert_eq!(lost.collect::<Vec<_>>(), [(1000, Verdict::Congestion)]);
    assert_eq!(lone.stats().cwnd_bytes, 1000);
}

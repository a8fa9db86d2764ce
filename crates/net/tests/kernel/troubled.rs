//! Paths that lose, reorder, damage, delay or swallow what is too large.

use skyhaul_core::MS;
use skyhaul_link::{BurstLoss, Damage, DirectionConfig, LinkConfig, QueueLimit, Reordering};
use skyhaul_tcp::Config;

use crate::lab::{exchange, in_a_namespace};
use crate::socket::{from_kernel, to_kernel};

const BYTES: usize = 1_500_000;

fn direction() -> DirectionConfig {
    DirectionConfig {
        rate_bps: Some(100_000_000),
        delay_ns: 3 * MS,
        queue: QueueLimit::Packets(200),
        ..DirectionConfig::default()
    }
}

fn link(direction: DirectionConfig) -> LinkConfig {
    LinkConfig {
        name: "test".into(),
        forward: direction.clone(),
        reverse: direction,
        ..LinkConfig::default()
    }
}

/// Bulk both ways over the link, in both roles; what the link counted there and back.
fn over(direction: DirectionConfig, controller: &'static str, check: fn(&skyhaul_net::LinkReport)) {
    in_a_namespace(async move |lab| {
        let (host, link) = lab.linked(link(direction));
        let (ours, kernel) = to_kernel(&host, 0, Some(controller), Config::standard()).await;
        exchange(ours, kernel, BYTES, BYTES).await;
        let (ours, kernel) = from_kernel(&host, 1, Some(controller)).await;
        exchange(ours, kernel, BYTES, BYTES).await;
        let report = link.stop();
        assert_eq!(report.forward.send_failures + report.reverse.send_failures, 0, "{report:?}");
        check(&report);
    });
}

fn lossy() -> DirectionConfig {
    let burst_loss = BurstLoss { good_to_bad: 0.005, bad_to_good: 0.4, loss_good: 0.005, loss_bad: 0.5 };
    DirectionConfig { burst_loss, ..direction() }
}

fn lost(report: &skyhaul_net::LinkReport) {
    let [there, back] = [report.forward, report.reverse].map(|side| side.counters.dropped.random_loss);
    assert!(there > 0 && back > 0, "{report:?}");
}

#[test]
fn losses_with_a_kernel_that_has_reno() {
    over(lossy(), "reno", lost);
}

#[test]
fn losses_with_a_kernel_that_has_cubic() {
    over(lossy(), "cubic", lost);
}

#[test]
fn losses_with_a_kernel_that_has_bbr() {
    over(lossy(), "bbr", lost);
}

#[test]
fn packets_that_overtake_each_other() {
    let reordering = Reordering { probability: 0.03, extra_delay_ns: 3 * MS };
    over(DirectionConfig { reordering, ..direction() }, "cubic", |report| {
        let [there, back] = [report.forward, report.reverse].map(|side| side.counters.reordered_packets);
        assert!(there > 0 && back > 0, "{report:?}");
    });
}

#[test]
fn damaged_packets() {
    let damaged = DirectionConfig { bit_error_rate: 1e-6, damage: Damage::Deliver, ..direction() };
    over(damaged, "cubic", |report| {
        let [there, back] = [report.forward, report.reverse].map(|side| side.counters.damaged_packets);
        assert!(there > 0 && back > 0, "{report:?}");
    });
}

#[test]
fn a_queue_that_overflows() {
    let narrow =
        DirectionConfig { rate_bps: Some(20_000_000), queue: QueueLimit::Packets(20), ..direction() };
    over(narrow, "cubic", |report| {
        let [there, back] = [report.forward, report.reverse].map(|side| side.counters.dropped.queue_full);
        assert!(there > 0 && back > 0, "{report:?}");
    });
}

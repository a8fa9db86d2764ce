//! Metrics of links, from the end of the warm-up on.

use skyhaul_core::{Instant, SECOND};
use skyhaul_link::LinkCounters;

use super::flows::Metrics;
use crate::run::Run;

pub(super) fn add(run: &Run<'_>, metrics: &mut Metrics) {
    let network = &run.network;
    for (index, edge) in network.edges().iter().enumerate() {
        let config = edge.link.config();
        for (port, direction) in ["forward", "reverse"].iter().enumerate() {
            let now = edge.counters(port as u32, network.now());
            let before = run.counters_before(index)[port];
            let name = format!("links.{}.{direction}", config.name);
            let share = utilisation(run, index, port);
            metrics.extend(share.map(|share| (format!("{name}.utilisation"), share)));
            add_direction(&name, &now, &before, metrics);
            if config.direction(port as u32).policer.is_some() {
                let dropped = now.dropped.policed - before.dropped.policed;
                metrics.insert(format!("{name}.drops.policed"), dropped as f64);
            }
            if edge.link.conditions().has_mtu(port as u32) {
                add_sizes(&name, &now, &before, metrics);
            }
        }
    }
}

/// Share of the rate that was used until everything was delivered, or else until the end of the run.
fn utilisation(run: &Run<'_>, index: usize, port: usize) -> Option<f64> {
    let (end, counters) = run.counters_at_end(index);
    let (now, before) = (counters[port], run.counters_before(index)[port]);
    let warm_up = Instant::from_ns(run.scenario.warm_up_ns);
    let conditions = run.network.edges()[index].link.conditions();
    let rate_bps = conditions.mean_rate_bps(port as u32, warm_up, end)?;
    let seconds = end.since(warm_up) as f64 / SECOND as f64;
    // What was taken on but still waits has not used the rate yet.
    let waiting = now.queue_bytes as f64 - before.queue_bytes as f64;
    let served = now.served_bytes.saturating_sub(before.served_bytes) as f64 - waiting;
    Some(served * 8.0 / rate_bps / seconds)
}

/// What a largest packet did; absent where there is none.
fn add_sizes(name: &str, now: &LinkCounters, before: &LinkCounters, metrics: &mut Metrics) {
    let dropped = now.dropped.too_large - before.dropped.too_large;
    let fragmented = now.fragmented_packets - before.fragmented_packets;
    metrics.insert(format!("{name}.drops.too_large"), dropped as f64);
    metrics.insert(format!("{name}.fragmented_packets"), fragmented as f64);
}

fn add_direction(name: &str, now: &LinkCounters, before: &LinkCounters, metrics: &mut Metrics) {
    let mut add = |metric: &str, value: f64| {
        metrics.insert(format!("{name}.{metric}"), value);
    };
    let entered = now.entered_packets - before.entered_packets;
    let served = entered - (now.dropped.unserved() - before.dropped.unserved());
    if served > 0 {
        add("wait_ms.mean", (now.waited_ns - before.waited_ns) as f64 / served as f64 / 1e6);
    }
    if let Some(ns) = now.waits.since(&before.waits).percentile_ns(95) {
        add("wait_ms.p95", ns as f64 / 1e6);
    }
    let dropped = |counters: &LinkCounters| counters.dropped.total() - counters.dropped.unserved();
    if served > 0 {
        add("loss", (dropped(now) - dropped(before)) as f64 / served as f64);
    }
    add("delivered_packets", (now.delivered_packets - before.delivered_packets) as f64);
    add("delivered_bytes", (now.delivered_bytes - before.delivered_bytes) as f64);
    add("duplicated_packets", (now.duplicated_packets - before.duplicated_packets) as f64);
    add("queue_bytes.max", now.max_queue_bytes as f64);
    add("drops.queue_full", (now.dropped.queue_full - before.dropped.queue_full) as f64);
    add("drops.early", (now.dropped.early - before.dropped.early) as f64);
    add("marked_packets", (now.marked_packets - before.marked_packets) as f64);
    add("drops.random_loss", (now.dropped.random_loss - before.dropped.random_loss) as f64);
    add("drops.bit_error", (now.dropped.bit_error - before.dropped.bit_error) as f64);
    add("drops.outage", (now.dropped.outage - before.dropped.outage) as f64);
}

//! STP's parameters, as the seed picks them.

use skyhaul_core::{MS, SECOND};
use skyhaul_stp::{Baseline, Config, ProbingConfig, RetransmitRule};

use crate::common::dice::Dice;

pub(crate) fn config(d: &mut Dice, link_bps: Option<u64>, impatient: bool) -> Config {
    let mut config = if d.percent(40) { Config::paper() } else { Config::standard() };
    if d.percent(40) {
        let link_bps = link_bps.unwrap_or(2_000_000);
        config.rate_bps = Some((link_bps * d.scale(50, 120) / 100).max(20_000));
    }
    if d.percent(60) {
        config.probing = probing(d);
    }
    if d.percent(60) {
        vary_limits(d, &mut config);
    }
    if d.percent(60) {
        vary_habits(d, &mut config);
    }
    if !impatient {
        config.connect_give_up_ns = None;
        config.give_up_ns = None;
        config.max_tries = u32::MAX;
    }
    config
}

/// Off, a profile, or anything.
fn probing(d: &mut Dice) -> Option<ProbingConfig> {
    let mut probing = d.pick(&[None, Some(ProbingConfig::paper()), Some(ProbingConfig::standard())])?;
    if d.percent(50) {
        probing.max_probes = d.scale(2, 64) as usize;
        probing.req_probes = d.scale(1, 4) as usize;
        probing.req_probes_declared = d.scale(1, 4) as usize;
        probing.baseline = d.pick(&[Baseline::Smoothed, Baseline::Smallest]);
        probing.gap_starts_declared = d.percent(50);
        probing.probes_per_rtt = d.scale(1, 8);
        probing.min_interval_ns = d.pick(&[0, 10 * MS, 40 * MS]);
        probing.age_divisor = d.pick(&[None, Some(4), Some(256)]);
        probing.silent_probes = d.below(4) as u32;
        probing.silent_packets = d.pick(&[None, Some(1), Some(8)]);
        probing.congested_percent = d.pick(&[None, Some(5), Some(20)]);
        probing.judges_in_passing = d.percent(50);
        probing.late_intervals = d.below(4);
        probing.late_deviations = d.below(6);
        probing.queue_holds_probes = d.percent(50);
        probing.declared_percent = d.scale(1, 100);
    }
    Some(probing)
}

fn vary_limits(d: &mut Dice, config: &mut Config) {
    let limits = [4 << 10, 8 << 10, 16 << 10, 64 << 10, 1 << 20];
    if d.percent(60) {
        config.receive_limit_bytes = d.pick(&limits);
    }
    if d.percent(40) {
        config.send_limit_bytes = d.pick(&limits);
    }
    if d.percent(30) {
        config.early_window_bytes = d.pick(&[0, 300, 4 << 10, 64 << 10]);
    }
    if d.percent(30) {
        config.max_payload_bytes = d.pick(&[10, 100, 536, 1000]);
    }
    if d.percent(30) {
        config.initial_window_packets = d.scale(1, 20);
    }
}

fn vary_habits(d: &mut Dice, config: &mut Config) {
    config.early_data = d.percent(70);
    config.nagle = d.percent(50);
    config.bgn_repeats = d.below(5);
    config.end_with_data = d.percent(50);
    config.idle_repeat = d.percent(50);
    config.coded_tail = d.percent(60);
    config.poll_first_burst = d.percent(70);
    config.retransmit_within_window = d.percent(50);
    config.ustat_threshold = d.pick(&[None, Some(0), Some(3)]);
    config.ustats_per_poll = d.pick(&[None, Some(0), Some(2)]);
    config.retransmit = d.pick(&[RetransmitRule::SentBeforePoll, RetransmitRule::RttElapsed]);
    config.reorder_packets = d.below(5);
    config.initial_rtt_ns = d.scale(10 * MS, 2 * SECOND);
    config.idle_restart_ns = d.pick(&[None, Some(SECOND), Some(10 * SECOND)]);
    config.keepalive_ns = d.pick(&[None, Some(2 * SECOND), Some(60 * SECOND)]);
}

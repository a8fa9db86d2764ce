//! Each departure of `default` from [XSTP 4] undone by itself: shares on the built-in links.

use skyhaul_core::NullSink;
use skyhaul_link::preset;
use skyhaul_sim::{Outcome, Transfer};
use skyhaul_stp::{Baseline, Config, ControllerKind, ProbingConfig};

use crate::{Change, SEEDS, outcomes, share};

const BYTES: u64 = 10_000_000;

pub(crate) fn with(config: &mut Config, change: impl Fn(&mut ProbingConfig)) {
    if let Some(probing) = &mut config.probing {
        change(probing);
    }
}

fn rows() -> Vec<(&'static str, Change)> {
    vec![
        ("`default`", |_| ()),
        ("probing off", |c| c.probing = None),
        ("`max_probes` 4", |c| with(c, |p| p.max_probes = 4)),
        ("`req_probes_declared` 2", |c| with(c, |p| p.req_probes_declared = 2)),
        ("`baseline` Smoothed", |c| with(c, |p| p.baseline = Baseline::Smoothed)),
        ("`rtt_tolerance_percent` 0", |c| with(c, |p| p.rtt_tolerance_percent = 0)),
        ("`outage_tolerance_percent` 0", |c| with(c, |p| p.outage_tolerance_percent = 0)),
        ("both of them 0", |c| {
            with(c, |p| (p.rtt_tolerance_percent, p.outage_tolerance_percent) = (0, 0));
        }),
        ("`rtt_slack_ns` 0", |c| with(c, |p| p.rtt_slack_ns = 0)),
        ("`counts_alarm_rtt` false", |c| with(c, |p| p.counts_alarm_rtt = false)),
        ("`gap_starts_declared` true", |c| with(c, |p| p.gap_starts_declared = true)),
        ("`probes_per_rtt` 1", |c| with(c, |p| p.probes_per_rtt = 1)),
        ("`min_interval_ns` 0", |c| with(c, |p| p.min_interval_ns = 0)),
        ("`age_divisor` none", |c| with(c, |p| p.age_divisor = None)),
        ("`silent_probes` 1", |c| with(c, |p| p.silent_probes = 1)),
        ("`silent_packets` none", |c| with(c, |p| p.silent_packets = None)),
        ("`congested_percent` none", |c| with(c, |p| p.congested_percent = None)),
        ("`judges_in_passing` false", |c| with(c, |p| p.judges_in_passing = false)),
        ("`late_intervals` 1", |c| with(c, |p| p.late_intervals = 1)),
        ("`late_deviations` 0", |c| with(c, |p| p.late_deviations = 0)),
        ("`queue_holds_probes` false", |c| with(c, |p| p.queue_holds_probes = false)),
        ("`declared_percent` 100", |c| with(c, |p| p.declared_percent = 100)),
        ("all of [XSTP 4]", |c| c.probing = Some(ProbingConfig::paper())),
    ]
}

/// Under the papers' window: what measures the rate has other uses for probing.
fn undeclared(link: &str, change: Change) -> Vec<Outcome> {
    let one = |seed| {
        let config = preset(link).ok_or_else(|| format!("no link called {link}"))?;
        let mut transfer = Transfer::new(config, seed, BYTES);
        transfer.sender.controller = ControllerKind::SlowStartAvoidance;
        change(&mut transfer.sender);
        transfer.run(&mut NullSink).map_err(|e| e.to_string())
    };
    (1..=SEEDS).filter_map(|seed| one(seed).map_err(|why| println!("{why}")).ok()).collect()
}

pub(crate) fn print() {
    println!("| parameters | geo-noisy | leo-handoff | leo-passes | geo | leo-handoff | leo-passes |");
    for (name, change) in rows() {
        let declared = ["geo-noisy", "leo-handoff", "leo-passes"]
            .map(|link| format!("{:.3}", share(&outcomes(link, BYTES, None, change))));
        let undeclared = ["geo", "leo-handoff", "leo-passes"]
            .map(|link| format!("{:.3}", share(&undeclared(link, change))));
        println!("| {name} | {} | {} |", declared.join(" | "), undeclared.join(" | "));
    }
}

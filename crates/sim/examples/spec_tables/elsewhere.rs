//! Departures of `default` from [XSTP 4] that the shares on the built-in links do not show: on a link and
//! with a figure that does.

use skyhaul_core::{Instant, MS, SECOND};
use skyhaul_link::{DirectionConfig, LinkConfig, Outage, QueueLimit, preset};
use skyhaul_sim::{Outcome, Transfer};

use crate::observer::Observer;
use crate::probing::with;
use crate::{Change, SEEDS, share};

type Run = (Outcome, Observer);

/// A departure undone, and where that is to be seen.
struct Row {
    undone: &'static str,
    change: Change,
    link: fn() -> LinkConfig,
    bytes: u64,
    rate_bps: Option<u64>,
    figure: fn(&[Run]) -> f64,
    words: &'static str,
}

/// Rows of a matrix of observer and verdict.
const CONGESTION: usize = 0;
const CORRUPTION: usize = 1;

/// Share of the packets that vanished for this cause and were said to.
fn right(runs: &[Run], cause: usize) -> f64 {
    let of =
        |verdict: usize| runs.iter().map(|(_, observer)| observer.confusion()[cause][verdict]).sum::<u64>();
    of(cause) as f64 / (0..4).map(of).sum::<u64>() as f64
}

fn mean(runs: &[Run], of: impl Fn(&Outcome) -> u64) -> f64 {
    runs.iter().map(|(outcome, _)| of(outcome) as f64).sum::<f64>() / runs.len() as f64
}

fn shares(runs: &[Run]) -> f64 {
    share(&runs.iter().map(|(outcome, _)| outcome.clone()).collect::<Vec<_>>())
}

fn named(name: &str) -> LinkConfig {
    preset(name).unwrap_or_default() // a link without a rate has no share: it would show
}

/// A queue of 50 packets each way.
fn plain(rate_bps: u64, delay_ns: u64) -> LinkConfig {
    let direction = DirectionConfig {
        rate_bps: Some(rate_bps),
        delay_ns,
        queue: QueueLimit::Packets(50),
        ..DirectionConfig::default()
    };
    LinkConfig {
        name: "plain".into(),
        forward: direction.clone(),
        reverse: direction,
        ..LinkConfig::default()
    }
}

fn queued(packets: u32, mut link: LinkConfig) -> LinkConfig {
    link.forward.queue = QueueLimit::Packets(packets);
    link
}

fn lossy(loss: f64, mut link: LinkConfig) -> LinkConfig {
    link.forward.loss = loss;
    link
}

/// Gone after ten seconds.
fn gone_for(seconds: u64, link: LinkConfig) -> LinkConfig {
    let from = Instant::from_ns(10 * SECOND);
    LinkConfig { outages: vec![Outage { from, to: from.after(seconds * SECOND) }], ..link }
}

fn rows() -> Vec<Row> {
    let probes = |runs: &[Run]| mean(runs, |o| o.sender.probes);
    vec![
        Row {
            undone: "`rtt_slack_ns` 0",
            change: |c| with(c, |p| p.rtt_slack_ns = 0),
            link: || lossy(0.01, plain(100_000_000, MS)),
            bytes: 10_000_000,
            rate_bps: None,
            figure: shares,
            words: "100 Mbit/s, 1 ms, 1 % loss: share",
        },
        Row {
            undone: "`counts_alarm_rtt` false",
            change: |c| with(c, |p| p.counts_alarm_rtt = false),
            link: || named("geo"),
            bytes: 10_000_000,
            rate_bps: None,
            figure: |runs| right(runs, CONGESTION),
            words: "geo, not declared: full queues called that",
        },
        Row {
            undone: "`queue_holds_probes` false",
            change: |c| with(c, |p| p.queue_holds_probes = false),
            link: || lossy(0.01, queued(20, plain(3_000_000, 50 * MS))),
            bytes: 3_000_000,
            rate_bps: Some(3_900_000),
            figure: |runs| right(runs, CONGESTION),
            words: "3 Mbit/s, 3.9 declared, 50 ms, a queue of 20 packets, 1 % loss: full queues called that",
        },
        Row {
            undone: "`min_interval_ns` 0",
            change: |c| with(c, |p| p.min_interval_ns = 0),
            link: || gone_for(10, plain(10_000_000, MS)),
            bytes: 20_000_000,
            rate_bps: None,
            figure: probes,
            words: "10 Mbit/s, 1 ms, gone for 10 s: probes",
        },
        Row {
            undone: "`age_divisor` none",
            change: |c| with(c, |p| p.age_divisor = None),
            link: || gone_for(300, plain(10_000_000, 50 * MS)),
            bytes: 20_000_000,
            rate_bps: None,
            figure: probes,
            words: "10 Mbit/s, 50 ms, gone for 5 min: probes",
        },
        Row {
            undone: "`declared_percent` 100",
            change: |c| with(c, |p| p.declared_percent = 100),
            link: || gone_for(60, plain(20_000, 275 * MS)),
            bytes: 100_000,
            rate_bps: Some(20_000),
            figure: probes,
            words: "20 kbit/s declared, 275 ms, gone for 1 min: probes",
        },
        Row {
            undone: "`silent_probes` 1",
            change: |c| with(c, |p| p.silent_probes = 1),
            link: || lossy(0.1, plain(10_000_000, 275 * MS)),
            bytes: 5_000_000,
            rate_bps: None,
            figure: |runs| right(runs, CORRUPTION),
            words: "10 Mbit/s, not declared, 275 ms, 10 % loss: damage called that",
        },
        Row {
            undone: "`judges_in_passing` false",
            change: |c| with(c, |p| p.judges_in_passing = false),
            link: || named("geo-noisy"),
            bytes: 10_000_000,
            rate_bps: Some(10_000_000),
            figure: |runs| right(runs, CORRUPTION),
            words: "geo-noisy, declared: damage called that",
        },
        Row {
            undone: "`late_deviations` 0",
            change: |c| with(c, |p| p.late_deviations = 0),
            link: || queued(1000, plain(10_000_000, 10 * MS)),
            bytes: 10_000_000,
            rate_bps: None,
            figure: |runs| mean(runs, |o| o.sender.probe_aborted),
            words: "10 Mbit/s, 10 ms, a queue of 1000 packets: false alarms in 10 MB",
        },
    ]
}

fn measure(row: &Row, change: Change) -> f64 {
    let one = |seed| {
        let mut transfer = Transfer::new((row.link)(), seed, row.bytes);
        transfer.sender.controller = skyhaul_stp::ControllerKind::SlowStartAvoidance;
        if let Some(rate_bps) = row.rate_bps {
            transfer = transfer.with_rate(rate_bps);
        }
        change(&mut transfer.sender);
        let mut observer = Observer::default();
        transfer.run(&mut observer).map(|outcome| (outcome, observer)).map_err(|e| e.to_string())
    };
    let runs: Vec<Run> =
        (1..=SEEDS).filter_map(|seed| one(seed).map_err(|why| println!("{why}")).ok()).collect();
    (row.figure)(&runs)
}

pub(crate) fn print() {
    println!("| undone | link and figure | `default` | undone |");
    for row in rows() {
        let [kept, undone] = [(|_| ()) as Change, row.change].map(|change| measure(&row, change));
        println!("| {} | {} | {kept:.3} | {undone:.3} |", row.undone, row.words);
    }
}

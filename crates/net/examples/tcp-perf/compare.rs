//! Goodput of the two TCPs over the same link.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use skyhaul_core::MS;
use skyhaul_link::{LinkConfig, QueueLimit};
use skyhaul_net::LinkReport;

use crate::ends::{Amount, Transfer};
use crate::lab::{self, Middle};
use crate::numbers::median;
use crate::stacks::Tcp;

/// A sender that stands still for longer sends a burst afterwards that is not TCP's doing.
const MAX_STALL_NS: u64 = 10 * MS;
const SENDERS: [Tcp; 2] = [Tcp::Kernel, Tcp::Ours];

/// Plan of a comparison.
pub(crate) struct Plan {
    pub(crate) link: LinkConfig,
    pub(crate) seed: u64,
    pub(crate) time: Duration,
    pub(crate) repeats: u64,
    pub(crate) controllers: Vec<&'static str>,
    pub(crate) receiver: Tcp,
    pub(crate) patience: u64,
    pub(crate) log: Option<PathBuf>,
    pub(crate) json: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            link: LinkConfig::default(),
            seed: 1,
            time: Duration::from_secs(60),
            repeats: 3,
            controllers: vec!["reno", "cubic", "bbr"],
            receiver: Tcp::Kernel,
            patience: 3,
            log: None,
            json: false,
        }
    }
}

/// One run.
struct Run {
    sender: Tcp,
    goodput_bps: f64,
    retransmitted: Option<u64>,
    queue_drops: u64,
    /// Why it does not count, if that is so.
    disturbance: Option<String>,
}

/// All runs of one controller.
struct Row {
    controller: &'static str,
    kept: Vec<Run>,
    /// Disturbed runs that were repeated.
    thrown_away: u64,
}

pub(crate) fn run(plan: &Plan) -> io::Result<()> {
    if let Some(folder) = &plan.log {
        std::fs::create_dir_all(folder)?;
    }
    let row = |&controller| Row { controller, kept: Vec::new(), thrown_away: 0 };
    let mut rows: Vec<Row> = plan.controllers.iter().map(row).collect();
    for repeat in 0..plan.repeats {
        for row in &mut rows {
            for sender in SENDERS {
                row.add(plan, sender, repeat)?;
            }
        }
    }
    if plan.json {
        println!("{}", as_json(plan, &rows));
    } else {
        print(plan, &rows);
    }
    Ok(())
}

impl Row {
    /// Runs until nothing disturbs, or patience is at its end.
    fn add(&mut self, plan: &Plan, sender: Tcp, repeat: u64) -> io::Result<()> {
        for attempt in 0..=plan.patience {
            let run = once(plan, self.controller, sender, repeat)?;
            let note = run.disturbance.as_ref().map(|why| format!("; disturbed: {why}")).unwrap_or_default();
            eprintln!(
                "{} {}: {:.2} Mbit/s, {} sent again, {} lost in the queue{note}",
                self.controller,
                sender.name(),
                run.goodput_bps / 1e6,
                shown(run.retransmitted),
                run.queue_drops,
            );
            if run.disturbance.is_none() || attempt == plan.patience {
                self.kept.push(run);
                return Ok(());
            }
            self.thrown_away += 1;
        }
        Ok(())
    }

    fn of(&self, sender: Tcp) -> impl Iterator<Item = &Run> {
        self.kept.iter().filter(move |run| run.sender == sender)
    }

    fn goodput_bps(&self, sender: Tcp) -> f64 {
        median(self.of(sender).map(|run| run.goodput_bps))
    }

    fn ratio(&self) -> f64 {
        self.goodput_bps(Tcp::Ours) / self.goodput_bps(Tcp::Kernel)
    }

    fn retransmitted(&self, sender: Tcp) -> Option<u64> {
        let known: Option<Vec<u64>> = self.of(sender).map(|run| run.retransmitted).collect();
        known.map(|known| median(known.into_iter().map(|count| count as f64)) as u64)
    }

    fn disturbed(&self) -> usize {
        self.kept.iter().filter(|run| run.disturbance.is_some()).count()
    }
}

fn once(plan: &Plan, controller: &'static str, sender: Tcp, repeat: u64) -> io::Result<Run> {
    let log =
        plan.log.as_ref().map(|folder| folder.join(format!("{controller}-{}-{repeat}.log", sender.name())));
    let transfer = Transfer {
        sender,
        receiver: plan.receiver,
        controller,
        mtu_bytes: 1500,
        amount: Amount::Time(plan.time),
        log,
    };
    let outcome = lab::run(&transfer, &Middle::Link(&plan.link, plan.seed + repeat))?;
    let link = outcome.link;
    Ok(Run {
        sender,
        goodput_bps: 8.0 * outcome.received.bytes as f64 / outcome.received.seconds,
        retransmitted: outcome.sent.retransmitted,
        queue_drops: link.as_ref().map_or(0, |link| link.forward.counters.dropped.queue_full),
        disturbance: link.as_ref().and_then(|link| disturbance(link, outcome.sent.stall_ns)),
    })
}

fn disturbance(link: &LinkReport, stall_ns: u64) -> Option<String> {
    let stall_ms = stall_ns as f64 / 1e6;
    let stalled = (stall_ns > MAX_STALL_NS).then(|| format!("the sender stood still for {stall_ms:.0} ms"));
    link.remark().or(stalled)
}

fn print(plan: &Plan, rows: &[Row]) {
    println!(
        "{}; {} s a run, median of {}; receiver: {}",
        show_link(&plan.link),
        plan.time.as_secs(),
        plan.repeats,
        plan.receiver.name()
    );
    println!(
        "| controller | kernel Mbit/s | ours Mbit/s | ours / kernel | sent again: kernel | ours | disturbed runs |"
    );
    println!("|---|---|---|---|---|---|---|");
    for row in rows {
        let [kernel, ours] = SENDERS.map(|sender| row.goodput_bps(sender) / 1e6);
        let [kernel_again, ours_again] = SENDERS.map(|sender| shown(row.retransmitted(sender)));
        println!(
            "| {} | {kernel:.2} | {ours:.2} | {:.3} | {kernel_again} | {ours_again} | {} thrown away, {} kept |",
            row.controller,
            row.ratio(),
            row.thrown_away,
            row.disturbed(),
        );
    }
}

fn show_link(link: &LinkConfig) -> String {
    let way = &link.forward;
    let queue = if let QueueLimit::Packets(packets) = way.queue { packets } else { 0 };
    format!(
        "{} Mbit/s, RTT {} ms, queue {queue} packets, loss {}",
        way.rate_bps.unwrap_or_default() as f64 / 1e6,
        2.0 * way.delay_ns as f64 / 1e6,
        way.loss
    )
}

fn shown(count: Option<u64>) -> String {
    count.map_or_else(|| "-".into(), |count| count.to_string())
}

fn as_json(plan: &Plan, rows: &[Row]) -> Value {
    let rows = rows.iter().map(|row| {
        let runs = row.kept.iter().map(|run| {
            json!({
                "sender": run.sender.name(),
                "goodput_bps": run.goodput_bps,
                "retransmitted_packets": run.retransmitted,
                "queue_drops": run.queue_drops,
                "disturbance": run.disturbance,
            })
        });
        json!({
            "controller": row.controller,
            "kernel_goodput_bps": row.goodput_bps(Tcp::Kernel),
            "ours_goodput_bps": row.goodput_bps(Tcp::Ours),
            "ratio": row.ratio(),
            "thrown_away_runs": row.thrown_away,
            "runs": runs.collect::<Vec<_>>(),
        })
    });
    json!({
        "mode": "compare",
        "link": show_link(&plan.link),
        "run_s": plan.time.as_secs(),
        "repeats": plan.repeats,
        "receiver": plan.receiver.name(),
        "seed": plan.seed,
        "rows": rows.collect::<Vec<_>>(),
    })
}

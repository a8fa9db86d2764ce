//! What came of the runs.

use serde::Serialize;
use skyhaul_core::{SECOND, Stats};
use skyhaul_report::stats::median;

use super::bottleneck::Bottleneck;
use super::racer::Racer;
use crate::result::{Lateness, Losses, Probing, RttMs, Traffic};

/// One run of one racer: the transfer, and the exchanges. What is not known is `None`.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Run {
    pub(super) seed: u64,
    /// `stp` or `tcp`.
    pub(super) transport: &'static str,
    /// What decided how fast it sends.
    pub(super) controller: String,
    pub(super) declared_rate_bps: Option<u64>,
    /// Whether everything arrived before the limit of time.
    pub(super) complete: bool,
    /// What arrived, in order.
    pub(super) payload_bytes: u64,
    /// From the opening of the connection to the last byte; or to the limit of time.
    pub(super) elapsed_s: Option<f64>,
    /// From there until the sender knew.
    pub(super) confirmed_s: Option<f64>,
    pub(super) goodput_bps: Option<f64>,
    pub(super) limit_bps: Option<f64>,
    pub(super) share: Option<f64>,
    /// IP packets that the sender handed to its link.
    pub(super) forward: Traffic,
    /// Those that the receiver did.
    pub(super) reverse: Traffic,
    /// How the packets on the way there fared at the narrowest link.
    pub(super) bottleneck: Option<Bottleneck>,
    pub(super) retransmitted_packets: Option<u64>,
    pub(super) losses: Option<Losses>,
    pub(super) probing: Option<Probing>,
    pub(super) rtt_ms: Option<RttMs>,
    /// How long each exchange over a connection of its own took.
    pub(super) fresh_ms: Vec<f64>,
    /// The same over a connection that was kept.
    pub(super) kept_ms: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lateness: Option<Lateness>,
    /// Why it came to nothing, or to less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    /// Why there are fewer exchanges than there should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exchange_error: Option<String>,
}

impl Run {
    /// Takes what the sender's connection counted.
    #[must_use]
    pub(super) fn with_stats(self, stats: &Stats) -> Self {
        let [congestion, corruption, outage, unknown] = stats.lost_packets;
        let ms = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e6);
        Self {
            controller: stats.controller.to_string(),
            retransmitted_packets: Some(stats.retransmitted_packets),
            losses: Some(Losses { congestion, corruption, outage, unknown }),
            probing: Some(Probing::new(stats)),
            rtt_ms: Some(RttMs { min: ms(stats.rtt_min_ns), smoothed: ms(stats.rtt_smoothed_ns) }),
            ..self
        }
    }

    /// Takes how long it took, and what could have been carried in that time.
    #[must_use]
    pub(super) fn with_time(self, elapsed_ns: u64, limit_bytes: Option<u64>) -> Self {
        let seconds = elapsed_ns as f64 / SECOND as f64;
        let bps = |bytes: u64| bytes as f64 * 8.0 / seconds;
        let payload_bytes = self.payload_bytes;
        let is_some = seconds > 0.0;
        let limit_bytes = limit_bytes.filter(|&limit| limit > 0 && is_some);
        Self {
            elapsed_s: Some(seconds),
            goodput_bps: is_some.then(|| bps(payload_bytes)),
            limit_bps: limit_bytes.map(bps),
            share: limit_bytes.map(|limit| payload_bytes as f64 / limit as f64),
            ..self
        }
    }

    /// IP bytes that the sender sent for each byte that arrived.
    pub(super) fn sent_per_byte(&self) -> Option<f64> {
        (self.payload_bytes > 0).then(|| self.forward.bytes as f64 / self.payload_bytes as f64)
    }

    /// The same, divided by what full packets need for headers and for repeating what the link damages.
    pub(super) fn overhead(&self) -> Option<f64> {
        Some(self.sent_per_byte()? / self.bottleneck?.needed_per_byte?)
    }

    /// All that is known of it, by name: the median of what was measured several times.
    pub(super) fn metrics(&self) -> Vec<(&'static str, f64)> {
        let value = |&quantity: &Quantity| Some((quantity.name(), median(&quantity.of(self))?));
        Quantity::ALL.iter().filter_map(value).collect()
    }

    /// IP bytes that the receiver sent for each million that arrived.
    pub(super) fn returned_per_mb(&self) -> Option<f64> {
        (self.payload_bytes > 0).then(|| self.reverse.bytes as f64 * 1e6 / self.payload_bytes as f64)
    }
}

/// All runs of a racer.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) racer: Racer,
    pub(super) runs: Vec<Run>,
}

/// A sample in three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Spread {
    fn of(values: &[f64]) -> Option<Self> {
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(Self { median: median(values)?, min, max })
    }
}

/// A quantity by which racers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    Goodput,
    Share,
    Elapsed,
    SentPerByte,
    Overhead,
    ReturnedPerMb,
    Waiting,
    Waiting95,
    Fresh,
    Kept,
}

impl Quantity {
    pub(super) const ALL: [Self; 10] = [
        Self::Goodput,
        Self::Share,
        Self::Elapsed,
        Self::SentPerByte,
        Self::Overhead,
        Self::ReturnedPerMb,
        Self::Waiting,
        Self::Waiting95,
        Self::Fresh,
        Self::Kept,
    ];

    /// Its name in files and objects.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Goodput => "goodput_bps",
            Self::Share => "share",
            Self::Elapsed => "elapsed_s",
            Self::SentPerByte => "sent_per_byte",
            Self::Overhead => "overhead",
            Self::ReturnedPerMb => "returned_per_mb",
            Self::Waiting => "waiting_ms",
            Self::Waiting95 => "waiting_p95_ms",
            Self::Fresh => "fresh_ms",
            Self::Kept => "kept_ms",
        }
    }

    /// The values of a run.
    pub(super) fn of(self, run: &Run) -> Vec<f64> {
        let one = match self {
            Self::Goodput => run.goodput_bps,
            Self::Share => run.share,
            Self::Elapsed => run.elapsed_s,
            Self::SentPerByte => run.sent_per_byte(),
            Self::Overhead => run.overhead(),
            Self::ReturnedPerMb => run.returned_per_mb(),
            Self::Waiting => run.bottleneck.and_then(|link| link.waiting_ms),
            Self::Waiting95 => run.bottleneck.and_then(|link| link.waiting_p95_ms),
            Self::Fresh => return run.fresh_ms.clone(),
            Self::Kept => return run.kept_ms.clone(),
        };
        one.into_iter().collect()
    }
}

impl Row {
    /// What the runs have of a quantity; `None`: no run has it.
    pub(super) fn spread(&self, quantity: Quantity) -> Option<Spread> {
        let values: Vec<f64> = self.runs.iter().flat_map(|run| quantity.of(run)).collect();
        Spread::of(&values)
    }

    /// How many runs did not get everything through.
    pub(super) fn incomplete(&self) -> usize {
        self.runs.iter().filter(|run| !run.complete).count()
    }
}

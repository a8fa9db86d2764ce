//! Outcomes of runs, and the quantities by which they are compared.

use serde::Serialize;
use skyhaul_core::{SECOND, Stats};
use skyhaul_report::stats::median;

use super::bottleneck::Bottleneck;
use super::racer::Racer;
use crate::transfer::{LatenessMs, LossCounts, Probing, RttMs, Traffic};

/// Outcome of one run of one racer: the transfer, and the exchanges. What is not known is `None`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RaceRun {
    /// Seed of everything random.
    pub seed: u64,
    /// `stp` or `tcp`.
    pub transport: &'static str,
    /// `plain`, or what it was sealed for: `encrypted`; `None` in virtual time, where nothing is.
    pub protection: Option<&'static str>,
    /// Controller that decided how fast it sends.
    pub controller: String,
    /// Rate that it was told.
    pub declared_rate_bps: Option<u64>,
    /// True if everything arrived before the limit of time.
    pub complete: bool,
    /// Payload that arrived, in order.
    pub payload_bytes: u64,
    /// Time from the opening of the connection to the last byte; or to the limit of time.
    pub elapsed_s: Option<f64>,
    /// Time from the opening until the sender knew.
    pub confirmed_s: Option<f64>,
    /// Payload bits by that time.
    pub goodput_bps: Option<f64>,
    /// Payload bits that the way of this seed could have carried, by that time.
    pub limit_bps: Option<f64>,
    /// Quotient of the two.
    pub share: Option<f64>,
    /// IP packets that the sender handed to its link.
    pub forward: Traffic,
    /// IP packets that the receiver handed to its link.
    pub reverse: Traffic,
    /// Fate of the packets at the narrowest link of the way there.
    pub bottleneck: Option<Bottleneck>,
    /// Data packets that were sent again.
    pub retransmitted_packets: Option<u64>,
    /// Losses by verdict; only our own engines tell.
    pub losses: Option<LossCounts>,
    /// Probing cycles; only our own engines tell.
    pub probing: Option<Probing>,
    /// Round trips; only our own engines tell.
    pub rtt_ms: Option<RttMs>,
    /// Durations of the exchanges over a connection each.
    pub fresh_ms: Vec<f64>,
    /// Durations of the exchanges over a connection that was kept.
    pub kept_ms: Vec<f64>,
    /// Lateness of the emulated links, in real time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lateness: Option<LatenessMs>,
    /// Reason why it came to nothing, or to less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Reason why there are fewer exchanges than there should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchange_error: Option<String>,
}

impl RaceRun {
    /// Run with what the sender's connection counted.
    #[must_use]
    pub fn with_stats(self, stats: &Stats) -> Self {
        Self {
            controller: stats.controller.to_string(),
            retransmitted_packets: Some(stats.retransmitted_packets),
            losses: Some(LossCounts::new(stats)),
            probing: Some(Probing::new(stats)),
            rtt_ms: Some(RttMs::new(stats)),
            ..self
        }
    }

    /// Run with its duration, and with what could have been carried in that time.
    #[must_use]
    pub fn with_time(self, elapsed_ns: u64, limit_bytes: Option<u64>) -> Self {
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
    pub fn sent_per_byte(&self) -> Option<f64> {
        (self.payload_bytes > 0).then(|| self.forward.bytes as f64 / self.payload_bytes as f64)
    }

    /// [`Self::sent_per_byte`] divided by what full packets need for headers and for repeating what the link
    /// damages.
    pub fn overhead(&self) -> Option<f64> {
        Some(self.sent_per_byte()? / self.bottleneck?.needed_per_byte?)
    }

    /// Metrics by name: the median of what was measured several times.
    pub fn metrics(&self) -> Vec<(&'static str, f64)> {
        let value = |&quantity: &Quantity| Some((quantity.name(), median(&quantity.of(self))?));
        Quantity::ALL.iter().filter_map(value).collect()
    }

    /// IP bytes that the receiver sent for each million that arrived.
    pub fn returned_per_mb(&self) -> Option<f64> {
        (self.payload_bytes > 0).then(|| self.reverse.bytes as f64 * 1e6 / self.payload_bytes as f64)
    }
}

/// All runs of a racer.
#[derive(Clone, Debug)]
pub struct RacerRuns {
    /// Racer of the runs.
    pub racer: Racer,
    /// One for each seed, in order.
    pub runs: Vec<RaceRun>,
}

/// Sample in three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MedianRange {
    /// Value in the middle.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl MedianRange {
    fn of(values: &[f64]) -> Option<Self> {
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(Self { median: median(values)?, min, max })
    }
}

/// Quantity by which racers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Payload bits a second.
    Goodput,
    /// Goodput as a share of what the way could have carried.
    Share,
    /// Seconds to the last byte.
    Elapsed,
    /// IP bytes sent for each byte that arrived.
    SentPerByte,
    /// Bytes sent as a multiple of what headers and damage make necessary.
    Overhead,
    /// IP bytes sent back for each million that arrived.
    ReturnedPerMb,
    /// Mean wait at the narrowest link.
    Waiting,
    /// Wait there that 95 % of the packets did not exceed.
    Waiting95,
    /// Duration of an exchange over a connection of its own.
    Fresh,
    /// Duration of an exchange over a kept connection.
    Kept,
}

impl Quantity {
    /// All of them, in the order of objects.
    pub const ALL: [Self; 10] = [
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

    /// Name in files and objects.
    pub fn name(self) -> &'static str {
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

    /// Values of a run.
    pub fn of(self, run: &RaceRun) -> Vec<f64> {
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

impl RacerRuns {
    /// Spread of a quantity over the runs; `None`: no run has it.
    pub fn spread(&self, quantity: Quantity) -> Option<MedianRange> {
        let values: Vec<f64> = self.runs.iter().flat_map(|run| quantity.of(run)).collect();
        MedianRange::of(&values)
    }

    /// Number of runs that did not get everything through.
    pub fn incomplete(&self) -> usize {
        self.runs.iter().filter(|run| !run.complete).count()
    }
}

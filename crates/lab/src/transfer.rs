//! Parts of a transfer's result: every command names them in the same way (`docs/guide/json.md`).

use serde::Serialize;
use skyhaul_core::{MS, Stats};
use skyhaul_net::LatenessReport;

/// Packets and IP bytes in one direction.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Traffic {
    /// IP packets.
    pub packets: u64,
    /// Their bytes, IP headers included.
    pub bytes: u64,
}

impl Traffic {
    /// Packets that a connection sent.
    pub fn sent(stats: &Stats) -> Self {
        Self { packets: stats.sent_packets, bytes: stats.sent_bytes }
    }

    /// Packets that a connection received.
    pub fn received(stats: &Stats) -> Self {
        Self { packets: stats.received_packets, bytes: stats.received_bytes }
    }
}

/// Data packets by what their loss was taken for.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct LossCounts {
    /// Queues overflowed.
    pub congestion: u64,
    /// The link damaged them.
    pub corruption: u64,
    /// The link was gone.
    pub outage: u64,
    /// Outside of any verdict.
    pub unknown: u64,
}

impl LossCounts {
    /// Losses that a sender counted.
    pub fn new(stats: &Stats) -> Self {
        let [congestion, corruption, outage, unknown] = stats.lost_packets;
        Self { congestion, corruption, outage, unknown }
    }
}

/// Probing cycles by how they ended.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Probing {
    /// All of them.
    pub cycles: u64,
    /// Those with the verdict congestion.
    pub congestion: u64,
    /// Those that blamed the link: corruption and outage.
    pub link: u64,
    /// False alarms.
    pub aborted: u64,
}

impl Probing {
    /// Cycles that a sender counted.
    pub fn new(stats: &Stats) -> Self {
        Self {
            cycles: stats.probe_cycles,
            congestion: stats.probe_congestion,
            link: stats.probe_link,
            aborted: stats.probe_aborted,
        }
    }
}

/// Round-trip time in milliseconds; `None`: there was no sample.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RttMs {
    /// The shortest.
    pub min: Option<f64>,
    /// The estimate in the end.
    pub smoothed: Option<f64>,
}

impl RttMs {
    /// Round trips that a sender measured.
    pub fn new(stats: &Stats) -> Self {
        let ms = |ns: Option<u64>| ns.map(|ns| ns as f64 / MS as f64);
        Self { min: ms(stats.rtt_min_ns), smoothed: ms(stats.rtt_smoothed_ns) }
    }
}

/// Lateness of an emulated link: how well a machine kept the schedule.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LatenessMs {
    /// Not exceeded by 99 % of the packets.
    pub p99_ms: f64,
    /// The largest.
    pub max_ms: f64,
    /// Share of the packets that were more than a millisecond late.
    pub share_over_1ms: f64,
}

impl LatenessMs {
    /// Lateness that an emulation reports.
    pub fn new(report: &LatenessReport) -> Self {
        let ms = |ns: u64| ns as f64 / MS as f64;
        Self { p99_ms: ms(report.p99_ns), max_ms: ms(report.max_ns), share_over_1ms: report.late_share() }
    }
}

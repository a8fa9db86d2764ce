//! Result of a transfer: the JSON object of every command (docs/guide/json.md).

use std::net::SocketAddr;

use serde::Serialize;
use skyhaul_core::event::RuledBy;
use skyhaul_core::{Instant, Stats};
use skyhaul_files::SessionReport;
use skyhaul_lab::transfer::{LatenessMs, LossCounts, Probing, RttMs, Traffic};
use skyhaul_stp::ProbingConfig;

use crate::cycles::CycleRecord;
use crate::errors::ErrorResult;
use crate::fallback::fell_back;
use crate::fast_open::FastOpenResult;
use crate::file_results::FileResults;
use crate::limited::{Held, LimitedBy};
use crate::link_history::LinkHistory;
use crate::protection::Protection;
use crate::remembered::PathMemoryResult;
use crate::scps::ScpsResult;
use crate::session_facts::SessionFacts;
use crate::verdicts::{VerdictResult, seconds, verdicts};

/// Bounds of a path within this machine on which nothing is emulated: no link has both a shorter round trip
/// and a higher rate.
const WITHIN_RTT_MS: f64 = 1.0;
const WITHIN_RATE_BPS: f64 = 1e8;

/// The result of a transfer.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TransferResult {
    pub(crate) transport: &'static str,
    /// `None` where no transfer came.
    pub(crate) protection: Option<Protection>,
    pub(crate) controller: String,
    /// Why the rate was measured though routers were asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fell_back: Option<&'static str>,
    /// Routers on the path told the rate.
    #[serde(skip)]
    pub(crate) is_told_rate: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<u64>,
    pub(crate) declared_rate_bps: Option<u64>,
    /// What that was lowered to, as the path carries far less.
    pub(crate) lowered_rate_bps: Option<u64>,
    pub(crate) payload_bytes: u64,
    /// First write to last byte in order at the receiver.
    pub(crate) elapsed_s: Option<f64>,
    /// First write until the sender knew.
    pub(crate) confirmed_s: Option<f64>,
    /// Time until the standard input had ended, before that.
    pub(crate) read_s: Option<f64>,
    /// Both, by what they were spent on.
    pub(crate) limited_by: Option<LimitedBy>,
    pub(crate) goodput_bps: Option<f64>,
    pub(crate) limit_bps: Option<f64>,
    pub(crate) share: Option<f64>,
    pub(crate) forward: Traffic,
    pub(crate) reverse: Traffic,
    pub(crate) retransmitted_packets: u64,
    /// Those of them that were not known to be lost.
    pub(crate) idle_repeats: u64,
    /// Packets that came later than a report which called them missing: overtaken, and sent again in vain.
    pub(crate) spurious_repeats: u64,
    /// Repair symbols sent over packets that were not confirmed.
    pub(crate) repair_packets: u64,
    /// Their size on the wire.
    pub(crate) repair_bytes: u64,
    pub(crate) losses: LossCounts,
    pub(crate) probing: Probing,
    /// Each cycle with its evidence, the first ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verdicts: Option<Vec<VerdictResult>>,
    /// Cycles that are not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verdicts_left_out: Option<u64>,
    /// History of the emulated link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) truth: Option<LinkHistory>,
    pub(crate) rtt_ms: RttMs,
    /// Datagrams that this machine's socket dropped meanwhile, at a lone receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) socket_drops: Option<u64>,
    /// Largest IP packet that the path has shown to take.
    pub(crate) path_mtu: Option<u32>,
    /// Memory of the path, before and after.
    pub(crate) path_memory: Option<PathMemoryResult>,
    /// Part that a Fast Open had; `None` where none was wanted.
    pub(crate) fast_open: Option<FastOpenResult>,
    /// Agreement on SCPS-TP; `None` where that was not wanted.
    pub(crate) scps_tp: Option<ScpsResult>,
    /// BLAKE3 of the file, if there was exactly one.
    pub(crate) digest: Option<String>,
    pub(crate) files: FileResults,
    /// How many files `files` leaves out, at a receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) files_left_out: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lateness: Option<LatenessMs>,
    /// The other end, when, and where.
    #[serde(flatten)]
    pub(crate) session: Option<SessionFacts>,
    /// Reason of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<ErrorResult>,
}

impl TransferResult {
    /// Result as every command knows it: the report, and the counters of the sending connection (`None` at
    /// a lone receiver).
    pub(crate) fn new(report: &SessionReport, sender: Option<&Stats>) -> Self {
        let files = FileResults::new(report);
        let stats = sender.copied().unwrap_or_default();
        Self {
            transport: "stp",
            protection: None,
            controller: sender.map_or_else(|| "receiver".into(), |s| s.controller.into()),
            fell_back: fell_back(stats.ruled_by),
            is_told_rate: stats.ruled_by == Some(RuledBy::Routers),
            link: None,
            seed: None,
            declared_rate_bps: None,
            lowered_rate_bps: stats.lowered_rate_bps,
            payload_bytes: report.delivered_bytes(),
            elapsed_s: None,
            confirmed_s: None,
            read_s: None,
            limited_by: None,
            goodput_bps: None,
            limit_bps: None,
            share: None,
            forward: Traffic::sent(&stats),
            reverse: Traffic::received(&stats),
            retransmitted_packets: stats.retransmitted_packets,
            idle_repeats: stats.idle_repeats,
            spurious_repeats: stats.spurious_repairs,
            repair_packets: stats.repair_packets,
            repair_bytes: stats.repair_bytes,
            losses: LossCounts::new(&stats),
            probing: Probing::new(&stats),
            verdicts: None,
            verdicts_left_out: None,
            truth: None,
            rtt_ms: RttMs::new(&stats),
            socket_drops: None,
            path_mtu: stats.path_mtu_bytes,
            path_memory: None,
            fast_open: None,
            scps_tp: None,
            digest: files.only().and_then(|one| one.digest),
            files_left_out: Some(files.left_out()).filter(|&left_out| left_out > 0),
            files,
            lateness: None,
            session: None,
            error: None,
        }
    }

    /// Sets the goodput from a duration.
    pub(crate) fn with_goodput(mut self, seconds: f64) -> Self {
        self.goodput_bps = (seconds > 0.0).then(|| self.payload_bytes as f64 * 8.0 / seconds);
        self
    }

    /// Adds the cycles of a sender whose first write was at `start`, and that probed like this.
    pub(crate) fn with_cycles(
        self,
        cycles: &[CycleRecord],
        start: Option<Instant>,
        probing: Option<&ProbingConfig>,
    ) -> Self {
        let listed = start.zip(probing).map_or_else(Vec::new, |(start, p)| verdicts(cycles, start, p));
        let left_out = self.probing.cycles.saturating_sub(listed.len() as u64);
        Self { verdicts: Some(listed), verdicts_left_out: Some(left_out), ..self }
    }

    /// Adds what held the sender back.
    pub(crate) fn with_limits(self, held: Held) -> Self {
        let read_ns = held.read_ns.unwrap_or(0);
        let limited_by = held.by.map(|by| by.after_reading(read_ns));
        Self { limited_by, read_s: held.read_ns.map(seconds), ..self }
    }

    /// The same of a path to `peer`: where it lies within this machine, and nothing on it - a relay, an
    /// emulated link - has shown a delay or a rate of its own, what it carries is what the machine does.
    pub(crate) fn of_path_to(self, peer: SocketAddr) -> Self {
        let is_within = peer.ip().to_canonical().is_loopback();
        let is_short = self.rtt_ms.min.is_some_and(|ms| ms < WITHIN_RTT_MS);
        let is_fast = self.goodput_bps.is_some_and(|bps| bps > WITHIN_RATE_BPS);
        let by =
            self.limited_by.map(|by| if is_within && is_short && is_fast { by.within_machine() } else { by });
        Self { limited_by: by, ..self }
    }

    /// The same, after `ns` in which the receiver had no room: the first write was that much earlier.
    pub(crate) fn after_waiting(self, ns: u64) -> Self {
        let limited_by = self.limited_by.map(|by| by.after_waiting(ns));
        let confirmed_s = self.confirmed_s.map(|confirmed_s| confirmed_s + seconds(ns));
        let result = Self { confirmed_s, limited_by, ..self };
        match confirmed_s {
            Some(confirmed_s) => result.with_goodput(confirmed_s),
            None => result,
        }
    }
}

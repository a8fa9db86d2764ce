//! XSTP-probing [XSTP 4]: when packets vanish, ask before acting. The sender stops new data, sends a
//! POLL now and then, and judges by the round trips of the answers whether a queue or the link is to
//! blame. Sender only; the receiver sees POLLs.

mod config;
mod ending;
mod map;
mod prober;
#[cfg(test)]
mod probing_tests;
mod queue_evidence;

use skyhaul_core::{Instant, RttEstimator, Verdict};

pub use config::{Baseline, ProbingConfig};
pub(crate) use map::{Match, ProbeMap};
pub(crate) use prober::{Prober, Verdicts};
pub(crate) use queue_evidence::QueueEvidence;

use crate::segment::is_newer;

/// A thousand times longer than at the loss no round trip will be.
const MAX_DOUBLINGS: u32 = 10;
/// So many times the answers that would end a cycle say that no neighbours among them ever will: at as many
/// losses as answers by chance, two of eight are neighbours in 99 cycles of a hundred.
const FRUITLESS_TIMES: usize = 4;

/// Missing packets that left one directly after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) packets: u64,
    /// From the first to the last.
    pub(crate) duration_ns: u64,
    /// Data transmissions up to the last.
    pub(crate) end_order: u64,
}

/// Evidence for the cause in the gap list of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// The longest row.
    pub(crate) row: Row,
    /// Packets that had their time and are missing.
    pub(crate) missing_packets: u64,
    /// All packets that had their time, from the first gap on.
    pub(crate) listed_packets: u64,
    /// True if data left behind the longest row.
    pub(crate) went_on: bool,
}

/// Cycle in progress.
#[derive(Clone, Debug)]
pub(crate) struct Cycle {
    config: ProbingConfig,
    required: usize,
    /// loss.TS
    pub(crate) started_at: Instant,
    /// loss.RTT
    pub(crate) loss_rtt_ns: u64,
    /// The last round trip before.
    alarm_rtt_ns: u64,
    map: ProbeMap,
    last_probe_at: Option<Instant>,
    pub(crate) probes: u32,
    pub(crate) answers: u32,
    /// The first probe.
    first_probe: Option<u32>,
    /// First answer to a probe.
    first_answer: Option<FirstAnswer>,
    /// Least interval, at which the map holds the longest of the round trips that were too long for it.
    spacing_ns: u64,
    /// How often the interval was doubled because no neighbours were answered.
    doublings: u32,
    /// Probes of the map that were answered since.
    fruitless: usize,
}

/// The first answer to a probe of a cycle, valid or not.
#[derive(Clone, Copy, Debug)]
struct FirstAnswer {
    timestamp: u32,
    /// So many probes before it vanished.
    silent_probes: u32,
    /// If those before it have waited in a queue: round trips no longer than this are theirs.
    together_ns: Option<u64>,
}

/// Verdict of a cycle, and its grounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Judgement {
    pub(crate) verdict: Verdict,
    pub(crate) duration_ns: u64,
    pub(crate) worst_rtt_ns: u64,
}

impl Cycle {
    /// A cycle that starts now, with the round-trip times as they were known at the loss.
    pub(crate) fn start(config: ProbingConfig, declared: bool, now: Instant, rtt: &RttEstimator) -> Self {
        let required = if declared { config.req_probes_declared } else { config.req_probes };
        let mut cycle = Self {
            config,
            required: required.clamp(1, config.max_probes.max(2)),
            started_at: now,
            loss_rtt_ns: config.loss_rtt_ns(rtt),
            alarm_rtt_ns: rtt.latest_ns(),
            map: ProbeMap::new(config.max_probes),
            last_probe_at: None,
            probes: 0,
            answers: 0,
            first_probe: None,
            first_answer: None,
            spacing_ns: 0,
            doublings: 0,
            fruitless: 0,
        };
        cycle.space_probes(rtt.latest_ns());
        cycle
    }

    /// When the next probe is due; `probe_ns` is what one takes at the declared rate (0: none).
    pub(crate) fn probe_due(&self, probe_ns: u64) -> Instant {
        let Some(last) = self.last_probe_at else { return Instant::ZERO };
        let age_ns = last.since(self.started_at);
        let backed_off = self.config.age_divisor.map_or(0, |divisor| age_ns / divisor.max(1));
        let fair = probe_ns.saturating_mul(100) / self.config.declared_percent.max(1);
        let usual = self.base_ns().max(fair).max(backed_off.min(self.config.max_interval_ns));
        last.after(usual.max(self.spacing_ns).saturating_mul(1 << self.doublings))
    }

    /// Interval of a cycle that has just begun, without a declared rate.
    fn base_ns(&self) -> u64 {
        (self.loss_rtt_ns / self.config.probes_per_rtt.max(1)).max(self.config.min_interval_ns)
    }

    /// A probe left.
    pub(crate) fn probe_sent(&mut self, now: Instant, timestamp: u32) {
        self.map.sent(now, timestamp);
        self.first_probe.get_or_insert(timestamp);
        self.last_probe_at = Some(now);
        self.probes += 1;
    }

    /// Map as it is now.
    pub(crate) fn shown_map(&self) -> skyhaul_core::Event {
        self.map.shown()
    }

    /// A valid answer (its gap list is not empty) to the POLL sent at `sent_at` arrived.
    pub(crate) fn answered(&mut self, now: Instant, timestamp: u32, sent_at: Instant) -> Match {
        let is_pre_loss = sent_at < self.started_at;
        if !is_pre_loss {
            self.answers += 1;
        }
        if let Some(first) = self.first_answer.filter(|first| first.timestamp == timestamp)
            && let Some(longest_ns) = first.together_ns
        {
            self.map.answered_together(now, timestamp, longest_ns);
        }
        let place = self.map.answered(now, timestamp, sent_at, is_pre_loss);
        self.thin_out(place);
        place
    }

    /// An answer arrived, valid or not, after one whose round trip took `latest_rtt_ns`; `sent_at` if it is
    /// known when its POLL was sent.
    pub(crate) fn heard_echo(
        &mut self,
        now: Instant,
        timestamp: u32,
        sent_at: Option<Instant>,
        latest_rtt_ns: u64,
    ) {
        if self.first_probe.is_none_or(|first| is_newer(first, timestamp)) {
            return;
        }
        if self.first_answer.is_none() {
            self.first_answer = Some(self.first_answer(now, timestamp, latest_rtt_ns));
        }
        if let Some(sent_at) = sent_at.filter(|_| self.map.is_late(timestamp, self.required)) {
            self.space_probes(now.since(sent_at));
        }
    }

    /// Probes that wait in a queue behind the last data leave it one directly after the other, and a
    /// peer that finds several of them answers the youngest. The others did not vanish if their round
    /// trip is no longer than those before: that long a queue can have held them, as no data follows.
    fn first_answer(&self, now: Instant, timestamp: u32, latest_rtt_ns: u64) -> FirstAnswer {
        let longest_ns = self.longest_wait_ns(latest_rtt_ns.max(self.alarm_rtt_ns));
        let before = self.map.before(now, timestamp, longest_ns);
        if !self.config.queue_holds_probes {
            return FirstAnswer { timestamp, silent_probes: before.probes, together_ns: None };
        }
        let is_silence = |probes| probes >= self.config.silent_probes;
        let waited = is_silence(before.probes) && !is_silence(before.late);
        FirstAnswer { timestamp, silent_probes: before.late, together_ns: waited.then_some(longest_ns) }
    }

    /// How long a probe may have waited if the last round trip before took `rtt_ns`: a queue that shows in
    /// it may have grown since.
    fn longest_wait_ns(&self, rtt_ns: u64) -> u64 {
        let tolerance = self.config.rtt_tolerance_percent;
        if self.config.is_short(rtt_ns, self.loss_rtt_ns, tolerance) {
            return rtt_ns;
        }
        rtt_ns.saturating_add(rtt_ns / 100 * tolerance)
    }

    /// If the round trip has become so long that probes are pushed out of the map before enough neighbours
    /// are answered, they must be further apart, or no answer will ever count. Twice as far as would do, as a
    /// queue that they wait in may still grow; and at once, as each further answer would come after a round
    /// trip as long, and the queue of all meanwhile.
    fn space_probes(&mut self, rtt_ns: u64) {
        let held = self.map.held_behind(self.required);
        if self.config.spaces_probes && rtt_ns / held >= self.base_ns() {
            let most_ns = self.base_ns().saturating_mul(1 << MAX_DOUBLINGS);
            self.spacing_ns = self.spacing_ns.max((rtt_ns / held).saturating_mul(2).min(most_ns));
        }
    }

    /// If answers come in time, but never to neighbours, probes may fill the path by themselves, so that one
    /// is lost for each that gets through: they must be further apart, or that goes on for ever.
    fn thin_out(&mut self, place: Match) {
        self.fruitless += usize::from(self.config.spaces_probes && place == Match::Probe);
        if self.fruitless >= FRUITLESS_TIMES * self.required && self.doublings < MAX_DOUBLINGS {
            self.fruitless = 0;
            self.doublings += 1;
        }
    }

    /// The judgement, once enough consecutive exchanges are complete [XSTP 4.2].
    /// `evidence`: from the report that completes the exchanges.
    pub(crate) fn judge(&self, now: Instant, evidence: &Evidence) -> Option<Judgement> {
        let worst_rtt_ns = self.map.complete(self.required)?.max()?;
        let duration_ns = now.since(self.started_at);
        let no_answers = self.silent_probes() >= self.config.silent_probes;
        let was_silent = no_answers || self.is_silent_row(evidence);
        let (tolerance, link_verdict) = self.config.link_verdict(was_silent);
        let is_short = self.config.is_short(worst_rtt_ns, self.loss_rtt_ns, tolerance);
        let is_overload = !was_silent && self.config.is_overload(evidence);
        let verdict = if is_short && !is_overload { link_verdict } else { Verdict::Congestion };
        Some(Judgement { verdict, duration_ns, worst_rtt_ns })
    }

    /// Probes that vanished before the first one that was answered.
    pub(crate) fn silent_probes(&self) -> u32 {
        self.first_answer.map_or(0, |first| first.silent_probes)
    }

    fn is_silent_row(&self, evidence: &Evidence) -> bool {
        let tolerance = self.config.outage_tolerance_percent;
        let was_calm = self.config.is_short(self.alarm_rtt_ns, self.loss_rtt_ns, tolerance);
        self.config.is_silence(evidence, self.loss_rtt_ns) && (was_calm || !self.config.counts_alarm_rtt)
    }
}

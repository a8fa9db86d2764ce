//! XSTP-probing [XSTP 4]: when packets vanish, ask before acting. The sender stops new data, sends a
//! POLL now and then, and judges by the round trips of the answers whether a queue or the link is to
//! blame. Sender only; the receiver sees POLLs.

mod ending;
mod map;
#[cfg(test)]
mod probing_tests;

use skyhaul_core::{Instant, RttEstimator, Verdict};

pub(crate) use map::{Match, ProbeMap};

use crate::send::is_newer;

/// Parameters of probing [XSTP 4.3].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbingConfig {
    /// Exchanges tracked at most.
    pub max_probes: usize,
    /// Consecutive answered exchanges that end a cycle under window control.
    pub req_probes: usize,
    /// The same with a declared rate, where nothing but "it is back" is to be found out.
    pub req_probes_declared: usize,
    /// What `loss.RTT` is.
    pub baseline: Baseline,
    /// A round trip counts as longer than `loss.RTT` only beyond this many percent of it.
    pub rtt_tolerance_percent: u64,
    /// The same after an outage: the satellite may be another one, and our queues have drained.
    pub outage_tolerance_percent: u64,
    /// Nor does one that is longer by no more than this: timers and machines are not exact.
    pub rtt_slack_ns: u64,
    /// A row of losses after a round trip that was longer than before is no outage: a queue
    /// overflowed, and may have drained before the first probe comes by.
    pub counts_alarm_rtt: bool,
    /// With a declared rate, a gap alone starts no cycle: only silence does.
    pub gap_starts_declared: bool,
    /// Probes are this many a round trip.
    pub probes_per_rtt: u64,
    /// Probes are at least this far apart.
    pub min_interval_ns: u64,
    /// As a cycle lasts, probes are at least this part of its age apart. `None`: no back-off.
    pub age_divisor: Option<u64>,
    /// But back-off moves them no further apart than this.
    pub max_interval_ns: u64,
    /// A link verdict means an outage when so many probes in a row stayed without an answer, or
    /// so many packets that left in a row vanished, and corruption otherwise.
    pub silent_probes: u32,
    /// Packets that left in a row, over an eighth of the round-trip time at least, see above.
    /// `None`: they say nothing.
    pub silent_packets: Option<u64>,
    /// Under window control, a link that seems to lose so many percent or more is congested: a full
    /// queue may be too short to show in round trips. `None`: only round trips count.
    pub congested_percent: Option<u64>,
    /// With a declared rate, losses that start no cycle are judged by the round trips of the POLLs
    /// around them.
    pub judges_in_passing: bool,
    /// POLL intervals that an answer may be late before the interleave counts as broken.
    pub late_intervals: u64,
    /// With a declared rate, probes take at most this many percent of it.
    pub declared_percent: u64,
}

impl ProbingConfig {
    /// What the paper says: one POLL per round trip, no back-off, two exchanges.
    pub const fn paper() -> Self {
        Self {
            max_probes: 4,
            req_probes: 2,
            req_probes_declared: 2,
            baseline: Baseline::Smoothed,
            rtt_tolerance_percent: 0,
            outage_tolerance_percent: 0,
            rtt_slack_ns: 0,
            counts_alarm_rtt: false,
            gap_starts_declared: true,
            probes_per_rtt: 1,
            min_interval_ns: 0,
            age_divisor: None,
            max_interval_ns: 2 * skyhaul_core::SECOND,
            silent_probes: 1,
            silent_packets: None,
            congested_percent: None,
            judges_in_passing: false,
            late_intervals: 1,
            declared_percent: 100,
        }
    }

    /// What a user today should have (`docs/spec/stp.md`, section 9).
    pub const fn standard() -> Self {
        Self {
            max_probes: 32, // several round trips of four probes
            req_probes: 2,
            req_probes_declared: 1,
            baseline: Baseline::Smallest,
            rtt_tolerance_percent: 25,
            outage_tolerance_percent: 60,
            rtt_slack_ns: 20 * skyhaul_core::MS,
            counts_alarm_rtt: true,
            gap_starts_declared: false,
            probes_per_rtt: 4,
            min_interval_ns: 40 * skyhaul_core::MS,
            age_divisor: Some(256),
            max_interval_ns: 2 * skyhaul_core::SECOND,
            silent_probes: 2,
            silent_packets: Some(8),
            congested_percent: Some(20),
            judges_in_passing: true,
            late_intervals: 2,
            declared_percent: 5,
        }
    }

    /// Whether a round trip is no longer than `base_ns`, after a tolerance.
    pub(crate) fn is_short(&self, rtt_ns: u64, base_ns: u64, tolerance_percent: u64) -> bool {
        let allowed = u128::from(base_ns) * u128::from(100 + tolerance_percent);
        u128::from(rtt_ns) * 100 <= allowed || rtt_ns <= base_ns.saturating_add(self.rtt_slack_ns)
    }

    /// Whether packets in a row cannot have vanished one by one, nor in a full queue.
    pub(crate) fn is_silence(&self, evidence: &Evidence, rtt_ns: u64) -> bool {
        let row = &evidence.row;
        let is_long = row.duration_ns >= rtt_ns / SILENT_PART;
        // A full queue loses many rows, an outage one.
        let is_the_one = row.packets * 4 >= evidence.missing_packets * 3;
        self.silent_packets.is_some_and(|packets| is_long && is_the_one && row.packets >= packets)
    }

    /// Whether more is missing than a link would lose.
    fn is_overload(&self, evidence: &Evidence) -> bool {
        let of_hundred = |percent| evidence.missing_packets * 100 >= evidence.listed_packets * percent;
        evidence.missing_packets >= OVERLOAD_PACKETS && self.congested_percent.is_some_and(of_hundred)
    }

    /// The tolerance for round trips, and what they mean if they are short.
    pub(crate) fn link_verdict(&self, was_silent: bool) -> (u64, Verdict) {
        if was_silent {
            (self.outage_tolerance_percent, Verdict::Outage)
        } else {
            (self.rtt_tolerance_percent, Verdict::Corruption)
        }
    }

    /// `loss.RTT` of a cycle that starts now.
    pub(crate) fn loss_rtt_ns(&self, rtt: &RttEstimator) -> u64 {
        match self.baseline {
            Baseline::Smoothed => rtt.smoothed_ns(),
            Baseline::Smallest => rtt.min_ns(),
        }
    }
}

/// A row of lost packets takes at least this part of a round trip to mean an outage: a burst into a
/// short queue is lost in a moment.
const SILENT_PART: u64 = 8;
/// Fewer missing packets are too few for a percentage.
const OVERLOAD_PACKETS: u64 = 8;

/// A thousand times longer than at the loss no round trip will be.
const MAX_DOUBLINGS: u32 = 10;

/// Missing packets that left one directly after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) packets: u64,
    /// From the first to the last.
    pub(crate) duration_ns: u64,
}

/// What the gap list of a report says about the cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// The longest row.
    pub(crate) row: Row,
    /// Packets that had their time and are missing.
    pub(crate) missing_packets: u64,
    /// All packets that had their time, from the first gap on.
    pub(crate) listed_packets: u64,
}

/// What round trips are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// The estimate at the loss [XSTP 4.2].
    Smoothed,
    /// The shortest round trip of this path: an estimate taken while a queue filled up hides it.
    Smallest,
}

/// A cycle in progress.
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
    /// What came first for a probe.
    first_answer: Option<FirstAnswer>,
    /// How often the interval was doubled because answers came too late for the map.
    doublings: u32,
    /// The newest probe when that last happened: answers to older ones say nothing new.
    doubled_at: Option<u32>,
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

/// How a cycle ended.
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
        Self {
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
            doublings: 0,
            doubled_at: None,
        }
    }

    /// When the next probe is due; `probe_ns` is what one takes at the declared rate (0: none).
    pub(crate) fn probe_due(&self, probe_ns: u64) -> Instant {
        let Some(last) = self.last_probe_at else { return Instant::ZERO };
        let age_ns = last.since(self.started_at);
        let backed_off = self.config.age_divisor.map_or(0, |divisor| age_ns / divisor.max(1));
        let fair = probe_ns.saturating_mul(100) / self.config.declared_percent.max(1);
        let base = (self.loss_rtt_ns / self.config.probes_per_rtt.max(1)).max(self.config.min_interval_ns);
        let interval = base.max(fair).max(backed_off.min(self.config.max_interval_ns));
        last.after(interval.saturating_mul(1 << self.doublings))
    }

    /// A probe left.
    pub(crate) fn probe_sent(&mut self, now: Instant, timestamp: u32) {
        self.map.sent(now, timestamp);
        self.first_probe.get_or_insert(timestamp);
        self.doubled_at.get_or_insert(timestamp.wrapping_sub(1));
        self.last_probe_at = Some(now);
        self.probes += 1;
    }

    /// The map as it is now.
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
        self.map.answered(now, timestamp, sent_at, is_pre_loss)
    }

    /// An answer arrived, valid or not, after one whose round trip took `latest_rtt_ns`.
    pub(crate) fn heard_echo(&mut self, now: Instant, timestamp: u32, latest_rtt_ns: u64) {
        if self.first_answer.is_none() && self.first_probe.is_some_and(|first| !is_newer(first, timestamp)) {
            self.first_answer = Some(self.first_answer(now, timestamp, latest_rtt_ns));
        }
        self.space_probes(timestamp);
    }

    /// Probes that wait in a queue behind the last data leave it one directly after the other, and a
    /// peer that finds several of them answers the youngest. The others did not vanish if their round
    /// trip is no longer than those before: that long a queue can have held them, as no data follows.
    fn first_answer(&self, now: Instant, timestamp: u32, latest_rtt_ns: u64) -> FirstAnswer {
        let longest_ns = self.longest_wait_ns(latest_rtt_ns.max(self.alarm_rtt_ns));
        let before = self.map.before(now, timestamp, longest_ns);
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

    /// If an answer is too late for the map, the round trip has become so long that probes are pushed
    /// out before enough neighbours are answered: probes must be further apart, or no answer will ever
    /// count.
    fn space_probes(&mut self, timestamp: u32) {
        let is_news = self.doubled_at.is_some_and(|newest| is_newer(timestamp, newest));
        if is_news && self.map.is_late(timestamp, self.required) && self.doublings < MAX_DOUBLINGS {
            self.doublings += 1;
            self.doubled_at = self.map.newest();
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

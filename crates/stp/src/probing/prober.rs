//! Prober of a connection [XSTP 4]: the cycle that lasts, and the last verdict, which holds for what was sent
//! before.

use alloc::boxed::Box;

use skyhaul_core::event::Alarm;
use skyhaul_core::{Event, Instant, MS, RttEstimator, Stats, Verdict};

use super::{Cycle, Evidence, Judgement, ProbingConfig};

/// Row of losses that lasts less than this and half a round trip may be damage as well.
const BRIEF_NS: u64 = 100 * MS;

/// Verdicts on losses by the time at which a packet was last sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verdicts {
    judged: Option<(Instant, Verdict)>,
    is_brief: bool,
    otherwise: Verdict,
}

fn is_brief(evidence: &Evidence, rtt_ns: u64) -> bool {
    evidence.row.duration_ns < BRIEF_NS.max(rtt_ns / 2)
}

impl Verdicts {
    /// Cause for which a packet last sent at this moment vanished.
    pub(crate) fn of(&self, sent_at: Instant) -> Verdict {
        self.judged.filter(|&(until, _)| sent_at < until).map_or(self.otherwise, |(_, verdict)| verdict)
    }

    /// True if that cause is an outage too brief to be told from a row of damage.
    pub(crate) fn is_brief(&self, sent_at: Instant) -> bool {
        self.is_brief && self.judged.is_some_and(|(until, _)| sent_at < until)
    }
}

/// State of the probing of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prober {
    cycle: Option<Box<Cycle>>,
    /// Packets last sent up to this moment vanished for the reason found.
    judged: Option<(Instant, Verdict)>,
    /// That reason is an outage too brief to be told from a row of damage.
    is_brief: bool,
    /// The round trip measured before the latest.
    previous_rtt_ns: Option<u64>,
    cycles: u64,
    congestion: u64,
    link: u64,
    aborted: u64,
    probes: u64,
}

impl Prober {
    /// True while a cycle lasts.
    pub(crate) fn is_probing(&self) -> bool {
        self.cycle.is_some()
    }

    /// When the next probe is due, while a cycle lasts; `probe_ns` is what one takes at the path's rate (0:
    /// unknown).
    pub(crate) fn probe_at(&self, probe_ns: impl FnOnce() -> u64) -> Option<Instant> {
        self.cycle.as_ref().map(|cycle| cycle.probe_due(probe_ns()))
    }

    /// Takes the round trip that was the latest until now.
    pub(crate) fn take_previous_rtt(&mut self, rtt: &RttEstimator) {
        self.previous_rtt_ns = rtt.is_known().then(|| rtt.latest_ns());
    }

    /// Starts a cycle, with the round-trip times as they are known now.
    pub(crate) fn start(
        &mut self,
        config: ProbingConfig,
        alarm: Alarm,
        declared: bool,
        now: Instant,
        rtt: &RttEstimator,
    ) -> Event {
        let cycle = Cycle::start(config, declared, now, rtt);
        let loss_rtt_ns = cycle.loss_rtt_ns;
        self.cycle = Some(Box::new(cycle));
        self.cycles += 1;
        Event::ProbeStarted { alarm, loss_rtt_ns }
    }

    /// A POLL left: a probe, if a cycle lasts. Result: true if it is one.
    pub(crate) fn poll_sent(&mut self, now: Instant, timestamp: u32) -> bool {
        let Some(cycle) = &mut self.cycle else { return false };
        cycle.probe_sent(now, timestamp);
        self.probes += 1;
        true
    }

    /// Map as it is now, while a cycle lasts.
    pub(crate) fn shown_map(&self) -> Option<Event> {
        self.cycle.as_ref().map(|cycle| cycle.shown_map())
    }

    /// An echo of a POLL of ours arrived, valid or not, after one whose round trip took `latest_rtt_ns`;
    /// `sent_at` if it is known when that POLL was sent.
    pub(crate) fn heard_echo(
        &mut self,
        now: Instant,
        echo: u32,
        sent_at: Option<Instant>,
        latest_rtt_ns: u64,
    ) {
        if let Some(cycle) = &mut self.cycle {
            cycle.heard_echo(now, echo, sent_at, latest_rtt_ns);
        }
    }

    /// A valid answer to the POLL of this timestamp, sent at `sent_at`, arrived. Result: the judgement, once
    /// enough is known.
    pub(crate) fn answered(
        &mut self,
        now: Instant,
        timestamp: u32,
        sent_at: Instant,
        evidence: &Evidence,
    ) -> Option<Judgement> {
        let cycle = self.cycle.as_mut()?;
        cycle.answered(now, timestamp, sent_at);
        cycle.judge(now, evidence)
    }

    /// True if the last verdict was an outage too brief to be told from a row of damage, or from a queue that
    /// took all for a moment.
    pub(crate) fn was_brief(&self) -> bool {
        self.is_brief
    }

    /// True if the cycle that lasts is no longer than machines stand still, or answers are late.
    pub(crate) fn is_short(&self, now: Instant) -> bool {
        let is_short = |cycle: &Cycle| now.since(cycle.started_at) < BRIEF_NS.max(cycle.loss_rtt_ns / 2);
        self.cycle.as_deref().is_some_and(is_short)
    }

    /// Ends a cycle as a false alarm, if one lasts: nothing is missing, it was reordering or a late answer.
    pub(crate) fn abort(&mut self, now: Instant) -> Option<Event> {
        let cycle = self.cycle.take()?;
        self.aborted += 1;
        Some(cycle.false_alarm(now))
    }

    /// Ends the cycle with a verdict.
    pub(crate) fn end(&mut self, now: Instant, judgement: &Judgement, evidence: &Evidence) -> Option<Event> {
        let cycle = self.cycle.take()?;
        self.judged = Some((now, judgement.verdict));
        // An outage that lasts until the alarm takes the last that was sent. What came through behind the row
        // says that it was over by then: answers alone vanished since.
        self.is_brief = evidence.went_on && is_brief(evidence, cycle.loss_rtt_ns);
        let is_congestion = judgement.verdict == Verdict::Congestion;
        self.congestion += u64::from(is_congestion);
        self.link += u64::from(!is_congestion);
        Some(cycle.judged(now, judgement, evidence))
    }

    /// True if a cycle has just ended, and the link was not gone: a long queue is as silent, and what came
    /// through says how long.
    pub(crate) fn has_found_link(&self, now: Instant) -> bool {
        let was_gone = self.judged.is_some_and(|(at, verdict)| at == now && verdict == Verdict::Outage);
        self.cycle.is_none() && !was_gone
    }

    /// True if what was sent at this moment needs no second cycle.
    pub(crate) fn has_judged(&self, sent_at: Instant) -> bool {
        self.judged.is_some_and(|(until, _)| sent_at < until)
    }

    /// Judges losses that start no cycle. With a rate of the path the POLLs go on while packets vanish, so
    /// they are the probes: if the last two round trips were as short as ever, no queue is to blame.
    /// `oldest_sent_at`: of the packets without acknowledgement. Result: the verdict, if there is a new one.
    pub(crate) fn judge_in_passing(
        &mut self,
        config: ProbingConfig,
        rtt: &RttEstimator,
        now: Instant,
        oldest_sent_at: Instant,
        evidence: impl FnOnce() -> Evidence,
    ) -> Option<Verdict> {
        if !config.judges_in_passing || !rtt.is_known() {
            return None;
        }
        let keeps_outage = self.judged.is_some_and(|(_, verdict)| verdict == Verdict::Outage);
        if keeps_outage && self.has_judged(oldest_sent_at) {
            return None; // what was sent before the end of an outage keeps that verdict
        }
        let base_ns = config.loss_rtt_ns(rtt);
        let evidence = evidence();
        let was_gone = config.is_silence(&evidence, base_ns);
        let (tolerance, link_verdict) = config.link_verdict(was_gone);
        let is_short = |rtt_ns| config.is_short(rtt_ns, base_ns, tolerance);
        let is_calm = is_short(rtt.latest_ns()) && self.previous_rtt_ns.is_none_or(is_short);
        let verdict = if is_calm { link_verdict } else { Verdict::Congestion };
        self.judged = Some((now, verdict));
        self.is_brief = is_brief(&evidence, base_ns);
        Some(verdict)
    }

    /// Verdicts on losses; `otherwise` is that on what no verdict was found for.
    pub(crate) fn verdicts(&self, otherwise: Verdict) -> Verdicts {
        Verdicts { judged: self.judged, is_brief: self.is_brief, otherwise }
    }

    /// Writes the counters.
    pub(crate) fn count(&self, stats: &mut Stats) {
        stats.probe_cycles = self.cycles;
        stats.probe_congestion = self.congestion;
        stats.probe_link = self.link;
        stats.probe_aborted = self.aborted;
        stats.probes = self.probes;
    }
}

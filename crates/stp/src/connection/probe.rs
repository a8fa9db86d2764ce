//! Probing in a connection [XSTP 4]: what starts a cycle, what happens while it lasts, what its
//! judgement changes.

use skyhaul_congestion::Lost;
use skyhaul_core::event::Alarm;
use skyhaul_core::{Event, Instant, Path, SECOND, Verdict};

use super::reports::Missing;
use super::{Connection, Context};
use crate::probing::{Cycle, Evidence, Judgement, ProbingConfig};
use crate::segment::{HEADER_BYTES, POLL_BYTES};

/// An answer is overdue after so many deviations [RFC 6298 2.3].
const USUAL_DEVIATIONS: u64 = 4;

impl Connection {
    /// When the POLL/STAT interleave counts as broken (early timeout [XSTP 4.2]): the oldest POLL
    /// without an answer is overdue by POLL intervals. Forced and riding POLLs count like timed
    /// ones, since only the time of the oldest matters.
    pub(super) fn silence_due(&self, path: &Path) -> Option<Instant> {
        let probing = self.config.probing?;
        let can_start = self.opened && self.proven && self.cycle.is_none() && self.linger_until.is_none();
        if !can_start || self.cache.unacknowledged() == 0 || !self.rtt.is_known() {
            return None;
        }
        let oldest = self.poll.oldest_unanswered_at()?;
        let late_ns = probing.late_intervals * self.usual_poll_interval_ns();
        let deviations = if self.window_is_small(path) {
            USUAL_DEVIATIONS.max(probing.late_deviations)
        } else {
            probing.late_deviations
        };
        let deviations_ns = self.rtt.variance_ns().saturating_mul(deviations);
        let wait_ns = self.rtt.smoothed_ns().saturating_add(late_ns.max(deviations_ns));
        // An answer that just came is no silence, however late the next one is.
        Some(oldest.after(wait_ns).max(self.poll.answered_at().after(late_ns)))
    }

    /// Starts a cycle if the interleave is broken.
    pub(super) fn notice_silence(&mut self, context: &mut Context<'_>) {
        if self.silence_due(context.path).is_some_and(|due| due <= context.now) {
            self.start_probing(Alarm::Silence, context);
        }
    }

    /// When the next probe is due, while a cycle lasts.
    pub(super) fn probe_due(&self, path: &Path) -> Option<Instant> {
        let cycle = self.cycle.as_ref()?;
        let bits = u64::from(path.wire_bytes(HEADER_BYTES + POLL_BYTES)) * 8;
        let probe_ns = self.path_rate_bps().map_or(0, |rate_bps| bits * SECOND / rate_bps.max(1));
        Some(cycle.probe_due(probe_ns))
    }

    /// Suspends new data and starts asking.
    pub(super) fn start_probing(&mut self, alarm: Alarm, context: &mut Context<'_>) {
        let Some(probing) = self.config.probing else { return };
        let declared = self.is_rate_paced();
        let cycle = Cycle::start(probing, declared, context.now, &self.rtt);
        let loss_rtt_ns = cycle.loss_rtt_ns;
        self.cycle = Some(cycle);
        self.stats.probe_cycles += 1;
        self.emit(context, Event::ProbeStarted { alarm, loss_rtt_ns });
    }

    pub(super) fn note_probe(&mut self, timestamp: u32, context: &mut Context<'_>) {
        if let Some(cycle) = &mut self.cycle {
            cycle.probe_sent(context.now, timestamp);
            self.stats.probes += 1;
            self.show_map(context);
        }
    }

    fn show_map(&self, context: &mut Context<'_>) {
        if let Some(cycle) = self.cycle.as_ref().filter(|_| context.sink.wants()) {
            self.emit(context, cycle.shown_map());
        }
    }

    /// A report is in: whether its gaps are to be sent again now. Starts, goes on with, or ends a
    /// cycle.
    pub(super) fn may_retransmit(&mut self, missing: &Missing<'_>, context: &mut Context<'_>) -> bool {
        let Some(probing) = self.config.probing else { return true };
        if self.cycle.is_some() {
            return self.probe_answered(missing, context);
        }
        let declared = self.is_rate_paced();
        if declared && !probing.gap_starts_declared {
            self.judge_in_passing(probing, missing, context.now);
            return true;
        }
        if !self.opened || !self.rtt.is_known() {
            return true;
        }
        let Some(newest) = self.newest_worth_sent_at(missing, context.now) else { return true };
        if self.judged.is_some_and(|(until, _)| newest < until) {
            return true; // what the last cycle has judged needs no second one
        }
        self.start_probing(Alarm::Gap, context);
        false
    }

    /// A STAT while a cycle lasts: false alarm, one more answer, or the end.
    fn probe_answered(&mut self, missing: &Missing<'_>, context: &mut Context<'_>) -> bool {
        let Some(poll) = missing.poll else { return false };
        if missing.report.runs.is_empty() && !missing.report.more {
            self.abort_probing(context);
            return true;
        }
        if !self.is_valid_answer(missing, context.now) {
            return false;
        }
        let evidence = self.evidence(missing);
        let Some(cycle) = &mut self.cycle else { return true };
        cycle.answered(context.now, poll.timestamp, poll.sent_at);
        let judgement = cycle.judge(context.now, &evidence);
        self.show_map(context);
        let Some(judgement) = judgement else { return false };
        self.end_probing(judgement, &evidence, context);
        true
    }

    /// Nothing is missing: reordering or a late answer. On as before. Without a cycle: nothing to do.
    pub(super) fn abort_probing(&mut self, context: &mut Context<'_>) {
        let Some(cycle) = self.cycle.take() else { return };
        self.stats.probe_aborted += 1;
        self.emit(context, cycle.false_alarm(context.now));
    }

    fn end_probing(&mut self, judgement: Judgement, evidence: &Evidence, context: &mut Context<'_>) {
        let Some(cycle) = self.cycle.take() else { return };
        self.judged = Some((context.now, judgement.verdict));
        if judgement.verdict == Verdict::Congestion {
            self.stats.probe_congestion += 1;
            self.slow_down(judgement, context);
        } else {
            self.stats.probe_link += 1; // Immediate Recovery: the window stays [XSTP 4.2]
        }
        if judgement.verdict == Verdict::Outage {
            self.rtt.forget_min();
            self.forget_arrivals(context);
        }
        self.emit(context, cycle.judged(context.now, &judgement, evidence));
    }

    /// A cycle has just ended, and the link was not gone: a long queue is as silent, and what came through says how long.
    pub(super) fn has_found_link(&self, now: Instant) -> bool {
        let was_gone = self.judged.is_some_and(|(at, verdict)| at == now && verdict == Verdict::Outage);
        self.cycle.is_none() && !was_gone
    }

    /// Half the window, or slow start after a cycle as long as an idle period [XSTP 4.2]. Not left to the
    /// losses that the last answer shows: what is missing may all have been found lost before.
    fn slow_down(&mut self, judgement: Judgement, context: &mut Context<'_>) {
        let lost = Lost {
            bytes: 0,
            packets: 0,
            begins_event: self.loss_events.begins(context.now, context.now),
            in_flight_bytes: self.cache.in_flight_bytes(),
            verdict: Verdict::Congestion,
        };
        self.controller.on_lost(context.now, &lost);
        if self.config.idle_restart_ns.is_some_and(|limit| judgement.duration_ns >= limit) {
            self.controller.on_idle(context.now, judgement.duration_ns, self.rtt.overdue_ns(0));
        }
    }

    /// With a declared rate the POLLs go on while packets vanish, so they are the probes: if the
    /// last two round trips were as short as ever, no queue is to blame.
    fn judge_in_passing(&mut self, probing: ProbingConfig, missing: &Missing<'_>, now: Instant) {
        if !probing.judges_in_passing || !self.rtt.is_known() {
            return;
        }
        if let Some((until, Verdict::Outage)) = self.judged
            && self.oldest_open_sent_at() < until
        {
            return; // what was sent before the end of an outage keeps that verdict
        }
        let base_ns = probing.loss_rtt_ns(&self.rtt);
        let was_gone = probing.is_silence(&self.evidence(missing), base_ns);
        let (tolerance, link_verdict) = probing.link_verdict(was_gone);
        let is_short = |rtt_ns| probing.is_short(rtt_ns, base_ns, tolerance);
        let calm = is_short(self.rtt.latest_ns()) && self.previous_rtt_ns.is_none_or(is_short);
        let verdict = if calm { link_verdict } else { Verdict::Congestion };
        if verdict == Verdict::Outage {
            self.rtt.forget_min();
        }
        self.judged = Some((now, verdict));
    }

    pub(super) fn oldest_open_sent_at(&self) -> Instant {
        self.cache.entry(self.cache.first()).map_or(Instant::MAX, |e| e.last_sent)
    }

    /// What a packet last sent at this moment vanished for.
    pub(super) fn verdict_of(&self, sent_at: Instant) -> Verdict {
        match self.judged {
            Some((until, verdict)) if sent_at < until => verdict,
            // Plain STP takes every loss for congestion [STP 5.1.2].
            _ if self.config.probing.is_none() && !self.is_rate_paced() => Verdict::Congestion,
            _ => Verdict::Unknown,
        }
    }
}

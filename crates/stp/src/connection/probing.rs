//! Probing in a connection [XSTP 4]: what starts a cycle, what happens while it lasts, what its judgement
//! changes.

use skyhaul_core::event::Alarm;
use skyhaul_core::{Instant, Limit, Path, Verdict};

use super::Connection;
use crate::call::Call;
use crate::probing::{Evidence, Judgement};
use crate::send::Missing;

impl Connection {
    /// When the POLL/STAT interleave counts as broken (early timeout [XSTP 4.2]), and a cycle starts.
    pub(super) fn silence_at(&self, path: &Path) -> Option<Instant> {
        let probing = self.config.probing.as_ref()?;
        let can_start = self.is_opened()
            && self.reachability.is_proven()
            && !self.life.is_lingering()
            && !self.prober.is_probing();
        if !can_start {
            return None;
        }
        self.sender.silence_at(probing.late_intervals, probing.late_deviations, path)
    }

    /// Suspends new data and starts asking.
    pub(super) fn start_probing(&mut self, alarm: Alarm, call: &mut Call<'_>) {
        let Some(probing) = self.config.probing else { return };
        let declared = self.sender.is_rate_paced();
        self.sender.give_up_pieces();
        self.limits.ask(match alarm {
            Alarm::Silence => Limit::Outage,
            Alarm::Gap => Limit::Losses,
        });
        call.emit(self.prober.start(probing, alarm, declared, call.now, self.sender.rtt()));
    }

    /// A POLL left.
    pub(super) fn note_probe(&mut self, timestamp: u32, call: &mut Call<'_>) {
        if self.prober.poll_sent(call.now, timestamp) {
            self.show_map(call);
        }
    }

    fn show_map(&self, call: &mut Call<'_>) {
        if call.wants_events()
            && let Some(map) = self.prober.shown_map()
        {
            call.emit(map);
        }
    }

    /// A report is in: true if its gaps are to be sent again now. Starts, goes on with, or ends a cycle.
    pub(super) fn may_repeat(&mut self, missing: &Missing<'_>, call: &mut Call<'_>) -> bool {
        let Some(probing) = self.config.probing else { return true };
        if self.prober.is_probing() {
            return self.take_probe_answer(missing, call);
        }
        if self.sender.is_rate_paced() && !probing.gap_starts_declared {
            let (rtt, oldest_sent_at) = (self.sender.rtt(), self.sender.oldest_open_sent_at());
            let evidence = || self.sender.evidence(missing);
            let verdict = self.prober.judge_in_passing(probing, rtt, call.now, oldest_sent_at, evidence);
            if verdict == Some(Verdict::Outage) {
                self.sender.forget_min_rtt();
            }
            return true;
        }
        if !self.is_opened() || !self.sender.rtt().is_known() {
            return true;
        }
        let newest_sent_at = self.sender.newest_worth_sent_at(missing, call.now);
        if newest_sent_at.is_none_or(|newest| self.prober.has_judged(newest)) {
            return true; // what the last cycle has judged needs no second one
        }
        self.start_probing(Alarm::Gap, call);
        false
    }

    /// A STAT while a cycle lasts: false alarm, one more answer, or the end.
    fn take_probe_answer(&mut self, missing: &Missing<'_>, call: &mut Call<'_>) -> bool {
        let Some(poll) = missing.poll else { return false };
        let is_alarm_false = missing.report.runs.is_empty() || self.sender.misses_withheld_alone(missing);
        if is_alarm_false && !missing.report.more {
            self.abort_probing(call);
            return true;
        }
        if !self.sender.is_valid_answer(missing, call.now) {
            return false;
        }
        let evidence = self.sender.evidence(missing);
        let judgement = self.prober.answered(call.now, poll.timestamp, poll.sent_at, &evidence);
        self.show_map(call);
        let Some(judgement) = judgement else { return false };
        self.end_probing(&judgement, &evidence, call);
        true
    }

    /// On as before, if a cycle lasts.
    pub(super) fn abort_probing(&mut self, call: &mut Call<'_>) {
        // Nothing is missing: where that was known so soon, a machine or a queue was slow, and no link gone.
        let limit = self.prober.is_short(call.now).then(|| self.sender.rate_limit(call.path));
        if let Some(event) = self.prober.abort(call.now) {
            self.limits.judge(call.now, limit);
            call.emit(event);
        }
    }

    fn end_probing(&mut self, judgement: &Judgement, evidence: &Evidence, call: &mut Call<'_>) {
        let Some(event) = self.prober.end(call.now, judgement, evidence) else { return };
        match judgement.verdict {
            // What is found lost says whose time that was.
            Verdict::Outage if self.prober.was_brief() => {}
            Verdict::Outage => self.limits.judge(call.now, Some(Limit::Outage)),
            Verdict::Congestion => self.limits.judge(call.now, Some(Limit::Overflow)),
            Verdict::Corruption | Verdict::Unknown => self.limits.judge(call.now, Some(Limit::Losses)),
        }
        match judgement.verdict {
            Verdict::Congestion => self.sender.slow_down(judgement.duration_ns, call.now),
            Verdict::Outage => {
                self.sender.forget_min_rtt();
                self.sender.forget_path(call);
            }
            _ => {} // Immediate Recovery: the window stays [XSTP 4.2]
        }
        call.emit(event);
    }

    /// Verdict on losses that none was found for: plain STP takes every loss for congestion [STP 5.1.2].
    pub(super) fn default_verdict(&self) -> Verdict {
        let is_plain = self.config.probing.is_none() && !self.sender.is_rate_paced();
        if is_plain { Verdict::Congestion } else { Verdict::Unknown }
    }
}

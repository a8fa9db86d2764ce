//! Losses: what shows them, what they are taken for, and what follows [RFC 5681 3, RFC 6298 5].

use skyhaul_congestion::{Lost, Signal};
use skyhaul_core::Event;
use skyhaul_core::event::{Repeat, Verdict};

use super::Sender;
use super::path_mtu::BlackHole;
use super::reduction::Reduction;
use super::scoreboard::DUPLICATE_THRESHOLD;
use super::verdicts::is_congestion;
use crate::call::Call;
use crate::loss::{LossEvidence, LossSign};

impl Sender {
    /// An acknowledgement acknowledges nothing new while something is under way.
    pub(super) fn on_duplicate(&mut self, call: &mut Call<'_>) {
        let count = self.recovery.on_duplicate(self.space.outstanding(), self.mss_bytes);
        let Some(count) = count.filter(|_| self.rack.is_none()) else { return };
        if (u64::from(count) >= DUPLICATE_THRESHOLD || self.una_is_lost()) && self.may_recover() {
            let lost_bytes = self.mss_bytes;
            self.begin_repair(lost_bytes, call);
        }
    }

    fn una_is_lost(&self) -> bool {
        let first = self.board.holes(self.space.una(), self.space.max(), self.mss_bytes).next();
        self.agreed.sack && first.is_some_and(|hole| hole.is_lost)
    }

    /// Duplicates of what a timeout has sent again are no loss. SACK tells them apart; without, one more
    /// number must have been acknowledged [RFC 6582 4, RFC 6675 5.1].
    fn may_recover(&self) -> bool {
        let (una, recovered_to) = (self.space.una(), self.recovery.recovered_to());
        if self.agreed.sack { una >= recovered_to } else { una > recovered_to }
    }

    /// A repair begins, which `lost_bytes` have called for.
    pub(super) fn begin_repair(&mut self, lost_bytes: u64, call: &mut Call<'_>) {
        // A probe of the path's MTU that was too large says nothing else [RFC 4821 7.6.2].
        let lost_probe = self.probe_lost_alone();
        let verdict = match lost_probe {
            Some(_) => self.verdicts.on_lost_probe(),
            None => self.judge_loss(LossSign::Duplicates, call),
        };
        let (una, max) = (self.space.una(), self.space.max());
        // The last repair may have repeated it already, for losses beyond its recovery point are repeated
        // too. Then an early answer says nothing about this repair.
        let is_first_repeat = self.is_first_repeat();
        call.stats.recoveries += 1;
        self.recovery.begin(max, self.mss_bytes);
        self.board.begin_repeats(una);
        self.timer.forget_timing();
        self.tail_probe.give_up();
        if let Some(rack) = self.rack.as_mut() {
            rack.begin_repair();
        }
        if let Some(end) = lost_probe {
            self.sampling.begin_event(told(verdict), end);
            self.timer.restart(true, call.now); // what followed it arrives
            return self.reduce_in_proportion();
        }
        self.mtu_search.excuse_nothing();
        if is_first_repeat {
            self.doubt_repeat(call);
        }
        self.answer_loss(verdict, lost_bytes, call);
    }

    /// True if what goes again next was never sent again, so that an early answer tells that it had arrived.
    fn is_first_repeat(&self) -> bool {
        let una = self.space.una();
        match &self.rack {
            Some(rack) => rack.first_lost().is_some_and(|(first, ..)| first == una) && !rack.is_repeated(una),
            None => una >= self.board.repeated_to(),
        }
    }

    /// The controller answers a loss event that begins with `bytes`, at SND.UNA.
    pub(super) fn answer_loss(&mut self, verdict: Verdict, bytes: u64, call: &mut Call<'_>) {
        let in_flight_bytes = match self.rack {
            Some(_) => self.space.outstanding(),
            None => self.recovery.flight_at_duplicate_bytes(),
        };
        let lost = Lost {
            bytes,
            packets: bytes.div_ceil(self.mss_bytes) as u32,
            begins_event: true,
            in_flight_bytes,
            verdict: told(verdict),
        };
        self.sampling.begin_event(lost.verdict, self.space.una() + self.mss_bytes);
        // One answer for a window of data, to marks and losses together [RFC 3168 6.1.2].
        if !self.is_answered() {
            self.controller.on_lost(call.now, &lost);
            self.mtu_search.on_reduced(false);
            if is_congestion(verdict) {
                self.marks.on_window_reduced(self.agreed.ecn);
            }
        }
        self.reduce_in_proportion();
    }

    /// What leaves goes by what arrives, until the window is what the controller says.
    fn reduce_in_proportion(&mut self) {
        if self.config.rate_reduction && self.agreed.sack && !self.controller.needs().conserves {
            let goal = self.controller.window_bytes();
            self.recovery.reduce_by(Reduction::new(goal, self.space.outstanding()));
        }
    }

    /// True if losses of the running window were answered as a mark already.
    pub(super) fn is_answered(&self) -> bool {
        self.agreed.ecn && self.space.una() < self.marks.answered_to()
    }

    /// Something goes again for the first time. Only timestamps tell its answer from the original's.
    fn doubt_repeat(&mut self, call: &Call<'_>) {
        if self.agreed.timestamps {
            self.recovery.doubt(self.clock().value(call.now));
        }
    }

    /// Verdict on a loss that shows now; what goes again first is at SND.UNA.
    pub(super) fn judge_loss(&mut self, sign: LossSign, call: &mut Call<'_>) -> Verdict {
        let rtt = self.timer.rtt();
        let evidence = LossEvidence {
            now: call.now,
            sign,
            assumed: self.verdicts.assumed(),
            in_flight_bytes: self.space.outstanding(),
            timeouts: self.timer.timeouts(),
            rtt_smoothed_ns: rtt.is_known().then(|| rtt.smoothed_ns()),
            rtt_min_ns: rtt.is_known().then(|| rtt.min_ns()),
            marks: call.stats.ecn_reductions,
        };
        let verdict = if self.outage.is_down() {
            self.verdicts.on_link_outage()
        } else {
            self.verdicts.judge(self.config.loss_judge.as_deref(), &evidence)
        };
        let first = self.space.una();
        let end = self.space.nxt().min(first + self.mss_bytes);
        call.emit(Event::Lost { first, end, verdict });
        verdict
    }

    /// Tells holes that have become losses since the event was told. The event itself counts one segment.
    pub(super) fn count_losses(&mut self, call: &Call<'_>) {
        if !self.sampling.is_on() || !self.recovery.is_repairing() || self.rack.is_some() {
            return;
        }
        let bytes = if self.agreed.sack {
            self.sampling.count_holes(&self.board, self.space.una(), self.space.max(), self.mss_bytes)
        } else {
            u64::from(self.recovery.is_repeat_due()) * self.mss_bytes
        };
        self.tell_further(bytes, call);
    }

    /// Tells further losses of an event.
    pub(super) fn tell_further(&mut self, bytes: u64, call: &Call<'_>) {
        if bytes > 0 {
            let lost = Lost {
                bytes,
                packets: bytes.div_ceil(self.mss_bytes) as u32,
                begins_event: false,
                in_flight_bytes: self.flight_bytes() + bytes,
                verdict: self.sampling.verdict(),
            };
            self.controller.on_lost(call.now, &lost);
        }
    }

    /// The retransmission timer ran out: everything goes again
    /// [RFC 6298 5.4 to 5.7, RFC 6582 3.2 (4), RFC 6675 5.1, RFC 2018 8], or what is missing [RFC 8985 6.3].
    pub(crate) fn on_timeout(&mut self, call: &mut Call<'_>) {
        call.stats.timeouts += 1;
        if self.abandon_late(call) {
            return;
        }
        let is_opening = self.space.is_opening();
        let in_flight_bytes = self.space.outstanding();
        let verdict = self.judge_loss(LossSign::Timeout, call);
        let first = self.timer.timeouts() == 0;
        let found = self.lose_by_timer(call.now);
        let (lost_bytes, left_bytes) = match found {
            Some(found) => (found.bytes, self.flight_bytes()),
            None => (if first { in_flight_bytes } else { 0 }, 0),
        };
        if first {
            self.mtu_search.on_reduced(is_congestion(verdict));
        }
        if !is_opening && is_congestion(verdict) {
            let signal = Signal::Timeout { in_flight_bytes, lost_bytes, left_bytes, first };
            self.controller.on_signal(call.now, signal);
            self.marks.on_window_reduced(self.agreed.ecn);
            self.recovery.on_event_told();
        }
        // Where no round trip is known, the timer may be shorter than that: then everything goes twice, which
        // measures none, until it backs off.
        let backs_off = is_opening || is_congestion(verdict) || !self.timer.rtt().is_known();
        self.timer.on_timeout(backs_off, call.now);
        self.verdicts.on_timeout();
        if found.is_some() {
            self.go_on_from_board(call.now);
        } else {
            self.board.clear();
            self.go_back(Repeat::Timer, call.now);
        }
        if found.is_none() || self.is_first_repeat() {
            self.doubt_repeat(call);
        }
        if !is_opening && self.searches_mtu() {
            self.shrink_packets(in_flight_bytes, call);
        } else if !is_opening {
            self.suspect_black_hole(call);
        }
    }

    /// Large packets may vanish somewhere without a word [RFC 8899 4.3].
    fn suspect_black_hole(&mut self, call: &mut Call<'_>) {
        let Some(patience) = self.config.black_hole_timeouts else { return };
        let now_bytes = self.packet_bytes(call.path);
        match self.path_mtu.on_timeout(self.timer.timeouts(), patience, now_bytes) {
            BlackHole::No => {}
            BlackHole::Suspected => self.update_mss(call.now, call.path),
            BlackHole::Found(bytes) => {
                call.stats.black_holes += 1;
                self.limit_packets(bytes, true, call);
            }
        }
    }
}

/// Verdict on a loss as the controller is told.
pub(super) fn told(verdict: Verdict) -> Verdict {
    if is_congestion(verdict) { Verdict::Congestion } else { verdict }
}

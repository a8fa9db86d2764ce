//! Fast retransmit and fast recovery: Reno [RFC 2581 3.2], NewReno [RFC 6582], SACK [RFC 6675]. The window
//! itself is the controller's; here is what goes again, and how much may leave meanwhile.

use skyhaul_congestion::Lost;
use skyhaul_core::event::Verdict;

use super::loss::is_congestion;
use super::prr::Reduction;
use super::{Connection, Context};
use crate::config::Recovery;
use crate::loss::LossSign;
use crate::send::{DUPLICATE_THRESHOLD, Hole};

/// A loss event under repair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repair {
    /// All that was sent when it was noticed: the repair ends when this is acknowledged.
    pub(super) point: u64,
    /// Without SACK: what left the network since, by duplicate acknowledgements.
    pub(super) inflation_bytes: u64,
    /// `una` goes again at once, whatever the window.
    pub(super) is_due: bool,
    /// With SACK: the last resort may be used when more than this is acknowledged (`RescueRxt`).
    pub(super) rescued_to: u64,
    /// A partial acknowledgement has restarted the timer [RFC 6582 3.2].
    pub(super) restarted: bool,
    /// With SACK: how the window shrinks, if not at once.
    pub(super) reduction: Option<Reduction>,
}

impl Connection {
    /// An acknowledgement that acknowledges nothing new while something is under way.
    pub(super) fn on_duplicate(&mut self, context: &mut Context<'_>) {
        if let Some(repair) = self.repair.as_mut() {
            repair.inflation_bytes += self.mss_bytes;
            return;
        }
        self.duplicate_acks += 1;
        if self.duplicate_acks == 1 {
            self.flight_at_duplicate_bytes = self.sending.nxt - self.sending.una;
        }
        let enough = u64::from(self.duplicate_acks) >= DUPLICATE_THRESHOLD || self.una_is_lost();
        if enough && self.may_recover() {
            self.begin_repair(context);
        }
    }

    fn una_is_lost(&self) -> bool {
        let sending = &self.sending;
        let first = sending.board.holes(sending.una, sending.max, self.mss_bytes).next();
        self.agreed.sack && first.is_some_and(|hole| hole.is_lost)
    }

    /// Duplicates of what a timeout has sent again are no loss. SACK tells them apart; without, one more
    /// number must have been acknowledged [RFC 6582 4, RFC 6675 5.1].
    fn may_recover(&self) -> bool {
        let una = self.sending.una;
        if self.agreed.sack { una >= self.recovered_to } else { una > self.recovered_to }
    }

    fn begin_repair(&mut self, context: &mut Context<'_>) {
        let verdict = self.judge_loss(LossSign::Duplicates, context);
        // The last repair may have repeated it already, for losses beyond its recovery point are repeated too.
        // Then an early answer says nothing about this repair.
        let is_first_repeat = self.sending.una >= self.sending.board.repeated_to();
        let sending = &self.sending;
        self.stats.recoveries += 1;
        let lost = Lost {
            bytes: self.mss_bytes,
            packets: 1,
            begins_event: true,
            in_flight_bytes: self.flight_at_duplicate_bytes,
            verdict: if is_congestion(verdict) { Verdict::Congestion } else { verdict },
        };
        self.repair = Some(Repair {
            point: sending.max,
            inflation_bytes: DUPLICATE_THRESHOLD * self.mss_bytes,
            is_due: true,
            rescued_to: sending.max,
            restarted: false,
            reduction: None,
        });
        self.recovered_to = sending.max;
        self.sending.board.begin_repeats(self.sending.una);
        self.timing = None; // [RFC 6298 3]
        self.first_loss(lost.verdict);
        if is_first_repeat {
            self.doubt_repeat(context.now);
        }
        // One answer for a window of data, to marks and losses together [RFC 3168 6.1.2].
        if !self.is_answered() {
            self.controller.on_lost(context.now, &lost);
            if is_congestion(verdict) {
                self.on_window_reduced();
            }
        }
        let reduction = self.new_reduction();
        if let Some(repair) = self.repair.as_mut() {
            repair.reduction = reduction;
        }
    }

    /// `bytes` of sequence space were acknowledged. Whether the retransmission timer starts anew.
    pub(super) fn on_progress(&mut self, bytes: u64) -> bool {
        self.duplicate_acks = 0;
        let (mss_bytes, cwnd_bytes) = (self.mss_bytes, self.controller.window_bytes());
        let grown = self.burst_cap_bytes.map(|cap| cap + bytes.min(mss_bytes));
        self.burst_cap_bytes = grown.filter(|&cap| cap < cwnd_bytes);
        let Some(repair) = self.repair.as_mut() else { return true };
        let is_full = self.sending.una >= repair.point;
        // Classic Reno knows no partial acknowledgement.
        if is_full || self.config.recovery == Recovery::Reno {
            self.repair = None;
            self.guard_burst();
            return true;
        }
        self.sending.board.repeat_to(self.sending.una);
        if self.agreed.sack {
            return true;
        }
        repair.is_due = true;
        let left = repair.inflation_bytes.saturating_sub(bytes);
        repair.inflation_bytes = left + if bytes >= self.mss_bytes { self.mss_bytes } else { 0 };
        !core::mem::replace(&mut repair.restarted, true)
    }

    /// So many acknowledgements may come at once that what is under way is far below the window: it opens anew
    /// by slow start [RFC 6582 3.2 (3)]. With SACK the pipe was full all along; classic Reno knows no better.
    fn guard_burst(&mut self) {
        if !self.agreed.sack && self.config.recovery != Recovery::Reno {
            let in_flight_bytes = self.sending.nxt - self.sending.una;
            self.burst_cap_bytes = Some(in_flight_bytes.max(self.mss_bytes) + self.mss_bytes);
        }
    }

    /// What the SACK sender repeats before new data: the lowest hole that is lost and was not sent again
    /// (`NextSeg` rule 1 of [RFC 6675 4]).
    pub(super) fn lost_hole(&self) -> Option<(u64, u64)> {
        self.next_hole().filter(|hole| hole.is_lost).map(|hole| self.cut(hole))
    }

    /// What it repeats where there is nothing new: a hole that may not be lost (rule 3).
    pub(super) fn any_hole(&self) -> Option<(u64, u64)> {
        self.next_hole().map(|hole| self.cut(hole))
    }

    /// Else the very last segment that is missing, once: nothing beyond it would tell that it is lost (rule 4).
    pub(super) fn rescue(&self) -> Option<(u64, u64)> {
        let sending = &self.sending;
        self.repair.as_ref().filter(|repair| sending.una > repair.rescued_to)?;
        sending.board.last_hole(sending.una, sending.nxt, self.mss_bytes)
    }

    fn next_hole(&self) -> Option<Hole> {
        let board = &self.sending.board;
        let from = board.repeated_to().max(self.sending.una);
        board.holes(from, board.highest()?, self.mss_bytes).next()
    }

    pub(super) fn cut(&self, hole: Hole) -> (u64, u64) {
        (hole.first, hole.end.min(hole.first + self.mss_bytes))
    }
}

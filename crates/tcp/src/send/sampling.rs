//! Delivery as a controller wants to know it that goes by delivery rates. Other connections keep no log of
//! it.

use alloc::boxed::Box;

use skyhaul_congestion::{Delivery, DeliveryLog};
use skyhaul_core::Instant;
use skyhaul_core::event::Verdict;

use super::Scoreboard;

/// Log of what was delivered, and what was counted as lost.
#[derive(Clone, Debug)]
pub(super) struct Sampling {
    log: Option<Box<DeliveryLog>>,
    /// Holes below are counted.
    lost_to: u64,
    /// Cause of the event that they belong to.
    verdict: Verdict,
}

impl Sampling {
    pub(super) const OFF: Self = Self { log: None, lost_to: 0, verdict: Verdict::Congestion };

    pub(super) fn is_on(&self) -> bool {
        self.log.is_some()
    }

    /// Verdict on the loss event that began last.
    pub(super) fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// The connection is established.
    pub(super) fn start(&mut self, now: Instant) {
        self.log = Some(Box::new(DeliveryLog::new(now)));
    }

    /// The controller wants no more of it.
    pub(super) fn stop(&mut self) {
        self.log = None;
    }

    /// [first, end) with `payload_bytes` leaves while `in_flight_bytes` are under way.
    pub(super) fn on_sent(
        &mut self,
        now: Instant,
        (first, end): (u64, u64),
        payload_bytes: u32,
        in_flight_bytes: u64,
    ) {
        if let Some(log) = self.log.as_mut() {
            log.on_sent(now, first, end, payload_bytes, in_flight_bytes);
        }
    }

    /// A SACK block came, of which `board` does not know yet.
    pub(super) fn on_sacked(&mut self, board: &Scoreboard, first: u64, end: u64) {
        if let Some(log) = self.log.as_mut() {
            board.unknown(first, end).for_each(|(first, end)| log.on_delivered(first, end));
        }
    }

    /// Everything from `old` on below `una` is acknowledged.
    pub(super) fn on_acknowledged(&mut self, old: u64, una: u64) {
        if let Some(log) = self.log.as_mut() {
            log.on_delivered(old, una);
            log.forget_below(una);
        }
    }

    /// Nothing will be heard of what lies below `una`.
    pub(super) fn forget_below(&mut self, una: u64) {
        if let Some(log) = self.log.as_mut() {
            log.forget_below(una);
        }
    }

    /// Delivery that the segment being read tells of, with `in_flight_bytes` under way behind it.
    pub(super) fn finish(&mut self, now: Instant, in_flight_bytes: u64) -> Option<Delivery> {
        self.log.as_mut()?.finish(now, in_flight_bytes)
    }

    /// Less is sent than the path takes: rates measured now are marked.
    pub(super) fn mark_limited(&mut self, in_flight_bytes: u64) {
        if let Some(log) = self.log.as_mut() {
            log.mark_limited(in_flight_bytes);
        }
    }

    /// A loss event of this cause begins with what lies below `lost_to`.
    pub(super) fn begin_event(&mut self, verdict: Verdict, lost_to: u64) {
        self.verdict = verdict;
        self.lost_to = lost_to;
    }

    /// Bytes of the lost holes of [una, max) beyond those counted. A hole is lost when enough lies beyond it,
    /// so the lost ones are the lowest.
    pub(super) fn count_holes(&mut self, board: &Scoreboard, una: u64, max: u64, mss_bytes: u64) -> u64 {
        let mut bytes = 0;
        for hole in board.holes(una, max, mss_bytes).take_while(|hole| hole.is_lost) {
            bytes += hole.end.saturating_sub(hole.first.max(self.lost_to));
            self.lost_to = self.lost_to.max(hole.end);
        }
        bytes
    }
}

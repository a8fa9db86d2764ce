//! What a controller that goes by delivery rates is told. Other connections keep no log of it.

use alloc::boxed::Box;

use skyhaul_congestion::{Acked, Delivery, DeliveryLog, Lost};
use skyhaul_core::event::Verdict;

use super::{Connection, Context};

/// The log, and what was counted as lost.
#[derive(Clone, Debug)]
pub(super) struct Sampling {
    log: Option<Box<DeliveryLog>>,
    /// The holes below are counted.
    lost_to: u64,
    /// What the event that they belong to was taken for.
    verdict: Verdict,
}

impl Sampling {
    pub(super) const OFF: Self = Self { log: None, lost_to: 0, verdict: Verdict::Congestion };

    pub(super) fn is_on(&self) -> bool {
        self.log.is_some()
    }
}

impl Connection {
    /// The connection is established, and its controller known.
    pub(super) fn start_sampling(&mut self, context: &Context<'_>) {
        let is_wanted = self.controller.wants_delivery();
        self.sampling.log = is_wanted.then(|| Box::new(DeliveryLog::new(context.now)));
    }

    /// [first, end) leaves.
    pub(super) fn log_sent(&mut self, first: u64, end: u64, context: &Context<'_>) {
        if !self.sampling.is_on() {
            return;
        }
        let in_flight_bytes = self.flight_bytes();
        let payload_bytes = end.min(self.sending.buffer.end()).saturating_sub(first) as u32;
        if let Some(log) = self.sampling.log.as_mut() {
            log.on_sent(context.now, first, end, payload_bytes, in_flight_bytes);
        }
    }

    /// A SACK block, before the scoreboard learns of it.
    pub(super) fn log_sacked(&mut self, first: u64, end: u64) {
        if let Some(log) = self.sampling.log.as_mut() {
            self.sending.board.unknown(first, end).for_each(|(first, end)| log.on_delivered(first, end));
        }
    }

    /// Everything from `old` on below SND.UNA is acknowledged.
    pub(super) fn log_acknowledged(&mut self, old: u64) {
        if let Some(log) = self.sampling.log.as_mut() {
            log.on_delivered(old, self.sending.una);
            log.forget_below(self.sending.una);
        }
    }

    /// What the segment being read says about delivery.
    pub(super) fn delivery(&mut self, context: &Context<'_>) -> Option<Delivery> {
        self.sampling.log.as_ref()?;
        let in_flight_bytes = self.flight_bytes();
        self.sampling.log.as_mut()?.finish(context.now, in_flight_bytes)
    }

    /// A duplicate acknowledgement with news: only such controllers want to know.
    pub(super) fn tell_sacked(&mut self, in_flight_before_bytes: u64, context: &Context<'_>) {
        let Some(delivery) = self.delivery(context) else { return };
        let acked = Acked {
            bytes: 0,
            packets: 0,
            in_flight_before_bytes,
            rtt_ns: None,
            smoothed_rtt_ns: self.rto.rtt().smoothed_ns(),
            app_limited: false,
            in_recovery: self.repair.is_some(),
            delivery: Some(delivery),
        };
        self.controller.on_acked(context.now, &acked);
        self.heed_controller();
    }

    /// Rates that the controller keeps low on purpose are marked as such; one that wants no more is not told.
    pub(super) fn heed_controller(&mut self) {
        if !self.controller.wants_delivery() {
            self.sampling.log = None;
        }
        if self.controller.holds_back() {
            self.mark_limited();
        }
    }

    /// Nothing more can be sent now: if the application is the reason, samples are marked.
    pub(super) fn note_limit(&mut self) {
        let sending = &self.sending;
        let is_drained = sending.buffer.end().saturating_sub(sending.nxt) < self.mss_bytes;
        let has_repaired = self.repair.is_none() && sending.nxt == sending.max;
        if self.sampling.is_on() && is_drained && has_repaired && !self.is_window_used() {
            self.mark_limited();
        }
    }

    fn mark_limited(&mut self) {
        let in_flight_bytes = self.flight_bytes();
        if let Some(log) = self.sampling.log.as_mut() {
            log.mark_limited(in_flight_bytes);
        }
    }

    /// Holes that have become losses since the event was told. The event itself counts one segment.
    pub(super) fn count_losses(&mut self, context: &Context<'_>) {
        if !self.sampling.is_on() {
            return;
        }
        let Some(repair) = self.repair else { return };
        let bytes =
            if self.agreed.sack { self.new_holes() } else { u64::from(repair.is_due) * self.mss_bytes };
        if bytes > 0 {
            let lost = Lost {
                bytes,
                packets: bytes.div_ceil(self.mss_bytes) as u32,
                begins_event: false,
                in_flight_bytes: self.flight_bytes() + bytes,
                verdict: self.sampling.verdict,
            };
            self.controller.on_lost(context.now, &lost);
        }
    }

    /// Bytes of the lost holes beyond those counted. A hole is lost when enough lies beyond it, so the lost ones
    /// are the lowest.
    fn new_holes(&mut self) -> u64 {
        let Sampling { lost_to, .. } = &mut self.sampling;
        let sending = &self.sending;
        let holes = sending.board.holes(sending.una, sending.max, self.mss_bytes);
        let mut bytes = 0;
        for hole in holes.take_while(|hole| hole.is_lost).filter(|hole| hole.end > *lost_to) {
            bytes += hole.end - hole.first.max(*lost_to);
        }
        let end = sending.board.holes(sending.una, sending.max, self.mss_bytes);
        *lost_to = end.take_while(|hole| hole.is_lost).last().map_or(*lost_to, |hole| hole.end.max(*lost_to));
        bytes
    }

    /// A loss event begins with the segment at SND.UNA.
    pub(super) fn first_loss(&mut self, verdict: Verdict) {
        self.sampling.verdict = verdict;
        self.sampling.lost_to = self.sending.una + self.mss_bytes;
        self.told_event = true;
    }

    /// The event that the controller was told of is over once everything sent before is acknowledged.
    pub(super) fn end_event(&mut self, context: &Context<'_>) {
        if self.told_event && self.repair.is_none() && self.sending.una >= self.recovered_to {
            self.told_event = false;
            self.controller.on_recovered(context.now);
        }
    }
}

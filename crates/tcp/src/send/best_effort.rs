//! Data that is given up: where both ends agreed that some may be missing, a segment that has met the
//! retransmission timer often enough is taken for acknowledged. A peer that waits for it gives it up in its
//! own time.

use skyhaul_core::{Event, Instant};

use super::Sender;
use crate::call::Call;

/// Sender's part of the best effort service.
#[derive(Clone, Copy, Debug)]
pub(super) struct BestEffort {
    /// Timeouts that a segment may meet, and repeats that they lead to.
    max_timeouts: u32,
    /// Oldest number at the last timeout, and those in a row that it has met.
    oldest: u64,
    timeouts: u32,
    /// Numbers [first, end) that are taken for acknowledged, and that the peer waits for as far as is known.
    abandoned: (u64, u64),
}

impl BestEffort {
    pub(super) fn new(max_timeouts: u32) -> Self {
        Self { max_timeouts, oldest: 0, timeouts: 0, abandoned: (0, 0) }
    }

    /// A timeout while `una` is the oldest number; true if there were enough before it.
    fn on_timeout(&mut self, una: u64) -> bool {
        if self.oldest != una {
            (self.oldest, self.timeouts) = (una, 0);
        }
        let is_enough = self.timeouts >= self.max_timeouts;
        self.timeouts = self.timeouts.saturating_add(1);
        is_enough
    }

    /// Everything from `una`, which was the oldest, to `to` is taken for acknowledged.
    fn abandon(&mut self, una: u64, to: u64) {
        let first = self.waited_for(una);
        self.abandoned = (first, to);
    }

    /// Number that the peer waits for, where everything below `una` is acknowledged or taken for that.
    fn waited_for(&self, una: u64) -> u64 {
        let (first, end) = self.abandoned;
        if end == una { first } else { una }
    }
}

impl Sender {
    /// The retransmission timer ran out: the oldest segment is given up, if it has met that often enough.
    /// True if nothing is under way behind it.
    pub(super) fn abandon_late(&mut self, call: &mut Call<'_>) -> bool {
        let una = self.space.una();
        let is_enough = self.best_effort.as_mut().is_some_and(|service| service.on_timeout(una));
        let end = self.oldest_segment_end();
        if !is_enough || self.space.is_opening() || end == una {
            return false;
        }
        let bytes = end - una;
        call.stats.abandoned_bytes += bytes;
        let offset = una - self.space.initial() - 1;
        call.emit(Event::GaveUp { received: false, offset, bytes });
        // What the peer has behind it is no hole.
        self.take_for_acknowledged(self.board.skip(end).min(self.space.data_end()), call.now);
        self.space.outstanding() == 0
    }

    /// One past the oldest segment's data; SND.UNA if it has none.
    fn oldest_segment_end(&self) -> u64 {
        let una = self.space.una();
        let known = self.rack.as_ref().and_then(|rack| rack.segment_end(una));
        known.unwrap_or(una + self.mss_bytes).min(self.space.max()).min(self.space.data_end())
    }

    fn take_for_acknowledged(&mut self, to: u64, now: Instant) {
        let una = self.space.una();
        if let Some(service) = self.best_effort.as_mut() {
            service.abandon(una, to);
        }
        self.space.abandon(to);
        self.records.forget_until(to);
        self.board.forget(una, to);
        self.sampling.forget_below(to);
        if let Some(rack) = self.rack.as_mut() {
            rack.forget_below(to);
        }
        self.recovery.give_up(self.space.max());
        self.tail_probe.give_up();
        self.mtu_search.give_up_probe(now);
        self.timer.forget_timing();
        self.timer.restart(self.space.outstanding() > 0, now);
    }

    /// Number below which the peer has acknowledged everything.
    pub(super) fn waited_for(&self) -> u64 {
        let una = self.space.una();
        self.best_effort.as_ref().map_or(una, |service| service.waited_for(una))
    }

    /// An acknowledgement below SND.UNA, by a segment numbered `sequence` with this window. True if the peer
    /// still waits for what is given up, so that it is no late one.
    #[cold]
    pub(super) fn take_waiting(&mut self, acknowledgement: u64, sequence: u64, window_bytes: u64) -> bool {
        if acknowledgement < self.waited_for() {
            return false;
        }
        let una = self.space.una();
        if let Some(service) = self.best_effort.as_mut() {
            service.abandoned = (acknowledgement, una);
        }
        let left_bytes = (acknowledgement + window_bytes).saturating_sub(una);
        self.space.take_window(sequence, acknowledgement, left_bytes);
        true
    }
}

//! Who waits for the server or is in service.

use alloc::collections::VecDeque;

use skyhaul_core::Instant;

use crate::QueueLimit;
use crate::red::Length;

/// Hard bound of every direction: at most this many packets wait or are in service, and at most
/// this many are under way behind the queue, whatever [`QueueLimit`] says. A packet that would
/// exceed it is dropped as by a full queue.
pub const MAX_PACKETS: usize = 1 << 20;

/// The places of a queue. The packets themselves are under way already: their times are
/// known when they enter.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    limit: QueueLimit,
    /// For each packet, when its place is free again and how many bytes had then left the queue
    /// since the beginning of the run. Both rise.
    places: VecDeque<(Instant, u64)>,
    /// Bytes that ever entered.
    entered_bytes: u64,
    /// Bytes that have left, as far as `release` knows.
    left_bytes: u64,
    /// When the last place became free that `release` gave up.
    last_free_at: Instant,
}

impl Queue {
    pub(crate) fn new(limit: QueueLimit) -> Self {
        Self { limit, places: VecDeque::new(), entered_bytes: 0, left_bytes: 0, last_free_at: Instant::ZERO }
    }

    /// Gives up the places of packets whose serialisation has ended by `now`.
    pub(crate) fn release(&mut self, now: Instant) {
        while let Some(&(free_at, left_bytes)) = self.places.front() {
            if free_at > now {
                return;
            }
            self.left_bytes = left_bytes;
            self.last_free_at = free_at;
            self.places.pop_front();
        }
    }

    /// What was not released.
    pub(crate) fn length(&self) -> Length {
        Length { packets: self.places.len(), bytes: self.held_bytes() }
    }

    /// Since when nothing waits or is in service, if so.
    pub(crate) fn empty_since(&self) -> Option<Instant> {
        self.places.is_empty().then_some(self.last_free_at)
    }

    /// Whether another packet fits beside those that were not released.
    pub(crate) fn has_room(&self, wire_bytes: u32) -> bool {
        let within_limit = match self.limit {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => self.places.len() < limit as usize,
            QueueLimit::Bytes(limit) => self.held_bytes() + u64::from(wire_bytes) <= limit,
        };
        within_limit && self.places.len() < MAX_PACKETS
    }

    /// Takes a packet whose serialisation ends at `free_at`, not before those in front of it.
    pub(crate) fn push(&mut self, free_at: Instant, wire_bytes: u32) {
        self.entered_bytes += u64::from(wire_bytes);
        self.places.push_back((free_at, self.entered_bytes));
    }

    /// Bytes of the packets that were not released.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.entered_bytes - self.left_bytes
    }

    /// Bytes that wait or are in service at `now`.
    pub(crate) fn bytes(&self, now: Instant) -> u64 {
        let gone = self.places.partition_point(|&(free_at, _)| free_at <= now);
        let left_bytes = gone.checked_sub(1).map_or(self.left_bytes, |last| self.places[last].1);
        self.entered_bytes - left_bytes
    }
}

//! Packets that wait for the server or are in service.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use skyhaul_core::Instant;

use crate::red::Length;
use crate::{LowLimit, QueueLimit};

/// Hard bound of every direction: at most this many packets wait or are in service, and at most
/// this many are under way behind the queue, whatever [`QueueLimit`] says. A packet that would
/// exceed it is dropped as by a full queue.
pub const MAX_PACKETS: usize = 1 << 20;

/// A packet that waits or is in service. All of these numbers rise from one to the next.
#[derive(Clone, Copy, Debug)]
struct QueuedPacket {
    /// End of its serialisation.
    free_at: Instant,
    /// Bytes that have left the queue by then, since the beginning of the run.
    left_bytes: u64,
    /// Its place in the order of entry.
    order: u64,
}

/// The places of a queue. The packets themselves are under way already: their times are
/// known when they enter.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    limit: QueueLimit,
    places: VecDeque<QueuedPacket>,
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
        while let Some(&QueuedPacket { free_at, left_bytes, .. }) = self.places.front() {
            if free_at > now {
                return;
            }
            self.left_bytes = left_bytes;
            self.last_free_at = free_at;
            self.places.pop_front();
        }
    }

    /// Packets and bytes that were not released.
    pub(crate) fn length(&self) -> Length {
        Length { packets: self.places.len(), bytes: self.held_bytes() }
    }

    /// Start of the time in which nothing waits or is in service, if that is now.
    pub(crate) fn empty_since(&self) -> Option<Instant> {
        self.places.is_empty().then_some(self.last_free_at)
    }

    /// True if no more than so many packets wait for the one in service.
    pub(crate) fn is_as_short_as(&self, LowLimit(limit): LowLimit) -> bool {
        self.places.len().saturating_sub(1) <= limit as usize
    }

    /// True if another packet fits beside those that were not released.
    pub(crate) fn has_room(&self, wire_bytes: u32) -> bool {
        self.limit.has_room(self.places.len(), self.held_bytes(), wire_bytes)
    }

    /// Takes a packet whose serialisation ends at `free_at`, not before those in front of it.
    pub(crate) fn push(&mut self, free_at: Instant, wire_bytes: u32, order: u64) {
        self.entered_bytes += u64::from(wire_bytes);
        self.places.push_back(QueuedPacket { free_at, left_bytes: self.entered_bytes, order });
    }

    /// The first packet that was not released, and its bytes.
    pub(crate) fn first(&self) -> Option<(u64, u64)> {
        self.places.front().map(|place| (place.order, place.left_bytes - self.left_bytes))
    }

    /// Packets that were not released serve anew: `serve` is given the bytes of each, and says when it ends.
    /// Gives back which packet ends when.
    pub(crate) fn serve_anew(&mut self, mut serve: impl FnMut(u64) -> Instant) -> Vec<(u64, Instant)> {
        let mut left_bytes = self.left_bytes;
        let anew = self.places.iter_mut().map(|place| {
            place.free_at = serve(place.left_bytes - left_bytes);
            left_bytes = place.left_bytes;
            (place.order, place.free_at)
        });
        anew.collect()
    }

    /// Bytes of the packets that were not released.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.entered_bytes - self.left_bytes
    }

    /// Bytes that wait or are in service at `now`.
    pub(crate) fn bytes(&self, now: Instant) -> u64 {
        let gone = self.places.partition_point(|place| place.free_at <= now);
        let left_bytes = gone.checked_sub(1).map_or(self.left_bytes, |last| self.places[last].left_bytes);
        self.entered_bytes - left_bytes
    }
}

//! Order of the connections of a path: start-time fair queueing. What a connection has sent, by its weight,
//! is its tag; the least tag is next. While a path's rate holds connections back, they keep their tags; a
//! connection that had nothing to send begins where the others are, so silence earns nothing.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;
use core::num::{NonZeroU8, TryFromIntError};

use crate::ConnectionId;

/// Tags count parts of an octet, so that weights divide it.
const PARTS: u64 = 256;

/// Part of a path's rate that a connection gets beside others that always have something to send: twice the
/// weight, twice the rate. From 1 (the default) to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight(NonZeroU8);

impl Weight {
    /// Weight of a connection of which nobody says otherwise.
    pub const ONE: Self = Self(NonZeroU8::MIN);

    /// Weight of this number; `None` for 0, with which a connection would never be next.
    pub const fn new(weight: u8) -> Option<Self> {
        match NonZeroU8::new(weight) {
            Some(weight) => Some(Self(weight)),
            None => None,
        }
    }
}

impl TryFrom<u64> for Weight {
    type Error = TryFromIntError;

    fn try_from(weight: u64) -> Result<Self, TryFromIntError> {
        NonZeroU8::try_from(u8::try_from(weight)?).map(Self)
    }
}

impl From<Weight> for u64 {
    fn from(weight: Weight) -> Self {
        weight.0.get().into()
    }
}

impl Default for Weight {
    fn default() -> Self {
        Self::ONE
    }
}

/// Share of one connection in its path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FairShare {
    pub(crate) weight: Weight,
    tag: u64,
    /// True while it has something to send, and nothing but the path's rate holds it back.
    waits: bool,
}

/// Connections of a path that may have something to send, by tag; at most one entry each.
#[derive(Clone, Debug, Default)]
pub(crate) struct FairQueue {
    ready: BinaryHeap<Reverse<(u64, u64, ConnectionId)>>,
    /// Entries so far: of those with equal tags the first is next.
    entries: u64,
    /// Tag at which the last one had its turn: those begin there that had nothing to send.
    begin: u64,
    /// Connections that wait for the path's rate.
    waiting: u32,
    /// Connections of the path.
    pub(crate) users: usize,
}

impl FairQueue {
    /// Puts in a connection that may have something to send. Unless a rate is kept (`is_paced`), the first to
    /// come is next.
    pub(crate) fn enter(&mut self, id: ConnectionId, share: &mut FairShare, is_paced: bool) {
        if !share.waits {
            share.tag = share.tag.max(self.begin);
        }
        self.entries += 1;
        self.ready.push(Reverse((if is_paced { share.tag } else { 0 }, self.entries, id)));
    }

    /// Takes out the next connection.
    pub(crate) fn call(&mut self) -> Option<ConnectionId> {
        self.ready.pop().map(|Reverse((_, _, id))| id)
    }

    /// Counts what a connection sends in its turn.
    pub(crate) fn charge(&mut self, share: &mut FairShare, octets: u64) {
        // What goes past those who wait (an answer, say) tells nothing of where they are.
        if share.waits || self.waiting == 0 {
            self.begin = self.begin.max(share.tag);
        }
        let parts = octets.saturating_mul(PARTS) / u64::from(share.weight);
        share.tag = share.tag.saturating_add(parts);
    }

    /// Notes whether a connection waits for the path's rate.
    pub(crate) fn set_waiting(&mut self, share: &mut FairShare, waits: bool) {
        self.waiting = self.waiting + u32::from(waits) - u32::from(share.waits); // it is counted if it waited
        share.waits = waits;
    }

    /// Checks, in debug builds, that none waits who does not use the path.
    pub(crate) fn check_invariants(&self) {
        debug_assert!(self.waiting as usize <= self.users, "{} wait of {}", self.waiting, self.users);
    }
}

#[cfg(test)]
#[path = "fair_queue_tests.rs"]
mod tests;

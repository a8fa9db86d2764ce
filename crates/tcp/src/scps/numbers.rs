//! Numbers of connections in compressed headers: a header has one in place of both ports.

use alloc::collections::BTreeMap;
use core::num::NonZeroU8;

use skyhaul_core::ConnectionId;

use crate::segment::Way;

/// Numbers in use, each end's by itself: a segment carries that of its sender. No more than connections, and
/// 255 of either end for a pair of hosts.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    ours: BTreeMap<(Way, NonZeroU8), ConnectionId>,
    theirs: BTreeMap<(Way, NonZeroU8), ConnectionId>,
    /// The number that was given out last: a late segment of a connection that is over meets no other one
    /// soon. Before the first, one that nobody can tell: a peer may remember what a host that was killed had,
    /// and would agree to no compressed headers for as long.
    last: u8,
    /// True once a number was given out.
    are_used: bool,
}

impl Numbers {
    /// None is in use; the next one is given out behind `start`.
    pub(crate) fn new(start: u8) -> Self {
        Self { ours: BTreeMap::new(), theirs: BTreeMap::new(), last: start, are_used: false }
    }

    /// Number of ours for a connection over this way; `None`: all are in use.
    pub(crate) fn take(&mut self, way: Way, id: ConnectionId) -> Option<NonZeroU8> {
        let candidates = (1..=u8::MAX).map(|step| self.last.wrapping_add(step)).filter_map(NonZeroU8::new);
        // The last one comes first again once all others are in use.
        let again = NonZeroU8::new(self.last);
        let number = candidates.chain(again).find(|&number| !self.ours.contains_key(&(way, number)))?;
        (self.last, self.are_used) = (number.get(), true);
        self.ours.insert((way, number), id);
        Some(number)
    }

    /// The peer announced a number for a connection. One that it used for another is that of this one now.
    pub(crate) fn learn(&mut self, way: Way, number: NonZeroU8, id: ConnectionId) {
        self.theirs.insert((way, number), id);
    }

    /// Connection that the peer announced this number for.
    pub(crate) fn told_by(&self, way: Way, number: u8) -> Option<ConnectionId> {
        self.theirs.get(&(way, NonZeroU8::new(number)?)).copied()
    }

    /// Connection that we gave this number to.
    pub(crate) fn of_ours(&self, way: Way, number: u8) -> Option<ConnectionId> {
        self.ours.get(&(way, NonZeroU8::new(number)?)).copied()
    }

    /// True once a number was given out.
    pub(crate) fn are_used(&self) -> bool {
        self.are_used
    }

    /// A connection is over: its numbers, as far as it still has them, are free.
    pub(crate) fn forget(
        &mut self,
        way: Way,
        id: ConnectionId,
        ours: Option<NonZeroU8>,
        theirs: Option<NonZeroU8>,
    ) {
        for (numbers, number) in [(&mut self.ours, ours), (&mut self.theirs, theirs)] {
            let Some(number) = number else { continue };
            if numbers.get(&(way, number)) == Some(&id) {
                numbers.remove(&(way, number));
            }
        }
    }
}

//! Received packets: a sorted cache of those out of sequence, and the bytes ready to be read.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use skyhaul_core::RangeSet;
use skyhaul_core::endpoint::Room;
use skyhaul_core::event::Refusal;

use super::ready::Ready;
use crate::segment::{GapList, ListBounds, charge_bytes};

/// Packets this far ahead of the next expected one are not ours: numbers would be ambiguous.
const MAX_AHEAD: u64 = 1 << 22;

/// Runs of packets out of sequence at most. A packet that would begin a further one is not taken, as if it
/// was lost. The next expected packet begins none, and one beside a run makes that longer: so what is sent
/// again in order is always taken, and the runs become fewer. Full packets in a receive buffer of 64 MiB
/// have less than 23,000 runs whatever is lost.
pub(crate) const MAX_RANGES: usize = 1 << 15;

/// Packets up to which every check of the books recounts them.
const MAX_RECOUNT: usize = 64;

/// Outcome of an SD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Kept or delivered.
    Taken,
    /// It was there already.
    Duplicate,
    /// There is no room for it.
    OutsideWindow,
    /// It lies behind the end that the peer declared, or contradicts it.
    Absurd,
}

impl Verdict {
    /// Reason for which the SD was not taken.
    pub(crate) fn refusal(self) -> Option<Refusal> {
        match self {
            Self::Taken => None,
            Self::Duplicate => Some(Refusal::Duplicate),
            Self::OutsideWindow => Some(Refusal::OutsideWindow),
            Self::Absurd => Some(Refusal::Absurd),
        }
    }
}

/// Packets on their way into sequence. Holds at most `limit_bytes` (by [`charge_bytes`]) plus one packet.
#[derive(Clone, Debug)]
pub(crate) struct Assembly {
    limit_bytes: u64,
    /// Bytes that may be kept, read ones included, as far as the endpoint has room.
    room: Room,
    next: u64,
    have: RangeSet,
    cache: BTreeMap<u64, Box<[u8]>>,
    cached_charge: u64,
    ready: Ready,
    end: Option<u64>,
    delivered_bytes: u64,
}

impl Assembly {
    pub(crate) fn new(initial: u64, limit_bytes: u64) -> Self {
        Self {
            limit_bytes,
            room: Room { bytes: u64::MAX, sharers: 1 },
            next: initial,
            have: RangeSet::new(),
            cache: BTreeMap::new(),
            cached_charge: 0,
            ready: Ready::default(),
            end: None,
            delivered_bytes: 0,
        }
    }

    /// Next number expected in sequence.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// One past the highest number that has arrived, at least the next one expected.
    pub(crate) fn known_to(&self) -> u64 {
        self.have.end().unwrap_or(self.next)
    }

    /// Bytes held at most.
    pub(crate) fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// Sets what may be kept.
    #[inline]
    pub(crate) fn set_room(&mut self, room: Room) {
        self.room = room;
    }

    /// Bytes kept: out of sequence, unread, and read ones that a block may count on.
    #[inline]
    pub(crate) fn kept_bytes(&self) -> u64 {
        self.ready.kept_bytes() as u64 + self.cached_charge
    }

    /// Bytes that may be kept beside those.
    #[inline]
    pub(crate) fn free_bytes(&self) -> u64 {
        self.room.bytes.saturating_sub(self.kept_bytes())
    }

    /// Bytes that can be read.
    pub(crate) fn readable_bytes(&self) -> usize {
        self.ready.unread_bytes()
    }

    /// Bytes put in sequence so far.
    pub(crate) fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    /// Bytes accepted from `next` on. The right edge moves left only while other connections keep much.
    pub(crate) fn window_bytes(&self) -> u64 {
        let unread_bytes = self.ready.unread_bytes() as u64;
        self.limit_bytes.saturating_sub(unread_bytes).min(self.promise_bytes())
    }

    /// True if half of the window is open that there is if all is read.
    pub(crate) fn is_half_open(&self) -> bool {
        let unread_bytes = self.ready.unread_bytes() as u64;
        let most_bytes = self.limit_bytes.min(self.promise_bytes().saturating_add(unread_bytes));
        self.window_bytes() >= most_bytes / 2
    }

    /// Bytes from `next` on that the endpoint has room for.
    fn promise_bytes(&self) -> u64 {
        self.room.promise_bytes(self.kept_bytes()).saturating_add(self.cached_charge)
    }

    /// True if the peer has said where its stream ends.
    pub(crate) fn has_end(&self) -> bool {
        self.end.is_some()
    }

    /// True if the peer has ended and everything before the end is in sequence.
    pub(crate) fn is_complete(&self) -> bool {
        self.end == Some(self.next)
    }

    /// Takes the peer's END; false if it contradicts what is known.
    pub(crate) fn set_end(&mut self, end: u64) -> bool {
        if self.end.is_some_and(|known| known != end) {
            return false;
        }
        if end < self.next || self.have.end().is_some_and(|e| e > end) || end > self.next + MAX_AHEAD {
            return false;
        }
        self.end = Some(end);
        true
    }

    /// True if everything below `next` can have been sent, as a POLL says.
    pub(crate) fn is_plausible(&self, next: u64) -> bool {
        next <= self.next + MAX_AHEAD
    }

    /// Outcome of an SD of so many bytes that arrives now.
    #[inline]
    pub(crate) fn verdict(&self, number: u64, bytes: usize) -> Verdict {
        if number < self.next || self.have.contains(number) {
            return Verdict::Duplicate;
        }
        if self.end.is_some_and(|end| number >= end) {
            return Verdict::Absurd;
        }
        if number - self.next > MAX_AHEAD || !self.has_room(number, bytes) || self.is_one_run_more(number) {
            return Verdict::OutsideWindow;
        }
        Verdict::Taken
    }

    /// Takes an SD.
    pub(crate) fn insert(&mut self, number: u64, data: &[u8]) -> Verdict {
        let verdict = self.verdict(number, data.len());
        if verdict != Verdict::Taken {
            return verdict;
        }
        if number == self.next {
            self.deliver(data);
            self.deliver_cached();
        } else {
            self.have.insert(number);
            self.cached_charge += charge_bytes(data.len());
            self.cache.insert(number, data.into());
        }
        verdict
    }

    /// The next packet in sequence may use the room that later ones fill: otherwise a lying peer
    /// (or a window counted differently) could lock the connection. And it is taken whatever its
    /// size when nothing waits to be read: packets keep their size, so one that was sent before the
    /// sender knew our window would come back for ever.
    fn has_room(&self, number: u64, bytes: usize) -> bool {
        if number == self.next && self.readable_bytes() == 0 {
            return true;
        }
        let cached = if number == self.next { 0 } else { self.cached_charge };
        let charge = charge_bytes(bytes);
        self.ready.unread_bytes() as u64 + cached + charge <= self.limit_bytes && charge <= self.free_bytes()
    }

    /// True if the packet would begin a run of its own, and there are as many as there may be.
    fn is_one_run_more(&self, number: u64) -> bool {
        self.have.range_count() >= MAX_RANGES
            && number != self.next
            && !self.have.contains(number - 1)
            && !self.have.contains(number + 1)
    }

    fn deliver(&mut self, data: &[u8]) {
        self.ready.push(data);
        self.delivered_bytes += data.len() as u64;
        self.next += 1;
    }

    fn deliver_cached(&mut self) {
        if self.have.run_from(self.next).is_none() {
            return;
        }
        while let Some(data) = self.cache.remove(&self.next) {
            self.cached_charge -= charge_bytes(data.len());
            self.deliver(&data);
        }
        self.have.remove_below(self.next);
    }

    /// Reads up to `out.len()` bytes.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> usize {
        self.ready.read(out, self.next)
    }

    /// Gives memory back that grew with use, if nothing waits to be read.
    pub(crate) fn give_back(&mut self) {
        if self.ready.unread_bytes() == 0 {
            self.ready.forget_read();
        }
    }

    /// Drops the packets out of sequence: nothing comes any more.
    pub(crate) fn forget_unreadable(&mut self) {
        self.cache = BTreeMap::new();
        self.cached_charge = 0;
    }

    /// A STAT leaves. Once one has listed a gap, packets stay for a while after they were read: what the peer
    /// sends to repair a block counts on them until it knows that they arrived.
    pub(crate) fn keep_after_stat(&mut self, lists_gaps: bool) {
        self.ready.mark(self.next, lists_gaps);
    }

    /// Copies of those of the packets that are there: kept ones and those out of sequence. `numbers` rise.
    pub(crate) fn copies(&self, numbers: &[u64]) -> Vec<Option<Box<[u8]>>> {
        let kept = self.ready.copies(numbers, self.next);
        let or_cached =
            |(copy, number): (Option<Box<[u8]>>, &u64)| copy.or_else(|| self.cache.get(number).cloned());
        kept.into_iter().zip(numbers).map(or_cached).collect()
    }

    /// List of the gaps in [from, to), within bounds. What is received behind the last one is left out: what
    /// is not listed arrived. The numbers `silent`, a range within, are not counted at all, as if those
    /// behind came directly before them.
    pub(crate) fn list(&self, from: u64, to: u64, silent: (u64, u64), bounds: ListBounds) -> GapList {
        let from = from.max(self.next);
        let left_out = silent.1 - silent.0;
        let behind =
            self.have.gaps(silent.1.max(from), to).map(|(first, end)| (first - left_out, end - left_out));
        GapList::of(self.have.gaps(from, silent.0.min(to)).chain(behind), bounds)
    }

    /// True if something is missing of [first, end).
    pub(crate) fn has_gap(&self, first: u64, end: u64) -> bool {
        self.have.gaps(first.max(self.next), end).next().is_some()
    }

    /// Checks the books, against a recount where that is cheap.
    pub(crate) fn check_invariants(&self) {
        debug_assert!(self.end.is_none_or(|end| self.next <= end));
        debug_assert!(!self.cache.contains_key(&self.next));
        if self.cache.len() <= MAX_RECOUNT {
            let charged: u64 = self.cache.values().map(|data| charge_bytes(data.len())).sum();
            debug_assert_eq!(self.cached_charge, charged);
        }
    }

    /// Missing ranges of [from, to).
    #[cfg(test)]
    pub(crate) fn gaps(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.have.gaps(from.max(self.next), to)
    }
}

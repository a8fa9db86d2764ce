//! Received bytes: those ready to be read, those out of sequence, and the window.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};

use skyhaul_core::{Description, Instant, OctetQueue, Octets, RangeSet};

use super::best_effort::BestEffort;
use crate::scps::Teller;
use crate::segment::{ExtraOptions, MAX_SACK_BLOCKS, SackBlocks};
use crate::sequence::truncate;

/// Every piece out of sequence takes at least this much, or as much as a full segment that we ask for, so
/// that tiny ones cannot fill memory with bookkeeping.
const MIN_CHARGE_BYTES: u64 = 256;

/// Bytes that wait for those in front of them.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Here(Box<[u8]>),
    Described(Description),
}

impl Piece {
    fn octets(&self) -> Octets<'_> {
        match self {
            Self::Here(bytes) => Octets::Here(bytes),
            Self::Described(description) => Octets::Described(*description),
        }
    }
}

impl From<Octets<'_>> for Piece {
    fn from(octets: Octets<'_>) -> Self {
        match octets {
            Octets::Here(bytes) => Self::Here(bytes.into()),
            Octets::Described(description) => Self::Described(description),
        }
    }
}

/// Puts bytes in sequence. Holds at most `limit_bytes` and what rounding a scaled window adds to it. Of bytes
/// that arrive twice with different contents, the first ones count.
#[derive(Clone, Debug)]
pub(crate) struct Assembly {
    limit_bytes: u64,
    /// Bytes that each piece out of sequence takes at least.
    min_charge_bytes: u64,
    next: u64,
    /// One past the last byte that the peer was allowed to send. Never moves left.
    edge: u64,
    ready: OctetQueue,
    pub(super) ahead: BTreeMap<u64, Piece>,
    pub(super) ahead_charge: u64,
    have: RangeSet,
    /// A byte of each range that grew lately, the last one first [RFC 2018 4].
    recent: VecDeque<u64>,
    /// Bytes that came once more, until they are reported [RFC 2883 4].
    duplicate: Option<(u64, u64)>,
    end: Option<u64>,
    delivered_bytes: u64,
    /// Holes that may be given up, where that is agreed on.
    best_effort: Option<Box<BestEffort>>,
    /// Octets behind gaps that the application was not told of.
    behind_bytes: u64,
}

impl Assembly {
    /// For a stream whose first byte has the number `next`, of segments of `segment_bytes` at most.
    pub(crate) fn new(next: u64, limit_bytes: u64, segment_bytes: u64) -> Self {
        Self {
            limit_bytes,
            min_charge_bytes: MIN_CHARGE_BYTES.min(segment_bytes),
            next,
            edge: next,
            ready: OctetQueue::default(),
            ahead: BTreeMap::new(),
            ahead_charge: 0,
            have: RangeSet::new(),
            recent: VecDeque::new(),
            duplicate: None,
            end: None,
            delivered_bytes: 0,
            best_effort: None,
            behind_bytes: 0,
        }
    }

    /// Gives up from now on what stays missing for so long.
    pub(crate) fn give_up_after(&mut self, patience_ns: u64) {
        self.best_effort = Some(Box::new(BestEffort::new(patience_ns)));
    }

    /// The peer has sent at least up to what is here, and up to `sent_to`: what is missing of that is given
    /// up when its time has come.
    pub(crate) fn see_holes(&mut self, sent_to: u64, now: Instant) {
        let Some(best_effort) = &mut self.best_effort else { return };
        let known_to = self.have.end().max(self.end).unwrap_or(self.next).max(sent_to.min(self.edge));
        best_effort.see(self.next, known_to, now);
    }

    /// Moment at which the first hole is given up.
    pub(crate) fn gives_up_at(&self) -> Option<Instant> {
        self.best_effort.as_ref()?.due(self.next).map(|(at, _)| at)
    }

    /// Gives the first hole up, as far as its time has come: numbers [first, end).
    pub(crate) fn give_up(&mut self, now: Instant) -> Option<(u64, u64)> {
        let best_effort = self.best_effort.as_mut()?;
        let first = self.next;
        let (at, late_to) = best_effort.due(first)?;
        if at > now {
            return None;
        }
        let end = self.have.iter().next().map_or(late_to, |(behind, _)| late_to.min(behind));
        best_effort.give_up(first, end);
        self.next = end;
        self.deliver_ahead();
        if let Some(best_effort) = &mut self.best_effort {
            best_effort.see(self.next, self.next, now);
        }
        Some((first, end))
    }

    /// Next gap of the stream, as numbers, once everything in front of it was read. What lies behind can be
    /// read then.
    pub(crate) fn take_gap(&mut self) -> Option<(u64, u64)> {
        let best_effort = self.best_effort.as_mut().filter(|_| self.ready.is_empty())?;
        let (gap, octets) = best_effort.take()?;
        self.behind_bytes -= octets.len() as u64;
        self.ready = octets;
        Some(gap)
    }

    /// True while there is a gap that the application was not told of.
    pub(crate) fn has_untold_gap(&self) -> bool {
        self.first_gap().is_some()
    }

    fn first_gap(&self) -> Option<u64> {
        self.best_effort.as_ref()?.first_gap()
    }

    /// RCV.NXT: next number expected, the peer's FIN counted.
    pub(crate) fn next(&self) -> u64 {
        self.next + u64::from(self.is_complete())
    }

    pub(crate) fn edge(&self) -> u64 {
        self.edge
    }

    pub(crate) fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    /// True once the peer's FIN and everything before it have arrived.
    pub(crate) fn is_complete(&self) -> bool {
        self.end == Some(self.next)
    }

    /// True if something is missing before what is there.
    pub(crate) fn has_gap(&self) -> bool {
        !self.have.is_empty()
    }

    /// Takes the peer's FIN at `number`; false if it contradicts what is known.
    pub(crate) fn set_end(&mut self, number: u64) -> bool {
        let beyond = self.have.end().is_some_and(|end| end > number);
        if self.end.is_some_and(|end| end != number) || number < self.next || beyond {
            return false;
        }
        self.end = Some(number);
        true
    }

    /// Takes the bytes of `data` that lie within the window and are new; false if there are none.
    pub(crate) fn insert<'a>(&mut self, number: u64, data: impl Into<Octets<'a>>) -> bool {
        let data = data.into();
        self.note_duplicate(number, number + data.len() as u64);
        let limit = self.end.unwrap_or(u64::MAX).min(self.edge);
        let (first, end) = (number.max(self.next), (number + data.len() as u64).min(limit));
        if first >= end {
            return false;
        }
        let data = data.part((first - number) as usize, (end - number) as usize);
        if first == self.next && self.have.is_empty() {
            return self.deliver(data);
        }
        let taken = self.keep(first, data);
        self.deliver_ahead();
        taken
    }

    /// Remembers the first part of [first, end) that is here already.
    pub(crate) fn note_duplicate(&mut self, first: u64, end: u64) {
        if first < self.next {
            self.duplicate = Some((first, end.min(self.next)));
            return;
        }
        if self.have.is_empty() {
            return; // nothing is ahead: so it is for nearly every segment
        }
        let gap = self.have.gaps(first, end).next();
        let known_from = match gap {
            Some((from, to)) if from == first => to,
            _ => first,
        };
        if known_from < end {
            let known_to = self.have.range_of(known_from).map_or(end, |(_, to)| to.min(end));
            self.duplicate = Some((known_from, known_to));
            self.recent.push_front(known_from);
            self.forget_stale_ranges();
        }
    }

    /// An acknowledgement took the report along: once is enough.
    pub(crate) fn report_duplicate_no_more(&mut self) {
        self.duplicate = None;
    }

    fn keep(&mut self, first: u64, data: Octets<'_>) -> bool {
        let end = first + data.len() as u64;
        let mut taken = false;
        while let Some((from, to)) = { self.have.gaps(first, end).next() } {
            let charge = (to - from).max(self.min_charge_bytes);
            // What is next in sequence always has room: without it nothing moves.
            if from != self.next && self.ahead_charge + charge > self.limit_bytes.max(self.min_charge_bytes) {
                break;
            }
            self.ahead_charge += charge;
            let piece = data.part((from - first) as usize, (to - first) as usize);
            self.ahead.insert(from, piece.into());
            self.have.insert_range(from, to);
            taken = true;
        }
        if taken {
            self.recent.push_front(first);
            self.forget_stale_ranges();
        }
        taken
    }

    /// Makes octets ready; false if they cannot stand behind those that are.
    fn deliver(&mut self, data: Octets<'_>) -> bool {
        let is_taken =
            if self.best_effort.is_some() { self.deliver_behind(data) } else { self.ready.push(data) };
        if is_taken {
            self.next += data.len() as u64;
            self.delivered_bytes += data.len() as u64;
        }
        is_taken
    }

    /// Makes octets ready behind the last gap, if there is one.
    #[cold]
    fn deliver_behind(&mut self, data: Octets<'_>) -> bool {
        let Some(last) = self.best_effort.as_mut().and_then(|best_effort| best_effort.last()) else {
            return self.ready.push(data);
        };
        let is_taken = last.push(data);
        self.behind_bytes += if is_taken { data.len() as u64 } else { 0 };
        is_taken
    }

    #[inline]
    fn deliver_ahead(&mut self) {
        while let Some(piece) = self.ahead.remove(&self.next) {
            let length = piece.octets().len() as u64;
            self.ahead_charge -= length.max(self.min_charge_bytes);
            if !self.deliver(piece.octets()) {
                self.have.remove_below(self.next + length); // it has to come again
                break;
            }
        }
        self.have.remove_below(self.next);
        self.forget_stale_ranges();
    }

    /// Keeps the last mention of each range, as many as an option has room for.
    fn forget_stale_ranges(&mut self) {
        let mut kept = 0;
        for place in 0..self.recent.len() {
            let at = self.recent[place];
            let Some((first, end)) = self.have.range_of(at) else { continue };
            if !self.recent.iter().take(kept).any(|other| (first..end).contains(other)) {
                self.recent[kept] = at;
                kept += 1;
            }
        }
        self.recent.truncate(kept.min(MAX_SACK_BLOCKS));
    }

    /// Ranges ahead, the one that grew last first, behind what came twice, at most `max_blocks`.
    pub(crate) fn sack(&self, max_blocks: usize) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        let ranges = self.recent.iter().filter_map(|&at| self.have.range_of(at));
        for (first, end) in self.duplicate.into_iter().chain(ranges).take(max_blocks) {
            blocks.push(truncate(first), truncate(end));
        }
        blocks
    }

    /// Adds what `teller` says of the holes, so that the options take `room` octets at most.
    pub(crate) fn tell_holes(
        &self,
        teller: &mut Teller,
        room: usize,
        (now, rtt_ns): (Instant, Option<u64>),
        extra: &mut ExtraOptions,
    ) {
        // A FIN that came before data tells where that ends.
        let end = self.have.end().max(self.end).map_or(self.next, |end| end.max(self.next));
        teller.tell(&self.have, (self.next, end), room, (now, rtt_ns), extra);
    }

    /// Number of the next octet to be read.
    pub(crate) fn reading(&self) -> u64 {
        self.first_gap().unwrap_or(self.next) - self.ready.len() as u64
    }

    pub(crate) fn read(&mut self, out: &mut [u8]) -> usize {
        self.ready.read(out)
    }

    pub(crate) fn read_described(&mut self) -> Option<Description> {
        self.ready.read_described()
    }

    /// Window to advertise now, in units of 2^`shift` bytes. The edge moves only by a worthwhile step
    /// [RFC 9293 3.8.6.2.2], and never left: where a unit does not fit, it is rounded up [RFC 7323 2.4].
    pub(crate) fn advertise(&mut self, shift: u8, mss_bytes: u64) -> u16 {
        if self.would_open(mss_bytes) {
            let whole = (self.wanted_edge() - self.next) >> shift << shift;
            self.edge = self.edge.max(self.next + whole);
        }
        let units = (self.edge - self.next).div_ceil(1 << shift).min(0xFFFF);
        self.edge = self.edge.max(self.next + (units << shift));
        units as u16
    }

    /// Window beyond `from`, which is not beyond the next number, up to the edge that was told before, in
    /// units of 2^`shift` bytes.
    pub(crate) fn window_from(&self, from: u64, shift: u8) -> u16 {
        debug_assert!(from <= self.next);
        ((self.edge - from) >> shift).min(0xFFFF) as u16
    }

    fn wanted_edge(&self) -> u64 {
        self.next + self.limit_bytes.saturating_sub(self.ready.len() as u64 + self.behind_bytes)
    }

    /// True if the peer is worth telling at once that there is room again: it may have come to its edge.
    /// Whoever reads promptly leaves the window open, and the next acknowledgement says so in time.
    pub(crate) fn should_tell(&self, mss_bytes: u64) -> bool {
        let (offered, room) = (self.edge - self.next, self.wanted_edge() - self.next);
        self.would_open(mss_bytes) && offered <= self.limit_bytes / 2 && offered <= room / 2
    }

    /// True if the edge has a worthwhile step to go.
    fn would_open(&self, mss_bytes: u64) -> bool {
        self.wanted_edge().saturating_sub(self.edge) >= mss_bytes.min(self.limit_bytes / 2).max(1)
    }

    pub(super) fn check_invariants(&self) {
        debug_assert!(self.next <= self.edge, "beyond the edge: {} > {}", self.next, self.edge);
        debug_assert!(self.end.is_none_or(|end| self.next <= end), "beyond the end");
        let is_ahead = self.have.iter().next().is_none_or(|(first, _)| self.next < first);
        debug_assert!(is_ahead, "what is in sequence counts as ahead");
    }
}

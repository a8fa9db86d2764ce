//! Scoreboard: which of the unacknowledged bytes the peer has, as its SACK options say [RFC 6675 3, 4].

use skyhaul_core::RangeSet;

/// Ranges kept at most; further ones are not learnt until some are acknowledged, which costs repeats only.
const MAX_RANGES: usize = 4096;
/// Segments beyond a hole that make it a loss [RFC 5681 3.2, RFC 6675 2].
pub(crate) const DUPLICATE_THRESHOLD: u64 = 3;

/// Unacknowledged bytes [first, end) that no SACK option has named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hole {
    pub(crate) first: u64,
    pub(crate) end: u64,
    /// Enough lies beyond it: `IsLost` of [RFC 6675 4].
    pub(crate) is_lost: bool,
}

/// The ranges that arrived out of sequence, and what was sent again meanwhile. What a segment asks of it
/// costs a few steps, however many ranges there are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    ranges: RangeSet,
    bytes: u64,
    /// Everything below was sent again, as far as it is missing: one past `HighRxt`.
    repeated_to: u64,
    /// Bytes of the ranges below that.
    below_repeated_bytes: u64,
}

impl Scoreboard {
    /// True if further blocks are not learnt.
    pub(crate) fn is_full(&self) -> bool {
        self.ranges.range_count() >= MAX_RANGES
    }

    /// Takes a block; false if it says nothing new.
    pub(crate) fn insert(&mut self, first: u64, end: u64) -> bool {
        if self.is_full() {
            return false;
        }
        for (first, end) in self.ranges.gaps(first, end) {
            self.bytes += end - first;
            self.below_repeated_bytes += self.repeated_to.min(end).saturating_sub(first);
        }
        self.ranges.insert_range(first, end)
    }

    /// The parts of [first, end) that the peer was not known to have.
    pub(crate) fn unknown(&self, first: u64, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ranges.gaps(first, end)
    }

    /// [first, end) is not known to have arrived after all.
    pub(crate) fn forget(&mut self, first: u64, end: u64) {
        if self.bytes == 0 {
            return;
        }
        let below = self.ranges.remove_range(first, end.min(self.repeated_to.max(first)));
        self.below_repeated_bytes -= below;
        self.bytes -= below + self.ranges.remove_range(first.max(self.repeated_to), end);
    }

    /// Everything below is acknowledged.
    pub(crate) fn remove_below(&mut self, una: u64) {
        for (first, end) in self.ranges.iter().take_while(|&(first, _)| first < una) {
            self.bytes -= end.min(una) - first;
            self.below_repeated_bytes -= self.repeated_to.min(end.min(una)).saturating_sub(first);
        }
        self.ranges.remove_below(una);
    }

    /// The peer may have thrown away what it once had [RFC 2018 8].
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// A repair begins at `una`: what was sent again before no longer counts.
    pub(crate) fn begin_repeats(&mut self, una: u64) {
        (self.repeated_to, self.below_repeated_bytes) = (una, 0);
    }

    /// Everything missing below `to` was sent again, or is acknowledged.
    pub(crate) fn repeat_to(&mut self, to: u64) {
        let from = self.repeated_to;
        if to > from {
            let missing: u64 = self.ranges.gaps(from, to).map(|(first, end)| end - first).sum();
            self.below_repeated_bytes += to - from - missing;
            self.repeated_to = to;
        }
    }

    /// One past the highest number that was sent again.
    pub(crate) fn repeated_to(&self) -> u64 {
        self.repeated_to
    }

    /// Bytes below `end` that the peer has.
    #[inline]
    pub(crate) fn bytes_below(&self, end: u64) -> u64 {
        if self.bytes == 0 {
            return 0; // so it is as long as nothing is lost
        }
        self.bytes_of_ranges_below(end)
    }

    fn bytes_of_ranges_below(&self, end: u64) -> u64 {
        if self.highest().is_none_or(|highest| highest <= end) {
            return self.bytes;
        }
        self.ranges.iter().take_while(|&(first, _)| first < end).map(|(first, to)| to.min(end) - first).sum()
    }

    /// One past the highest byte that the peer has out of sequence.
    pub(crate) fn highest(&self) -> Option<u64> {
        self.ranges.end()
    }

    /// The first number from `number` on that the peer has not.
    pub(crate) fn skip(&self, number: u64) -> u64 {
        self.ranges.range_of(number).map_or(number, |(_, end)| end)
    }

    /// Number below which everything missing is lost (`IsLost` of [RFC 6675 4]), and the bytes that the peer
    /// has from there on. The lower a hole, the more lies beyond it: one number tells all.
    fn lost_edge(&self, mss_bytes: u64) -> (u64, u64) {
        let (mut ranges, mut bytes) = (0, 0);
        for (first, end) in self.ranges.iter().rev() {
            ranges += 1;
            bytes += end - first;
            if ranges >= DUPLICATE_THRESHOLD || bytes > (DUPLICATE_THRESHOLD - 1) * mss_bytes {
                return (first, bytes);
            }
        }
        (0, self.bytes)
    }

    /// The holes of [from, to), lowest first.
    pub(crate) fn holes(&self, from: u64, to: u64, mss_bytes: u64) -> impl Iterator<Item = Hole> + '_ {
        let (edge, _) = self.lost_edge(mss_bytes);
        self.ranges.gaps(from, to).map(move |(first, end)| Hole { first, end, is_lost: end <= edge })
    }

    /// The highest hole of [una, nxt), as much of its end as a segment takes.
    pub(crate) fn last_hole(&self, una: u64, nxt: u64, mss_bytes: u64) -> Option<(u64, u64)> {
        let mut ranges = self.ranges.iter().rev().take_while(|&(_, end)| end > una).peekable();
        let top = ranges.next_if(|&(_, end)| end >= nxt);
        let end = top.map_or(nxt, |(first, _)| first);
        let below = ranges.next().map_or(una, |(_, end)| end);
        let first = end.saturating_sub(mss_bytes).max(below).max(una);
        (first < end).then_some((first, end))
    }

    pub(crate) fn check_invariants(&self, una: u64, max: u64) {
        let is_within = self.ranges.iter().next().is_none_or(|(first, _)| una <= first)
            && self.highest().is_none_or(|highest| highest <= max);
        debug_assert!(is_within, "blocks outside of {una}, {max}: {:?}", self.ranges);
        debug_assert!(self.below_repeated_bytes <= self.bytes, "{self:?}");
    }

    /// Bytes of [una, nxt) thought to be under way: `SetPipe` of [RFC 6675 4].
    pub(crate) fn pipe_bytes(&self, una: u64, nxt: u64, mss_bytes: u64) -> u64 {
        let (edge, above_bytes) = self.lost_edge(mss_bytes);
        let originals = nxt.saturating_sub(edge.max(una)).saturating_sub(above_bytes);
        let repeated = self.repeated_to.min(nxt).saturating_sub(una);
        originals + repeated.saturating_sub(self.below_repeated_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn board(ranges: &[(u64, u64)]) -> Scoreboard {
        let mut board = Scoreboard::default();
        assert!(ranges.iter().all(|&(first, end)| board.insert(first, end)));
        board
    }

    #[test]
    fn a_hole_is_lost_with_three_ranges_or_more_than_two_segments_beyond_it() {
        let lost = |ranges: &[(u64, u64)]| -> Vec<bool> {
            board(ranges).holes(0, 10_000, 1000).map(|hole| hole.is_lost).collect()
        };
        assert_eq!(lost(&[(1000, 3000)]), [false, false]);
        assert_eq!(lost(&[(1000, 3001)]), [true, false]);
        assert_eq!(lost(&[(10, 20), (30, 40), (50, 60)]), [true, false, false, false]);
    }

    #[test]
    fn the_pipe_counts_neither_what_arrived_nor_what_is_lost_but_what_was_repeated() {
        let mut board = board(&[(1000, 5000)]);
        assert_eq!(board.pipe_bytes(0, 8000, 1000), 3000);
        board.repeat_to(1000);
        assert_eq!(board.pipe_bytes(0, 8000, 1000), 4000);
        assert_eq!((board.bytes_below(8000), board.bytes_below(2000)), (4000, 1000));
    }

    #[test]
    fn a_flood_of_ranges_is_bounded() {
        let mut board = Scoreboard::default();
        for n in 0..2 * MAX_RANGES as u64 {
            board.insert(2 * n, 2 * n + 1);
        }
        assert_eq!(board.ranges.range_count(), MAX_RANGES);
    }

    #[test]
    fn the_last_hole_is_the_highest_that_is_missing() {
        assert_eq!(board(&[]).last_hole(0, 5000, 1000), Some((4000, 5000)));
        assert_eq!(board(&[(1000, 2000), (4000, 5000)]).last_hole(0, 5000, 1000), Some((3000, 4000)));
        assert_eq!(board(&[(1000, 2000), (2500, 5000)]).last_hole(0, 5000, 1000), Some((2000, 2500)));
        assert_eq!(board(&[(1000, 5000)]).last_hole(300, 5000, 1000), Some((300, 1000)));
        assert_eq!(board(&[]).last_hole(5000, 5000, 1000), None);
    }

    /// Pipe by the definitions of [RFC 6675 4], byte by byte.
    fn pipe_by_definition(board: &Scoreboard, una: u64, nxt: u64, mss_bytes: u64) -> u64 {
        let missing = |n: &u64| !board.ranges.contains(*n);
        let is_lost = |n: u64| {
            let above = board.ranges.iter().filter(|&(first, _)| first > n);
            let (count, bytes) = above.fold((0, 0), |(c, b), (first, end)| (c + 1, b + end - first));
            count >= DUPLICATE_THRESHOLD || bytes > (DUPLICATE_THRESHOLD - 1) * mss_bytes
        };
        let under_way = |n: u64| u64::from(!is_lost(n)) + u64::from(n < board.repeated_to);
        (una..nxt).filter(missing).map(under_way).sum()
    }

    proptest! {
        #[test]
        fn the_pipe_is_what_its_definition_says(
            steps in proptest::collection::vec((0u8..3, 0u64..100, 1u64..12), 0..40), mss_bytes in 1u64..8,
        ) {
            let (mut board, mut una, nxt) = (Scoreboard::default(), 0, 120);
            for (kind, at, length) in steps {
                match kind {
                    0 => {
                        una = una.max(at);
                        board.remove_below(una);
                        board.repeat_to(una);
                    }
                    1 => board.repeat_to(at),
                    _ if at >= una => {
                        board.insert(at, at + length);
                    }
                    _ => {}
                }
                let expected = pipe_by_definition(&board, una, nxt, mss_bytes);
                prop_assert_eq!(board.pipe_bytes(una, nxt, mss_bytes), expected);
                let bytes: u64 = board.ranges.iter().map(|(first, end)| end - first).sum();
                prop_assert_eq!(board.bytes, bytes);
            }
        }
    }
}

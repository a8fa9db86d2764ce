//! Which of the unacknowledged bytes the peer has, as its SACK options say [RFC 6675 3, 4].

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

/// The ranges that arrived out of sequence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    ranges: RangeSet,
    bytes: u64,
}

impl Scoreboard {
    /// Takes a block; false if it says nothing new.
    pub(crate) fn insert(&mut self, first: u64, end: u64) -> bool {
        let fresh = self.ranges.range_count() < MAX_RANGES && self.ranges.insert_range(first, end);
        if fresh {
            self.count();
        }
        fresh
    }

    /// Everything below is acknowledged.
    pub(crate) fn remove_below(&mut self, una: u64) {
        if !self.ranges.is_empty() {
            self.ranges.remove_below(una);
            self.count();
        }
    }

    /// The peer may have thrown away what it once had [RFC 2018 8].
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    fn count(&mut self) {
        self.bytes = self.ranges.iter().map(|(first, end)| end - first).sum();
    }

    /// Bytes below `end` that the peer has.
    pub(crate) fn bytes_below(&self, end: u64) -> u64 {
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

    /// The holes of [from, to), lowest first.
    pub(crate) fn holes(&self, from: u64, to: u64, mss_bytes: u64) -> impl Iterator<Item = Hole> + '_ {
        let mut above_ranges = self.ranges.range_count() as u64;
        let mut above_bytes = self.bytes;
        let mut at = from;
        self.ranges.iter().chain(core::iter::once((to, to))).filter_map(move |(first, end)| {
            let is_lost =
                above_ranges >= DUPLICATE_THRESHOLD || above_bytes > (DUPLICATE_THRESHOLD - 1) * mss_bytes;
            let hole = Hole { first: at, end: first.min(to), is_lost };
            above_ranges = above_ranges.saturating_sub(1);
            above_bytes = above_bytes.saturating_sub(end - first);
            at = at.max(end);
            (hole.first < hole.end).then_some(hole)
        })
    }

    /// Bytes of [una, nxt) thought to be under way: `SetPipe` of [RFC 6675 4]. What lies below `repeated_to`
    /// was sent again.
    pub(crate) fn pipe_bytes(&self, una: u64, nxt: u64, repeated_to: u64, mss_bytes: u64) -> u64 {
        let under_way = |hole: Hole| {
            let original = if hole.is_lost { 0 } else { hole.end - hole.first };
            original + repeated_to.min(hole.end).saturating_sub(hole.first)
        };
        self.holes(una, nxt, mss_bytes).map(under_way).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

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
        let board = board(&[(1000, 5000)]);
        assert_eq!(board.pipe_bytes(0, 8000, 0, 1000), 3000);
        assert_eq!(board.pipe_bytes(0, 8000, 1000, 1000), 4000);
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
}

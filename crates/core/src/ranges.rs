//! Sorted sets of packet or sequence numbers, kept as disjoint ranges.

use alloc::collections::BTreeMap;

/// Set of numbers as disjoint, non-adjacent half-open ranges. Size: one map entry per range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeSet(BTreeMap<u64, u64>);

impl RangeSet {
    /// Empty set.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Adds one number; false if it was there.
    pub fn insert(&mut self, number: u64) -> bool {
        let below = self.0.range(..=number).next_back().map(|(&s, &e)| (s, e));
        if below.is_some_and(|(_, end)| end > number) {
            return false;
        }
        let end = self.0.remove(&(number + 1)).unwrap_or(number + 1);
        match below {
            Some((start, e)) if e == number => self.0.insert(start, end),
            _ => self.0.insert(number, end),
        };
        true
    }

    /// Adds the numbers [first, end); false if all of them were there (or there are none).
    pub fn insert_range(&mut self, first: u64, end: u64) -> bool {
        let (mut from, mut to) = (first, end);
        let below = self.0.range(..=first).next_back().map(|(&s, &e)| (s, e));
        if first >= end || below.is_some_and(|(_, e)| e >= end) {
            return false;
        }
        if let Some((start, e)) = below.filter(|&(_, e)| e >= first) {
            (from, to) = (start, to.max(e));
        }
        while let Some((&start, &e)) = self.0.range(from..=to).next() {
            self.0.remove(&start);
            to = to.max(e);
        }
        self.0.insert(from, to);
        true
    }

    /// Range that the number lies in.
    pub fn range_of(&self, number: u64) -> Option<(u64, u64)> {
        let (&start, &end) = self.0.range(..=number).next_back()?;
        (end > number).then_some((start, end))
    }

    /// True if the number is in the set.
    pub fn contains(&self, number: u64) -> bool {
        self.0.range(..=number).next_back().is_some_and(|(_, &end)| end > number)
    }

    /// Removes every number below `bound`.
    pub fn remove_below(&mut self, bound: u64) {
        while let Some((&start, &end)) = self.0.first_key_value() {
            if start >= bound {
                return;
            }
            self.0.pop_first();
            if end > bound {
                self.0.insert(bound, end);
                return;
            }
        }
    }

    /// Removes the numbers [first, end); how many of them were there.
    pub fn remove_range(&mut self, first: u64, end: u64) -> u64 {
        let mut removed = 0;
        while let Some((start, stop)) = self.last_of(first, end) {
            self.0.remove(&start);
            removed += stop.min(end) - start.max(first);
            if stop > end {
                self.0.insert(end, stop);
            }
            if start < first {
                self.0.insert(start, first);
            }
        }
        removed
    }

    /// Highest range that has numbers of [first, end).
    fn last_of(&self, first: u64, end: u64) -> Option<(u64, u64)> {
        let (&start, &stop) = self.0.range(..end).next_back()?;
        (first < end && stop > first).then_some((start, stop))
    }

    /// End of the range that starts exactly at `start`.
    pub fn run_from(&self, start: u64) -> Option<u64> {
        self.0.get(&start).copied()
    }

    /// Ranges in rising order, each (first, end).
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        self.0.iter().map(|(&s, &e)| (s, e))
    }

    /// One past the largest number.
    pub fn end(&self) -> Option<u64> {
        self.0.last_key_value().map(|(_, &end)| end)
    }

    /// Ranges of [from, to) that are not in the set, in rising order.
    pub fn gaps(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let mut at = from;
        let first = self.0.range(..=from).next_back().map_or(from, |(&s, _)| s);
        let runs =
            self.0.range(first..to.max(first)).map(|(&s, &e)| (s, e)).chain(core::iter::once((to, to)));
        runs.filter_map(move |(start, end)| {
            let gap = (at, start.min(to));
            at = at.max(end);
            (gap.0 < gap.1).then_some(gap)
        })
    }

    /// True if nothing is in the set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of ranges.
    pub fn range_count(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_plain_set(
            numbers in proptest::collection::vec(0u64..60, 0..80),
            spans in proptest::collection::vec((0u64..60, 0u64..12), 0..8),
            holes in proptest::collection::vec((0u64..60, 0u64..12), 0..4),
            cut in 0u64..60, from in 0u64..60, len in 0u64..30,
        ) {
            let mut ranges = RangeSet::new();
            let mut plain = BTreeSet::new();
            for &n in &numbers {
                prop_assert_eq!(ranges.insert(n), plain.insert(n));
            }
            for &(first, length) in &spans {
                let before = plain.len();
                plain.extend(first..first + length);
                prop_assert_eq!(ranges.insert_range(first, first + length), plain.len() > before);
            }
            for &(first, length) in &holes {
                let before = plain.len();
                plain.retain(|&n| n < first || n >= first + length);
                prop_assert_eq!(ranges.remove_range(first, first + length), (before - plain.len()) as u64);
            }
            ranges.remove_below(cut);
            plain.retain(|&n| n >= cut);
            for n in 0..75 {
                prop_assert_eq!(ranges.contains(n), plain.contains(&n));
                let holds = |&(s, e): &(u64, u64)| s <= n && n < e;
                prop_assert_eq!(ranges.range_of(n), ranges.iter().find(holds));
            }
            let listed: Vec<u64> = ranges.gaps(from, from + len).flat_map(|(s, e)| s..e).collect();
            let expected: Vec<u64> = (from..from + len).filter(|n| !plain.contains(n)).collect();
            prop_assert_eq!(listed, expected);
            for (a, b) in ranges.iter().zip(ranges.iter().skip(1)) {
                prop_assert!(a.1 < b.0, "ranges touch");
            }
        }
    }
}

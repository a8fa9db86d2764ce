//! Items under way, in the order of their arrival.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use skyhaul_core::Instant;

/// Arrival of an item, and its place in the order of entry.
type ArrivalKey = (Instant, u64);

/// Gives items back in the order of arrival, those of one moment in the order of entry. Nearly all
/// arrive in the order of entry, so they stand in a line; those that overtake one in the line are kept
/// in a tree.
#[derive(Clone, Debug)]
pub(crate) struct UnderWay<T> {
    in_order: VecDeque<(Instant, u64, T)>,
    overtaking: BTreeMap<ArrivalKey, T>,
    /// Arrival of the next item; the end of time if there is none.
    next_at: Instant,
}

impl<T> UnderWay<T> {
    pub(crate) fn new() -> Self {
        Self { in_order: VecDeque::new(), overtaking: BTreeMap::new(), next_at: Instant::MAX }
    }

    /// Takes an item; all that are there are before it in the order of entry.
    #[expect(clippy::inline_always, reason = "for each packet of each link, where the call itself counts")]
    #[inline(always)]
    pub(crate) fn push(&mut self, arrival: Instant, place: u64, item: T) {
        self.next_at = self.next_at.min(arrival);
        if self.in_order.back().is_some_and(|&(at, ..)| at > arrival) {
            self.overtaking.insert((arrival, place), item);
        } else {
            self.in_order.push_back((arrival, place, item));
        }
    }

    /// True if the next item is one that overtakes.
    fn is_overtaken(&self) -> bool {
        let Some((&first, _)) = self.overtaking.first_key_value() else { return false };
        self.in_order.front().is_none_or(|&(at, place, _)| first < (at, place))
    }

    /// Arrival of the next item; the end of time if there is none.
    #[inline]
    pub(crate) fn next_at(&self) -> Instant {
        self.next_at
    }

    fn find_next_at(&self) -> Instant {
        self.next().map_or(Instant::MAX, |(at, _, _)| at)
    }

    /// The next item: when it arrives, and its place in the order of entry.
    pub(crate) fn next(&self) -> Option<(Instant, u64, &T)> {
        if self.is_overtaken() {
            return self.overtaking.first_key_value().map(|(&(at, place), item)| (at, place, item));
        }
        self.in_order.front().map(|&(at, place, ref item)| (at, place, item))
    }

    /// Takes an item that comes before all that are there.
    #[cold]
    pub(crate) fn push_first(&mut self, arrival: Instant, place: u64, item: T) {
        self.next_at = arrival;
        self.overtaking.insert((arrival, place), item);
    }

    /// True if items that overtake are there.
    #[inline]
    pub(crate) fn has_overtaking(&self) -> bool {
        !self.overtaking.is_empty()
    }

    /// Gives back the next item where none overtakes.
    #[inline]
    pub(crate) fn pop_in_order(&mut self) -> Option<(Instant, u64, T)> {
        debug_assert!(!self.has_overtaking());
        let next = self.in_order.pop_front();
        self.next_at = self.in_order.front().map_or(Instant::MAX, |&(at, ..)| at);
        next
    }

    /// Gives back the next item.
    pub(crate) fn pop(&mut self) -> Option<(Instant, u64, T)> {
        let next = if self.is_overtaken() {
            self.overtaking.pop_first().map(|((at, place), item)| (at, place, item))
        } else {
            self.in_order.pop_front()
        };
        self.next_at = self.find_next_at();
        next
    }

    /// Takes out those from `place` on in the order of entry, in no particular order.
    pub(crate) fn take_from(&mut self, place: u64) -> Vec<(u64, T)> {
        // In the line places rise along with the arrivals.
        let end = self.in_order.partition_point(|&(_, other, _)| other < place);
        let mut taken: Vec<_> = self.in_order.drain(end..).map(|(_, place, item)| (place, item)).collect();
        let turns: Vec<ArrivalKey> =
            self.overtaking.keys().copied().filter(|&(_, other)| other >= place).collect();
        taken.extend(turns.iter().filter_map(|turn| Some((turn.1, self.overtaking.remove(turn)?))));
        self.next_at = self.find_next_at();
        taken
    }

    /// All items with their arrivals, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Instant, &T)> {
        let line = self.in_order.iter().map(|&(at, _, ref item)| (at, item));
        line.chain(self.overtaking.iter().map(|(&(at, _), item)| (at, item)))
    }

    pub(crate) fn len(&self) -> usize {
        self.in_order.len() + self.overtaking.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn items_arrive_in_the_order_of_time_and_entry(
            steps in proptest::collection::vec((0u8..9, 0u64..30), 1..200),
        ) {
            let mut under_way = UnderWay::new();
            let mut model: BTreeMap<ArrivalKey, u64> = BTreeMap::new();
            let mut entered = 0u64;
            for (step, (what, delay)) in (0u64..).zip(steps) {
                match what {
                    0..3 => prop_assert_eq!(under_way.pop(), model.pop_first().map(|((at, n), item)| (at, n, item))),
                    3 => {
                        let Some((turn, item)) = model.pop_first() else { continue };
                        prop_assert_eq!(under_way.pop(), Some((turn.0, turn.1, item)));
                        under_way.push_first(turn.0, turn.1, item);
                        model.insert(turn, item);
                    }
                    4 => {
                        let from = entered.saturating_sub(delay);
                        let is_out = |&(&(_, place), _): &(&ArrivalKey, &u64)| place >= from;
                        let mut expected: Vec<_> =
                            model.iter().filter(is_out).map(|(&(_, place), &item)| (place, item)).collect();
                        model.retain(|&(_, place), _| place < from);
                        let mut taken = under_way.take_from(from);
                        taken.sort_unstable();
                        expected.sort_unstable();
                        prop_assert_eq!(taken, expected);
                    }
                    _ => {
                        let arrival = Instant::from_ns(step + delay);
                        under_way.push(arrival, entered, step);
                        model.insert((arrival, entered), step);
                        entered += 1;
                    }
                }
                prop_assert_eq!(under_way.len(), model.len());
                let mut all: Vec<_> = under_way.iter().map(|(at, &item)| (at, item)).collect();
                all.sort_unstable();
                prop_assert_eq!(all, model.iter().map(|(&(at, _), &item)| (at, item)).collect::<Vec<_>>());
                let next = model.first_key_value().map(|(&(at, place), item)| (at, place, item));
                prop_assert_eq!(under_way.next(), next);
                prop_assert_eq!(under_way.next_at(), next.map_or(Instant::MAX, |(at, _, _)| at));
            }
        }
    }
}

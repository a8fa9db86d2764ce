//! Items under way, in the order of their arrival.

use alloc::collections::{BTreeMap, VecDeque};

use skyhaul_core::Instant;

/// When an item arrives, and its place in the order of entry.
type Turn = (Instant, u64);

/// Gives items back in the order of arrival, those of one moment in the order of entry. Nearly all
/// arrive in the order of entry, so they stand in a line; those that overtake one in the line are kept
/// in a tree.
#[derive(Clone, Debug)]
pub(crate) struct UnderWay<T> {
    line: VecDeque<(Turn, T)>,
    overtaking: BTreeMap<Turn, T>,
    next_place: u64,
}

impl<T> UnderWay<T> {
    pub(crate) fn new() -> Self {
        Self { line: VecDeque::new(), overtaking: BTreeMap::new(), next_place: 0 }
    }

    pub(crate) fn push(&mut self, arrival: Instant, item: T) {
        let turn = (arrival, self.next_place);
        self.next_place += 1;
        if self.line.back().is_some_and(|&(last, _)| last > turn) {
            self.overtaking.insert(turn, item);
        } else {
            self.line.push_back((turn, item));
        }
    }

    /// Whether the next item is one that overtakes.
    fn is_overtaken(&self) -> bool {
        let Some((&first, _)) = self.overtaking.first_key_value() else { return false };
        self.line.front().is_none_or(|&(turn, _)| first < turn)
    }

    /// The next item: when it arrives, and its place in the order of entry.
    pub(crate) fn next(&self) -> Option<(Instant, u64, &T)> {
        if self.is_overtaken() {
            return self.overtaking.first_key_value().map(|(&(at, place), item)| (at, place, item));
        }
        self.line.front().map(|&((at, place), ref item)| (at, place, item))
    }

    /// The next item with its place, to be changed.
    pub(crate) fn next_mut(&mut self) -> Option<(Instant, u64, &mut T)> {
        if self.is_overtaken() {
            let entry = self.overtaking.first_entry()?;
            let &(at, place) = entry.key();
            return Some((at, place, entry.into_mut()));
        }
        self.line.front_mut().map(|&mut ((at, place), ref mut item)| (at, place, item))
    }

    /// Gives back the next item.
    pub(crate) fn pop(&mut self) -> Option<T> {
        if self.is_overtaken() {
            return self.overtaking.pop_first().map(|(_, item)| item);
        }
        self.line.pop_front().map(|(_, item)| item)
    }

    pub(crate) fn len(&self) -> usize {
        self.line.len() + self.overtaking.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn items_arrive_in_the_order_of_time_and_entry(
            steps in proptest::collection::vec((any::<bool>(), 0u64..30), 1..200),
        ) {
            let mut under_way = UnderWay::new();
            let mut model: BTreeMap<Turn, u64> = BTreeMap::new();
            let mut entered = 0u64;
            for (step, (pops, delay)) in (0u64..).zip(steps) {
                if pops {
                    prop_assert_eq!(under_way.pop(), model.pop_first().map(|(_, item)| item));
                } else {
                    let arrival = Instant::from_ns(step + delay);
                    under_way.push(arrival, step);
                    model.insert((arrival, entered), step);
                    entered += 1;
                }
                prop_assert_eq!(under_way.len(), model.len());
                let next = model.first_key_value().map(|(&(at, place), item)| (at, place, item));
                prop_assert_eq!(under_way.next(), next);
                let mutable = under_way.next_mut().map(|(at, place, item)| (at, place, &*item));
                prop_assert_eq!(mutable, next);
            }
        }
    }
}

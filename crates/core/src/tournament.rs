//! First of many: a tree of winners.

use alloc::vec;
use alloc::vec::Vec;

/// Competitor, or the winner of a part of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry<K> {
    key: K,
    number: u32,
}

/// Nodes that play for one place.
const GROUP: usize = 4;

/// Competitors by number, each with a key, of which the least is known at any time; of equal keys that of the
/// lowest number. A change costs a step for each power of four up to their number at most, and ends where the
/// winner is the one before.
#[derive(Clone, Debug)]
pub struct Tournament<K> {
    /// Children of each node: those of node `n` are nodes `4 n` to `4 n + 3`, and their winner stands in `n`.
    /// Node 1 is the root. Never empty.
    children: Vec<[Entry<K>; GROUP]>,
    /// Competitors that there is room for, a power of four: they are nodes from this number on.
    room: usize,
    idle: K,
}

impl<K: Copy + Ord> Tournament<K> {
    /// Tournament of nobody. `idle`: key of whoever does not compete, the greatest one.
    pub fn new(idle: K) -> Self {
        Self { children: vec![[Entry { key: idle, number: 0 }; GROUP]], room: 1, idle }
    }

    /// Least key, and whose it is; the greatest one if nobody competes.
    #[inline]
    pub fn first(&self) -> (K, usize) {
        let [_, root, ..] = self.children[0];
        (root.key, root.number as usize)
    }

    /// Key of a competitor.
    #[inline]
    pub fn key(&self, number: usize) -> K {
        if number >= self.room {
            return self.idle;
        }
        let node = self.room + number;
        self.children[node / GROUP][node % GROUP].key
    }

    /// Changes the key of a competitor, whose number is below 2^32. There is room for as many as the greatest
    /// number says.
    #[inline]
    pub fn set(&mut self, number: usize, key: K) {
        if number >= self.room {
            self.grow(number + 1);
        }
        let mut node = self.room + number;
        let mut winner = Entry { key, number: number as u32 };
        while node >= GROUP {
            let Some(group) = self.children.get_mut(node / GROUP) else { return };
            let place = &mut group[node % GROUP];
            if place.key == winner.key && place.number == winner.number {
                return;
            }
            *place = winner;
            winner = first_of(group);
            node /= GROUP;
        }
        self.children[0][1] = winner;
    }

    /// Makes room for so many competitors.
    #[cold]
    fn grow(&mut self, count: usize) {
        let mut room = self.room;
        while room < count {
            room *= GROUP;
        }
        let entry = |number: usize| Entry { key: self.key(number), number: number as u32 };
        let entries: Vec<Entry<K>> = (0..room).map(entry).collect();
        self.children = vec![[Entry { key: self.idle, number: 0 }; GROUP]; (2 * room).div_ceil(GROUP)];
        self.room = room;
        for (entry, node) in entries.into_iter().zip(room..) {
            self.children[node / GROUP][node % GROUP] = entry;
        }
        for node in (1..(2 * room).div_ceil(GROUP)).rev() {
            self.children[node / GROUP][node % GROUP] = first_of(&self.children[node]);
        }
    }
}

/// Winner of a group, whose numbers rise. Chosen by values: the choice of a place takes more instructions.
#[inline]
fn first_of<K: Copy + Ord>([first, others @ ..]: &[Entry<K>; GROUP]) -> Entry<K> {
    let mut winner = *first;
    for other in others {
        let is_sooner = other.key < winner.key;
        winner.key = if is_sooner { other.key } else { winner.key };
        winner.number = if is_sooner { other.number } else { winner.number };
    }
    winner
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const IDLE: u64 = u64::MAX;

    #[test]
    fn nobody_is_first_of_nobody() {
        let mut tournament = Tournament::new(IDLE);
        assert_eq!((tournament.first().0, tournament.key(7)), (IDLE, IDLE));
        tournament.set(0, 3);
        assert_eq!(tournament.first(), (3, 0));
        tournament.set(0, IDLE);
        assert_eq!(tournament.first().0, IDLE);
    }

    proptest! {
        #[test]
        fn the_first_has_the_least_key_and_of_equals_the_lowest_number(
            changes in proptest::collection::vec((0usize..40, 0u64..20), 1..200),
        ) {
            let (mut tournament, mut model) = (Tournament::new(IDLE), vec![IDLE; 40]);
            for (number, key) in changes {
                let key = if key > 2 { key } else { IDLE };
                model[number] = key;
                tournament.set(number, key);
                let first = (0..40).map(|number| (model[number], number)).min().unwrap_or((IDLE, 0));
                prop_assert_eq!(tournament.first().0, first.0);
                if first.0 < IDLE {
                    prop_assert_eq!(tournament.first(), first);
                }
                prop_assert_eq!((0..40).map(|number| tournament.key(number)).collect::<Vec<_>>(), model.clone());
                prop_assert!(tournament.room <= 64, "the tree is bounded");
            }
        }
    }
}

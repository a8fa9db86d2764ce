//! Connections of an endpoint by their numbers.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::ConnectionId;

/// Values by the number of a connection, in rising order. Numbers are given out in rising order: while none
/// has gone but the oldest, a connection stands as far from the first as its number does, and is found
/// without a search. Boxed: a row of what is large would be moved about.
#[derive(Clone, Debug)]
pub(super) struct Slots<T>(Vec<(ConnectionId, Box<T>)>);

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Slots<T> {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Place of a number; its error is the place that it would have.
    #[inline]
    fn place(&self, id: ConnectionId) -> Result<usize, usize> {
        let first = self.0.first().map_or(id, |&(first, _)| first);
        let place = usize::try_from(id.wrapping_sub(first)).unwrap_or(usize::MAX);
        if self.0.get(place).is_some_and(|&(other, _)| other == id) {
            return Ok(place);
        }
        self.0.binary_search_by_key(&id, |&(other, _)| other)
    }

    #[inline]
    pub(super) fn get(&self, id: ConnectionId) -> Option<&T> {
        let place = self.place(id).ok()?;
        self.0.get(place).map(|(_, value)| &**value)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: ConnectionId) -> Option<&mut T> {
        let place = self.place(id).ok()?;
        self.0.get_mut(place).map(|(_, value)| &mut **value)
    }

    /// Puts a value in the place of the one that had its number, if there was one.
    pub(super) fn insert(&mut self, id: ConnectionId, value: T) {
        match self.place(id) {
            Ok(place) => *self.0[place].1 = value,
            Err(place) => self.0.insert(place, (id, Box::new(value))),
        }
    }

    pub(super) fn remove(&mut self, id: ConnectionId) {
        if let Ok(place) = self.place(id) {
            self.0.remove(place);
        }
    }

    /// All of them, oldest first.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (ConnectionId, &T)> {
        self.0.iter().map(|(id, value)| (*id, &**value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_find_their_values_whatever_has_gone(
            steps in proptest::collection::vec((0u8..3, 1u64..40), 1..120),
        ) {
            let (mut slots, mut model) = (Slots::default(), BTreeMap::new());
            for (value, (what, id)) in steps.into_iter().enumerate() {
                if what == 0 {
                    slots.remove(id);
                    model.remove(&id);
                } else {
                    slots.insert(id, value);
                    model.insert(id, value);
                }
                for id in 0..41 {
                    prop_assert_eq!(slots.get(id), model.get(&id));
                    prop_assert_eq!(slots.get_mut(id), model.get_mut(&id));
                }
                let all: Vec<_> = slots.iter().map(|(id, &value)| (id, value)).collect();
                prop_assert_eq!(all, model.iter().map(|(&id, &value)| (id, value)).collect::<Vec<_>>());
                prop_assert_eq!(slots.len(), model.len());
            }
        }
    }
}

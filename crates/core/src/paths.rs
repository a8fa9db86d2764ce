//! Paths of an endpoint.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::{DeclaredRate, Instant, Path, PathConfig};

/// Name of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathName<P> {
    /// Path to this peer alone.
    To(P),
    /// Path that several peers are behind; the number is the endpoint's choice.
    Shared(u64),
}

/// Paths of an endpoint by their names, each for as long as a connection uses it: there are never more
/// than connections.
#[derive(Clone, Debug)]
pub struct Paths<Key> {
    /// In the order of their keys. Boxed: others come and go in front of them.
    sorted: Vec<(Key, Box<Path>)>,
    /// Place of the path that was changed last, which is the likeliest to be changed next.
    recent: usize,
}

impl<Key> Default for Paths<Key> {
    fn default() -> Self {
        Self { sorted: Vec::new(), recent: 0 }
    }
}

impl<Key: Ord> Paths<Key> {
    /// Place of a key; its error is the place that it would have.
    #[inline]
    fn place(&self, key: &Key) -> Result<usize, usize> {
        if self.sorted.get(self.recent).is_some_and(|(recent, _)| recent == key) {
            return Ok(self.recent);
        }
        self.search(key)
    }

    #[cold]
    fn search(&self, key: &Key) -> Result<usize, usize> {
        self.sorted.binary_search_by(|(other, _)| other.cmp(key))
    }

    /// Path for one more connection; its first one makes it by `new`. A declared rate holds for all its
    /// connections, until the last has left or another one is declared.
    pub fn enter(
        &mut self,
        now: Instant,
        key: Key,
        new: PathConfig,
        declared: Option<DeclaredRate>,
    ) -> &mut Path {
        let place = self.place(&key).unwrap_or_else(|place| {
            self.sorted.insert(place, (key, Box::new(Path::new(new))));
            place
        });
        self.recent = place;
        let path = &mut *self.sorted[place].1; // it is there by now
        path.enter();
        if let Some(declared) = declared {
            path.declare(now, declared);
        }
        path
    }

    /// Path to this peer, while a connection uses it.
    pub fn get(&self, key: &Key) -> Option<&Path> {
        let place = self.place(key).ok()?;
        self.sorted.get(place).map(|(_, path)| &**path)
    }

    /// Path to this peer for a change, while a connection uses it.
    pub fn get_mut(&mut self, key: &Key) -> Option<&mut Path> {
        self.recent = self.place(key).ok()?;
        self.sorted.get_mut(self.recent).map(|(_, path)| &mut **path)
    }

    /// Takes in that a connection that entered it uses the path no more.
    pub fn leave(&mut self, key: &Key) {
        if self.get_mut(key).is_some_and(Path::leave) {
            self.sorted.remove(self.recent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Instant, SECOND};
    use proptest::prelude::*;

    const CONFIG: PathConfig =
        PathConfig { mtu_bytes: 1500, carrier_bytes: 20, head_bytes: 0, tail_bytes: 0 };

    proptest! {
        #[test]
        fn each_peer_finds_its_own_path_whichever_was_changed_last_and_whoever_has_left(
            steps in proptest::collection::vec((0u8..4, 0u8..6), 1..80),
        ) {
            let (mut paths, mut users) = (Paths::default(), [0; 6]);
            for (what, peer) in steps {
                if what == 0 {
                    paths.leave(&peer);
                    users[usize::from(peer)] -= u32::from(users[usize::from(peer)] > 0);
                } else {
                    paths.enter(Instant::ZERO, peer, PathConfig { carrier_bytes: peer.into(), ..CONFIG }, None);
                    users[usize::from(peer)] += 1;
                }
                for peer in 0..6 {
                    let expected = (users[usize::from(peer)] > 0).then_some(u32::from(peer));
                    prop_assert_eq!(paths.get(&peer).map(|path| path.config().carrier_bytes), expected);
                    prop_assert_eq!(paths.get_mut(&peer).map(|path| path.config().carrier_bytes), expected);
                }
            }
        }
    }

    #[test]
    fn a_path_lives_as_long_as_somebody_uses_it() {
        let mut paths = Paths::default();
        paths.enter(Instant::ZERO, 1, CONFIG, None);
        paths.enter(Instant::ZERO, 1, CONFIG, None);
        paths.leave(&1);
        assert!(paths.get_mut(&1).is_some());
        paths.leave(&1);
        assert!(paths.get_mut(&1).is_none());
        paths.leave(&1); // of none: nothing happens
    }

    #[test]
    fn a_declared_rate_holds_for_all_and_the_last_one_counts() {
        let mut paths = Paths::default();
        let declared = |rate_bps| Some(DeclaredRate { rate_bps, burst_ns: 0, peak: None });
        let cost_ns = |paths: &mut Paths<u8>| {
            let path = paths.get_mut(&1).unwrap();
            let from = path.grant()?.max(Instant::from_ns(SECOND));
            path.charge(from, 125);
            path.grant().map(|at| at.since(from))
        };
        paths.enter(Instant::ZERO, 1, CONFIG, None);
        assert_eq!(cost_ns(&mut paths), None);
        paths.enter(Instant::ZERO, 1, CONFIG, declared(1000));
        paths.enter(Instant::ZERO, 1, CONFIG, None);
        assert_eq!(cost_ns(&mut paths), Some(SECOND));
        paths.enter(Instant::ZERO, 1, CONFIG, declared(500));
        assert_eq!(cost_ns(&mut paths), Some(2 * SECOND));
    }
}

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

/// Index of a path among those of an endpoint, which finds it without a search for as long as a connection
/// uses it. Another one has it after that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathIndex(usize);

#[cfg(test)]
impl PathIndex {
    /// Index of the first path that is entered.
    pub(crate) const FIRST: Self = Self(0);
}

/// Path with its name.
#[derive(Clone, Debug)]
struct Named<Key> {
    key: Key,
    path: Path,
}

/// Paths of an endpoint by their names, each for as long as a connection uses it: there are never more
/// than connections.
#[derive(Clone, Debug)]
pub struct Paths<Key> {
    /// Indices in the order of their keys.
    sorted: Vec<(Key, PathIndex)>,
    /// By their indices; `None`: it has gone. Boxed: a row of what is large would be moved about.
    paths: Vec<Option<Box<Named<Key>>>>,
    /// Indices of those that have gone.
    free: Vec<PathIndex>,
}

impl<Key> Default for Paths<Key> {
    fn default() -> Self {
        Self { sorted: Vec::new(), paths: Vec::new(), free: Vec::new() }
    }
}

impl<Key: Ord + Copy> Paths<Key> {
    /// Path for one more connection; its first one makes it by `new`. A declared rate holds for all its
    /// connections, until the last has left or another one is declared.
    pub fn enter(
        &mut self,
        now: Instant,
        key: Key,
        new: PathConfig,
        declared: Option<DeclaredRate>,
    ) -> &mut Path {
        let index = match self.search(&key) {
            Ok(at) => self.sorted[at].1,
            Err(at) => {
                let index = self.take_index();
                self.sorted.insert(at, (key, index));
                index
            }
        };
        // The index is one that there is.
        let named = self.paths[index.0].get_or_insert_with(|| Box::new(Named { key, path: Path::new(new) }));
        let path = &mut named.path;
        path.enter();
        if let Some(declared) = declared {
            path.declare(now, declared);
        }
        path
    }

    /// Where a key stands; its error is where it would.
    fn search(&self, key: &Key) -> Result<usize, usize> {
        self.sorted.binary_search_by(|(other, _)| other.cmp(key))
    }

    fn take_index(&mut self) -> PathIndex {
        self.free.pop().unwrap_or_else(|| {
            self.paths.push(None);
            PathIndex(self.paths.len() - 1)
        })
    }

    /// Index of the path of this name, while a connection uses it.
    pub fn find(&self, key: &Key) -> Option<PathIndex> {
        self.search(key).ok().map(|at| self.sorted[at].1)
    }

    /// Path at this index, while a connection uses it.
    #[inline]
    pub fn get(&self, index: PathIndex) -> Option<&Path> {
        self.paths.get(index.0)?.as_deref().map(|named| &named.path)
    }

    /// Path at this index for a change, while a connection uses it.
    #[inline]
    pub fn get_mut(&mut self, index: PathIndex) -> Option<&mut Path> {
        self.paths.get_mut(index.0)?.as_deref_mut().map(|named| &mut named.path)
    }

    /// Takes in that a connection that entered it uses the path no more.
    pub fn leave(&mut self, index: PathIndex) {
        let Some(slot) = self.paths.get_mut(index.0) else { return };
        let Some(gone) = slot.take_if(|named| named.path.leave()) else { return };
        if let Ok(at) = self.search(&gone.key) {
            self.sorted.remove(at);
        }
        self.free.push(index);
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
                    if let Some(index) = paths.find(&peer) {
                        paths.leave(index);
                    }
                    users[usize::from(peer)] -= u32::from(users[usize::from(peer)] > 0);
                } else {
                    paths.enter(Instant::ZERO, peer, PathConfig { carrier_bytes: peer.into(), ..CONFIG }, None);
                    users[usize::from(peer)] += 1;
                }
                for peer in 0..6 {
                    let expected = (users[usize::from(peer)] > 0).then_some(u32::from(peer));
                    let index = paths.find(&peer);
                    let found = index.and_then(|index| paths.get(index)).map(|path| path.config().carrier_bytes);
                    prop_assert_eq!(found, expected);
                    let found = index.and_then(|index| paths.get_mut(index)).map(|path| path.config().carrier_bytes);
                    prop_assert_eq!(found, expected);
                }
                prop_assert!(paths.paths.len() <= 6, "indices are used again");
            }
        }
    }

    #[test]
    fn a_path_lives_as_long_as_somebody_uses_it() {
        let mut paths = Paths::default();
        paths.enter(Instant::ZERO, 1, CONFIG, None);
        paths.enter(Instant::ZERO, 1, CONFIG, None);
        let index = paths.find(&1).unwrap();
        paths.leave(index);
        assert!(paths.get_mut(index).is_some());
        paths.leave(index);
        assert!(paths.get_mut(index).is_none() && paths.find(&1).is_none());
        paths.leave(index); // of none: nothing happens
        paths.enter(Instant::ZERO, 2, CONFIG, None);
        assert_eq!(paths.find(&2), Some(index));
    }

    #[test]
    fn a_declared_rate_holds_for_all_and_the_last_one_counts() {
        let mut paths = Paths::default();
        let declared = |rate_bps| Some(DeclaredRate { rate_bps, burst_ns: 0, peak: None });
        let cost_ns = |paths: &mut Paths<u8>| {
            let path = paths.get_mut(paths.find(&1).unwrap()).unwrap();
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

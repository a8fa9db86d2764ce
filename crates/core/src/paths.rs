//! The paths of an endpoint.

use alloc::collections::BTreeMap;

use crate::{Pacer, Path};

/// A rate that somebody declared for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeclaredRate {
    /// Every IP byte counts.
    pub rate_bps: u64,
    /// What a sender that wakes up late catches up.
    pub burst_ns: u64,
}

/// The paths of an endpoint by what names a peer, each for as long as a connection uses it: there are never more
/// than connections.
#[derive(Clone, Debug)]
pub struct Paths<Key>(BTreeMap<Key, Path>);

impl<Key> Default for Paths<Key> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<Key: Ord> Paths<Key> {
    /// One more connection uses the path; if it is the first, the path is `new`. A declared rate holds for all its
    /// connections, until the last has left or another one is declared.
    pub fn enter(&mut self, key: Key, new: Path, declared: Option<DeclaredRate>) -> &mut Path {
        let path = self.0.entry(key).or_insert(new);
        path.shares.users += 1;
        if let Some(DeclaredRate { rate_bps, burst_ns }) = declared {
            match &mut path.budget {
                Some(budget) => budget.set_rate(rate_bps),
                none => *none = Some(Pacer::new(rate_bps, burst_ns)),
            }
        }
        path
    }

    /// The path, while a connection uses it.
    pub fn get(&self, key: &Key) -> Option<&Path> {
        self.0.get(key)
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, key: &Key) -> Option<&mut Path> {
        self.0.get_mut(key)
    }

    /// A connection that entered it uses it no more.
    pub fn leave(&mut self, key: &Key) {
        let Some(path) = self.0.get_mut(key) else { return };
        path.shares.users -= 1;
        if path.shares.users == 0 {
            self.0.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> Path {
        Path {
            mtu_bytes: 1500,
            carrier_bytes: 20,
            head_bytes: 0,
            tail_bytes: 0,
            budget: None,
            control: None,
            sent_octets: 0,
            shares: crate::Shares::default(),
        }
    }

    #[test]
    fn a_path_lives_as_long_as_somebody_uses_it() {
        let mut paths = Paths::default();
        paths.enter(1, path(), None);
        paths.enter(1, path(), None);
        paths.leave(&1);
        assert!(paths.get_mut(&1).is_some());
        paths.leave(&1);
        assert!(paths.get_mut(&1).is_none());
        paths.leave(&1); // of none: nothing happens
    }

    #[test]
    fn a_declared_rate_holds_for_all_and_the_last_one_counts() {
        let mut paths = Paths::default();
        let declared = |rate_bps| Some(DeclaredRate { rate_bps, burst_ns: 7 });
        let rate = |paths: &mut Paths<u8>| paths.get_mut(&1).unwrap().budget.as_ref().map(Pacer::rate_bps);
        paths.enter(1, path(), None);
        assert_eq!(rate(&mut paths), None);
        paths.enter(1, path(), declared(1000));
        paths.enter(1, path(), None);
        assert_eq!(rate(&mut paths), Some(1000));
        paths.enter(1, path(), declared(500));
        assert_eq!(rate(&mut paths), Some(500));
    }
}

//! Paths of an endpoint.

use alloc::collections::BTreeMap;

use crate::{DeclaredRate, Instant, Path, PathConfig};

/// Paths of an endpoint by what names a peer, each for as long as a connection uses it: there are never more
/// than connections.
#[derive(Clone, Debug)]
pub struct Paths<Key>(BTreeMap<Key, Path>);

impl<Key> Default for Paths<Key> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<Key: Ord> Paths<Key> {
    /// Path for one more connection; its first one makes it by `new`. A declared rate holds for all its
    /// connections, until the last has left or another one is declared.
    pub fn enter(
        &mut self,
        now: Instant,
        key: Key,
        new: PathConfig,
        declared: Option<DeclaredRate>,
    ) -> &mut Path {
        let path = self.0.entry(key).or_insert_with(|| Path::new(new));
        path.enter();
        if let Some(declared) = declared {
            path.declare(now, declared);
        }
        path
    }

    /// Path to this peer, while a connection uses it.
    pub fn get(&self, key: &Key) -> Option<&Path> {
        self.0.get(key)
    }

    /// Path to this peer for a change, while a connection uses it.
    pub fn get_mut(&mut self, key: &Key) -> Option<&mut Path> {
        self.0.get_mut(key)
    }

    /// Takes in that a connection that entered it uses the path no more.
    pub fn leave(&mut self, key: &Key) {
        if self.0.get_mut(key).is_some_and(Path::leave) {
            self.0.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Instant, SECOND};

    const CONFIG: PathConfig =
        PathConfig { mtu_bytes: 1500, carrier_bytes: 20, head_bytes: 0, tail_bytes: 0 };

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
        let declared = |rate_bps| Some(DeclaredRate { rate_bps, burst_ns: 0 });
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

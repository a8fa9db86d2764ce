//! Reports (ICMP) that nobody receives at the peer's address. Anybody on the way can forge one, and a
//! peer that restarts causes a few: an established connection is given up only if they persist.

use skyhaul_core::{Instant, SECOND};

/// Reports it takes, at least.
const MANY: u64 = 10;
/// And the time between the first and the last of them.
const LONG_NS: u64 = 3 * SECOND;

/// Reports since something was last heard from the peer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Refusals {
    first: Option<Instant>,
    count: u64,
}

impl Refusals {
    /// Something was heard: somebody receives there after all.
    pub(super) fn heard(&mut self) {
        *self = Self::default();
    }

    /// Takes in further reports; true if they persist.
    pub(super) fn refused(&mut self, now: Instant, times: u64) -> bool {
        let first = *self.first.get_or_insert(now);
        self.count += times;
        self.count >= MANY && now.since(first) >= LONG_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_many_reports_over_a_long_time_count() {
        let at = |s: u64| Instant::from_ns(s * SECOND);
        let mut refusals = Refusals::default();
        assert!(!refusals.refused(at(1), 50), "many at once");
        assert!(refusals.refused(at(4), 1));
        refusals.heard();
        assert!(!refusals.refused(at(5), 1));
        assert!(!refusals.refused(at(50), 1), "long, but few");
    }
}

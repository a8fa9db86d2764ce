//! Budget of memory for what peers send, shared by the connections of an endpoint by need.

/// Share of the budget that all connections without proof have together.
const UNPROVEN_SHARE: u64 = 8;

/// Bytes that connections keep for their readers, and bytes that they may keep.
///
/// A connection may keep as much as is still free: one alone half of the budget, each of n an (n + 1)th, and
/// as much is left to the next that comes. So nothing has to be taken back from anybody (dynamic thresholds,
/// as in shared buffers of switches).
#[derive(Clone, Debug)]
pub(super) struct Budget {
    limit_bytes: u64,
    kept_bytes: u64,
    /// Of those, for peers without proof.
    unproven_bytes: u64,
}

/// Bytes of one connection that are in the books.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Booked {
    bytes: u64,
    /// Those, if its peer has proven nothing.
    unproven_bytes: u64,
}

impl Booked {
    #[inline]
    pub(super) fn of(bytes: u64, is_unproven: bool) -> Self {
        Self { bytes, unproven_bytes: if is_unproven { bytes } else { 0 } }
    }
}

impl Budget {
    pub(super) fn new(limit_bytes: u64) -> Self {
        Self { limit_bytes, kept_bytes: 0, unproven_bytes: 0 }
    }

    /// Bytes that a connection may keep in all.
    #[inline]
    pub(super) fn room_bytes(&self, is_unproven: bool) -> u64 {
        let free = self.limit_bytes.saturating_sub(self.kept_bytes);
        if is_unproven {
            return free.min((self.limit_bytes / UNPROVEN_SHARE).saturating_sub(self.unproven_bytes));
        }
        free
    }

    /// Takes in what a connection keeps now.
    #[inline]
    pub(super) fn book(&mut self, booked: &mut Booked, new: Booked) {
        self.kept_bytes = self.kept_bytes - booked.bytes + new.bytes;
        self.unproven_bytes = self.unproven_bytes - booked.unproven_bytes + new.unproven_bytes;
        *booked = new;
    }

    /// Bytes that all connections keep.
    pub(super) fn kept_bytes(&self) -> u64 {
        self.kept_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that each of so many greedy connections gets of a budget of `limit_bytes`.
    fn shares(limit_bytes: u64, connections: usize, is_unproven: bool) -> alloc::vec::Vec<u64> {
        let mut budget = Budget::new(limit_bytes);
        let mut booked = alloc::vec![Booked::default(); connections];
        for _ in 0..limit_bytes {
            for one in &mut booked {
                let bytes = one.bytes + 1;
                if bytes <= budget.room_bytes(is_unproven) {
                    budget.book(one, Booked::of(bytes, is_unproven));
                }
            }
        }
        booked.iter().map(|one| one.bytes).collect()
    }

    #[test]
    fn greedy_ones_leave_a_fair_share_to_the_next() {
        assert_eq!(shares(1200, 1, false), [600]);
        assert_eq!(shares(1200, 3, false), [300; 3]);
        assert_eq!(shares(1200, 5, false), [200; 5]);
    }

    #[test]
    fn those_without_proof_have_an_eighth_together() {
        assert_eq!(shares(1200, 2, true), [50; 2]);
        let mut budget = Budget::new(1200);
        let (mut one, mut other) = (Booked::default(), Booked::default());
        budget.book(&mut one, Booked::of(75, true));
        assert_eq!((budget.room_bytes(true), budget.room_bytes(false)), (75, 1125));
        budget.book(&mut one, Booked::of(75, false));
        assert_eq!(budget.room_bytes(true), 150, "it is proven now");
        budget.book(&mut other, Booked::of(1100, false));
        assert_eq!(budget.room_bytes(true), 25);
        budget.book(&mut other, Booked::default());
        budget.book(&mut one, Booked::default());
        assert_eq!(budget.kept_bytes(), 0);
    }
}

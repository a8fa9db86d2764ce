//! Budget of memory for what peers send, shared by the connections of an endpoint by need.

/// Share of the budget that all connections without proof have together.
const UNPROVEN_SHARE: u64 = 8;
/// Share of the budget from which on what a connection keeps makes it one of those that share it: so there
/// are at most as many, however many keep a little.
const LARGE_SHARE: u64 = 64;

/// What a connection may keep of what its peer sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Bytes in all.
    pub bytes: u64,
    /// Connections that keep a large share of the budget, it among them: at least 1.
    pub sharers: u64,
}

impl Room {
    /// Bytes that it may promise to a peer beyond the `kept_bytes` that it keeps. While others keep much: as
    /// many as are left if all of them fill what they promise; alone: what it likes, as it may keep half.
    #[inline]
    #[must_use]
    pub fn promise_bytes(&self, kept_bytes: u64) -> u64 {
        match self.sharers {
            0 | 1 => u64::MAX,
            sharers => self.bytes.saturating_sub(kept_bytes) / (sharers + 1),
        }
    }
}

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
    /// Connections that keep a large share.
    large: u64,
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
        Self { limit_bytes, kept_bytes: 0, unproven_bytes: 0, large: 0 }
    }

    /// What a connection may keep.
    #[inline]
    pub(super) fn room(&self, booked: &Booked, is_unproven: bool) -> Room {
        let others = self.large - u64::from(self.is_large(booked));
        Room { bytes: self.room_bytes(is_unproven), sharers: others + 1 }
    }

    #[inline]
    fn is_large(&self, booked: &Booked) -> bool {
        booked.bytes > self.limit_bytes / LARGE_SHARE
    }

    /// Bytes that a connection may keep in all.
    #[inline]
    fn room_bytes(&self, is_unproven: bool) -> u64 {
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
        self.large = self.large - u64::from(self.is_large(booked)) + u64::from(self.is_large(&new));
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
    fn what_is_promised_while_others_keep_much_finds_room() {
        let mut budget = Budget::new(1200);
        let mut booked = [Booked::default(); 3];
        assert_eq!(budget.room(&booked[0], false), Room { bytes: 1200, sharers: 1 });
        for one in &mut booked {
            budget.book(one, Booked::of(100, false));
        }
        // An equal share of 1200 / 4 each, and they keep 100 of it.
        let promises = booked.map(|one| budget.room(&one, false).promise_bytes(100));
        assert_eq!(promises, [200; 3]);
        for (one, promise) in booked.iter_mut().zip(promises) {
            assert!(100 + promise <= budget.room_bytes(false));
            budget.book(one, Booked::of(100 + promise, false));
        }
        budget.book(&mut booked[1], Booked::default());
        budget.book(&mut booked[2], Booked::of(18, false));
        assert_eq!(budget.room(&booked[0], false).sharers, 1, "18 bytes of 1200 are little");
        assert_eq!(budget.room(&booked[2], false).sharers, 2);
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

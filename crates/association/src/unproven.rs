//! Handshakes whose early data was delivered and whose opener has not proven the keys: who stole the
//! acceptor's key can forge such data (`docs/spec/protection.md`, section 6).

use alloc::vec::Vec;

use crate::pending::{Digest, MAX_PENDING};

/// Handshakes of an association in doubt.
#[derive(Debug, Default)]
pub(crate) struct Unproven {
    digests: Vec<Digest>,
    /// Further ones than [`MAX_PENDING`] were in doubt at once: the doubt stays.
    is_lasting: bool,
}

impl Unproven {
    /// Early data of this handshake is delivered.
    pub(crate) fn note(&mut self, digest: Digest) {
        if self.digests.contains(&digest) {
            return;
        }
        if self.digests.len() < MAX_PENDING {
            self.digests.push(digest);
        } else {
            self.is_lasting = true;
        }
    }

    /// The keys of this handshake are proven.
    pub(crate) fn settle(&mut self, digest: &Digest) {
        self.digests.retain(|other| other != digest);
    }

    /// True if nothing that was delivered is in doubt.
    pub(crate) fn is_empty(&self) -> bool {
        self.digests.is_empty() && !self.is_lasting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_handshake_settles_its_own_doubt() {
        let mut unproven = Unproven::default();
        unproven.note([1; 32]);
        unproven.note([1; 32]);
        unproven.note([2; 32]);
        unproven.settle(&[1; 32]);
        assert!(!unproven.is_empty());
        unproven.settle(&[2; 32]);
        assert!(unproven.is_empty());
    }

    #[test]
    fn more_doubts_than_there_is_room_for_last() {
        let mut unproven = Unproven::default();
        (0..=MAX_PENDING as u8).for_each(|number| unproven.note([number; 32]));
        (0..=MAX_PENDING as u8).for_each(|number| unproven.settle(&[number; 32]));
        assert!(!unproven.is_empty());
    }
}

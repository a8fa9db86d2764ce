//! New keys where this end may be a copy of itself: a memory image that runs twice has the keys and numbers
//! of the other run (`docs/spec/protection.md`, section 4.6).

use alloc::vec::Vec;

use skyhaul_core::Instant;

use super::{AssociationId, Associations};
use crate::Secret;

impl Associations {
    /// Mixes 32 further octets of randomness in, which no copy of this end has, and seals nothing any more
    /// under keys that a copy may have: those in use, those of handshakes under way at either end. What is
    /// sealed next calls; connections go on. Its owner calls it where wall time jumps against monotonic time.
    pub fn renew(&mut self, now: Instant, more: &Secret) {
        self.entropy.stir(more);
        self.counters.renewals += 1;
        for digest in self.pending.unused() {
            self.forget(&digest);
        }
        let ids: Vec<AssociationId> = self.entries.keys().copied().collect();
        for id in ids {
            self.retire(now, id);
        }
    }

    fn retire(&mut self, now: Instant, id: AssociationId) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        let is_calling = entry.association.under_way().is_some();
        if let Some(freed) = entry.association.retire(now) {
            self.indices.remove(&freed);
        }
        if is_calling {
            // Keys that a handshake was made with before are good ones.
            let _ = self.call(now, id, &[]);
        }
        self.retime(id);
    }
}

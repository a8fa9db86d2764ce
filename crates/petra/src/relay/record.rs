//! Counters of a relay.

use super::coupling::{Coupling, Side};

/// Counters of a relay, of all its couplings together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Connections that were coupled.
    pub couplings: u64,
    /// Of those, couplings that a failed connection ended.
    pub failed: u64,
    /// Connections that were refused: there were as many couplings as there may be, or no way onwards.
    pub refused: u64,
    /// Octets that were read, of all connections.
    pub read_bytes: u64,
    /// Octets that were passed on.
    pub written_bytes: u64,
    /// Most octets in the buffer of one connection and direction.
    pub most_bytes: u64,
    /// Times that a sender was held back.
    pub holds: u64,
}

impl Record {
    /// Counters with those of one more coupling.
    #[must_use]
    pub fn with(self, coupling: &Coupling) -> Self {
        let start = Self {
            couplings: self.couplings + 1,
            failed: self.failed + u64::from(coupling.has_failed()),
            ..self
        };
        [Side::Near, Side::Far].into_iter().map(|side| coupling.counters(side)).fold(
            start,
            |sum, counters| Self {
                read_bytes: sum.read_bytes + counters.read_bytes,
                written_bytes: sum.written_bytes + counters.written_bytes,
                most_bytes: sum.most_bytes.max(counters.most_bytes),
                holds: sum.holds + counters.holds,
                ..sum
            },
        )
    }

    /// Counters with one more connection that was refused.
    #[must_use]
    pub fn with_refusal(self) -> Self {
        Self { refused: self.refused + 1, ..self }
    }
}

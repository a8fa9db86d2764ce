//! Integrity of segments: who answers for it.

use crate::PathConfig;

/// What proves that a segment arrived whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrity {
    /// Checksum of its own.
    Checksum,
    /// Seal around it: a checksum of its own would be worth nothing beside that.
    Seal,
}

impl PathConfig {
    /// What proves segments: a seal where room is kept for its tag.
    pub const fn integrity(&self) -> Integrity {
        if self.tail_bytes == 0 { Integrity::Checksum } else { Integrity::Seal }
    }
}

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

impl Integrity {
    /// What proves segments that have so many bytes kept free behind them: a seal where there is room for its
    /// tag.
    pub(crate) const fn with_tail(tail_bytes: u32) -> Self {
        if tail_bytes == 0 { Self::Checksum } else { Self::Seal }
    }
}

impl PathConfig {
    /// What proves segments.
    pub const fn integrity(&self) -> Integrity {
        Integrity::with_tail(self.tail_bytes)
    }
}

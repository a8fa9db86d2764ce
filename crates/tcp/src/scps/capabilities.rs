//! Option 20: facilities that the sender of a SYN knows [SCPS-TP 3].

use core::num::NonZeroU8;

use super::CAPABILITIES;
use crate::segment::ExtraOptions;

/// Bits of facilities.
pub mod facility {
    /// Best effort transport service.
    pub const BETS: u8 = 0x80;
    /// Negative acknowledgements of one hole.
    pub const SNACK: u8 = 0x40;
    /// Negative acknowledgements with a vector.
    pub const SNACK_VECTOR: u8 = 0x20;
    /// Compressed headers.
    pub const COMPRESSION: u8 = 0x10;
    /// Timestamps of the network layer.
    pub const NETWORK_TIMESTAMPS: u8 = 0x08;
}

/// Offer of one end. Other bits of the map are reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Map of [`facility`] bits.
    pub facilities: u8,
    /// Number of the connection in compressed headers that the sender of this sends. Means nothing without
    /// [`facility::COMPRESSION`].
    pub connection_id: u8,
}

impl Capabilities {
    /// The first one of these options, which have 4 octets. Those of other lengths are extended blocks, which
    /// say nothing to us.
    pub fn find(options: &ExtraOptions) -> Option<Self> {
        options.iter().filter(|&(kind, _)| kind == CAPABILITIES).find_map(|(_, value)| {
            let &[facilities, connection_id] = value else { return None };
            Some(Self { facilities, connection_id })
        })
    }

    /// Number that its sender announces for compressed headers, if it knows such.
    pub(crate) fn number(self) -> Option<NonZeroU8> {
        NonZeroU8::new(self.connection_id).filter(|_| self.facilities & facility::COMPRESSION != 0)
    }

    /// Adds the option; false if there is no room.
    pub fn push(self, options: &mut ExtraOptions) -> bool {
        options.push(CAPABILITIES, &[self.facilities, self.connection_id])
    }
}

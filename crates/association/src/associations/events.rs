//! What an owner is told, and the counters.

use alloc::vec::Vec;
use core::net::SocketAddr;
use core::ops::Range;

use super::AssociationId;
use crate::peers::PeerId;
use crate::token::Token;

/// What an owner should know. At most [`super::MAX_EVENTS`] wait; further ones are dropped and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A peer opened an association. Unless `is_address_proven`, nobody has shown to receive at `address`.
    Accepted {
        /// Association that there is now.
        association: AssociationId,
        /// Who opened it.
        peer: PeerId,
        /// Where it comes from.
        address: SocketAddr,
        /// Whether a fresh token or a record under the new keys proves the address.
        is_address_proven: bool,
    },
    /// A peer has another address: a record came from there. Until it has answered a challenge, three times
    /// as much goes there as came from there, at most.
    Moved {
        /// Which one.
        association: AssociationId,
        /// Where its peer is now.
        address: SocketAddr,
    },
    /// The peer has proven that it has the keys in use: new ones, each time.
    Confirmed {
        /// Whose keys they are.
        association: AssociationId,
    },
    /// Nobody answers. What is sealed next calls again.
    Unanswered {
        /// Which one.
        association: AssociationId,
    },
    /// An association is gone: idle, never confirmed, given way to a newer one, or its peer was removed.
    Closed {
        /// Which one.
        association: AssociationId,
    },
    /// Token for the next handshake with a peer, which may be written down.
    Token {
        /// Who issued it.
        peer: PeerId,
        /// What it issued.
        token: Token,
    },
    /// The [`crate::RESERVATION`] counters of handshakes with a peer below `up_to` are to be written down as
    /// used, or later ones if others have these. Call [`super::Associations::reserved`] when they are; until
    /// then handshakes may not pass for fresh.
    Reserve {
        /// Whose counters.
        peer: PeerId,
        /// First one behind them.
        up_to: u64,
    },
    /// A peer's handshake had a counter that was taken: a copy, a disk that went back, or an identity that
    /// two machines have.
    CounterTaken {
        /// Whose handshake.
        peer: PeerId,
    },
}

/// How an opened segment may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrecy {
    /// Sealed under keys that both ends have proven or will, with forward secrecy.
    Full,
    /// Early data: whoever gets the acceptor's key later reads it, or forges it.
    Early,
}

/// Segment that was opened in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// Association that it belongs to.
    pub association: AssociationId,
    /// Place in the datagram.
    pub segment: Range<usize>,
    /// How it was sealed.
    pub secrecy: Secrecy,
}

/// Segment that arrived within a message, or was withheld.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Released {
    /// Association that it belongs to.
    pub association: AssociationId,
    /// Octets of the segment.
    pub segment: Vec<u8>,
}

/// Datagram that leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Receiver.
    pub to: SocketAddr,
    /// Octets.
    pub datagram: Vec<u8>,
}

/// What became of a segment that was to be sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sealed {
    /// The datagram is sealed in place and goes to this address, after what
    /// [`super::Associations::poll_transmit`] has.
    InPlace(SocketAddr),
    /// The segment rides in a message that [`super::Associations::poll_transmit`] has.
    InMessage,
}

/// Reason why a segment was not sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealError {
    /// There is no such association.
    Unknown,
    /// The datagram has no room for head and tag.
    NoRoom,
    /// Every number of the keys was used; new keys are under way.
    NumbersUsedUp,
    /// Too little came from the peer's address, which it has not proven.
    Unproven,
    /// A key is none that a handshake can be made with.
    BadKey,
}

/// Counters of what was refused, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Datagrams that are neither messages nor records.
    pub alien: u64,
    /// Records of nobody's index.
    pub unknown_index: u64,
    /// Records that were taken before, or are too old to know.
    pub replayed: u64,
    /// Records whose tag is wrong, or whose keys are given up.
    pub forged: u64,
    /// Messages whose sender does not know this end's key.
    pub strangers: u64,
    /// Messages 1 that were answered by a cookie.
    pub cookies: u64,
    /// Messages 1 of addresses that had their share.
    pub dropped: u64,
    /// Messages of unknown peers, in a mode that is not theirs, forged, or late.
    pub refused: u64,
    /// Copies of message 1.
    pub copies: u64,
    /// Messages 1 that found no room among the unconfirmed ones of their peer.
    pub crowded: u64,
    /// Handshakes that were computed as acceptor.
    pub computed: u64,
    /// Times that all keys were given up, as this end may be a copy of itself.
    pub renewals: u64,
    /// Events, segments and datagrams that found no room in their queue.
    pub overflows: u64,
}

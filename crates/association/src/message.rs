//! Layouts of the messages of a handshake (`docs/spec/protection.md`, section 4). Decoding is total.

use alloc::vec::Vec;

use skyhaul_core::envelope::Mode;

use crate::Index;
use crate::aead::AeadName;
use crate::name::{CALLSIGN_BYTES, CallsignOctets};
use crate::noise::{FIRST_BYTES, SECOND_BYTES};
use crate::record::protected_mode;
use crate::token::{TOKEN_BYTES, Token};

/// Octets in front of a message: envelope, an index of 0, kind, the opener's index.
pub(crate) const MESSAGE_HEAD_BYTES: usize = 8;
/// Octets of a proof of the acceptor's public key, or of a cookie.
pub(crate) const MAC_BYTES: usize = 16;
/// Octets of random numbers in a cookie message.
pub(crate) const COOKIE_NONCE_BYTES: usize = 16;

/// Octets of message 1's payload in front of its segment.
const PAYLOAD_1_BYTES: usize = 8 + TOKEN_BYTES + 32 + 3 + 1;
/// Octets of message 2's payload.
const PAYLOAD_2_BYTES: usize = 8 + TOKEN_BYTES + 3 + 1;

/// Octets of message 1 without a segment, in mode `encrypted`.
pub const MESSAGE_1_BYTES: usize = MESSAGE_HEAD_BYTES + FIRST_BYTES + PAYLOAD_1_BYTES + 2 * MAC_BYTES;
/// Octets of message 2, in mode `encrypted`.
pub const MESSAGE_2_BYTES: usize = MESSAGE_HEAD_BYTES + SECOND_BYTES + PAYLOAD_2_BYTES + MAC_BYTES;
/// Octets of a cookie message.
pub const COOKIE_MESSAGE_BYTES: usize = MESSAGE_HEAD_BYTES + COOKIE_NONCE_BYTES + 2 * MAC_BYTES;
/// Largest message 1, with its segment. A larger one is refused.
pub const MAX_MESSAGE_1_BYTES: usize = 1200;

/// Kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    First,
    Second,
    Cookie,
}

/// Head of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageHead {
    pub(crate) mode: Mode,
    pub(crate) kind: Kind,
    /// Index that the opener gave to its handshake.
    pub(crate) opener: Index,
}

impl MessageHead {
    pub(crate) fn encode(self) -> [u8; MESSAGE_HEAD_BYTES] {
        let kind = match self.kind {
            Kind::First => 1,
            Kind::Second => 2,
            Kind::Cookie => 3,
        };
        let [a, b, c] = self.opener.octets();
        [self.mode.octet(), 0, 0, 0, kind, a, b, c]
    }

    /// Head of a datagram that is a message with the length of its kind; `None` for anything else.
    pub(crate) fn decode(datagram: &[u8]) -> Option<Self> {
        let &[first, 0, 0, 0, kind, a, b, c] = datagram.first_chunk()? else { return None };
        let mode = protected_mode(first).ok()?;
        let opener = Index::from_octets([a, b, c])?;
        let (kind, lengths) = match kind {
            1 => (Kind::First, first_bytes(mode)..=longest(mode)),
            2 => (Kind::Second, second_bytes(mode)..=second_bytes(mode)),
            3 => (Kind::Cookie, COOKIE_MESSAGE_BYTES..=COOKIE_MESSAGE_BYTES),
            _ => return None,
        };
        lengths.contains(&datagram.len()).then_some(Self { mode, kind, opener })
    }
}

/// Octets of the callsign in clear behind the head: where anybody can read, it is told who sends.
pub(crate) const fn callsign_bytes(mode: Mode) -> usize {
    match mode {
        Mode::Authenticated => CALLSIGN_BYTES,
        _ => 0,
    }
}

/// Octets in front of what Noise seals.
pub(crate) const fn front_bytes(mode: Mode) -> usize {
    MESSAGE_HEAD_BYTES + callsign_bytes(mode)
}

/// Octets of message 1 without a segment.
pub(crate) const fn first_bytes(mode: Mode) -> usize {
    MESSAGE_1_BYTES + callsign_bytes(mode)
}

/// Octets of message 2, whose payload has the callsign once more: so it is proven.
pub(crate) const fn second_bytes(mode: Mode) -> usize {
    MESSAGE_2_BYTES + 2 * callsign_bytes(mode)
}

/// Longest message 1 of a mode: what anybody can read has no segment in it.
const fn longest(mode: Mode) -> usize {
    match mode {
        Mode::Encrypted => MAX_MESSAGE_1_BYTES,
        _ => first_bytes(mode),
    }
}

/// Whether a segment of `bytes` rides in message 1 of this mode.
pub(crate) const fn has_room_for(mode: Mode, bytes: usize) -> bool {
    first_bytes(mode) + bytes <= longest(mode)
}

/// AEADs that an end offers: a set that always has `ChaCha20-Poly1305`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Whether AES-128-GCM is offered, too: where the processor has AES.
    pub aes: bool,
}

impl Offer {
    const CHACHA: u8 = 1;
    const AES: u8 = 2;

    fn encode(self) -> u8 {
        Self::CHACHA | if self.aes { Self::AES } else { 0 }
    }

    /// Offer of these bits. Bits of AEADs to come are ignored.
    fn decode(bits: u8) -> Option<Self> {
        (bits & Self::CHACHA != 0).then_some(Self { aes: bits & Self::AES != 0 })
    }

    /// AEAD for two ends with these offers.
    pub(crate) fn choose(self, other: Self) -> AeadName {
        if self.aes && other.aes { AeadName::Aes128Gcm } else { AeadName::ChaCha20Poly1305 }
    }

    /// Whether an AEAD was offered.
    pub(crate) fn has(self, name: AeadName) -> bool {
        self.aes || name == AeadName::ChaCha20Poly1305
    }
}

/// Sealed payload of message 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Payload1<'a> {
    /// Counter of the opener's handshakes with this acceptor; 0 for none.
    pub(crate) counter: u64,
    pub(crate) token: Token,
    /// Random octets that the keys of early data come from.
    pub(crate) early: [u8; 32],
    /// Index at the acceptor of the association that goes on.
    pub(crate) continues: Option<Index>,
    pub(crate) offer: Offer,
    /// First segment; empty for none.
    pub(crate) segment: &'a [u8],
}

impl<'a> Payload1<'a> {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut octets = Vec::with_capacity(PAYLOAD_1_BYTES + self.segment.len());
        octets.extend(self.counter.to_be_bytes());
        octets.extend(self.token.0);
        octets.extend(self.early);
        octets.extend(self.continues.map_or([0; 3], Index::octets));
        octets.push(self.offer.encode());
        octets.extend(self.segment);
        octets
    }

    pub(crate) fn decode(octets: &'a [u8]) -> Option<Self> {
        let (counter, rest) = octets.split_first_chunk()?;
        let (token, rest) = rest.split_first_chunk()?;
        let (early, rest) = rest.split_first_chunk()?;
        let (&continues, rest) = rest.split_first_chunk()?;
        let (&offer, segment) = rest.split_first()?;
        Some(Self {
            counter: u64::from_be_bytes(*counter),
            token: Token(*token),
            early: *early,
            continues: Index::from_octets(continues),
            offer: Offer::decode(offer)?,
            segment,
        })
    }
}

/// Sealed payload of message 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Payload2 {
    /// Counter that the opener counts on from.
    pub(crate) counter: u64,
    /// Token for the opener's next handshake from its address.
    pub(crate) token: Token,
    /// Index of the acceptor's keys.
    pub(crate) acceptor: Index,
    pub(crate) aead: AeadName,
}

impl Payload2 {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut octets = Vec::with_capacity(PAYLOAD_2_BYTES);
        octets.extend(self.counter.to_be_bytes());
        octets.extend(self.token.0);
        octets.extend(self.acceptor.octets());
        octets.push(match self.aead {
            AeadName::ChaCha20Poly1305 => Offer::CHACHA,
            AeadName::Aes128Gcm => Offer::AES,
        });
        octets
    }

    /// Payload that is followed by this callsign, or by nothing.
    pub(crate) fn decode(octets: &[u8], callsign: &[u8]) -> Option<Self> {
        let (counter, rest) = octets.strip_suffix(callsign)?.split_first_chunk()?;
        let (token, rest) = rest.split_first_chunk()?;
        let (&acceptor, rest) = rest.split_first_chunk()?;
        let &[aead] = rest else { return None };
        let aead = match aead {
            Offer::CHACHA => AeadName::ChaCha20Poly1305,
            Offer::AES => AeadName::Aes128Gcm,
            _ => return None,
        };
        let acceptor = Index::from_octets(acceptor)?;
        Some(Self { counter: u64::from_be_bytes(*counter), token: Token(*token), acceptor, aead })
    }
}

/// What a message has in front of what Noise seals: its head, and the callsign where anybody can read.
pub(crate) fn front(head: MessageHead, callsign: &CallsignOctets) -> Vec<u8> {
    [&head.encode()[..], &callsign[..callsign_bytes(head.mode)]].concat()
}

/// Prologue of a handshake: version, mode, the opener's index and its callsign, by the front of message 1.
pub(crate) fn prologue(front: &[u8]) -> Vec<u8> {
    [b"skyhaul association", front].concat()
}

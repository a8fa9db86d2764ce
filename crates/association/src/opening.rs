//! Handshake that this end opened and that is not answered yet.

use alloc::vec::Vec;

use skyhaul_core::envelope::Mode;
use skyhaul_core::{Instant, SECOND};

use crate::aead::{AeadMaker, AeadName};
use crate::cookie::{Cookie, mac1, mac2, opened_cookie};
use crate::keys::{NumbersUsedUp, Protection, SealingKeys};
use crate::message::{
    Kind, MAC_BYTES, MESSAGE_HEAD_BYTES, MessageHead, Offer, Payload1, Payload2, front, front_bytes, prologue,
};
use crate::name::CallsignOctets;
use crate::noise::{Identity, Opener, PublicKey, Refused, Split};
use crate::record::Addressee;
use crate::token::Token;
use crate::{Index, Secret};

/// Time after which message 1 goes again for the first time; then each time after twice as long.
pub const FIRST_RETRY_NS: u64 = SECOND;

/// Longest time between two messages 1.
pub const MAX_RETRY_NS: u64 = 60 * SECOND;

/// Time for which one message 1 goes again. Then another one takes its place: the acceptor may have
/// forgotten it.
pub const MESSAGE_LIFE_NS: u64 = 100 * SECOND;

/// Timer of message 1: more and more rarely.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retry {
    at: Instant,
    wait_ns: u64,
}

impl Retry {
    pub(crate) fn new(now: Instant) -> Self {
        Self { at: now.after(FIRST_RETRY_NS), wait_ns: FIRST_RETRY_NS }
    }

    pub(crate) fn at(self) -> Instant {
        self.at
    }

    /// Whether it is time now; then the next time is set.
    pub(crate) fn fire(&mut self, now: Instant) -> bool {
        let is_due = self.at <= now;
        if is_due {
            self.wait_ns = (2 * self.wait_ns).min(MAX_RETRY_NS);
            self.at = now.after(self.wait_ns);
        }
        is_due
    }
}

/// What a handshake needs to know of this end and the peer.
pub(crate) struct Occasion<'a> {
    pub(crate) identity: &'a Identity,
    pub(crate) peer: PublicKey,
    pub(crate) psk: &'a Secret,
    pub(crate) mode: Mode,
    pub(crate) offer: Offer,
    pub(crate) maker: AeadMaker,
    pub(crate) index: Index,
    pub(crate) continues: Option<Index>,
    pub(crate) token: Token,
    pub(crate) counter: u64,
    /// Callsign of this end's operator.
    pub(crate) callsign: CallsignOctets,
    /// First segment; empty for none.
    pub(crate) segment: &'a [u8],
}

/// Handshake under way.
#[derive(Debug)]
pub(crate) struct Opening {
    noise: Opener,
    index: Index,
    mode: Mode,
    offer: Offer,
    maker: AeadMaker,
    peer: PublicKey,
    /// Message 1 without its last 16 octets.
    message: Vec<u8>,
    cookie: Option<Cookie>,
    early: SealingKeys,
    counter: u64,
    begun_at: Instant,
}

impl Opening {
    pub(crate) fn new(now: Instant, occasion: &Occasion<'_>, random: &Secret) -> Result<Self, Refused> {
        let Occasion { identity, peer, mode, offer, maker, index, .. } = *occasion;
        let early = random.derive("early");
        let payload = Payload1 {
            counter: occasion.counter,
            token: occasion.token,
            early: *early.octets(),
            continues: occasion.continues,
            offer,
            segment: occasion.segment,
        };
        let front = front(MessageHead { mode, kind: Kind::First, opener: index }, &occasion.callsign);
        let prologue = prologue(&front);
        let ephemeral = random.derive("ephemeral");
        let (noise, sealed) =
            Opener::new(identity, peer, occasion.psk, &prologue, ephemeral, &payload.encode())?;
        let mut message = [front, sealed].concat();
        message.extend(mac1(peer, &message));
        let early = SealingKeys::new(early_protection(mode, maker), Addressee::Early(index), &early, now);
        let (counter, cookie) = (occasion.counter, None);
        Ok(Self { noise, index, mode, offer, maker, peer, message, cookie, early, counter, begun_at: now })
    }

    pub(crate) fn index(&self) -> Index {
        self.index
    }

    pub(crate) fn begun_at(&self) -> Instant {
        self.begun_at
    }

    pub(crate) fn counter(&self) -> u64 {
        self.counter
    }

    /// Message 1 as it leaves.
    pub(crate) fn datagram(&self) -> Vec<u8> {
        let proof = self.cookie.map_or([0; MAC_BYTES], |cookie| mac2(&cookie, &self.message));
        [&self.message[..], &proof].concat()
    }

    /// Seals early data.
    pub(crate) fn seal(&mut self, now: Instant, datagram: &mut [u8]) -> Result<(), NumbersUsedUp> {
        self.early.seal(now, datagram)
    }

    /// Takes a cookie message; whether it says something new.
    pub(crate) fn take_cookie(&mut self, head: MessageHead, message: &[u8]) -> bool {
        let own = &self.message[self.message.len() - MAC_BYTES..];
        let cookie = opened_cookie(self.maker, self.peer, own, message).filter(|_| head.mode == self.mode);
        let is_news = cookie.is_some() && cookie != self.cookie;
        if is_news {
            self.cookie = cookie;
        }
        is_news
    }

    /// What a genuine message 2 says; its mac1 is not looked at.
    pub(crate) fn read(&mut self, head: MessageHead, message: &[u8]) -> Result<(Payload2, Split), Refused> {
        if head.mode != self.mode {
            return Err(Refused);
        }
        let (front, sealed) = message.split_at_checked(front_bytes(self.mode)).ok_or(Refused)?;
        let sealed = sealed.len().checked_sub(MAC_BYTES).map(|end| &sealed[..end]).ok_or(Refused)?;
        let (payload, secrets) = self.noise.read(sealed)?;
        let payload = Payload2::decode(&payload, &front[MESSAGE_HEAD_BYTES..]).ok_or(Refused)?;
        if self.offer.has(payload.aead) { Ok((payload, secrets)) } else { Err(Refused) }
    }

    /// Whether another message 1 is to take this one's place.
    pub(crate) fn is_stale(&self, now: Instant) -> bool {
        now.since(self.begun_at) >= MESSAGE_LIFE_NS
    }
}

/// Protection of early data: nothing is agreed on yet, and every end has this AEAD.
pub(crate) fn early_protection(mode: Mode, maker: AeadMaker) -> Protection {
    Protection { mode, aead: AeadName::ChaCha20Poly1305, maker }
}

//! Peers: whom this end knows, with what it remembers of their handshakes.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use core::fmt;
use core::net::IpAddr;
use core::ops::Range;

use skyhaul_core::envelope::Mode;

use crate::Secret;
use crate::counter::Counter;
use crate::noise::PublicKey;
use crate::replay::{Replay, ReplayWindow};
use crate::token::{Opens, Token, TokenKey};

/// Most peers that an end knows.
pub const MAX_PEERS: usize = 4096;

/// Name of a peer at this end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PeerId(pub(crate) u32);

/// What an owner knows of a peer: from pairing, and from its disk.
#[derive(Clone, Debug)]
pub struct PeerSettings {
    /// Who it is.
    pub key: PublicKey,
    /// Secret that both share, by pairing.
    pub psk: Secret,
    /// How datagrams are protected: never [`Mode::Plain`].
    pub mode: Mode,
    /// Last token of [`crate::Event::Token`]; [`Token::NONE`] if there was none.
    pub token: Token,
    /// Greatest number of [`crate::Event::Reserve`] that was written down; 0 if there was none.
    pub reserved: u64,
}

/// Reason why a peer is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerError {
    /// [`MAX_PEERS`] are known.
    Full,
    /// The key is known, or this end's own.
    Known,
    /// The mode is no protection.
    Plain,
}

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "there are too many peers",
            Self::Known => "the key is that of a peer that is known, or this end's own",
            Self::Plain => "a peer without protection is none of a sealed endpoint",
        })
    }
}

impl core::error::Error for PeerError {}

/// Whether a handshake was seen before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// It is new: token and counter say so. `is_here`: its sender receives at the address that it came from.
    Fresh { is_here: bool },
    /// Nobody can tell.
    Unknown,
    /// Its counter was taken: it is a copy, or its sender's disk went back or is there twice.
    Taken,
}

/// Peer, and what is remembered of it.
#[derive(Debug)]
pub(crate) struct Peer {
    key: PublicKey,
    psk: Secret,
    mode: Mode,
    /// As acceptor: key of the tokens that it gets, counters that it used.
    token_key: TokenKey,
    taken: Box<ReplayWindow>,
    /// As opener: token and counters for the next handshake.
    token: Token,
    counter: Counter,
}

impl Peer {
    pub(crate) fn key(&self) -> PublicKey {
        self.key
    }

    pub(crate) fn psk(&self) -> &Secret {
        &self.psk
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// Judges a handshake of this peer, and takes its counter if it is fresh.
    pub(crate) fn judge(&mut self, token: Token, counter: u64, from: IpAddr) -> Freshness {
        let opens = self.token_key.opens(token, self.key, from);
        if opens == Opens::No || counter == 0 || counter > MAX_COUNTER {
            return Freshness::Unknown;
        }
        match self.taken.take(counter) {
            Ok(()) => Freshness::Fresh { is_here: opens == Opens::Here },
            Err(Replay::Copy | Replay::Old) => Freshness::Taken,
        }
    }

    /// Takes the counter of a handshake that was proven after all.
    pub(crate) fn take_counter(&mut self, counter: u64) {
        if counter <= MAX_COUNTER {
            // One that was taken before stays so.
            let _ = self.taken.take(counter);
        }
    }

    /// Token and counter for the next handshake of this peer from `address`.
    pub(crate) fn next_handshake(&self, address: IpAddr) -> (Token, u64) {
        (self.token_key.issue(self.key, address), self.taken.next().max(1))
    }

    /// Token and counter of this end's next handshake.
    pub(crate) fn take_own(&mut self) -> (Token, u64) {
        (self.token, self.counter.take())
    }

    /// Learns from the peer's answer what the next handshake needs; whether the token is news.
    pub(crate) fn learn(&mut self, token: Token, counter: u64) -> bool {
        self.counter.count_on_from(counter.min(MAX_COUNTER));
        core::mem::replace(&mut self.token, token) != token
    }

    /// Up to where the owner is to write down that counters may be used.
    pub(crate) fn ask(&mut self) -> Option<u64> {
        self.counter.ask()
    }

    pub(crate) fn reserve(&mut self, counters: Range<u64>) {
        self.counter.reserve(counters);
    }
}

/// Greatest counter: half of the numbers, so that a window of them never wraps.
const MAX_COUNTER: u64 = 1 << 62;

/// All peers of an end.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    by_id: BTreeMap<PeerId, Peer>,
    by_key: BTreeMap<PublicKey, PeerId>,
    next_id: u32,
}

impl Peers {
    /// Takes a peer; `random` is used for nothing else.
    pub(crate) fn add(&mut self, settings: PeerSettings, random: Secret) -> Result<PeerId, PeerError> {
        let PeerSettings { key, psk, mode, token, reserved } = settings;
        if mode == Mode::Plain {
            return Err(PeerError::Plain);
        }
        if self.by_key.contains_key(&key) {
            return Err(PeerError::Known);
        }
        if self.by_id.len() >= MAX_PEERS {
            return Err(PeerError::Full);
        }
        let id = PeerId(self.next_id);
        self.next_id += 1;
        let (token_key, taken) = (TokenKey::new(random), Box::default());
        let counter = Counter::new(reserved);
        self.by_id.insert(id, Peer { key, psk, mode, token_key, taken, token, counter });
        self.by_key.insert(key, id);
        Ok(id)
    }

    pub(crate) fn remove(&mut self, id: PeerId) {
        if let Some(peer) = self.by_id.remove(&id) {
            self.by_key.remove(&peer.key);
        }
    }

    pub(crate) fn get(&self, id: PeerId) -> Option<&Peer> {
        self.by_id.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: PeerId) -> Option<&mut Peer> {
        self.by_id.get_mut(&id)
    }

    pub(crate) fn id_of(&self, key: PublicKey) -> Option<PeerId> {
        self.by_key.get(&key).copied()
    }

    pub(crate) fn by_key(&mut self, key: PublicKey) -> Option<(PeerId, &mut Peer)> {
        let id = *self.by_key.get(&key)?;
        Some((id, self.by_id.get_mut(&id)?))
    }
}

//! Proof of the acceptor's public key (mac1), cookies and the limits of an acceptor under load, as in
//! `WireGuard` (`docs/spec/protection.md`, section 4.3).

use core::net::SocketAddr;

use skyhaul_core::envelope::Mode;
use skyhaul_core::{Instant, SECOND};

use crate::aead::{AeadMaker, AeadName, NONCE_BYTES};
use crate::message::{
    COOKIE_MESSAGE_BYTES, COOKIE_NONCE_BYTES, Kind, MAC_BYTES, MESSAGE_HEAD_BYTES, MessageHead,
};
use crate::noise::PublicKey;
use crate::token::{is_equal, mapped};
use crate::{Index, Secret};

/// Handshakes a second that are computed without a cookie.
pub const MAX_HANDSHAKES_PER_S: u64 = 200;

/// Handshakes a second that are computed for one IP address which has a cookie.
pub const MAX_HANDSHAKES_PER_S_AND_ADDRESS: u64 = 10;

/// Time for which the secret behind cookies holds; a cookie is taken for up to twice that.
pub const COOKIE_NS: u64 = 120 * SECOND;

/// Buckets of addresses. Addresses that share one share its limit.
const BUCKETS: usize = 256;

/// Cookie: proves that its holder receives what is sent to its address.
pub(crate) type Cookie = [u8; MAC_BYTES];

/// First octets of a MAC.
fn mac(key: &Secret, parts: &[&[u8]]) -> [u8; MAC_BYTES] {
    let mut short = [0; MAC_BYTES];
    short.copy_from_slice(&key.mac(parts)[..MAC_BYTES]);
    short
}

/// Proof of a public key over the front of a message.
pub(crate) fn mac1(receiver: PublicKey, front: &[u8]) -> [u8; MAC_BYTES] {
    mac(&Secret::new(receiver.0).derive("skyhaul mac1"), &[front])
}

/// Whether the octets from `end - MAC_BYTES` to `end` are the receiver's mac1 of what is in front of them.
pub(crate) fn has_mac1(receiver: PublicKey, datagram: &[u8], end: usize) -> bool {
    let Some((front, found)) = datagram.get(..end).and_then(|octets| octets.split_last_chunk()) else {
        return false;
    };
    let found: &[u8; MAC_BYTES] = found;
    is_equal(found, &mac1(receiver, front))
}

/// Proof of a cookie over message 1 with its mac1.
pub(crate) fn mac2(cookie: &Cookie, front: &[u8]) -> [u8; MAC_BYTES] {
    let mut key = [0; 32];
    key[..MAC_BYTES].copy_from_slice(cookie);
    mac(&Secret::new(key), &[b"mac2", front])
}

/// Cookie message: `cookie` sealed so that only who sent the message with this mac1 and knows the acceptor
/// reads it.
pub(crate) fn sealed_cookie(
    maker: AeadMaker,
    acceptor: PublicKey,
    (mode, opener): (Mode, Index),
    nonce: [u8; COOKIE_NONCE_BYTES],
    mac1: &[u8],
    mut cookie: Cookie,
) -> [u8; COOKIE_MESSAGE_BYTES] {
    let tag = one_time(maker, acceptor, &nonce).seal([0; NONCE_BYTES], mac1, &mut cookie);
    let mut message = [0; COOKIE_MESSAGE_BYTES];
    let head = MessageHead { mode, kind: Kind::Cookie, opener }.encode();
    let parts: [&[u8]; 4] = [&head, &nonce, &cookie, &tag];
    let mut place = 0;
    for part in parts {
        message[place..place + part.len()].copy_from_slice(part);
        place += part.len();
    }
    message
}

/// Cookie out of a cookie message that answers the message with this mac1.
pub(crate) fn opened_cookie(
    maker: AeadMaker,
    acceptor: PublicKey,
    mac1: &[u8],
    message: &[u8],
) -> Option<Cookie> {
    let (nonce, rest) = message.get(MESSAGE_HEAD_BYTES..)?.split_first_chunk::<COOKIE_NONCE_BYTES>()?;
    let (cookie, rest) = rest.split_first_chunk::<MAC_BYTES>()?;
    let (mut cookie, tag) = (*cookie, rest.try_into().ok()?);
    one_time(maker, acceptor, nonce).open([0; NONCE_BYTES], mac1, &mut cookie, tag).ok()?;
    Some(cookie)
}

/// AEAD of one cookie message: its key has the nonce in it.
fn one_time(
    maker: AeadMaker,
    acceptor: PublicKey,
    nonce: &[u8; COOKIE_NONCE_BYTES],
) -> alloc::boxed::Box<dyn crate::aead::Aead> {
    let key = Secret::new(acceptor.0).derive("skyhaul cookie").mac(&[nonce]);
    maker(AeadName::ChaCha20Poly1305, &Secret::new(key))
}

/// Handshakes that may be computed: so many a second, and as many at once.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Time from which on the bucket would be full.
    full_at: Instant,
}

impl Bucket {
    /// Takes one handshake of `per_s` a second; whether there was one.
    fn take(&mut self, now: Instant, per_s: u64) -> bool {
        let full_at = self.full_at.max(now).after(SECOND / per_s);
        let is_there = full_at.since(now) <= SECOND;
        if is_there {
            self.full_at = full_at;
        }
        is_there
    }
}

/// What an acceptor does with a message 1 that proves the acceptor's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Its handshake is computed.
    Computed,
    /// It is answered by this cookie.
    Cookie(Cookie),
    /// It is dropped: its address had its share.
    Dropped,
}

/// Limits of an acceptor, and the secret behind its cookies.
#[derive(Debug)]
pub(crate) struct Doorkeeper {
    all: Bucket,
    addresses: [Bucket; BUCKETS],
    secrets: [Secret; 2],
    renewed_at: Instant,
}

impl Doorkeeper {
    /// Doorkeeper with a random secret.
    pub(crate) fn new(random: &Secret) -> Self {
        let empty = Bucket { full_at: Instant::ZERO };
        let secrets = [random.derive("new"), random.derive("old")];
        Self { all: empty, addresses: [empty; BUCKETS], secrets, renewed_at: Instant::ZERO }
    }

    /// Decides on a message 1 of `from`. `front` is what its mac2 is about, `found` the mac2 itself. Who
    /// brings a cookie is measured by its address alone, everybody else together.
    pub(crate) fn admit(&mut self, now: Instant, from: SocketAddr, front: &[u8], found: &[u8]) -> Admission {
        self.renew(now);
        let cookies = [0, 1].map(|age| self.cookie(age, from));
        if cookies.iter().any(|cookie| is_equal(found, &mac2(cookie, front))) {
            let bucket = usize::from(mac(&self.secrets[0], &[b"bckt", &mapped(from.ip())])[0]);
            let is_computed = self.addresses[bucket].take(now, MAX_HANDSHAKES_PER_S_AND_ADDRESS);
            return if is_computed { Admission::Computed } else { Admission::Dropped };
        }
        let is_computed = self.all.take(now, MAX_HANDSHAKES_PER_S);
        if is_computed { Admission::Computed } else { Admission::Cookie(cookies[0]) }
    }

    fn cookie(&self, age: usize, from: SocketAddr) -> Cookie {
        mac(&self.secrets[age], &[b"cook", &mapped(from.ip()), &from.port().to_be_bytes()])
    }

    fn renew(&mut self, now: Instant) {
        if now.since(self.renewed_at) >= COOKIE_NS {
            let next = self.secrets[0].derive("skyhaul renewed");
            self.secrets[1] = core::mem::replace(&mut self.secrets[0], next);
            self.renewed_at = now;
        }
    }
}

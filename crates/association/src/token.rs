//! Tokens: what an acceptor hands out so that the next handshake is known to be fresh
//! (`docs/spec/protection.md`, section 5).

use core::net::IpAddr;

use crate::Secret;
use crate::noise::PublicKey;

/// Octets of a token.
pub const TOKEN_BYTES: usize = 32;

/// Token of an acceptor: proves that its holder had an answer of this life of the acceptor, and at which
/// address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token(pub [u8; TOKEN_BYTES]);

impl Token {
    /// Token of an opener that holds none.
    pub const NONE: Self = Self([0; TOKEN_BYTES]);
}

/// What a token of message 1 proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opens {
    /// Nothing: it is none, or of another life of this acceptor.
    No,
    /// This end issued it to this peer at another address.
    Elsewhere,
    /// This end issued it to this peer at this address.
    Here,
}

/// Key of the tokens for one peer. It lives in memory alone.
#[derive(Debug)]
pub(crate) struct TokenKey(Secret);

impl TokenKey {
    /// Key from random octets that are used for nothing else.
    pub(crate) fn new(random: Secret) -> Self {
        Self(random)
    }

    /// Token for a peer at an address.
    pub(crate) fn issue(&self, peer: PublicKey, address: IpAddr) -> Token {
        let mut token = [0; TOKEN_BYTES];
        let (front, back) = token.split_at_mut(TOKEN_BYTES / 2);
        front.copy_from_slice(&self.part(*b"peer", peer, &[])[..TOKEN_BYTES / 2]);
        let address = mapped(address);
        back.copy_from_slice(&self.part(*b"addr", peer, &address)[..TOKEN_BYTES / 2]);
        Token(token)
    }

    /// What `token` proves of a peer at an address.
    pub(crate) fn opens(&self, token: Token, peer: PublicKey, address: IpAddr) -> Opens {
        let expected = self.issue(peer, address).0;
        let (front, back) = token.0.split_at(TOKEN_BYTES / 2);
        if !is_equal(front, &expected[..TOKEN_BYTES / 2]) {
            Opens::No
        } else if is_equal(back, &expected[TOKEN_BYTES / 2..]) {
            Opens::Here
        } else {
            Opens::Elsewhere
        }
    }

    fn part(&self, label: [u8; 4], peer: PublicKey, address: &[u8]) -> [u8; 32] {
        self.0.mac(&[&label, &peer.0, address])
    }
}

/// Octets of an address: IPv4 addresses are mapped into IPv6.
pub(crate) fn mapped(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

/// Comparison whose time tells nothing of the octets.
pub(crate) fn is_equal(a: &[u8], b: &[u8]) -> bool {
    let differences = a.iter().zip(b).fold(0, |bits, (a, b)| bits | (a ^ b));
    core::hint::black_box(differences) == 0 && a.len() == b.len()
}

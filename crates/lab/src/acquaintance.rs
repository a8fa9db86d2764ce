//! Keys that are made for one run: both of its ends know each other, as two machines that have talked before.

use std::io;
use std::net::IpAddr;

use skyhaul_core::envelope::Mode;
use skyhaul_net::association::{Associations, Identity, PeerId, PeerSettings, PublicKey, Secret, Token};
use skyhaul_net::machine_config;
use skyhaul_store::{random_octets, random_secret};

/// Mode of what goes between both ends.
pub const MODE: Mode = Mode::Encrypted;
/// Octets of a secret.
const SECRET: usize = 32;
/// Octets of all secrets.
const ALL: usize = 3 * SECRET;
/// Counters of handshakes that the opener has: one is used for each life of its keys.
const COUNTERS: u64 = 64;

/// Keys of both ends, and what they share. Whoever has it is either of them.
#[derive(Debug)]
pub struct Acquaintance {
    opener: Secret,
    acceptor: Secret,
    psk: Secret,
}

impl Acquaintance {
    /// One that nobody else has.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn new() -> io::Result<Self> {
        Ok(Self::of(random_octets::<ALL>()?))
    }

    /// That which [`Self::octets`] are of.
    pub fn of(octets: [u8; ALL]) -> Self {
        let part = |number: usize| {
            Secret::new(std::array::from_fn(|at| octets[number * SECRET + at])) // ALL is three of them
        };
        Self { opener: part(0), acceptor: part(1), psk: part(2) }
    }

    /// Form in which one end tells the other.
    pub fn octets(&self) -> Vec<u8> {
        [&self.opener, &self.acceptor, &self.psk].map(|secret| &secret.octets()[..]).concat()
    }

    /// Key of the acceptor.
    pub fn acceptor_key(&self) -> PublicKey {
        key(&self.acceptor)
    }

    /// Associations of the acceptor, and the token that the opener has of it, which is at `from`.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn acceptor(&self, from: IpAddr) -> io::Result<(Associations, Token)> {
        let (associations, opener) = self.end(&self.acceptor, key(&self.opener), Token::NONE)?;
        let token = associations.token_for(opener, from).unwrap_or(Token::NONE); // it was added just now
        Ok((associations, token))
    }

    /// Associations of the opener, with a token of the acceptor.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn opener(&self, token: Token) -> io::Result<Associations> {
        let (mut associations, acceptor) = self.end(&self.opener, key(&self.acceptor), token)?;
        associations.reserved(acceptor, 1..COUNTERS);
        Ok(associations)
    }

    fn end(&self, own: &Secret, other: PublicKey, token: Token) -> io::Result<(Associations, PeerId)> {
        let mut associations =
            Associations::new(machine_config(), Identity::new(own.clone()), random_secret()?);
        let settings = PeerSettings { key: other, psk: self.psk.clone(), mode: MODE, token, reserved: 1 };
        let peer = associations.add_peer(settings).map_err(io::Error::other)?;
        Ok((associations, peer))
    }
}

fn key(secret: &Secret) -> PublicKey {
    Identity::new(secret.clone()).public()
}

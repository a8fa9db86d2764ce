//! Peers: machines that this one knows.

use std::net::{IpAddr, SocketAddr};

use skyhaul_association::{Callsign, MAX_PEERS, Name, PublicKey, Secret, mode_of, mode_word};
use skyhaul_core::envelope::Mode;
use zeroize::Zeroizing;

use crate::hex::{from_hex, to_hex};
use crate::machine::{NONE, optional};
use crate::table::Table;
use crate::{FileError, StoreError};

const TABLE: Table = Table { name: "skyhaul-peers", version: 1 };
/// Longest address: a host's name of 255 octets, and a port.
pub const MAX_ADDRESS_BYTES: usize = 261;
/// Largest file of peers: a line has at most 500 octets.
pub(crate) const MAX_BYTES: u64 = 512 * MAX_PEERS as u64;

/// Machine that this one knows.
#[derive(Clone, Debug)]
pub struct KnownPeer {
    /// Name that it has here.
    pub name: Name,
    /// Public key.
    pub key: PublicKey,
    /// Secret that both share.
    pub psk: Secret,
    /// How datagrams between the two are protected: never [`Mode::Plain`].
    pub mode: Mode,
    /// Callsign of its operator, if it told one.
    pub callsign: Option<Callsign>,
    /// ADDRESS:PORT at which it was last, or is said to be; at most [`MAX_ADDRESS_BYTES`] without a space.
    pub address: Option<String>,
    /// Leave to send files to this machine.
    pub may_send: bool,
}

/// All peers, in the order of their names. At most [`MAX_PEERS`]; further ones are refused.
#[derive(Clone, Debug, Default)]
pub struct Book {
    peers: Vec<KnownPeer>,
}

impl Book {
    /// All of them.
    pub fn peers(&self) -> &[KnownPeer] {
        &self.peers
    }

    /// Peer of this name.
    pub fn by_name(&self, name: &Name) -> Result<&KnownPeer, StoreError> {
        let peer = self.peers.iter().find(|peer| peer.name == *name);
        peer.ok_or_else(|| self.unknown(name))
    }

    /// Peer with this key.
    pub fn by_key(&self, key: PublicKey) -> Option<&KnownPeer> {
        self.peers.iter().find(|peer| peer.key == key)
    }

    /// Peer that is known to be at this ADDRESS:PORT, and the only one there. Names of hosts are compared
    /// without regard to case, and not looked up.
    pub fn by_address(&self, address: &str) -> Result<&KnownPeer, StoreError> {
        let mut there =
            self.peers.iter().filter(|peer| peer.address.as_deref().is_some_and(|own| is_one(own, address)));
        match (there.next(), there.next()) {
            (Some(peer), None) => Ok(peer),
            (None, _) => Err(StoreError::NobodyAt { address: address.into(), names: self.names() }),
            (Some(one), Some(other)) => {
                let names = [one, other].into_iter().chain(there).map(|peer| peer.name.clone()).collect();
                Err(StoreError::SeveralAt { address: address.into(), names })
            }
        }
    }

    /// Takes a new peer.
    pub fn add(&mut self, peer: KnownPeer) -> Result<(), StoreError> {
        if let Some(known) = self.by_key(peer.key) {
            return Err(StoreError::KeyTaken(known.name.clone()));
        }
        self.put(peer)
    }

    /// Takes a peer that was paired with: if its key is known, what is new of it; leave and address stay.
    pub fn pair(&mut self, mut peer: KnownPeer) -> Result<(), StoreError> {
        let known = self.peers.iter().position(|known| known.key == peer.key);
        if self.peers.iter().any(|known| known.name == peer.name && known.key != peer.key) {
            return Err(StoreError::NameTaken(peer.name));
        }
        if let Some(place) = known {
            let known = self.peers.remove(place);
            peer.may_send |= known.may_send;
            peer.address = peer.address.or(known.address);
        }
        self.put(peer)
    }

    /// Forgets a peer.
    pub fn remove(&mut self, name: &Name) -> Result<KnownPeer, StoreError> {
        let place = self.peers.iter().position(|peer| peer.name == *name);
        place.map(|place| self.peers.remove(place)).ok_or_else(|| self.unknown(name))
    }

    /// Gives a peer leave to send to this machine, or takes it back.
    pub fn allow(&mut self, name: &Name, may_send: bool) -> Result<(), StoreError> {
        self.by_name_mut(name)?.may_send = may_send;
        Ok(())
    }

    /// Keeps the address at which a peer was reached.
    pub fn move_to(&mut self, name: &Name, address: String) -> Result<(), StoreError> {
        let peer = self.by_name_mut(name)?;
        if !is_address(&address) {
            return Err(StoreError::Address(address));
        }
        peer.address = Some(address);
        Ok(())
    }

    fn by_name_mut(&mut self, name: &Name) -> Result<&mut KnownPeer, StoreError> {
        let place = self.peers.iter().position(|peer| peer.name == *name);
        match place {
            Some(place) => Ok(&mut self.peers[place]), // it was found there
            None => Err(self.unknown(name)),
        }
    }

    fn put(&mut self, peer: KnownPeer) -> Result<(), StoreError> {
        peer.check()?;
        if self.peers.iter().any(|known| known.name == peer.name) {
            return Err(StoreError::NameTaken(peer.name));
        }
        if self.peers.len() >= MAX_PEERS {
            return Err(StoreError::Full);
        }
        let place = self.peers.partition_point(|known| known.name < peer.name);
        self.peers.insert(place, peer);
        Ok(())
    }

    fn unknown(&self, name: &Name) -> StoreError {
        StoreError::UnknownPeer { name: name.clone(), names: self.names() }
    }

    fn names(&self) -> Vec<Name> {
        self.peers.iter().map(|peer| peer.name.clone()).collect()
    }

    /// File with them.
    pub(crate) fn encode(&self) -> Zeroizing<String> {
        TABLE.encode(self.peers.iter().map(KnownPeer::line).map(WipedLine))
    }

    /// Peers of a file.
    pub(crate) fn decode(octets: &[u8]) -> Result<Self, FileError> {
        let (_, lines) = TABLE.decode(octets)?;
        let mut book = Self::default();
        for line in lines {
            let peer = KnownPeer::of_line(line).ok_or(FileError::Damaged)?;
            book.add(peer).map_err(|_| FileError::Damaged)?;
        }
        Ok(book)
    }
}

/// Line that is wiped when dropped.
struct WipedLine(Zeroizing<String>);

impl AsRef<str> for WipedLine {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl KnownPeer {
    /// Refusal of what could not be written so that it comes back.
    fn check(&self) -> Result<(), StoreError> {
        if self.mode == Mode::Plain {
            return Err(StoreError::Plain(self.name.clone()));
        }
        match self.address.as_deref() {
            Some(address) if !is_address(address) => Err(StoreError::Address(address.into())),
            _ => Ok(()),
        }
    }

    fn line(&self) -> Zeroizing<String> {
        let Self { name, key, psk, mode, callsign, address, may_send } = self;
        let (key, psk) = (to_hex(&key.0), Zeroizing::new(to_hex(psk.octets())));
        let mode = mode_word(*mode);
        let callsign = callsign.as_ref().map_or(NONE, Callsign::as_str);
        let address = address.as_deref().unwrap_or(NONE);
        let leave = if *may_send { MAY_SEND } else { NONE };
        Zeroizing::new(format!("{name} {key} {} {mode} {callsign} {address} {leave}", *psk))
    }

    fn of_line(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let name = words.next()?.parse().ok()?;
        let key = PublicKey(from_hex(words.next()?)?);
        let psk = Secret::new(from_hex(words.next()?)?);
        let mode = mode_of(words.next()?)?;
        let callsign = optional(words.next()?, |word| word.parse().ok())?;
        let address = optional(words.next()?, |word| is_address(word).then(|| word.to_owned()))?;
        let may_send = optional(words.next()?, |word| (word == MAY_SEND).then_some(()))?.is_some();
        words.next().is_none().then_some(Self { name, key, psk, mode, callsign, address, may_send })
    }
}

const MAY_SEND: &str = "may-send";

/// Whether a text can stand as an address: HOST:PORT, of which only the form is looked at.
fn is_address(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let is_clean = text.bytes().all(|byte| byte.is_ascii_graphic());
    let is_bare_v6 = host.contains(':') && host.parse::<IpAddr>().is_ok();
    is_clean && text.len() <= MAX_ADDRESS_BYTES && !host.is_empty() && !is_bare_v6 && is_port(port)
}

/// Whether two texts name one ADDRESS:PORT.
fn is_one(one: &str, other: &str) -> bool {
    let in_figures = one.parse::<SocketAddr>().ok().zip(other.parse().ok());
    in_figures.map_or_else(|| one.eq_ignore_ascii_case(other), |(one, other)| one == other)
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok_and(|port| port > 0)
}

//! Machines that are peers, for a sealed transfer: `ship` sends, `ground` receives, and has another peer with
//! leave to send, `rogue`, who attacks.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;

use skyhaul_association::aead::TAG_BYTES;
use skyhaul_association::{
    Associations, Config, HEAD_BYTES, Identity, Name, PeerSettings, PublicKey, Secret, Token,
};
use skyhaul_core::Instant;
use skyhaul_core::envelope::Mode;
use skyhaul_net::machine_config;
use skyhaul_store::{KnownPeer, Store, StoreError, Whom, enter, random_secret};
use tempfile::TempDir;

/// Name of the receiver with the sender.
pub(crate) const GROUND: &str = "ground";
/// Segment that rides in a first message: none that anybody takes for one.
const SEGMENT_BYTES: usize = 20;

/// Folders of the machines, and what they share.
#[derive(Debug)]
pub(crate) struct Machines {
    pub(crate) ship: Machine,
    pub(crate) ground: Machine,
    pub(crate) rogue: Machine,
    psk: Secret,
}

/// Folders of a machine.
#[derive(Debug)]
pub(crate) struct Machine {
    folder: TempDir,
    identity: Identity,
}

impl Machines {
    pub(crate) fn new() -> io::Result<Self> {
        let psk = random_secret()?;
        let (ship, ground, rogue) = (Machine::new()?, Machine::new()?, Machine::new()?);
        for (name, sender) in [("ship", &ship), ("rogue", &rogue)] {
            sender.knows(GROUND, ground.key(), &psk)?;
            ground.knows(name, sender.key(), &psk)?;
        }
        Ok(Self { ship, ground, rogue, psk })
    }

    /// First messages of as many handshakes of the ship's, without counter or token: as somebody has them who
    /// listened to its first contact with a receiver that has forgotten it since.
    pub(crate) fn first_messages(&self, count: usize) -> io::Result<Vec<Vec<u8>>> {
        (0..count).map(|_| self.first_message()).collect()
    }

    fn first_message(&self) -> io::Result<Vec<u8>> {
        let failed = || io::Error::other("the ship opens no handshake");
        let mut ship = Associations::new(Config::default(), self.ship.identity.clone(), random_secret()?);
        let (key, psk, mode) = (self.ground.key(), self.psk.clone(), Mode::Encrypted);
        let peer = PeerSettings { key, psk, mode, token: Token::NONE, reserved: 0 };
        let peer = ship.add_peer(peer).map_err(|_| failed())?;
        let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
        let id = ship.open(Instant::ZERO, peer, anywhere).ok_or_else(failed)?;
        let mut datagram = [0; HEAD_BYTES + SEGMENT_BYTES + TAG_BYTES];
        ship.seal(Instant::ZERO, id, &mut datagram).map_err(|_| failed())?;
        Ok(ship.poll_transmit().ok_or_else(failed)?.datagram)
    }
}

impl Machine {
    fn new() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let identity = store(&folder).machine_or_new().map_err(io::Error::other)?.identity();
        Ok(Self { folder, identity })
    }

    pub(crate) fn key(&self) -> PublicKey {
        self.identity.public()
    }

    /// Makes another machine known to it, with leave to send.
    fn knows(&self, name: &str, key: PublicKey, psk: &Secret) -> io::Result<()> {
        let name: Name = name.parse().map_err(|_| io::Error::other("no name of a peer"))?;
        let (psk, mode) = (psk.clone(), Mode::Encrypted);
        let peer = KnownPeer { name, key, psk, mode, callsign: None, address: None, may_send: true };
        let added: Result<(), StoreError> = store(&self.folder).change_book(|book| book.add(peer));
        added.map_err(io::Error::other)
    }

    /// Associations of its own with this peer, which is called.
    pub(crate) fn calling(&self, peer: PublicKey) -> io::Result<Associations> {
        let store = store(&self.folder);
        let machine = store.machine_or_new().map_err(io::Error::other)?;
        let entered = enter(&store, &machine, machine_config(), Whom::Called(peer));
        Ok(entered.map_err(io::Error::other)?.associations)
    }

    /// Has a command run on it.
    pub(crate) fn runs(&self, command: &mut Command) {
        command.env("XDG_CONFIG_HOME", self.folder.path().join("config"));
        command.env("XDG_STATE_HOME", self.folder.path().join("state"));
    }
}

/// What a machine has on its disk, where its binary looks for it.
fn store(folder: &TempDir) -> Store {
    let place = |kind: &str| folder.path().join(kind).join("skyhaul");
    Store::at(place("config"), place("state"))
}

//! Two ends and the wire between them, for tests: every datagram is seen, and nothing happens by itself.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::vec;
use std::vec::Vec;

use skyhaul_core::Instant;
use skyhaul_core::envelope::Mode;

use crate::nonces::{forget, recording_aead};
use crate::{
    AssociationId, Associations, Callsign, Config, Event, HEAD_BYTES, Identity, OVERHEAD_BYTES, Offer,
    PeerId, PeerSettings, SealError, Sealed, Secrecy, Secret, Token,
};

pub(crate) const A: usize = 0;
pub(crate) const B: usize = 1;

/// Datagram on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Datagram {
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) octets: Vec<u8>,
}

/// What an owner has on its disk of its peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Disk {
    pub(crate) token: Token,
    pub(crate) reserved: u64,
    pub(crate) is_writable: bool,
}

/// One end with its owner.
pub(crate) struct End {
    pub(crate) associations: Associations,
    pub(crate) peer: PeerId,
    pub(crate) address: SocketAddr,
    pub(crate) disk: Disk,
    pub(crate) events: Vec<Event>,
    /// Segments that were delivered, in order.
    pub(crate) delivered: Vec<Vec<u8>>,
    pub(crate) early: usize,
    pub(crate) last: Option<AssociationId>,
    settings: PeerSettings,
    identity: Identity,
    lives: u8,
}

/// Two ends and what is under way between them.
pub(crate) struct World {
    pub(crate) now: Instant,
    pub(crate) ends: [End; 2],
    pub(crate) wire: Vec<Datagram>,
}

pub(crate) fn identity(end: usize) -> Identity {
    Identity::new(Secret::new([0x11 * (end as u8 + 1); 32]))
}

/// Callsign of an end's operator: a short one, and the longest.
pub(crate) fn callsign(end: usize) -> Callsign {
    ["DL1ABC", "K1ABCDEF/P-1234"][end].parse().expect("a callsign")
}

fn settings(end: usize, mode: Mode) -> PeerSettings {
    let key = identity(1 - end).public();
    PeerSettings { key, psk: Secret::new([0x33; 32]), mode, token: Token::NONE, reserved: 0 }
}

impl End {
    fn new(end: usize, mode: Mode, aes: bool) -> Self {
        let address = SocketAddr::from(([192, 0, 2, end as u8 + 1], 4700));
        let config = Config { offer: Offer { aes }, maker: recording_aead };
        let identity = identity(end);
        let mut associations = Associations::new(config, identity.clone(), Secret::new([end as u8; 32]));
        associations = associations.with_callsign(Some(&callsign(end)));
        let peer = associations.add_peer(settings(end, mode)).unwrap();
        let disk = Disk { token: Token::NONE, reserved: 0, is_writable: true };
        let settings = settings(end, mode);
        let (events, delivered) = (Vec::new(), Vec::new());
        Self {
            associations,
            peer,
            address,
            disk,
            events,
            delivered,
            early: 0,
            last: None,
            settings,
            identity,
            lives: 1,
        }
    }

    /// Another life of this end: what is on the disk remains.
    pub(crate) fn restart(&mut self, aes: bool) {
        let config = Config { offer: Offer { aes }, maker: recording_aead };
        self.lives += 1;
        let seed = Secret::new([self.lives; 32]);
        let seed = Secret::new(seed.mac(&[&self.identity.public().0]));
        let end = usize::from(self.identity.public() == identity(B).public());
        let associations = Associations::new(config, self.identity.clone(), seed);
        self.associations = associations.with_callsign(Some(&callsign(end)));
        let Disk { token, reserved, .. } = self.disk;
        let settings = PeerSettings { token, reserved, ..self.settings.clone() };
        self.peer = self.associations.add_peer(settings).unwrap();
        self.last = None;
    }

    /// What an owner does with events: it writes down what it is asked to.
    fn attend(&mut self) {
        while let Some(event) = self.associations.poll_event() {
            match event {
                Event::Token { token, .. } if self.disk.is_writable => self.disk.token = token,
                Event::Reserve { peer, up_to } if self.disk.is_writable => {
                    let reserved = std::mem::replace(&mut self.disk.reserved, up_to);
                    self.associations.reserved(peer, reserved..up_to);
                }
                Event::Accepted { association, .. } => self.last = Some(association),
                _ => {}
            }
            self.events.push(event);
        }
        while let Some(released) = self.associations.poll_released() {
            self.delivered.push(released.segment);
        }
    }
}

impl World {
    /// Ends that know each other, whose disks work.
    pub(crate) fn new(mode: Mode) -> Self {
        Self::with_aes(mode, [true, true])
    }

    pub(crate) fn with_aes(mode: Mode, aes: [bool; 2]) -> Self {
        forget();
        let ends = [End::new(A, mode, aes[A]), End::new(B, mode, aes[B])];
        let mut world = Self { now: Instant::from_ns(1_000_000_000), ends, wire: Vec::new() };
        world.collect();
        world
    }

    /// Ends that talked already: each holds a token of the other.
    pub(crate) fn acquainted(mode: Mode) -> Self {
        let mut world = Self::new(mode);
        for end in [A, B] {
            let id = world.open(end);
            world.send(end, id, b"hello");
            world.settle();
            world.ends[end].associations.close(id);
            let other = &mut world.ends[1 - end];
            other.associations.close(other.last.unwrap());
        }
        for end in &mut world.ends {
            end.last = None;
            end.delivered.clear();
            end.attend();
            end.events.clear();
        }
        world
    }

    pub(crate) fn open(&mut self, end: usize) -> AssociationId {
        let (peer, to) = (self.ends[end].peer, self.ends[1 - end].address);
        let id = self.ends[end].associations.open(self.now, peer, to).unwrap();
        self.ends[end].last = Some(id);
        id
    }

    /// Seals a segment; it is on the wire then, behind what had to leave before. One that may not go to an
    /// unproven address is lost.
    pub(crate) fn send(&mut self, end: usize, id: AssociationId, segment: &[u8]) {
        let mut octets = vec![0; segment.len() + OVERHEAD_BYTES];
        octets[HEAD_BYTES..HEAD_BYTES + segment.len()].copy_from_slice(segment);
        let sealed = self.ends[end].associations.seal(self.now, id, &mut octets);
        assert!(matches!(sealed, Ok(_) | Err(SealError::Unproven)), "{sealed:?}");
        self.collect();
        if let Ok(Sealed::InPlace(to)) = sealed {
            let from = self.ends[end].address;
            self.wire.push(Datagram { from, to, octets });
        }
    }

    /// Brings what the ends have to say onto the wire.
    pub(crate) fn collect(&mut self) {
        for end in &mut self.ends {
            end.attend();
            let from = end.address;
            while let Some(outgoing) = end.associations.poll_transmit() {
                self.wire.push(Datagram { from, to: outgoing.to, octets: outgoing.datagram });
            }
        }
    }

    /// Hands a datagram to whoever has its address.
    pub(crate) fn deliver(&mut self, datagram: &Datagram) {
        if let Some(end) = self.ends.iter_mut().find(|end| end.address == datagram.to) {
            let mut octets = datagram.octets.clone();
            if let Some(arrived) = end.associations.handle(self.now, datagram.from, &mut octets) {
                end.early += usize::from(arrived.secrecy == Secrecy::Early);
                end.delivered.push(octets[arrived.segment].to_vec());
                end.last = Some(arrived.association);
            }
        }
        self.collect();
    }

    pub(crate) fn deliver_all(&mut self, datagrams: &[Datagram]) {
        for datagram in datagrams {
            self.deliver(datagram);
        }
    }

    /// Delivers everything until nobody has anything to say, and gives what was on the wire.
    pub(crate) fn settle(&mut self) -> Vec<Datagram> {
        let mut seen = Vec::new();
        while !self.wire.is_empty() {
            let datagram = self.wire.remove(0);
            self.deliver(&datagram);
            seen.push(datagram);
            assert!(seen.len() < 1000, "the ends never stop to talk");
        }
        seen
    }

    /// Lets timers fire until `ns` have passed.
    pub(crate) fn pass(&mut self, ns: u64) {
        let end_of_it = self.now.after(ns);
        while let Some(at) = self.ends.iter().filter_map(|end| end.associations.deadline()).min() {
            if at > end_of_it {
                break;
            }
            self.now = self.now.max(at);
            for end in &mut self.ends {
                end.associations.handle_timeout(self.now);
            }
            self.collect();
        }
        self.now = end_of_it;
    }

    /// Datagrams of an end on the wire, taken off it.
    pub(crate) fn take(&mut self, end: usize) -> Vec<Datagram> {
        let from = self.ends[end].address;
        let (taken, left) = self.wire.drain(..).partition(|datagram| datagram.from == from);
        self.wire = left;
        taken
    }

    /// How often each segment was delivered to an end.
    pub(crate) fn deliveries(&self, end: usize) -> BTreeMap<Vec<u8>, usize> {
        let mut times = BTreeMap::new();
        for segment in &self.ends[end].delivered {
            *times.entry(segment.clone()).or_default() += 1;
        }
        times
    }
}

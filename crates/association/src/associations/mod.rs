//! All associations of an end: peers, handshakes, indices and timers, behind one set of calls.

mod asking;
mod calling;
mod events;
mod identifying;
mod messages;
mod moving;
mod records;
mod renewing;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::net::SocketAddr;
use core::ops::Range;

use skyhaul_core::{Instant, Timer, TimerQueue};

pub use events::{Arrived, Counters, Event, Outgoing, Released, SealError, Sealed, Secrecy};

use crate::aead::{AeadMaker, ring_aead};
use crate::association::Association;
use crate::cookie::Doorkeeper;
use crate::message::Offer;
use crate::name::{CALLSIGN_BYTES, Callsign, CallsignOctets};
use crate::noise::Identity;
use crate::peers::{Peer, PeerError, PeerId, PeerSettings, Peers};
use crate::pending::{Digest, Pending, PendingTable};
use crate::secret::Entropy;
use crate::way::Way;
use crate::wish::Wish;
use crate::{Index, MAX_INDEX, Secret};

/// Associations of a peer: one for each of its processes, more than a receiver of files has transfers of one
/// peer under way or waiting. A further one that is fresh or proven closes the one that was used least
/// lately.
pub const MAX_ASSOCIATIONS_PER_PEER: usize = 32;

/// Events that wait for [`Associations::poll_event`].
pub const MAX_EVENTS: usize = 1024;

/// Datagrams, and segments, that wait for their poll.
pub const MAX_WAITING: usize = 64;

/// Name of an association at this end. It tells the family of the addresses that the peer has, as sizes of
/// packets depend on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssociationId(u64);

impl AssociationId {
    fn new(number: u64, address: SocketAddr) -> Self {
        Self(number << 1 | u64::from(address.is_ipv6()))
    }

    /// Number that no other association of this end has.
    pub fn number(self) -> u64 {
        self.0
    }

    /// Whether the peer has addresses of IPv6; else of IPv4.
    pub fn is_ipv6(self) -> bool {
        self.0 & 1 != 0
    }
}

/// What an owner decides.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// AEADs that this end is good at.
    pub offer: Offer,
    /// Maker of AEADs.
    pub maker: AeadMaker,
}

impl Default for Config {
    /// No AES, which every processor can do without.
    fn default() -> Self {
        Self { offer: Offer { aes: false }, maker: ring_aead }
    }
}

/// Whose records or answers come with an index.
#[derive(Clone, Copy, Debug)]
enum Owner {
    Association(AssociationId),
    Pending(Digest),
}

/// Association and its timer.
#[derive(Debug)]
struct Entry {
    /// Apart, since a tree keeps room for nearly twice the values that it has.
    association: Box<Association>,
    timer: Option<Timer>,
}

/// All associations of an end.
#[derive(Debug)]
pub struct Associations {
    config: Config,
    identity: Identity,
    /// Callsign of this end's operator; all 0 for none.
    callsign: CallsignOctets,
    entropy: Entropy,
    doorkeeper: Doorkeeper,
    peers: Peers,
    pending: PendingTable,
    entries: BTreeMap<AssociationId, Entry>,
    timers: TimerQueue,
    indices: BTreeMap<Index, Owner>,
    outgoing: VecDeque<Outgoing>,
    released: VecDeque<Released>,
    /// Associations whose peer moved.
    moved: BTreeSet<AssociationId>,
    events: VecDeque<Event>,
    counters: Counters,
    next_id: u64,
}

impl Associations {
    /// End with this identity and no peer. `seed` is 32 octets of the operating system's randomness, used for
    /// nothing else; equal seeds give equal keys.
    pub fn new(config: Config, identity: Identity, seed: Secret) -> Self {
        let mut entropy = Entropy::new(seed);
        Self {
            config,
            identity,
            callsign: [0; CALLSIGN_BYTES],
            doorkeeper: Doorkeeper::new(&entropy.draw()),
            entropy,
            peers: Peers::default(),
            pending: PendingTable::default(),
            entries: BTreeMap::new(),
            timers: TimerQueue::default(),
            indices: BTreeMap::new(),
            outgoing: VecDeque::new(),
            released: VecDeque::new(),
            moved: BTreeSet::new(),
            events: VecDeque::new(),
            counters: Counters::default(),
            next_id: 0,
        }
    }

    /// End whose operator has this callsign. In mode `authenticated` it is told in clear: in both messages of
    /// a handshake, and every [`crate::CALLSIGN_NS`] in which something is sent.
    #[must_use]
    pub fn with_callsign(mut self, callsign: Option<&Callsign>) -> Self {
        self.callsign = callsign.map_or([0; CALLSIGN_BYTES], Callsign::octets);
        self
    }

    /// Takes a peer, up to [`crate::MAX_PEERS`].
    pub fn add_peer(&mut self, settings: PeerSettings) -> Result<PeerId, PeerError> {
        if settings.key == self.identity.public() {
            return Err(PeerError::Known);
        }
        let peer = self.peers.add(settings, self.entropy.draw())?;
        self.ask(peer);
        Ok(peer)
    }

    /// Forgets a peer, its associations and its handshakes.
    pub fn remove_peer(&mut self, peer: PeerId) {
        for id in self.of(peer) {
            self.close(id);
        }
        for digest in self.pending.of(peer) {
            self.forget(&digest);
        }
        self.peers.remove(peer);
    }

    /// Owner's word that these counters, asked for by [`Event::Reserve`], are written down as used, and used
    /// by nobody else: neither by an earlier life of this end nor by another process of its machine.
    pub fn reserved(&mut self, peer: PeerId, counters: Range<u64>) {
        if let Some(peer) = self.peers.get_mut(peer) {
            peer.reserve(counters);
        }
    }

    /// Association with a peer at an address. Nothing leaves before something is sealed. `None` for an
    /// unknown peer, and one that has [`MAX_ASSOCIATIONS_PER_PEER`] already.
    pub fn open(&mut self, now: Instant, peer: PeerId, address: SocketAddr) -> Option<AssociationId> {
        self.peers.get(peer)?;
        self.has_room(peer).then(|| self.create(now, peer, Way::new(address), true))
    }

    /// Datagram that leaves now, before what was sealed since.
    pub fn poll_transmit(&mut self) -> Option<Outgoing> {
        self.outgoing.pop_front()
    }

    /// Segment that came in a message, or was withheld, in the order of arrival.
    pub fn poll_released(&mut self) -> Option<Released> {
        self.released.pop_front()
    }

    /// Association whose peer has another address: what was found out about the way to it says nothing any
    /// more.
    pub fn poll_moved(&mut self) -> Option<AssociationId> {
        self.moved.pop_first()
    }

    /// Next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Whether an event waits.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Counters so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Time at which [`Self::handle_timeout`] is to be called.
    pub fn deadline(&self) -> Option<Instant> {
        [self.timers.first(), self.pending.deadline()].into_iter().flatten().min()
    }

    /// Fires the timers that are due: messages go again, keys are wiped, handshakes forgotten.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(digest) = self.pending.expired(now) {
            self.forget(&digest);
        }
        while let Some(id) = self.timers.pop_due(now) {
            self.fire(now, AssociationId(id));
        }
    }

    fn fire(&mut self, now: Instant, id: AssociationId) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        entry.timer = None;
        if let Some(freed) = entry.association.wipe_late(now) {
            self.indices.remove(&freed);
        }
        while let Some(wish) = self.entries.get_mut(&id).and_then(|entry| entry.association.wish(now)) {
            self.fulfil(now, id, wish);
        }
        self.retime(id);
    }

    fn fulfil(&mut self, now: Instant, id: AssociationId, wish: Wish) {
        match wish {
            Wish::Call(datagram) => self.transmit_to(id, datagram),
            Wish::CallAnew => {
                // Keys that a handshake was made with before are good ones.
                let _ = self.call(now, id, &[]);
            }
            Wish::Confirm => self.send_empty(now, id),
            Wish::Challenge => self.send_challenge(now, id),
            Wish::GiveUp => {
                self.hang_up(id);
                self.tell(Event::Unanswered { association: id });
            }
            Wish::Idle => self.rest(id),
        }
    }

    /// Wipes the keys of an idle association; one that the peer opened goes with them.
    fn rest(&mut self, id: AssociationId) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        if !entry.association.is_ours() {
            return self.close(id);
        }
        let locals: Vec<Index> = entry.association.locals().collect();
        entry.association.wipe();
        for local in locals {
            self.indices.remove(&local);
        }
    }

    fn forget(&mut self, digest: &Digest) {
        let pending = self.pending.remove(digest);
        self.bury(pending);
    }

    /// Frees what a handshake held, and closes the association that it began if no keys of that were ever
    /// proven.
    fn bury(&mut self, pending: Option<Pending>) {
        let Some(pending) = pending else { return };
        if let Some(local) = pending.local() {
            self.indices.remove(&local);
        }
        let is_proven = |id| self.entries.get(&id).is_some_and(|entry| entry.association.is_proven());
        if let Some(begun) = pending.begun().filter(|&id| !is_proven(id)) {
            self.close(begun);
        }
    }

    fn create(&mut self, now: Instant, peer: PeerId, way: Way, is_ours: bool) -> AssociationId {
        self.next_id += 1;
        let id = AssociationId::new(self.next_id, way.address());
        let association = Box::new(Association::new(peer, way, is_ours, now));
        self.entries.insert(id, Entry { association, timer: None });
        id
    }

    /// Ends an association and wipes its keys. The peer is not told.
    pub fn close(&mut self, id: AssociationId) {
        let Some(mut entry) = self.entries.remove(&id) else { return };
        self.timers.set(&mut entry.timer, id.0, None);
        self.moved.remove(&id);
        for local in entry.association.locals() {
            self.indices.remove(&local);
        }
        self.tell(Event::Closed { association: id });
    }

    fn of(&self, peer: PeerId) -> Vec<AssociationId> {
        let of_peer = self.entries.iter().filter(|(_, entry)| entry.association.peer() == peer);
        of_peer.map(|(&id, _)| id).collect()
    }

    fn has_room(&self, peer: PeerId) -> bool {
        self.of(peer).len() < MAX_ASSOCIATIONS_PER_PEER
    }

    /// Closes the association of a peer that was used least lately, if there is no room.
    fn make_room(&mut self, peer: PeerId) {
        if self.has_room(peer) {
            return;
        }
        let used_at = |id: &AssociationId| self.entries[id].association.used_at();
        if let Some(oldest) = self.of(peer).into_iter().min_by_key(used_at) {
            self.close(oldest);
        }
    }

    /// Index that nobody at this end has. There are far fewer indices in use than not.
    fn free_index(&mut self) -> Index {
        loop {
            let [a, b, c, ..] = *self.entropy.draw().octets();
            let index = Index::new(u32::from_be_bytes([0, a, b, c]) & MAX_INDEX);
            if let Some(index) = index.filter(|index| !self.indices.contains_key(index)) {
                return index;
            }
        }
    }

    fn retime(&mut self, id: AssociationId) {
        if let Some(entry) = self.entries.get_mut(&id) {
            self.timers.set(&mut entry.timer, id.0, entry.association.deadline());
        }
    }

    fn tell(&mut self, event: Event) {
        push(&mut self.events, MAX_EVENTS, event, &mut self.counters);
    }

    /// Early data of a handshake goes to its association.
    fn doubt(&mut self, id: AssociationId, digest: Digest) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.association.unproven_mut().note(digest);
        }
    }

    fn release(&mut self, association: AssociationId, segment: Vec<u8>) {
        if !segment.is_empty() {
            push(&mut self.released, MAX_WAITING, Released { association, segment }, &mut self.counters);
        }
    }

    fn transmit(&mut self, to: SocketAddr, datagram: Vec<u8>) {
        push(&mut self.outgoing, MAX_WAITING, Outgoing { to, datagram }, &mut self.counters);
    }

    fn transmit_to(&mut self, id: AssociationId, datagram: Vec<u8>) {
        if let Some(to) = self.entries.get(&id).map(|entry| entry.association.way().address()) {
            self.transmit(to, datagram);
        }
    }

    /// Asks the owner to reserve counters where it is time.
    fn ask(&mut self, peer: PeerId) {
        if let Some(up_to) = self.peers.get_mut(peer).and_then(Peer::ask) {
            self.tell(Event::Reserve { peer, up_to });
        }
    }
}

/// Appends to a bounded queue; what finds no room is counted.
fn push<T>(queue: &mut VecDeque<T>, most: usize, value: T, counters: &mut Counters) {
    if queue.len() < most {
        queue.push_back(value);
    } else {
        counters.overflows += 1;
    }
}

//! Endpoint of any protocol family: all connections behind one carrier, the paths that they share, and who
//! may send next (owners: endpoint > path > connection).

mod application;
mod budget;
mod driving;
mod events;
mod family;
mod places;
mod slots;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use crate::event::Refusal;
use crate::{
    ConnectError, ConnectionId, DeclaredRate, Event, EventSink, Instant, Path, PathConfig, PathIndex,
    PathName, Paths, Scheduler, SchedulerEntry, Stream, Timer, TimerQueue,
};

pub use budget::Room;
use budget::{Booked, Budget};
use events::{EventQueue, MAX_EVENTS_PER_CONNECTION, Waiting};
pub use family::{Arrival, Connection, Context, Family, Hosted, Key, Peer, Stage};
pub use places::{Bounds, Place};
use places::{Places, Seat};
use slots::Slots;

/// Answers of no connection that wait; further ones are not sent.
const MAX_ANSWERS: usize = 64;
/// Least size of a path's largest packet, in bytes, for a family that has no reason to go below.
pub const USUAL_MIN_MTU_BYTES: u32 = 296;

/// Parameters of an endpoint, whatever its protocol.
#[derive(Clone, Copy, Debug)]
pub struct HostConfig<P> {
    /// Largest IP packet on any path, in bytes; if it is less than the least, that.
    pub mtu_bytes: u32,
    /// Least size of it: usually [`USUAL_MIN_MTU_BYTES`].
    pub min_mtu_bytes: u32,
    /// Bytes that the carrier puts around each packet's body to a peer (headers of IP, UDP).
    pub carrier_bytes: fn(P) -> u32,
    /// Bytes kept free in front of each segment.
    pub head_bytes: u32,
    /// Bytes kept free behind each segment.
    pub tail_bytes: u32,
    /// Bounds of the number of connections.
    pub bounds: Bounds,
    /// Host that a peer's address is of, as a number: hosts have a bound of their own. `None`: there is none.
    pub host_of: Option<fn(P) -> u64>,
    /// Bytes that all connections together keep of what their peers sent, at most.
    pub receive_budget_bytes: u64,
}

impl<P> HostConfig<P> {
    fn path(&self, peer: P) -> PathConfig {
        PathConfig {
            mtu_bytes: self.mtu_bytes.max(self.min_mtu_bytes),
            carrier_bytes: (self.carrier_bytes)(peer),
            head_bytes: self.head_bytes,
            tail_bytes: self.tail_bytes,
        }
    }
}

/// Connection with its place among those of its endpoint.
#[derive(Clone, Debug)]
struct Slot<F: Family> {
    key: Key<F::Peer>,
    /// Path that it entered.
    path: PathIndex,
    connection: F::Connection,
    timer: Option<Timer>,
    entry: SchedulerEntry,
    /// Handed out to the application, or on its way there.
    is_announced: bool,
    /// Events that the application was not told yet.
    waiting: Waiting,
    /// The application has let go of it.
    is_released: bool,
    /// Place that it has, if a peer opened it.
    seat: Option<Seat>,
    /// Bytes that it keeps, as far as the budget knows.
    booked: Booked,
}

impl<F: Family> Slot<F> {
    /// True if its ports, and with [`Self::is_released`] the slot itself, are needed no more.
    fn is_retirable(&self) -> bool {
        (self.is_released || !F::KEEPS_PORTS) && self.connection.is_done()
    }

    /// True if it has a place among those of unproven peers.
    fn is_unproven(&self) -> bool {
        self.seat.as_ref().is_some_and(Seat::is_unproven)
    }

    /// Takes note of a proof or an end, and hands a connection that a peer opened to the application as soon
    /// as that may have it.
    fn accept_or_settle(
        &mut self,
        id: ConnectionId,
        places: &mut Places,
        accepted: &mut VecDeque<ConnectionId>,
        events: &mut EventQueue,
    ) {
        let stage = self.connection.stage();
        let is_over = stage == Stage::Closed;
        if let Some(seat) = self.seat.as_mut().filter(|seat| seat.is_unproven())
            && (is_over || !self.connection.is_unproven())
        {
            places.settle(id, seat, is_over);
        }
        if self.is_announced || stage == Stage::Opening {
            return;
        }
        if is_over {
            self.release(id, events); // it never came to be: nobody waits for it
        } else if self.seat.as_mut().is_none_or(|seat| places.may_announce(seat)) {
            self.is_announced = true;
            accepted.push_back(id);
        }
    }

    /// Tells the application what happened to it, once that has it, or is to have it next: of a connection
    /// that it does not know an event would be lost.
    fn tell(&mut self, id: ConnectionId, events: &mut EventQueue) {
        if !self.is_announced && !self.is_released {
            return;
        }
        while let Some(event) = self.connection.poll_event() {
            if !self.is_released {
                events.push(id, &mut self.waiting, event);
            }
        }
    }

    /// Takes note that the application has let go of it: nobody is told of its events any more.
    fn release(&mut self, id: ConnectionId, events: &mut EventQueue) {
        self.is_released = true;
        events.forget(id, &mut self.waiting);
    }
}

/// All connections behind one carrier.
#[derive(Clone, Debug)]
pub struct Endpoint<F: Family> {
    /// Parts that are the protocol's own.
    pub family: F,
    config: HostConfig<F::Peer>,
    listening: BTreeSet<u16>,
    slots: Slots<Slot<F>>,
    keys: BTreeMap<Key<F::Peer>, ConnectionId>,
    paths: Paths<PathName<F::Peer>>,
    timers: TimerQueue,
    scheduler: Scheduler<F::Peer>,
    accepted: VecDeque<ConnectionId>,
    events: EventQueue,
    places: Places,
    budget: Budget,
    answers: VecDeque<(F::Peer, F::Segment<'static>)>,
    /// Random values for connections to come.
    pub random: Stream,
    last_id: ConnectionId,
}

impl<F: Family> Endpoint<F> {
    /// Endpoint without connections, whose random values come from `random`.
    pub fn new(family: F, config: HostConfig<F::Peer>, random: Stream) -> Self {
        Self {
            family,
            config,
            listening: BTreeSet::new(),
            slots: Slots::default(),
            keys: BTreeMap::new(),
            paths: Paths::default(),
            timers: TimerQueue::default(),
            scheduler: Scheduler::default(),
            accepted: VecDeque::new(),
            events: EventQueue::default(),
            places: Places::new(config.bounds, config.host_of.is_some()),
            budget: Budget::new(config.receive_budget_bytes),
            answers: VecDeque::new(),
            random,
            last_id: 0,
        }
    }

    /// Number for a new connection.
    pub fn take_id(&mut self) -> ConnectionId {
        self.last_id += 1;
        self.last_id
    }

    /// Room for a connection that is opened here.
    pub fn check_room(&self) -> Result<(), ConnectError> {
        if self.places.has_room(self.slots.len()) { Ok(()) } else { Err(ConnectError::TooManyConnections) }
    }

    /// Place for a connection that `peer` opens.
    pub fn place_for(&self, peer: F::Peer) -> Place {
        self.places.find(self.host_of(peer), self.slots.len())
    }

    /// Place for a connection that `peer` opened and has proven.
    pub fn place_for_proven(&self, peer: F::Peer) -> Place {
        self.places.find_proven(self.host_of(peer), self.slots.len())
    }

    /// True if one more connection may be handed out before its peer is proven, where so many others, which
    /// are gone, count as well.
    pub fn has_early_room(&self, others: usize) -> bool {
        self.places.has_early_room(others)
    }

    /// True if there is room for a connection that `peer` opened and has proven.
    pub fn has_room_for(&self, peer: F::Peer) -> bool {
        self.places.has_room_for(self.host_of(peer), self.slots.len())
    }

    fn host_of(&self, peer: F::Peer) -> u64 {
        self.config.host_of.map_or(0, |host_of| host_of(peer))
    }

    /// True if a connection was handed to the application.
    pub fn is_announced(&self, id: ConnectionId) -> bool {
        self.slots.get(id).is_some_and(|slot| slot.is_announced)
    }

    /// Bytes that all connections keep of what their peers sent.
    pub fn kept_bytes(&self) -> u64 {
        self.budget.kept_bytes()
    }

    /// Bytes of the largest segment to a peer that nothing is known of.
    pub fn max_segment_bytes(&self, peer: F::Peer) -> usize {
        self.new_path(peer).max_segment_bytes()
    }

    /// Path to a peer that nothing is known of.
    pub fn new_path(&self, peer: F::Peer) -> Path {
        Path::new(self.config.path(peer))
    }

    /// True if openings to this port are accepted.
    pub fn listens(&self, port: u16) -> bool {
        self.listening.contains(&port)
    }

    /// Connection that has this key.
    pub fn find(&self, key: Key<F::Peer>) -> Option<ConnectionId> {
        self.keys.get(&key).copied()
    }

    /// Connection by its number.
    pub fn get(&self, id: ConnectionId) -> Option<&F::Connection> {
        self.slots.get(id).map(|slot| &slot.connection)
    }

    /// State of a connection.
    pub fn state(&self, id: ConnectionId) -> Option<<F::Connection as Connection>::State> {
        self.get(id).map(Connection::state)
    }

    /// Stage of a connection's life.
    pub fn stage(&self, id: ConnectionId) -> Option<Stage> {
        self.get(id).map(Connection::stage)
    }

    /// Peer and ports of a connection.
    pub fn key(&self, id: ConnectionId) -> Option<Key<F::Peer>> {
        self.slots.get(id).map(|slot| slot.key)
    }

    /// Connections to a peer that have their ports, in the order of those.
    pub fn connections_to(&self, peer: F::Peer) -> Vec<ConnectionId> {
        self.keys.iter().filter(|(key, _)| key.peer == peer).map(|(_, &id)| id).collect()
    }

    /// Oldest connection that was not handed out yet and of which `is_sought` holds.
    pub fn find_embryo(&self, is_sought: impl Fn(&F::Connection) -> bool) -> Option<ConnectionId> {
        let mut slots = self.slots.iter();
        slots.find(|(_, slot)| !slot.is_announced && is_sought(&slot.connection)).map(|(id, _)| id)
    }

    /// Path to a peer for one more connection, which [`Self::insert`] must bring. `declared`: the rate that
    /// the connection declares.
    pub fn enter_path(&mut self, now: Instant, peer: F::Peer, declared: Option<DeclaredRate>) -> &mut Path {
        self.paths.enter(now, self.family.path_name(peer), self.config.path(peer), declared)
    }

    /// Path to a peer for a change, while a connection uses it.
    pub fn path_mut(&mut self, peer: F::Peer) -> Option<&mut Path> {
        self.paths.get_mut(self.paths.find(&self.family.path_name(peer))?)
    }

    /// Takes a connection in, right after [`Self::enter_path`] for its peer. It has its key from now on,
    /// whosever that was. `is_ours`: opened here, so that it need not be handed out.
    pub fn insert(&mut self, id: ConnectionId, key: Key<F::Peer>, connection: F::Connection, is_ours: bool) {
        let Some(path) = self.paths.find(&self.family.path_name(key.peer)) else {
            return debug_assert!(false, "{id} has entered no path");
        };
        self.keys.insert(key, id);
        let host = self.host_of(key.peer);
        let seat = (!is_ours).then(|| self.places.enter(id, host, connection.is_unproven()));
        let slot = Slot {
            key,
            path,
            connection,
            timer: None,
            entry: SchedulerEntry::default(),
            is_announced: is_ours,
            waiting: Waiting::default(),
            is_released: false,
            seat,
            booked: Booked::default(),
        };
        self.slots.insert(id, slot);
        self.touch(id);
    }

    /// Connection and its path, for a change; [`Self::touch`] must follow. It knows how much it may keep.
    pub fn get_mut(&mut self, id: ConnectionId) -> Option<(&mut F::Connection, &mut Path)> {
        let slot = self.slots.get_mut(id)?;
        slot.connection.set_room(self.budget.room(&slot.booked, slot.is_unproven()));
        Some((&mut slot.connection, self.paths.get_mut(slot.path)?))
    }

    /// Changes a connection, and asks it in its turn what there is to send. `None`: there is no such
    /// connection.
    pub fn change<R>(&mut self, id: ConnectionId, change: impl FnOnce(&mut F::Connection) -> R) -> Option<R> {
        let result = change(&mut self.slots.get_mut(id)?.connection);
        self.touch(id);
        Some(result)
    }

    /// Counts and tells of a segment that was refused.
    pub fn refuse(&mut self, why: Refusal, now: Instant, sink: &mut dyn EventSink) {
        self.family.count_refusal(why);
        if sink.wants() {
            sink.emit(now, 0, Event::Refused { why });
        }
    }

    /// Sends an answer of no connection, unless too many wait.
    pub fn answer(&mut self, peer: F::Peer, segment: F::Segment<'static>) {
        if self.answers.len() < MAX_ANSWERS {
            self.answers.push_back((peer, segment));
        }
    }

    /// Collects a connection's events and puts it in line for sending.
    pub fn touch(&mut self, id: ConnectionId) {
        let Some(slot) = self.slots.get_mut(id) else { return };
        if !slot.is_announced || slot.is_unproven() {
            slot.accept_or_settle(id, &mut self.places, &mut self.accepted, &mut self.events);
        }
        let (kept_bytes, is_unproven) = (slot.connection.kept_bytes(), slot.is_unproven());
        if slot.booked != Booked::of(kept_bytes, is_unproven) {
            self.budget.book(&mut slot.booked, Booked::of(kept_bytes, is_unproven));
        }
        slot.tell(id, &mut self.events);
        if slot.is_retirable() {
            self.retire(id);
        } else {
            let Slot { path, ref mut entry, .. } = *slot;
            self.scheduler.touch(id, entry, path, || self.paths.get_mut(path));
        }
    }

    /// Frees the ports of a connection that is over, and forgets it once the application has let go.
    fn retire(&mut self, id: ConnectionId) {
        let Some(slot) = self.slots.get_mut(id) else { return };
        let (key, index) = (slot.key, slot.path);
        self.timers.set(&mut slot.timer, id, None);
        if let Some(path) = self.paths.get_mut(index) {
            slot.entry.leave(path);
        }
        if self.keys.get(&key) == Some(&id) {
            self.keys.remove(&key);
        }
        self.family.on_retired(key, &slot.connection);
        if slot.is_released {
            self.budget.book(&mut slot.booked, Booked::default());
            if let Some(seat) = slot.seat.take() {
                self.places.leave(id, seat);
            }
            self.paths.leave(index);
            self.slots.remove(id);
            self.places.check_invariants(self.slots.len());
            self.accepted.retain(|&other| other != id);
        }
    }

    /// Checks in debug builds that the parts agree on which connections there are; where there are many, by a
    /// few.
    fn check_invariants(&self) {
        if !cfg!(debug_assertions) {
            return;
        }
        debug_assert!(self.keys.len() <= self.slots.len() && self.answers.len() <= MAX_ANSWERS);
        debug_assert!(self.events.len() <= MAX_EVENTS_PER_CONNECTION * self.slots.len());
        for (key, id) in self.keys.iter().take(8) {
            debug_assert!(self.slots.get(*id).is_some_and(|slot| slot.key == *key), "{key:?}");
        }
        for (id, slot) in self.slots.iter().rev().take(8) {
            debug_assert!(id <= self.last_id, "{id} was not given out");
            debug_assert!(self.paths.get(slot.path).is_some(), "{id} has no path");
            debug_assert!(slot.timer.is_none_or(|timer| self.timers.first() <= Some(timer.at())), "{id}");
        }
    }
}

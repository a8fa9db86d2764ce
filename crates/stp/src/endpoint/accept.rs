//! Segments of no connection: openings, and strays.

use alloc::sync::Arc;
use core::net::SocketAddr;

use skyhaul_core::event::Refusal;
use skyhaul_core::{ConnectionId, EventSink, Instant, ResetReason};

use super::{Endpoint, Farewell, MAX_STATELESS};
use crate::connection::{Connection, Context, Names, State};
use crate::segment::{Opening, Report, Segment};

impl Endpoint {
    /// A segment whose ports are known but whose instance is not.
    pub(super) fn deliver_foreign(
        &mut self,
        id: ConnectionId,
        now: Instant,
        remote: SocketAddr,
        segment: &Segment<'_>,
        bytes: usize,
        sink: &mut dyn EventSink,
    ) {
        self.refuse(Refusal::WrongInstance, now, sink);
        let (Some(opening), Some(slot)) = (&segment.bgn, self.slots.get_mut(&id)) else { return };
        let Some(path) = self.paths.get_mut(&remote) else { return };
        let mut context = Context { now, path, sink };
        match slot.connection.state() {
            // If the opening is accepted, it takes the key over.
            State::Closed | State::Linger => self.handle_unknown(now, remote, segment, bytes, sink),
            State::BgnSent | State::BgnDataSent | State::BgnDataEndSent => {
                slot.connection.cross(segment.instance, opening, &mut context);
                self.touch(id);
            }
            // A peer that restarted answers the challenge with RST, and its next BGN gets in.
            _ => {
                slot.connection.challenge();
                self.touch(id);
            }
        }
    }

    pub(super) fn handle_unknown(
        &mut self,
        now: Instant,
        remote: SocketAddr,
        segment: &Segment<'_>,
        bytes: usize,
        sink: &mut dyn EventSink,
    ) {
        let Some(opening) = &segment.bgn else {
            if let Some(farewell) = self.farewell(remote, segment).filter(|_| segment.rst.is_none()) {
                return self.say_farewell(remote, segment, farewell);
            }
            return self.answer_stray(now, remote, segment, sink);
        };
        if !self.listening.contains(&segment.destination_port) {
            self.refuse(Refusal::Unknown, now, sink);
            return self.reset_stateless(remote, segment, ResetReason::Refused);
        }
        if self.memory.contains(opening.nonce) {
            return self.refuse(Refusal::Replay, now, sink);
        }
        if !self.has_room() {
            self.refuse(Refusal::Full, now, sink);
            return self.reset_stateless(remote, segment, ResetReason::Busy);
        }
        let id = self.accept_opening(now, remote, segment, opening, sink);
        self.deliver(id, now, remote, segment, bytes, sink);
        self.accepted.push_back(id);
    }

    /// The last words of the connection that a segment belongs to, if it ended cleanly.
    fn farewell(&self, remote: SocketAddr, segment: &Segment<'_>) -> Option<Farewell> {
        let key = (remote, segment.destination_port, segment.source_port);
        let held = self.keys.get(&key).and_then(|id| self.slots.get(id));
        match held.filter(|slot| slot.connection.names.instance == segment.instance) {
            Some(slot) => slot.connection.farewell(),
            None => self.farewells.get(&key, segment.instance),
        }
    }

    /// A segment of a connection that is over, or never was.
    fn answer_stray(
        &mut self,
        now: Instant,
        remote: SocketAddr,
        segment: &Segment<'_>,
        sink: &mut dyn EventSink,
    ) {
        self.refuse(Refusal::Unknown, now, sink);
        if segment.rst.is_none() {
            self.reset_stateless(remote, segment, ResetReason::UnknownConnection);
        }
    }

    fn has_room(&self) -> bool {
        let unproven = || self.slots.values().filter(|s| !s.connection.is_proven()).count();
        self.slots.len() < self.config.max_connections && unproven() < self.config.max_unproven
    }

    fn accept_opening(
        &mut self,
        now: Instant,
        remote: SocketAddr,
        segment: &Segment<'_>,
        opening: &Opening,
        sink: &mut dyn EventSink,
    ) -> ConnectionId {
        let names = Names {
            local_port: segment.destination_port,
            remote_port: segment.source_port,
            instance: segment.instance,
            nonce: opening.nonce,
        };
        let (entropy, id) = (self.entropy(), self.take_id());
        let withhold = self.memory.has_holes(now);
        // Remembered from the start: a copy of the opening that arrives from another address while
        // the connection lives is a replay, too.
        self.memory.remember(now, opening.nonce);
        let config = Arc::clone(&self.accept_config);
        let path = self.use_path(remote, &config);
        let mut context = Context { now, path, sink };
        let connection = Connection::accept(id, names, entropy, config, opening, withhold, &mut context);
        self.insert(id, remote, connection);
        id
    }

    /// Confirms everything to a peer that repeats itself after a clean end; says nothing to one that
    /// does not ask.
    fn say_farewell(&mut self, remote: SocketAddr, to: &Segment<'_>, farewell: Farewell) {
        let asks = to.poll.is_some() || to.end.is_some() || to.data.is_some();
        if !asks || self.stateless.len() >= MAX_STATELESS {
            return;
        }
        let segment = Segment {
            source_port: to.destination_port,
            destination_port: to.source_port,
            number: farewell.number,
            instance: farewell.instance,
            ustat: Some(Report { next: farewell.next, ..Report::default() }),
            endak: true,
            ..Segment::default()
        };
        self.stateless.push_back((remote, segment));
    }

    fn reset_stateless(&mut self, remote: SocketAddr, to: &Segment<'_>, reason: ResetReason) {
        if self.stateless.len() >= MAX_STATELESS {
            return;
        }
        let segment = Segment {
            source_port: to.destination_port,
            destination_port: to.source_port,
            number: to.number,
            instance: to.instance,
            rst: Some(reason),
            ..Segment::default()
        };
        self.stateless.push_back((remote, segment));
    }
}

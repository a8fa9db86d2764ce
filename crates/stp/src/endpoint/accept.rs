//! Segments of no connection: openings, and strays.

use alloc::sync::Arc;

use skyhaul_core::endpoint::{self, Arrival, Context, Key, Peer, Place};
use skyhaul_core::event::Refusal;
use skyhaul_core::{ConnectionId, EventSink, ResetReason};

use super::{Stp, enter_path, entropy};
use crate::connection::{Connection, Farewell, Names, State};
use crate::segment::{Opening, Report, Segment};

type Endpoint<P> = endpoint::Endpoint<Stp<P>>;

/// Takes a segment whose ports are those of connection `id`, but whose instance is not.
pub(super) fn receive_foreign<P: Peer>(
    endpoint: &mut Endpoint<P>,
    id: ConnectionId,
    arrival: Arrival<P>,
    segment: &Segment<'_>,
    sink: &mut dyn EventSink,
) {
    let Arrival { now, .. } = arrival;
    endpoint.refuse(Refusal::WrongInstance, now, sink);
    let Some(opening) = &segment.bgn else { return };
    let Some((connection, path)) = endpoint.get_mut(id) else { return };
    match connection.state() {
        // If the opening is accepted, it takes the key over.
        State::Closed | State::Linger => return receive_unknown(endpoint, arrival, segment, sink),
        State::BgnSent | State::BgnDataSent | State::BgnDataEndSent => {
            connection.cross(segment.instance, opening, &mut Context { now, path, sink });
        }
        // A peer that restarted answers the challenge with RST, and its next BGN gets in.
        _ => connection.challenge(now),
    }
    endpoint.touch(id);
}

/// Takes a segment of no connection, or of one that is over.
pub(super) fn receive_unknown<P: Peer>(
    endpoint: &mut Endpoint<P>,
    arrival: Arrival<P>,
    segment: &Segment<'_>,
    sink: &mut dyn EventSink,
) {
    let Arrival { now, key, .. } = arrival;
    if is_own_echo(endpoint, key, segment) {
        return endpoint.refuse(Refusal::Unknown, now, sink);
    }
    let Some(opening) = &segment.bgn else {
        if let Some(farewell) = farewell(endpoint, key, segment).filter(|_| segment.rst.is_none()) {
            return say_farewell(endpoint, key, segment, farewell);
        }
        endpoint.refuse(Refusal::Unknown, now, sink);
        if segment.rst.is_none() {
            reset(endpoint, key, segment, ResetReason::UnknownConnection);
        }
        return;
    };
    if !endpoint.listens(key.local_port) {
        endpoint.refuse(Refusal::Unknown, now, sink);
        return reset(endpoint, key, segment, ResetReason::Refused);
    }
    if endpoint.family.memory.contains(opening.nonce) {
        return endpoint.refuse(Refusal::Replay, now, sink);
    }
    if !make_room(endpoint, key.peer) {
        endpoint.refuse(Refusal::Full, now, sink);
        return reset(endpoint, key, segment, ResetReason::Busy);
    }
    let id = accept(endpoint, arrival, segment, opening, sink);
    <Stp<P> as endpoint::Family>::receive(endpoint, id, arrival, segment, sink);
}

/// True if there is a place for a connection from `peer`. The oldest whose peer has proven nothing gives
/// way, if there is need.
fn make_room<P: Peer>(endpoint: &mut Endpoint<P>, peer: P) -> bool {
    match endpoint.place_for(peer) {
        Place::Free => true,
        Place::None => false,
        Place::Instead(id) => {
            give_way(endpoint, id);
            true
        }
    }
}

/// Ends a connection in favour of another. Its peer is told, in its own words, if it is there; if nobody was
/// handed the connection, a repeat of its opening is no replay.
fn give_way<P: Peer>(endpoint: &mut Endpoint<P>, id: ConnectionId) {
    let (Some(key), Some(connection)) = (endpoint.key(id), endpoint.get(id)) else { return };
    let (asked, names) = (connection.asked24(), connection.names);
    let to = Segment { number: asked, instance: names.instance, ..Segment::default() };
    if !endpoint.is_announced(id) {
        endpoint.family.memory.forget(names.nonce);
    }
    endpoint.family.stats.gave_way += 1;
    reset(endpoint, key, &to, ResetReason::Busy);
    endpoint.change(id, Connection::give_way);
}

/// True if the segment is one of ours that somebody sent back: its ports, the other way round, and its
/// instance are those of a connection to the very peer. An answer would come back, too, and pass for the
/// peer's.
fn is_own_echo<P: Peer>(endpoint: &Endpoint<P>, key: Key<P>, segment: &Segment<'_>) -> bool {
    let Key { peer, local_port, remote_port } = key;
    let ours = Key { peer, local_port: remote_port, remote_port: local_port };
    let held = endpoint.find(ours).filter(|_| local_port != remote_port).and_then(|id| endpoint.get(id));
    held.is_some_and(|connection| connection.names.instance == segment.instance)
}

/// Last words of the connection that a segment belongs to, if it ended cleanly.
fn farewell<P: Peer>(endpoint: &Endpoint<P>, key: Key<P>, segment: &Segment<'_>) -> Option<Farewell> {
    let held = endpoint.find(key).and_then(|id| endpoint.get(id));
    match held.filter(|connection| connection.names.instance == segment.instance) {
        Some(connection) => connection.farewell(),
        None => endpoint.family.farewells.get(&key, segment.instance),
    }
}

fn accept<P: Peer>(
    endpoint: &mut Endpoint<P>,
    Arrival { now, key, .. }: Arrival<P>,
    segment: &Segment<'_>,
    opening: &Opening,
    sink: &mut dyn EventSink,
) -> ConnectionId {
    let Key { peer, local_port, remote_port } = key;
    let names = Names { local_port, remote_port, instance: segment.instance, nonce: opening.nonce };
    let (entropy, id) = (entropy(&mut endpoint.random), endpoint.take_id());
    let withhold = endpoint.family.memory.has_holes(now);
    // Remembered from the start: a copy of the opening that arrives from another address while
    // the connection lives is a replay, too.
    endpoint.family.memory.remember(now, opening.nonce);
    let config = Arc::clone(&endpoint.family.accept);
    let path = enter_path(endpoint, now, peer, &config);
    let mut context = Context { now, path, sink };
    let first = (opening, segment.number);
    let connection = Connection::accept(id, names, entropy, config, first, withhold, &mut context);
    endpoint.insert(id, key, connection, false);
    id
}

/// Confirms everything to a peer that repeats itself after a clean end, and ends our direction once more;
/// says nothing to one that does not ask, or whose segment has such last words itself.
fn say_farewell<P: Peer>(endpoint: &mut Endpoint<P>, key: Key<P>, to: &Segment<'_>, farewell: Farewell) {
    let asks = to.poll.is_some() || to.data.is_some() || to.end.is_some() && to.ustat.is_none();
    if !asks {
        return;
    }
    let segment = Segment {
        source_port: key.local_port,
        destination_port: key.remote_port,
        number: farewell.number,
        instance: farewell.instance,
        ustat: Some(Report { next: farewell.next, ..Report::default() }),
        end: Some(farewell.number),
        endak: true,
        ..Segment::default()
    };
    endpoint.answer(key.peer, segment);
}

fn reset<P: Peer>(endpoint: &mut Endpoint<P>, key: Key<P>, to: &Segment<'_>, reason: ResetReason) {
    let segment = Segment {
        source_port: key.local_port,
        destination_port: key.remote_port,
        number: to.number,
        instance: to.instance,
        rst: Some(reason),
        ..Segment::default()
    };
    endpoint.answer(key.peer, segment);
}

//! Segments of no connection: openings, and strays.

use alloc::sync::Arc;

use skyhaul_core::endpoint::{self, Arrival, Context, Key, Peer, Place};
use skyhaul_core::event::Refusal;
use skyhaul_core::{ConnectionId, EventSink, Instant, ResetReason};

use super::cookies::{Cookie, MAX_WINDOW_BYTES, Returned};
use super::{Stp, discover_mtu, enter_path, entropy};
use crate::connection::{Connection, Entropy, Farewell, Names, State, opening};
use crate::segment::{Opening, Poll, Report, Segment};

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
    let is_ended = |connection: &Connection| matches!(connection.state(), State::Closed | State::Linger);
    if endpoint.get(id).is_some_and(is_ended) && take_returned(endpoint, arrival, segment, sink) {
        return;
    }
    endpoint.refuse(Refusal::WrongInstance, now, sink);
    let Some((connection, path)) = endpoint.get_mut(id) else { return };
    connection.note_guess(now);
    let Some(opening) = &segment.bgn else { return };
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
        if take_returned(endpoint, arrival, segment, sink) {
            return;
        }
        if let Some(farewell) = farewell(endpoint, key, segment).filter(|_| segment.rst.is_none()) {
            return say_farewell(endpoint, key, segment, farewell);
        }
        endpoint.refuse(Refusal::Unknown, now, sink);
        if segment.rst.is_none() {
            turn_away(endpoint, arrival, segment, ResetReason::UnknownConnection);
        }
        return;
    };
    if !endpoint.listens(key.local_port) {
        endpoint.refuse(Refusal::Unknown, now, sink);
        return turn_away(endpoint, arrival, segment, ResetReason::Refused);
    }
    if endpoint.family.memory.contains(opening.nonce) {
        return endpoint.refuse(Refusal::Replay, now, sink);
    }
    match endpoint.place_for(key.peer) {
        Place::Free => {
            let id = accept(endpoint, arrival, segment, opening, sink);
            <Stp<P> as endpoint::Family>::receive(endpoint, id, arrival, segment, sink);
        }
        Place::Instead(_) => answer_by_cookie(endpoint, arrival, segment, opening),
        Place::None => {
            endpoint.refuse(Refusal::Full, now, sink);
            turn_away(endpoint, arrival, segment, ResetReason::Busy);
        }
    }
}

/// Answers an opening that there is no room to remember, unless there are too many. What came with it is not
/// taken. The answer goes once; a peer that misses it asks again.
fn answer_by_cookie<P: Peer>(
    endpoint: &mut Endpoint<P>,
    Arrival { now, key, .. }: Arrival<P>,
    to: &Segment<'_>,
    bgn: &Opening,
) {
    if !endpoint.family.strangers.may_have_cookie(now, bgn.nonce) {
        endpoint.family.stats.unanswered += 1;
        return;
    }
    let mut path = endpoint.new_path(key.peer);
    discover_mtu(&endpoint.family.accept, endpoint.family.mtu_search.bounds(key.peer), &mut path);
    let cookie = endpoint.family.cookies.make(&mut endpoint.random, now, (key, to.instance), bgn);
    endpoint.family.stats.cookies_sent += 1;
    let config = &endpoint.family.accept;
    let window_bytes = config.receive_limit_bytes.min(MAX_WINDOW_BYTES);
    // Nothing is kept of what the peer wants to be told of routers: it is to measure.
    let mut ours = opening(config, cookie.initial, bgn.nonce, window_bytes, &path);
    ours.options.feedback = false;
    let poll = Poll { timestamp: cookie.timestamp, next: cookie.initial, ..Poll::default() };
    let segment = Segment {
        source_port: key.local_port,
        destination_port: key.remote_port,
        number: cookie.initial,
        instance: to.instance,
        bgnak: Some(ours),
        poll: Some(poll),
        ..Segment::default()
    };
    endpoint.answer(key.peer, segment);
}

/// Takes a segment that proves to have answered a cookie, and opens the connection that this stands for.
/// Result: true if it does.
fn take_returned<P: Peer>(
    endpoint: &mut Endpoint<P>,
    arrival: Arrival<P>,
    segment: &Segment<'_>,
    sink: &mut dyn EventSink,
) -> bool {
    let Arrival { now, key, .. } = arrival;
    let Some(returned) = endpoint.family.cookies.open(now, key, segment) else { return false };
    if endpoint.family.memory.contains(returned.name) || !endpoint.listens(key.local_port) {
        return false;
    }
    match endpoint.place_for_proven(key.peer) {
        Place::Free => {}
        Place::Instead(id) => give_way(endpoint, id),
        Place::None => {
            endpoint.refuse(Refusal::Full, now, sink);
            reset(endpoint, key, segment, ResetReason::Busy);
            return true;
        }
    }
    let id = resume(endpoint, arrival, segment, &returned, sink);
    <Stp<P> as endpoint::Family>::receive(endpoint, id, arrival, segment, sink);
    true
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
    // The peer may have an answer already that was forgotten: its numbers hold.
    let cookie = endpoint.family.cookies.known(now, (key, segment.instance), opening);
    let (entropy, id) = (entropy_after(endpoint, now, cookie), endpoint.take_id());
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

/// Opens the connection of an opening that came back, whose peer is proven by that. A copy of the BGN would
/// not be known: until none is under way any more, early data waits for proof.
fn resume<P: Peer>(
    endpoint: &mut Endpoint<P>,
    Arrival { now, key, .. }: Arrival<P>,
    segment: &Segment<'_>,
    returned: &Returned,
    sink: &mut dyn EventSink,
) -> ConnectionId {
    let Key { peer, local_port, remote_port } = key;
    let names = Names { local_port, remote_port, instance: segment.instance, nonce: 0 };
    let (entropy, id) = (entropy_after(endpoint, now, Some(returned.cookie)), endpoint.take_id());
    endpoint.family.memory.remember(now, returned.name);
    endpoint.family.memory.miss(now);
    endpoint.family.stats.cookies_taken += 1;
    let config = Arc::clone(&endpoint.family.accept);
    let path = enter_path(endpoint, now, peer, &config);
    let mut context = Context { now, path, sink };
    let connection = Connection::resume(id, names, entropy, config, &returned.opening, &mut context);
    endpoint.insert(id, key, connection, false);
    id
}

/// Random values of a connection whose opening was answered by a cookie before, perhaps.
fn entropy_after<P: Peer>(endpoint: &mut Endpoint<P>, now: Instant, cookie: Option<Cookie>) -> Entropy {
    let entropy = entropy(&mut endpoint.random);
    match cookie {
        Some(Cookie { initial, timestamp }) => entropy.after(now, initial, timestamp),
        None => entropy,
    }
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

/// Tells whoever sent a segment of no connection what there is to tell, unless too many are told.
fn turn_away<P: Peer>(
    endpoint: &mut Endpoint<P>,
    Arrival { now, key, .. }: Arrival<P>,
    to: &Segment<'_>,
    reason: ResetReason,
) {
    if endpoint.family.strangers.may_reset(now) {
        reset(endpoint, key, to, reason);
    } else {
        endpoint.family.stats.unanswered += 1;
    }
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

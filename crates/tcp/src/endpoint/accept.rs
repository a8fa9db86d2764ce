//! Segments of no connection: openings, and strays.

use alloc::sync::Arc;
use core::num::NonZeroU8;

use skyhaul_core::endpoint::{self, Arrival, Context, Family as _, Place, Stage};
use skyhaul_core::event::Refusal;
use skyhaul_core::{ConnectionId, EventSink, Instant};

use super::{Tcp, declared_rate, openings, ways};
use crate::agreed::Agreed;
use crate::config::Config;
use crate::connection::{Connection, Entropy, Names, syn_options};
use crate::scps::Capabilities;
use crate::segment::{Segment, Timestamps, Way, flags};
use crate::sequence::{TimestampClock, is_earlier};

type Endpoint = endpoint::Endpoint<Tcp>;

/// Takes a segment of no connection [RFC 9293 3.10.7.1, 3.10.7.2]. `least_initial`: our initial number must
/// be no earlier, since a connection between these ends was here before.
pub(super) fn receive_unknown(
    endpoint: &mut Endpoint,
    arrival: Arrival<Way>,
    segment: &Segment<'_>,
    least_initial: Option<u32>,
    sink: &mut dyn EventSink,
) {
    let Arrival { now, key: names, .. } = arrival;
    if segment.compression.is_some() {
        // The ports are not known that an answer needs.
        return endpoint.refuse(Refusal::Unknown, now, sink);
    }
    let opens = segment.has(flags::SYN) && !segment.has(flags::ACK);
    let listens = endpoint.listens(names.local_port);
    if opens && listens {
        return receive_opening(endpoint, arrival, segment, least_initial, sink);
    }
    let answers = segment.has(flags::ACK) && segment.flags & (flags::SYN | flags::RST) == 0;
    if answers && listens && endpoint.family.cookies.are_out(now) {
        return receive_answer(endpoint, arrival, segment, sink);
    }
    endpoint.refuse(Refusal::Unknown, now, sink);
    reset(endpoint, names, segment);
}

fn receive_opening(
    endpoint: &mut Endpoint,
    arrival: Arrival<Way>,
    segment: &Segment<'_>,
    least_initial: Option<u32>,
    sink: &mut dyn EventSink,
) {
    let Arrival { now, key: names, .. } = arrival;
    let place = endpoint.place_for(names.peer);
    if place == Place::Free {
        let mut entropy = endpoint.family.secrets.entropy(names, now);
        if let Some(least) = least_initial.filter(|&least| is_earlier(entropy.initial, least)) {
            entropy.initial = least;
        }
        let id = admit(endpoint, (names, now), entropy, (Connection::accept, segment), sink);
        openings::answer(endpoint, id, arrival, segment, sink);
    } else if endpoint.has_room_for(names.peer) && least_initial.is_none() {
        answer_by_cookie(endpoint, (names, now), segment);
    } else {
        // Without an answer the peer asks again later; an RST would end its patience [RFC 4987 3].
        endpoint.refuse(Refusal::Full, now, sink);
    }
}

/// Way in which a connection begins by a SYN.
type Begin = fn(ConnectionId, Names, Entropy, Arc<Config>, &Segment<'_>, &Context<'_>) -> Connection;

/// Takes in a connection that `syn` asked for.
fn admit(
    endpoint: &mut Endpoint,
    (names, now): (Names, Instant),
    mut entropy: Entropy,
    (begin, syn): (Begin, &Segment<'_>),
    sink: &mut dyn EventSink,
) -> ConnectionId {
    let id = endpoint.take_id();
    if endpoint.family.accept.offers_compression() {
        entropy.number = take_number(endpoint, names.peer, id, syn);
    }
    let config = Arc::clone(endpoint.family.accept_from(names.peer));
    let known = endpoint.family.ways.get(names.peer);
    let declared = declared_rate(endpoint, names.peer, &config);
    let path = endpoint.enter_path(now, names.peer, declared);
    let mut context = Context { now, path, sink };
    let mut connection = begin(id, names, entropy, config, syn, &context);
    ways::brief(known, &mut connection, &mut context);
    endpoint.family.routes.brief(names.peer.remote, &mut connection);
    endpoint.insert(id, names, connection, false);
    id
}

/// Number for compressed headers of connection `id`, where `syn` offers such headers under a number that no
/// other connection of its sender has. One that is over has it no more.
fn take_number(endpoint: &mut Endpoint, way: Way, id: ConnectionId, syn: &Segment<'_>) -> Option<NonZeroU8> {
    let theirs = Capabilities::find(&syn.options.extra)?.number()?;
    let holder = endpoint.family.numbers.told_by(way, theirs.get());
    if holder.and_then(|id| endpoint.stage(id)).is_some_and(|stage| stage < Stage::Ended) {
        return None;
    }
    let ours = endpoint.family.numbers.take(way, id)?;
    endpoint.family.numbers.learn(way, theirs, id);
    Some(ours)
}

/// Answers an opening that there is no room to remember [RFC 4987 3.6]. The answer goes once; a peer that
/// misses it asks again.
fn answer_by_cookie(endpoint: &mut Endpoint, (names, now): (Names, Instant), syn: &Segment<'_>) {
    let segment_bytes = endpoint.max_segment_bytes(names.peer);
    let config = &*Arc::clone(endpoint.family.accept_from(names.peer));
    let Tcp { secrets, cookies, stats, .. } = &mut endpoint.family;
    let agreed = Agreed::learn(config, syn, true);
    let cookie = cookies.make(secrets, (names, now), syn, agreed);
    let offset = secrets.entropy(names, now).timestamp_offset;
    let value = TimestampClock::new(config.timestamp_tick_ns, offset).value(now);
    let echo = syn.options.timestamps.map_or(0, |stamps| stamps.value);
    let stamps = Timestamps { value: cookie.stamp(value).unwrap_or(value), echo };
    // Where nothing can be stamped, there is no place to remember these [RFC 4987 3.6].
    let agreed = if agreed.timestamps { agreed } else { agreed.without_options() };
    let segment = Segment {
        source_port: names.local_port,
        destination_port: names.remote_port,
        sequence: cookie.initial,
        acknowledgement: syn.sequence.wrapping_add(1),
        flags: flags::SYN | flags::ACK | if agreed.ecn { flags::ECE } else { 0 },
        window: agreed.receive_limit_bytes(config).min(0xFFFF) as u16,
        options: syn_options(config, Some(agreed), segment_bytes, stamps),
        ..Segment::default()
    };
    stats.cookies_sent += 1;
    endpoint.answer(names.peer, segment);
}

/// Takes a segment that may answer a cookie. If it does not, it is not answered either while some are
/// out: the one before it may be lost that does, and an RST would end what this end has opened.
fn receive_answer(
    endpoint: &mut Endpoint,
    arrival: Arrival<Way>,
    segment: &Segment<'_>,
    sink: &mut dyn EventSink,
) {
    let Arrival { now, key: names, .. } = arrival;
    let Tcp { accept: config, secrets, cookies, .. } = &endpoint.family;
    let Some((syn, initial)) = cookies.open(secrets, (names, now), segment, config.timestamps) else {
        return endpoint.refuse(Refusal::Unknown, now, sink);
    };
    if !endpoint.has_room_for(names.peer) {
        return endpoint.refuse(Refusal::Full, now, sink); // data that goes again asks again
    }
    let entropy = Entropy { initial, ..secrets.entropy(names, now) };
    let id = admit(endpoint, (names, now), entropy, (Connection::resume, &syn), sink);
    endpoint.family.stats.cookies_taken += 1;
    Tcp::receive(endpoint, id, arrival, segment, sink);
}

/// Makes the connection `id`, which is over, give way to a SYN that may begin a new one between its ends
/// [RFC 6191 2]. The least initial number of ours, beyond everything that the old one used [RFC 9293 3.4.1].
pub(super) fn succeed(endpoint: &mut Endpoint, id: ConnectionId, segment: &Segment<'_>) -> Option<u32> {
    let stamps = endpoint.family.accept.timestamps;
    let least = endpoint.get(id)?.successor(segment, stamps)?;
    if !endpoint.listens(segment.destination_port) {
        return None;
    }
    endpoint.change(id, Connection::give_way);
    Some(least)
}

/// An RST whose numbers the sender of `to` believes [RFC 9293 3.10.7.1]; none for an RST.
fn reset(endpoint: &mut Endpoint, names: Names, to: &Segment<'_>) {
    if to.has(flags::RST) {
        return;
    }
    let has_ack = to.has(flags::ACK);
    let segment = Segment {
        source_port: names.local_port,
        destination_port: names.remote_port,
        sequence: if has_ack { to.acknowledgement } else { 0 },
        acknowledgement: if has_ack { 0 } else { to.sequence.wrapping_add(to.sequence_len() as u32) },
        flags: flags::RST | if has_ack { 0 } else { flags::ACK },
        ..Segment::default()
    };
    endpoint.answer(names.peer, segment);
}

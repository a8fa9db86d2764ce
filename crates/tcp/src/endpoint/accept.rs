//! Segments of no connection: openings, and strays.

use alloc::sync::Arc;

use skyhaul_core::endpoint::{self, Arrival, Context};
use skyhaul_core::event::Refusal;
use skyhaul_core::{ConnectionId, EventSink, Instant};

use super::{Tcp, ways};
use crate::connection::{Connection, Names};
use crate::segment::{Segment, Way, flags};
use crate::sequence::is_earlier;

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
    let opens = segment.has(flags::SYN) && !segment.has(flags::ACK);
    if !opens || !endpoint.listens(names.local_port) {
        endpoint.refuse(Refusal::Unknown, now, sink);
        return reset(endpoint, names, segment);
    }
    // Without an answer the peer asks again later; an RST would end its patience [RFC 4987 3].
    if !endpoint.has_room_for_stranger() && !make_room(endpoint, now, sink) {
        return endpoint.refuse(Refusal::Full, now, sink);
    }
    let (mut entropy, id) = (endpoint.family.secrets.entropy(names, now), endpoint.take_id());
    if let Some(least) = least_initial.filter(|&least| is_earlier(entropy.initial, least)) {
        entropy.initial = least;
    }
    let (config, known) = (Arc::clone(&endpoint.family.accept), endpoint.family.ways.get(names.peer));
    let path = endpoint.enter_path(now, names.peer, config.declared_rate());
    let mut context = Context { now, path, sink };
    let mut connection = Connection::accept(id, names, entropy, config, segment, &context);
    ways::brief(known, &mut connection, &mut context);
    endpoint.insert(id, names, connection, false);
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

/// The oldest opening whose answer had to be repeated gives way, without a word [RFC 4987 3.3]: a flood that
/// is over bars the door for one timeout, and not until the last repeat. Who is within the first round trip
/// stays. False if there is none, or if that would not help.
fn make_room(endpoint: &mut Endpoint, now: Instant, sink: &mut dyn EventSink) -> bool {
    let Some(oldest) = endpoint.find_embryo(Connection::is_likely_nobody) else { return false };
    endpoint.change(oldest, Connection::give_way);
    endpoint.refuse(Refusal::Full, now, sink);
    endpoint.has_room_for_stranger()
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

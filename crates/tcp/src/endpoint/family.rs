//! TCP as a family of [`skyhaul_core::endpoint`].

use alloc::vec::Vec;

use skyhaul_core::endpoint::{self, Arrival, Connection as _, Context, Family};
use skyhaul_core::event::Refusal;
use skyhaul_core::{ConnectionId, EventSink, Integrity, NetworkFields, PathName};

use super::{Tcp, accept};
use crate::accelerated::Lesson;
use crate::connection::{Connection, Names, State};
use crate::segment::{Malformed, Segment, Way, decode_packet, encode, flags};

impl Family for Tcp {
    type Peer = Way;
    type Connection = Connection;
    type Segment<'a> = Segment<'a>;
    type Malformed = Malformed;

    /// Late questions of a peer are answered in TIME-WAIT, before the connection is over.
    const KEEPS_PORTS: bool = false;

    fn decode(way: Way, _: Integrity, fields: NetworkFields, bytes: &[u8]) -> Result<Segment<'_>, Malformed> {
        decode_packet(way, fields, bytes)
    }

    fn ports(segment: &Segment<'_>) -> (u16, u16) {
        (segment.destination_port, segment.source_port)
    }

    fn path_name(&self, way: Way) -> PathName<Way> {
        self.routes.path_name(way)
    }

    fn find(
        endpoint: &endpoint::Endpoint<Self>,
        names: Names,
        segment: &Segment<'_>,
    ) -> Option<ConnectionId> {
        match segment.compression {
            None => endpoint.find(names),
            Some(header) => endpoint.family.numbers.told_by(names.peer, header.connection_id),
        }
    }

    fn encode(way: Way, _: Integrity, segment: &Segment<'_>, out: &mut Vec<u8>) -> (u8, u64) {
        encode(way, segment, out);
        (segment.flags, u64::from(segment.sequence))
    }

    fn receive(
        endpoint: &mut endpoint::Endpoint<Self>,
        id: ConnectionId,
        arrival: Arrival<Way>,
        segment: &Segment<'_>,
        sink: &mut dyn EventSink,
    ) {
        let Arrival { now, fields, bytes, key: names } = arrival;
        if let Some(least) = accept::succeed(endpoint, id, segment) {
            return accept::receive_unknown(endpoint, arrival, segment, Some(least), sink);
        }
        let Some((connection, path)) = endpoint.get_mut(id) else { return };
        let (wire_bytes, was_early) = (path.wire_bytes(bytes), connection.is_starred());
        let mut context = Context { now, path, sink };
        match segment.compression {
            None => connection.handle(segment, fields, wire_bytes, &mut context),
            Some(header) => connection.handle_compressed(segment, header, (fields, wire_bytes), &mut context),
        }
        let survives = connection.state() != State::Closed;
        let (lesson, round_trip) = (connection.take_lesson(), connection.take_round_trip());
        if was_early && !survives && segment.has(flags::RST) {
            endpoint.family.disowned.add(now);
        }
        if let Some(lesson) = lesson {
            endpoint.family.ways.learn(arrival.key.peer, lesson, now);
        }
        if let Some(round_trip) = round_trip {
            endpoint.family.ways.opening(arrival.key.peer, now).learn_round_trip(round_trip);
        }
        endpoint.family.stats.resets_ignored += u64::from(segment.has(flags::RST) && survives);
        if segment.has(flags::SYN)
            && let Some(number) = endpoint.get(id).and_then(Connection::peer_number)
        {
            endpoint.family.numbers.learn(names.peer, number, id);
        }
        endpoint.touch(id);
    }

    fn receive_stray(
        endpoint: &mut endpoint::Endpoint<Self>,
        arrival: Arrival<Way>,
        segment: &Segment<'_>,
        sink: &mut dyn EventSink,
    ) {
        accept::receive_unknown(endpoint, arrival, segment, None, sink);
    }

    fn on_retired(&mut self, names: Names, connection: &Connection) {
        let (ours, theirs) = (connection.number(), connection.peer_number());
        self.numbers.forget(names.peer, connection.id(), ours, theirs);
        if let Some(lesson @ Lesson::Unanswered { at }) = connection.lesson() {
            self.ways.learn(names.peer, lesson, at);
        }
    }

    fn count_refusal(&mut self, why: Refusal) {
        let counter = match why {
            Refusal::Undecodable => &mut self.stats.undecodable,
            Refusal::Full => &mut self.stats.full,
            _ => &mut self.stats.unknown,
        };
        *counter += 1;
    }
}

//! TCP as a family of [`skyhaul_core::endpoint`].

use alloc::vec::Vec;

use skyhaul_core::endpoint::{self, Arrival, Connection as _, Context, Family};
use skyhaul_core::event::Refusal;
use skyhaul_core::{ConnectionId, EventSink, Integrity, NetworkFields};

use super::{Tcp, accept};
use crate::connection::{Connection, State};
use crate::segment::{Segment, Way, decode_described, encode, flags};

impl Family for Tcp {
    type Peer = Way;
    type Connection = Connection;
    type Segment<'a> = Segment<'a>;

    /// Late questions of a peer are answered in TIME-WAIT, before the connection is over.
    const KEEPS_PORTS: bool = false;

    fn decode(way: Way, _: Integrity, fields: NetworkFields, bytes: &[u8]) -> Option<Segment<'_>> {
        decode_described(way, fields.described_bytes, bytes)
    }

    fn ports(segment: &Segment<'_>) -> (u16, u16) {
        (segment.destination_port, segment.source_port)
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
        let Arrival { now, fields, bytes, .. } = arrival;
        if let Some(least) = accept::succeed(endpoint, id, segment) {
            return accept::receive_unknown(endpoint, arrival, segment, Some(least), sink);
        }
        let Some((connection, path)) = endpoint.get_mut(id) else { return };
        let wire_bytes = path.wire_bytes(bytes);
        connection.handle(segment, fields, wire_bytes, &mut Context { now, path, sink });
        let survives = connection.state() != State::Closed;
        endpoint.family.stats.resets_ignored += u64::from(segment.has(flags::RST) && survives);
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

    fn count_refusal(&mut self, why: Refusal) {
        let counter = match why {
            Refusal::Undecodable => &mut self.stats.undecodable,
            Refusal::Full => &mut self.stats.full,
            _ => &mut self.stats.unknown,
        };
        *counter += 1;
    }
}

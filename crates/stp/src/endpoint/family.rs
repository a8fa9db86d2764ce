//! STP as a family of [`skyhaul_core::endpoint`].

use alloc::vec::Vec;

use skyhaul_core::endpoint::{self, Arrival, Context, Family, Key, Peer, Room, Stage};
use skyhaul_core::event::Refusal;
use skyhaul_core::{
    ConnectionId, EventSink, Instant, Integrity, NetworkFields, Path, ResetReason, Stats, StreamError,
    StreamEvent,
};

use super::{Stp, accept};
use crate::connection::{Connection, State};
use crate::segment::{Malformed, Segment, decode_with, encode_with};

impl<P: Peer> Family for Stp<P> {
    type Peer = P;
    type Connection = Connection;
    type Segment<'a> = Segment<'a>;
    type Malformed = Malformed;

    /// A connection that is over still answers late repeats, until the application lets go; from then on
    /// [`super::Farewells`] do.
    const KEEPS_PORTS: bool = true;

    fn decode(_: P, integrity: Integrity, _: NetworkFields, bytes: &[u8]) -> Result<Segment<'_>, Malformed> {
        decode_with(integrity, bytes)
    }

    fn ports(segment: &Segment<'_>) -> (u16, u16) {
        (segment.destination_port, segment.source_port)
    }

    fn encode(_: P, integrity: Integrity, segment: &Segment<'_>, out: &mut Vec<u8>) -> (u8, u64) {
        encode_with(integrity, segment, out);
        (segment.type_bits(), u64::from(segment.number))
    }

    fn receive(
        endpoint: &mut endpoint::Endpoint<Self>,
        id: ConnectionId,
        arrival: Arrival<P>,
        segment: &Segment<'_>,
        sink: &mut dyn EventSink,
    ) {
        let Some((connection, path)) = endpoint.get_mut(id) else { return };
        if connection.names.instance != segment.instance {
            return accept::receive_foreign(endpoint, id, arrival, segment, sink);
        }
        if connection.is_over() {
            return accept::receive_unknown(endpoint, arrival, segment, sink); // not released yet, but over
        }
        let header = arrival.fields.path_header.as_ref();
        let segment_bytes = arrival.bytes - header.map_or(0, |header| usize::from(header.wire_bytes));
        let wire_bytes = path.wire_bytes(segment_bytes);
        connection.handle(segment, wire_bytes, header, &mut Context { now: arrival.now, path, sink });
        endpoint.touch(id);
    }

    fn receive_stray(
        endpoint: &mut endpoint::Endpoint<Self>,
        arrival: Arrival<P>,
        segment: &Segment<'_>,
        sink: &mut dyn EventSink,
    ) {
        accept::receive_unknown(endpoint, arrival, segment, sink);
    }

    fn count_refusal(&mut self, why: Refusal) {
        let counter = match why {
            Refusal::Undecodable => &mut self.stats.undecodable,
            Refusal::WrongInstance => &mut self.stats.wrong_instance,
            Refusal::Replay => &mut self.stats.replays,
            Refusal::Full => &mut self.stats.full,
            _ => &mut self.stats.unknown,
        };
        *counter += 1;
    }

    fn on_retired(&mut self, key: Key<P>, connection: &Connection) {
        if let Some(farewell) = connection.farewell() {
            self.farewells.remember(key, farewell);
        }
    }
}

impl endpoint::Connection for Connection {
    type State = State;

    fn state(&self) -> State {
        self.state()
    }

    fn state_name(&self) -> &'static str {
        self.state().name()
    }

    fn is_done(&self) -> bool {
        self.is_done()
    }

    fn is_unproven(&self) -> bool {
        !self.is_proven()
    }

    fn kept_bytes(&self) -> u64 {
        self.kept_bytes()
    }

    fn set_room(&mut self, room: Room) {
        self.set_room(room);
    }

    fn stage(&self) -> Stage {
        match self.state() {
            State::BgnSent | State::BgnDataSent | State::BgnDataEndSent => Stage::Opening,
            State::Linger => Stage::Ended,
            State::Closed => Stage::Closed,
            _ => Stage::Open,
        }
    }

    fn poll_event(&mut self) -> Option<StreamEvent> {
        self.poll_event()
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) {
        self.handle_timeout(context);
    }

    fn poll_transmit(
        &mut self,
        context: &mut Context<'_>,
        out: &mut Vec<u8>,
    ) -> Result<NetworkFields, Option<Instant>> {
        self.poll_transmit(context, out)
    }

    fn deadline(&self, now: Instant, path: &Path) -> Option<Instant> {
        self.next(now, path).map(|step| step.at)
    }

    fn data_due(&self, now: Instant, path: &Path) -> Option<Instant> {
        self.data_due(now, path)
    }

    fn write(&mut self, data: &[u8]) -> Result<usize, StreamError> {
        self.write(data)
    }

    fn read(&mut self, out: &mut [u8]) -> Result<Option<usize>, StreamError> {
        self.read(out)
    }

    fn finish(&mut self) {
        self.finish();
    }

    fn abort(&mut self) {
        self.abort(ResetReason::Aborted);
    }

    fn refuse(&mut self) {
        self.abort(ResetReason::Busy);
    }

    /// Nothing changes: what was written is delivered.
    fn release(&mut self, _: Instant) {}

    fn stats(&self) -> Stats {
        self.stats()
    }

    fn held_bytes(&self) -> u64 {
        self.held_bytes()
    }

    fn writable_bytes(&self) -> u64 {
        self.writable_bytes()
    }
}

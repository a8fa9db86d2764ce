//! Segments, connections, and what arrives for none.

use std::collections::VecDeque;

use skyhaul_core::endpoint::{self, Arrival, Context, Endpoint, Family, Key, Stage};
use skyhaul_core::event::{Refusal, Repeat};
use skyhaul_core::{
    CloseReason, ConnectionId, Event, EventSink, Instant, Integrity, NetworkFields, Path, Stats, StreamError,
    StreamEvent,
};

/// Octets of a header: two ports, flags, number, acknowledgement.
pub const HEADER_BYTES: usize = 13;
/// Flag of a segment with a number: it is acknowledged.
pub const NUMBERED: u8 = 1;
/// Flag of the first segment of the end that opens.
pub const OPENS: u8 = 2;
/// Flag of the last segment of a stream.
pub const ENDS: u8 = 4;

/// First of the ports that connections are opened from.
const FIRST_PORT: u16 = 0xC000;
/// Number of them.
const OWN_PORTS: u64 = 0x4000;

/// Parameters of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Largest payload of a segment.
    pub payload_bytes: u64,
    /// Time after which a segment that was not acknowledged is sent again.
    pub timeout_ns: u64,
    /// Largest number of unsent bytes that an application may have written.
    pub send_limit_bytes: u64,
    /// Repeats of one segment before the connection fails.
    pub max_repeats: u32,
}

impl Default for Config {
    fn default() -> Self {
        let timeout_ns = 2 * skyhaul_core::SECOND;
        Self { payload_bytes: 1000, timeout_ns, send_limit_bytes: 65_536, max_repeats: 20 }
    }
}

/// Segment. Its acknowledgement is the next number that its sender expects.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    ports: (u16, u16),
    flags: u8,
    number: u32,
    acknowledgement: u32,
    payload: Vec<u8>,
}

impl Segment {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.ports.0.to_be_bytes());
        out.extend_from_slice(&self.ports.1.to_be_bytes());
        out.push(self.flags);
        out.extend_from_slice(&self.number.to_be_bytes());
        out.extend_from_slice(&self.acknowledgement.to_be_bytes());
        out.extend_from_slice(&self.payload);
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (header, payload) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let [a, b, c, d, flags, numbers @ ..] = *header;
        let [number @ .., _, _, _, _] = numbers;
        let [_, _, _, _, acknowledgement @ ..] = numbers;
        Some(Self {
            ports: (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])),
            flags,
            number: u32::from_be_bytes(number),
            acknowledgement: u32::from_be_bytes(acknowledgement),
            payload: payload.to_vec(),
        })
    }
}

/// Connection: at most one segment of either direction is under way.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    id: ConnectionId,
    config: Config,
    ports: (u16, u16),
    is_ours: bool,
    unsent: VecDeque<u8>,
    has_finished: bool,
    /// Segment under way, when it is sent again, and how often it was.
    waiting: Option<(Segment, Instant, u32)>,
    next_number: u32,
    end_sent: bool,
    is_full: bool,
    owes_acknowledgement: bool,
    expected: u32,
    unread: VecDeque<u8>,
    peer_ended: bool,
    events: VecDeque<StreamEvent>,
    is_closed: bool,
    stats: Stats,
}

impl Connection {
    fn new(id: ConnectionId, config: Config, key: &Key<impl Copy>, is_ours: bool) -> Self {
        Self {
            id,
            config,
            ports: (key.local_port, key.remote_port),
            is_ours,
            events: is_ours.then_some(StreamEvent::Writable).into_iter().collect(),
            stats: Stats { controller: "stop-and-wait", ..Stats::default() },
            ..Self::default()
        }
    }

    fn close(&mut self, reason: Option<CloseReason>) {
        if !self.is_closed {
            self.is_closed = true;
            self.waiting = None;
            self.events.push_back(StreamEvent::Closed(reason));
        }
    }

    fn receive(&mut self, segment: &Segment, bytes: usize) {
        self.stats.received_packets += 1;
        self.stats.received_bytes += bytes as u64;
        if segment.flags & NUMBERED != 0 {
            self.owes_acknowledgement = true;
            if segment.number == self.expected && !self.peer_ended {
                self.expected += 1;
                self.unread.extend(&segment.payload);
                self.stats.delivered_bytes += segment.payload.len() as u64;
                self.peer_ended = segment.flags & ENDS != 0;
                self.events.push_back(StreamEvent::Readable);
            } else {
                self.stats.duplicates += 1;
            }
        }
        if let Some((acknowledged, ..)) =
            self.waiting.take_if(|(sent, ..)| sent.number < segment.acknowledgement)
        {
            self.stats.acknowledged_bytes += acknowledged.payload.len() as u64;
            if acknowledged.flags & ENDS != 0 {
                self.events.push_back(StreamEvent::Finished);
            } else if std::mem::take(&mut self.is_full) {
                self.events.push_back(StreamEvent::Writable);
            }
        }
    }

    /// Next segment with a number, if the one before it was acknowledged.
    fn fill(&mut self) -> Option<Segment> {
        if self.waiting.is_some() || self.end_sent || (self.unsent.is_empty() && !self.has_finished) {
            return None;
        }
        let length = self.unsent.len().min(self.config.payload_bytes as usize);
        let payload: Vec<u8> = self.unsent.drain(..length).collect();
        self.end_sent = self.has_finished && self.unsent.is_empty();
        let opens = if self.is_ours && self.next_number == 0 { OPENS } else { 0 };
        let flags = NUMBERED | opens | if self.end_sent { ENDS } else { 0 };
        self.next_number += 1;
        Some(Segment {
            ports: self.ports,
            flags,
            number: self.next_number - 1,
            payload,
            ..Segment::default()
        })
    }
}

impl endpoint::Connection for Connection {
    type State = bool;

    fn state(&self) -> bool {
        self.is_closed
    }

    fn state_name(&self) -> &'static str {
        if self.is_closed { "CLOSED" } else { "OPEN" }
    }

    fn is_done(&self) -> bool {
        self.is_closed && !self.owes_acknowledgement
    }

    fn is_unproven(&self) -> bool {
        false
    }

    fn stage(&self) -> Stage {
        if self.is_closed { Stage::Closed } else { Stage::Open }
    }

    fn poll_event(&mut self) -> Option<StreamEvent> {
        self.events.pop_front()
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) {
        let most = self.config.max_repeats;
        if self.waiting.as_ref().is_some_and(|&(_, at, repeats)| at <= context.now && repeats >= most) {
            self.close(Some(CloseReason::Silence));
        }
    }

    fn poll_transmit(
        &mut self,
        context: &mut Context<'_>,
        out: &mut Vec<u8>,
    ) -> Result<NetworkFields, Option<Instant>> {
        let again = context.now.after(self.config.timeout_ns);
        let (segment, repeat) = if let Some(segment) = self.fill() {
            self.waiting = Some((segment.clone(), again, 0));
            (segment, None)
        } else if let Some((segment, at, repeats)) =
            self.waiting.as_mut().filter(|(_, at, _)| *at <= context.now)
        {
            (*at, *repeats) = (again, *repeats + 1);
            (segment.clone(), Some(Repeat::Timer))
        } else if self.owes_acknowledgement {
            (Segment { ports: self.ports, ..Segment::default() }, None)
        } else {
            return Err(self.deadline(context.now, context.path));
        };
        self.emit(context, &segment, repeat, out);
        Ok(NetworkFields::default())
    }

    fn deadline(&self, now: Instant, _: &Path) -> Option<Instant> {
        self.waiting.as_ref().map(|&(_, at, _)| at.max(now))
    }

    fn data_due(&self, _: Instant, _: &Path) -> Option<Instant> {
        None
    }

    fn write(&mut self, data: &[u8]) -> Result<usize, StreamError> {
        if self.is_closed || self.has_finished {
            return Err(if self.is_closed { StreamError::Closed(None) } else { StreamError::Finished });
        }
        let taken = data.len().min(self.writable_bytes() as usize);
        self.unsent.extend(&data[..taken]);
        self.is_full |= taken < data.len();
        Ok(taken)
    }

    fn read(&mut self, out: &mut [u8]) -> Result<Option<usize>, StreamError> {
        let length = out.len().min(self.unread.len());
        self.unread.drain(..length).zip(out).for_each(|(byte, place)| *place = byte);
        if length == 0 && !self.peer_ended { Ok(None) } else { Ok(Some(length)) }
    }

    fn finish(&mut self) {
        self.has_finished = true;
    }

    fn abort(&mut self) {
        self.close(Some(CloseReason::AbortedHere));
    }

    fn release(&mut self, _: Instant) {
        self.has_finished = true;
    }

    fn stats(&self) -> Stats {
        self.stats
    }

    fn held_bytes(&self) -> u64 {
        self.unsent.len() as u64
            + self.waiting.as_ref().map_or(0, |(segment, ..)| segment.payload.len() as u64)
    }

    fn writable_bytes(&self) -> u64 {
        self.config.send_limit_bytes.saturating_sub(self.unsent.len() as u64)
    }
}

impl Connection {
    fn emit(
        &mut self,
        context: &mut Context<'_>,
        segment: &Segment,
        repeat: Option<Repeat>,
        out: &mut Vec<u8>,
    ) {
        let start = out.len();
        Segment { acknowledgement: self.expected, ..segment.clone() }.encode(out);
        self.owes_acknowledgement = false;
        let wire_bytes = context.path.wire_bytes(out.len() - start);
        let (payload_bytes, is_control) = (segment.payload.len() as u32, segment.payload.is_empty());
        self.stats.sent_packets += 1;
        self.stats.sent_bytes += u64::from(wire_bytes);
        self.stats.data_packets += u64::from(!is_control);
        self.stats.control_bytes += if is_control { u64::from(wire_bytes) } else { 0 };
        self.stats.retransmitted_packets += u64::from(repeat.is_some());
        let (types, number) = (segment.flags, u64::from(segment.number));
        let sent = Event::Sent { types, number, payload_bytes, wire_bytes, repeat };
        context.sink.emit(context.now, self.id, sent);
    }

    /// Closes once both directions are over, and this end's is acknowledged.
    fn close_if_over(&mut self) {
        if self.peer_ended && self.end_sent && self.waiting.is_none() {
            self.close(None);
        }
    }
}

/// Family of the endpoint: it keeps the parameters of accepted connections.
#[derive(Clone, Debug, Default)]
pub struct StopAndWait {
    /// Parameters of accepted connections.
    pub accept: Config,
    /// Segments that were refused.
    pub refused: u64,
}

impl Family for StopAndWait {
    type Peer = std::net::SocketAddr;
    type Connection = Connection;
    type Segment<'a> = Segment;
    type Malformed = ();

    const KEEPS_PORTS: bool = false;

    fn decode(_: Self::Peer, _: Integrity, _: NetworkFields, bytes: &[u8]) -> Result<Segment, ()> {
        Segment::decode(bytes).ok_or(())
    }

    fn ports(segment: &Segment) -> (u16, u16) {
        (segment.ports.1, segment.ports.0)
    }

    fn encode(_: Self::Peer, _: Integrity, segment: &Segment, out: &mut Vec<u8>) -> (u8, u64) {
        segment.encode(out);
        (segment.flags, u64::from(segment.number))
    }

    fn receive(
        endpoint: &mut Endpoint<Self>,
        id: ConnectionId,
        arrival: Arrival<Self::Peer>,
        segment: &Segment,
        _: &mut dyn EventSink,
    ) {
        endpoint.change(id, |connection| {
            connection.receive(segment, arrival.bytes);
            connection.close_if_over();
        });
    }

    /// Opens for the first segment of a peer. Any other is of a connection that was whole here, and its end
    /// was not heard: it is acknowledged once more.
    fn receive_stray(
        endpoint: &mut Endpoint<Self>,
        arrival: Arrival<Self::Peer>,
        segment: &Segment,
        sink: &mut dyn EventSink,
    ) {
        let Key { peer, local_port, remote_port } = arrival.key;
        if segment.flags & OPENS != 0 && endpoint.listens(local_port) {
            let (id, config) = (endpoint.take_id(), endpoint.family.accept.clone());
            endpoint.enter_path(arrival.now, peer, None);
            endpoint.insert(id, arrival.key, Connection::new(id, config, &arrival.key, false), false);
            return Self::receive(endpoint, id, arrival, segment, sink);
        }
        endpoint.refuse(Refusal::Unknown, arrival.now, sink);
        if segment.flags & ENDS != 0 {
            let acknowledgement = segment.number + 1;
            endpoint.answer(
                peer,
                Segment { ports: (local_port, remote_port), acknowledgement, ..Segment::default() },
            );
        }
    }

    fn count_refusal(&mut self, _: Refusal) {
        self.refused += 1;
    }
}

/// Opens a connection to `port` at `peer`.
pub fn connect(
    endpoint: &mut Endpoint<StopAndWait>,
    now: Instant,
    peer: std::net::SocketAddr,
    port: u16,
    config: Config,
) -> Result<ConnectionId, skyhaul_core::ConnectError> {
    endpoint.check_room()?;
    let id = endpoint.take_id();
    // In turn, so that the peer of an earlier connection has forgotten it before its port comes again.
    let ports = (0..OWN_PORTS).map(|turn| FIRST_PORT + ((id + turn) % OWN_PORTS) as u16);
    let mut keys = ports.map(|local_port| Key { peer, local_port, remote_port: port });
    let free = keys.find(|&key| endpoint.find(key).is_none());
    let key = free.ok_or(skyhaul_core::ConnectError::NoFreePort)?;
    endpoint.enter_path(now, peer, None);
    endpoint.insert(id, key, Connection::new(id, config, &key, true), true);
    Ok(id)
}

//! A connection against a peer that says anything, at any time.

use std::net::SocketAddr;

use skyhaul_core::{ConnectionId, Connections, Engine, Instant, MS, NetworkFields, NullSink, SECOND, Stream};
use skyhaul_stp::segment::{
    Block, Feedback, Opening, Options, Piece, Poll, Report, Segment, Stat, Timing, decode, encode,
    repair_number, reset_reason, types,
};
use skyhaul_stp::{Config, Endpoint, EndpointConfig};

use crate::input::{Input, with_checksum};

const PORT: u16 = 4;
const PEER_PORT: u16 = 50_000;
const MTU_BYTES: u32 = 1500;
/// IPv4 and UDP around a segment.
const CARRIER_BYTES: usize = 28;
/// Operations of one run.
const MAX_OPERATIONS: usize = 400;
/// Segments at one point in time: more is an endless loop.
const MAX_SEGMENTS: usize = 20_000;
/// Deadlines that a run lets pass at its end.
const LAST_DEADLINES: usize = 50;
/// Excess that the specification (11.2) admits: a STAT with a nearly full list beside BGNAK, POLL and END.
const EXCESS_BYTES: usize = 27;

/// The endpoint under test and what its peer knows of it.
struct Bench {
    endpoint: Endpoint,
    config: Config,
    peer: SocketAddr,
    now: Instant,
    ids: Vec<ConnectionId>,
    /// Names of the connection, as in segments of the peer.
    blank: Segment<'static>,
    nonce: u64,
    /// The newest of what the endpoint said: next number, timestamp.
    next: u32,
    timestamp: u32,
    /// Where the peer's own numbers begin.
    initial: u32,
    read: u64,
}

/// Interprets bytes as operations: segments of any content, time, writes, reads, ends. Nothing may
/// panic, memory has its bounds, what is sent can be decoded, and time goes on from deadline to
/// deadline.
///
/// # Panics
///
/// If that does not hold.
pub fn connection(bytes: &[u8]) {
    let mut input = Input(bytes);
    let mut bench = Bench::new(&mut input);
    for _ in 0..MAX_OPERATIONS {
        if input.is_empty() {
            break;
        }
        bench.operate(&mut input);
        bench.pump();
        bench.check();
    }
    for _ in 0..LAST_DEADLINES {
        bench.pass_deadline();
        bench.pump();
        bench.check();
    }
}

fn config(choice: u8) -> Config {
    let mut config = if choice & 1 == 0 { Config::standard() } else { Config::paper() };
    config.rate_bps = (choice & 2 != 0).then_some(1_000_000);
    if choice & 4 != 0 {
        (config.receive_limit_bytes, config.send_limit_bytes) = (4096, 8192);
    }
    // A fuzzer has better things to do than to fill megabytes.
    config.send_limit_bytes = config.send_limit_bytes.min(1 << 20);
    config.send_limit_bdps = None;
    config.nagle = choice & 8 != 0;
    if choice & 16 != 0 {
        config.ustat_threshold = Some(0);
        config.ustats_per_poll = None;
    }
    config
}

impl Bench {
    fn new(input: &mut Input<'_>) -> Self {
        let choice = input.byte();
        let config = config(choice);
        let options = EndpointConfig {
            accept: config.clone(),
            mtu_bytes: MTU_BYTES,
            max_connections: 8,
            ..EndpointConfig::default()
        };
        let endpoint = Endpoint::new(options, Stream::new(u64::from(input.byte()), "fuzz"));
        let blank = Segment { source_port: PEER_PORT, destination_port: PORT, ..Segment::default() };
        let mut bench = Self {
            endpoint,
            config,
            peer: SocketAddr::from(([10, 0, 0, 2], 4000)),
            now: Instant::from_ns(1),
            ids: Vec::new(),
            blank,
            nonce: 1,
            next: 0,
            timestamp: 0,
            initial: u32::from(input.byte()).wrapping_sub(8) & 0xFF_FFFF,
            read: 0,
        };
        bench.endpoint.listen(PORT);
        if choice & 32 != 0 {
            bench.open(choice & 64 != 0);
        }
        bench
    }

    /// The endpoint opens; the peer learns the names from its BGN.
    fn open(&mut self, with_data: bool) {
        let connected = self.endpoint.connect(self.now, self.peer, PORT, self.config.clone(), with_data);
        let Ok(id) = connected else { return };
        self.ids.push(id);
        if with_data {
            let _ = self.endpoint.write(id, &[7; 3000]);
        }
        self.pump();
    }

    fn operate(&mut self, input: &mut Input<'_>) {
        match input.byte() % 16 {
            0 => {
                let length = usize::from(input.byte());
                let bytes = with_checksum(input.take(length));
                self.endpoint.handle(self.now, self.peer, NetworkFields::default(), &bytes, &mut NullSink);
            }
            1 => self.now = self.now.after(u64::from(input.byte()) * MS),
            2 => self.now = self.now.after(u64::from(input.byte()) * SECOND),
            3 => self.pass_deadline(),
            4 => self.write(usize::from(input.byte()) * 64),
            5 => self.read(usize::from(input.byte()) * 64),
            6 => self.each(|endpoint, id, _| endpoint.finish(id)),
            7 if input.byte() == 0 => self.each(|endpoint, id, _| endpoint.abort(id)),
            8 if input.byte() == 0 => {
                let now = self.now;
                self.each(|endpoint, id, _| endpoint.release(now, id));
            }
            _ => self.hear(input),
        }
        self.endpoint.handle_timeout(self.now, &mut NullSink);
    }

    fn each(&mut self, mut act: impl FnMut(&mut Endpoint, ConnectionId, &mut u64)) {
        for &id in &self.ids {
            act(&mut self.endpoint, id, &mut self.read);
        }
    }

    fn write(&mut self, bytes: usize) {
        let data = vec![5; bytes];
        self.each(|endpoint, id, _| {
            let _ = endpoint.write(id, &data); // a full buffer or an ended connection is fine
        });
    }

    fn read(&mut self, bytes: usize) {
        let mut room = vec![0; bytes];
        self.each(|endpoint, id, read| {
            *read += endpoint.read(id, &mut room).ok().flatten().unwrap_or(0) as u64;
        });
    }

    /// A segment that carries the connection's names (mostly) and anything else.
    fn hear(&mut self, input: &mut Input<'_>) {
        let (bits, extra) = (input.byte(), input.byte());
        let mut segment = Segment { number: input.near(self.initial) & 0xFF_FFFF, ..self.blank.clone() };
        if extra & 7 == 7 {
            segment.instance = segment.instance.wrapping_add(1);
        }
        let data = vec![9; 1 + usize::from(extra >> 3) * 45];
        let has = |bit: u8| bits & bit != 0;
        if bits == types::RST {
            segment.rst = Some(reset_reason(input.byte()));
        } else if bits == types::BLOCK {
            segment.block = Some(block(input));
        } else if bits == types::REPAIR {
            segment.number = repair_number(input.byte(), u16::from(input.byte()));
            segment.repair = Some(&data);
        } else if bits == types::PIECE {
            // Large enough to be no tiny one, for the most part.
            let (offset, total) = (u16::from(input.byte()) * 16, u16::from(input.byte()) * 64);
            segment.piece = Some(Piece { offset, total, data: (&data, &[]) });
        } else {
            segment.bgn = has(types::BGN).then(|| self.opening(input));
            let free = segment.bgn.is_none();
            segment.bgnak = (free && has(types::BGNAK)).then(|| self.opening(input));
            segment.stat = (free && has(types::STAT)).then(|| self.stat(input));
            segment.ustat = (free && has(types::USTAT)).then(|| self.report(input));
            segment.poll = has(types::POLL).then(|| self.poll(input));
            segment.end = has(types::END).then(|| input.near(self.initial) & 0xFF_FFFF);
            segment.endak = free && has(types::ENDAK);
            segment.data = has(types::SD).then_some((&data[..], &[][..]));
        }
        if segment.type_bits() == 0 {
            return;
        }
        let mut bytes = Vec::new();
        encode(&segment, &mut bytes);
        self.endpoint.handle(self.now, self.peer, NetworkFields::default(), &bytes, &mut NullSink);
        self.ids.extend(self.endpoint.accept());
    }

    fn opening(&mut self, input: &mut Input<'_>) -> Opening {
        let shape = input.byte();
        if shape & 1 != 0 {
            self.nonce = self.nonce.wrapping_add(u64::from(shape));
        }
        let max_payload_bytes = if shape & 2 != 0 { u16::from(input.byte()) } else { 1400 };
        let window_bytes = if shape & 4 != 0 { input.word() } else { 64_000 };
        let options = Options {
            timing: shape & 8 != 0,
            repairs: shape & 16 != 0,
            increments: shape & 32 != 0,
            pieces: shape & 64 != 0,
            feedback: shape & 128 != 0,
            padding: 0,
        };
        Opening { max_payload_bytes, initial: self.initial, window_bytes, nonce: self.nonce, options }
    }

    fn poll(&mut self, input: &mut Input<'_>) -> Poll {
        let timestamp = (self.now.as_ns() >> 14) as u32;
        let (timestamp, next) = (input.near(timestamp), input.near(self.initial) & 0xFF_FFFF);
        let shape = input.byte();
        let settled = (shape & 1 != 0).then(|| input.near(next) & 0xFF_FFFF);
        Poll { timestamp, next, settled, spares_ustats: shape & 2 != 0, pads: shape & 4 != 0 }
    }

    fn stat(&mut self, input: &mut Input<'_>) -> Stat {
        let shape = input.byte();
        let echo = if shape & 3 == 3 { input.near(self.timestamp) } else { self.timestamp };
        let timing = (shape & 4 != 0).then(|| Timing { clock: input.word(), octets: input.word() });
        let wanting = (shape & 8 != 0).then(|| (input.byte(), input.word() & 0xFFFF));
        let feedback =
            (shape & 16 != 0).then(|| Feedback { sum_bytes_per_s: input.word(), routers: input.byte() });
        Stat { echo, report: self.report(input), timing, feedback, wanting }
    }

    fn report(&mut self, input: &mut Input<'_>) -> Report {
        let next = input.near(self.next) & 0xFF_FFFF;
        let shape = input.byte();
        let runs: Vec<u32> =
            input.take(usize::from(shape & 15)).iter().map(|&run| u32::from(run % 16) + 1).collect();
        let start = if runs.is_empty() { 0 } else { u32::from(input.byte() % 8) };
        let window_bytes = if shape & 16 != 0 { input.word() } else { 64_000 };
        let silent = (shape & 64 != 0).then(|| (u32::from(input.byte()), u32::from(input.byte()) + 1));
        Report { next, window_bytes, more: shape & 32 != 0, silent, start, runs }
    }

    /// Sends all that is due, and looks at it as the peer would.
    fn pump(&mut self) {
        let mut buffer = Vec::new();
        let mut count = 0;
        while let Some(sent) = self.endpoint.poll_transmit(self.now, &mut buffer, 8, &mut NullSink) {
            for datagram in buffer.chunks(sent.segment_bytes) {
                self.look_at(datagram);
                count += 1;
            }
            assert!(count <= MAX_SEGMENTS, "an endless loop at {:?}", self.now);
        }
        let deadline = self.endpoint.deadline();
        assert!(deadline.is_none_or(|at| at > self.now), "{deadline:?} at {:?}", self.now);
        while self.endpoint.poll_event().is_some() {}
    }

    fn look_at(&mut self, datagram: &[u8]) {
        assert!(datagram.len() <= MTU_BYTES as usize - CARRIER_BYTES + EXCESS_BYTES, "{}", datagram.len());
        let segment = match decode(datagram) {
            Ok(segment) => segment,
            Err(error) => panic!("sent what cannot be decoded: {error}"),
        };
        if let Some(opening) = segment.bgn {
            self.nonce = opening.nonce;
            self.blank.source_port = segment.destination_port;
            self.blank.destination_port = segment.source_port;
            self.blank.instance = segment.instance;
        }
        if let Some(poll) = segment.poll {
            self.timestamp = poll.timestamp;
        }
        self.next = segment.poll.map_or(segment.number, |poll| poll.next);
    }

    fn pass_deadline(&mut self) {
        if let Some(at) = self.endpoint.deadline() {
            assert!(at > self.now, "time stands still at {at:?}");
            self.now = at;
        }
        self.endpoint.handle_timeout(self.now, &mut NullSink);
    }

    fn check(&self) {
        assert!(self.endpoint.connection_count() <= 8 + self.ids.len());
        let stats: Vec<_> = self.ids.iter().filter_map(|&id| self.endpoint.stats(id)).collect();
        let most = 2 * self.config.receive_limit_bytes + u64::from(MTU_BYTES);
        for one in &stats {
            assert!(one.in_flight_bytes <= self.config.send_limit_bytes, "{one:?}");
            assert!(stats.len() > 1 || one.delivered_bytes.saturating_sub(self.read) <= most, "{one:?}");
        }
    }
}

/// A block of a few runs whose packets have the size of the data in [`Bench::hear`].
fn block(input: &mut Input<'_>) -> Block {
    let (id, shape) = (input.byte(), input.byte());
    let mut runs: Vec<u32> =
        input.take(usize::from(shape & 7)).iter().map(|&run| u32::from(run % 32) + 1).collect();
    runs.resize((runs.len() / 2) * 2 + 1, 1);
    let packets = runs.iter().step_by(2).sum();
    Block { id, runs, sizes: vec![(packets, 1 + u16::from(shape >> 3) * 45)] }
}

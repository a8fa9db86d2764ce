//! Coded tails: a transfer over a path that loses, repeats and delays packets as it is told, beside somebody
//! who forges blocks and symbols.

use std::net::SocketAddr;

use skyhaul_core::{
    CloseReason, ConnectionId, Connections, Engine, Instant, MS, NetworkFields, NullSink, Stream, StreamEvent,
};
use skyhaul_stp::segment::{Block, Segment, decode, encode, repair_number};
use skyhaul_stp::{Config, Endpoint, EndpointConfig};

use crate::input::Input;

const PORT: u16 = 4;
/// Packets that arrive in a run, at most: by then everything must have.
const MAX_ARRIVALS: usize = 20_000;

/// Packet on its way to an end.
#[derive(Clone, Debug)]
struct Flight {
    at: Instant,
    to: usize,
    bytes: Vec<u8>,
}

struct CodedPair {
    ends: [Endpoint; 2],
    now: Instant,
    delay_ns: u64,
    wire: Vec<Flight>,
    accepted: Option<ConnectionId>,
    read: Vec<u8>,
    /// A segment of the sender, whose names and numbers forged ones bear.
    overheard: Vec<u8>,
    /// All of the stream was read, and its end.
    has_ended: bool,
    may_forge: bool,
    is_forged: bool,
    /// So much was lost in a row that an end took its peer for gone.
    has_given_up: bool,
}

/// Interprets bytes as a transfer, and as what becomes of each of its packets. Nothing may panic, and all
/// of it arrives when the path is whole again, unless an end gave up before, or somebody forged
/// symbols: who can do that can forge data, too.
///
/// # Panics
///
/// If that does not hold.
pub fn coding(bytes: &[u8]) {
    let mut input = Input(bytes);
    let (size, shape) = (1 + usize::from(input.byte()) * 700, input.byte());
    let config = Config {
        rate_bps: Some(if shape & 1 == 0 { 4_000_000 } else { 200_000 }),
        receive_limit_bytes: if shape & 2 == 0 { 1 << 20 } else { 30_000 },
        ..Config::standard()
    };
    let mut pair = CodedPair::new(&config, u64::from(shape >> 3) * 10 * MS, shape & 4 != 0);
    let data: Vec<u8> = (0..size).map(|place| ((place * 31) >> 3) as u8).collect();
    let id = pair.ends[0].connect(pair.now, CodedPair::address(1), PORT, config, true);
    let id = id.expect("there is room for one connection");
    let mut written = 0;
    for _ in 0..MAX_ARRIVALS {
        written += pair.ends[0].write(id, &data[written..]).unwrap_or(0);
        if written == size {
            pair.ends[0].finish(id);
        }
        if !pair.step(&mut input) {
            break;
        }
        if pair.has_ended {
            break;
        }
    }
    if !pair.is_forged && !pair.has_given_up {
        assert_eq!(pair.read.len(), size, "{:?}", pair.ends[0].state(id));
        assert!(pair.has_ended, "the end did not arrive");
        assert!(pair.read == data, "what arrived is not what was written");
    }
}

impl CodedPair {
    fn new(config: &Config, delay_ns: u64, may_forge: bool) -> Self {
        let end = |seed| {
            let accept = config.clone();
            Endpoint::new(EndpointConfig { accept, ..EndpointConfig::default() }, Stream::new(seed, "coding"))
        };
        let mut ends = [end(1), end(2)];
        ends[1].listen(PORT);
        Self {
            ends,
            now: Instant::from_ns(1),
            delay_ns,
            wire: Vec::new(),
            accepted: None,
            read: Vec::new(),
            overheard: Vec::new(),
            has_ended: false,
            may_forge,
            is_forged: false,
            has_given_up: false,
        }
    }

    fn address(end: usize) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 1 + end as u8], 4000))
    }

    fn transmit(&mut self) {
        for end in 0..2 {
            let mut buffer = Vec::new();
            while let Some(sent) = self.ends[end].poll_transmit(self.now, &mut buffer, 8, &mut NullSink) {
                for bytes in buffer.chunks(sent.segment_bytes) {
                    if end == 0 {
                        self.overheard = bytes.to_vec();
                    }
                    let at = self.now.after(self.delay_ns + 1);
                    self.wire.push(Flight { at, to: 1 - end, bytes: bytes.to_vec() });
                }
                assert!(self.wire.len() < 50_000, "an endless loop");
            }
            while let Some((_, event)) = self.ends[end].poll_event() {
                let lost = [CloseReason::Silence, CloseReason::ConnectTimeout];
                self.has_given_up |= lost.into_iter().any(|why| event == StreamEvent::Closed(Some(why)));
            }
        }
    }

    /// Goes to whatever comes next; false if nothing does.
    fn step(&mut self, input: &mut Input<'_>) -> bool {
        self.transmit();
        let first = (0..self.wire.len()).min_by_key(|&i| self.wire[i].at);
        let timer = self.ends.iter().filter_map(Engine::deadline).min();
        assert!(timer.is_none_or(|at| at > self.now), "{timer:?} at {:?}", self.now);
        let arrives = first.filter(|&i| timer.is_none_or(|timer| self.wire[i].at <= timer));
        match (arrives, timer) {
            (Some(first), _) => {
                let flight = self.wire.swap_remove(first);
                self.now = self.now.max(flight.at);
                self.meet_fate(flight, input);
            }
            (None, Some(timer)) => self.now = timer,
            (None, None) => return false,
        }
        self.ends.iter_mut().for_each(|end| end.handle_timeout(self.now, &mut NullSink));
        self.read_all();
        true
    }

    fn meet_fate(&mut self, flight: Flight, input: &mut Input<'_>) {
        match input.byte() % 16 {
            1..=4 => return,
            5 => {
                let at = self.now.after(u64::from(input.byte()) * MS);
                self.wire.push(Flight { at, ..flight.clone() });
            }
            6 => {
                let at = self.now.after(1 + u64::from(input.byte()) * MS);
                return self.wire.push(Flight { at, ..flight });
            }
            7 if self.may_forge => self.forge(input),
            _ => {}
        }
        let from = Self::address(1 - flight.to);
        self.ends[flight.to].handle(self.now, from, NetworkFields::default(), &flight.bytes, &mut NullSink);
    }

    /// The receiver hears of a block, or of a symbol, that the sender knows nothing of.
    fn forge(&mut self, input: &mut Input<'_>) {
        let overheard = self.overheard.clone();
        let Ok(known) = decode(&overheard) else { return };
        let Segment { source_port, destination_port, instance, .. } = known;
        let number = input.near(known.number) & 0xFF_FFFF;
        let base = Segment { source_port, destination_port, instance, number, ..Segment::default() };
        let (shape, id) = (input.byte(), input.byte() % 4);
        let symbol_bytes = [1400, 1, 700, 100][usize::from(shape >> 6)];
        let symbol = vec![shape; usize::from(symbol_bytes)];
        let forged = if shape & 1 == 0 {
            Segment { number: repair_number(id, u16::from(input.byte())), repair: Some(&symbol), ..base }
        } else {
            let mut runs: Vec<u32> =
                input.take(usize::from((shape >> 1) & 7)).iter().map(|&run| u32::from(run) + 1).collect();
            runs.resize(runs.len() / 2 * 2 + 1, 1);
            let packets = runs.iter().step_by(2).sum();
            Segment { block: Some(Block { id, runs, sizes: vec![(packets, symbol_bytes)] }), ..base }
        };
        let mut bytes = Vec::new();
        encode(&forged, &mut bytes);
        self.is_forged = true;
        self.ends[1].handle(self.now, Self::address(0), NetworkFields::default(), &bytes, &mut NullSink);
    }

    fn read_all(&mut self) {
        self.accepted = self.accepted.or_else(|| self.ends[1].accept());
        let Some(id) = self.accepted else { return };
        let mut room = [0; 4096];
        while let Ok(Some(count)) = self.ends[1].read(id, &mut room) {
            self.has_ended |= count == 0;
            if count == 0 {
                break;
            }
            self.read.extend_from_slice(&room[..count]);
        }
    }
}

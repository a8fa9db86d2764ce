//! One endpoint and a peer that follows a script, so that a test reads like a packet trace. Numbers are those
//! behind the initial ones: SYN is 0, the first byte is 1.
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(
    unreachable_pub,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a module of several test binaries"
)]

pub mod pair;
pub mod silent;

use std::net::Ipv4Addr;

use skyhaul_congestion::ControllerKind;
use skyhaul_core::{
    ConnectionId, Connections, Ecn, Engine, Instant, MS, NullSink, Stats, Stream, StreamEvent,
};
use skyhaul_tcp::scps::compress::{self, decompress};
use skyhaul_tcp::segment::{Options, SackBlocks, Segment, Timestamps, Way, decode, encode, flags};
use skyhaul_tcp::{Config, Endpoint, EndpointConfig, IcmpMessage, Recovery, State};

pub const PORT: u16 = 80;
pub const PEER_PORT: u16 = 5000;
/// The scripted peer's initial number: its stream wraps early.
pub const PEER_INITIAL: u32 = u32::MAX - 500;

pub fn way() -> Way {
    Way { local: Ipv4Addr::new(10, 0, 0, 1).into(), remote: Ipv4Addr::new(10, 0, 0, 2).into() }
}

/// A configuration without anything that would make a trace longer; losses are repaired by [RFC 6675].
pub fn plain() -> Config {
    Config {
        mss_bytes: 1000,
        initial_window_packets: Some(10),
        controller: ControllerKind::Reno,
        recovery: Recovery::Sack,
        rate_reduction: false,
        timestamps: false,
        window_scale: false,
        nagle: false,
        ecn: false,
        receive_limit_bytes: 20_000,
        ..Config::standard()
    }
}

/// Segment that the endpoint sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    pub flags: u8,
    /// Behind our initial number.
    pub sequence: u32,
    /// Behind the peer's.
    pub acknowledgement: u32,
    pub window: u16,
    pub options: Options,
    pub payload: Vec<u8>,
    /// Of the IP header.
    pub ecn: Ecn,
    /// Of the IP header, where it is not that of TCP.
    pub protocol: u8,
    /// Octets with its header.
    pub bytes: usize,
}

/// An endpoint alone with a script.
pub struct Lone {
    pub endpoint: Endpoint,
    pub now: Instant,
    pub id: ConnectionId,
    pub local_port: u16,
    pub initial: u32,
    pub peer_window: u16,
    /// Mark in the IP headers of the peer's segments.
    pub peer_ecn: Ecn,
}

impl Lone {
    pub fn new(config: &Config) -> Self {
        let accept = EndpointConfig { accept: config.clone(), ..EndpointConfig::default() };
        let mut endpoint = Endpoint::new(accept, Stream::new(1, "lone"));
        endpoint.listen(PORT);
        Self {
            endpoint,
            now: Instant::from_ns(1),
            id: 0,
            local_port: PORT,
            initial: 0,
            peer_window: 60_000,
            peer_ecn: Ecn::NotEct,
        }
    }

    /// It sends SYN, which is heard.
    pub fn connecting(config: &Config) -> (Self, Heard) {
        let mut lone = Self::new(config);
        lone.id = lone.endpoint.connect(lone.now, way(), PEER_PORT, None, config.clone()).unwrap();
        lone.local_port = lone.endpoint.local_port(lone.id).unwrap();
        let syn = lone.one();
        (lone, syn)
    }

    /// A peer that offers `options` opened a connection, which was accepted.
    pub fn accepted(config: &Config, options: Options) -> Self {
        let mut lone = Self::new(config);
        lone.say(flags::SYN, 0, 0, options, b"");
        assert_eq!(lone.one().flags, flags::SYN | flags::ACK);
        lone.ack(1, 1);
        lone.take();
        assert_eq!(lone.state(), State::Established);
        assert_eq!(lone.hear(), []);
        lone
    }

    /// With the options of an ordinary peer: 1000-byte segments, SACK.
    pub fn ordinary(config: &Config) -> Self {
        Self::accepted(config, Options { mss: Some(1000), sack_permitted: true, ..Options::default() })
    }

    /// Moment at which it would do something by itself, everything being sent.
    pub fn idle_deadline(&self) -> Option<Instant> {
        self.endpoint.deadline()
    }

    /// Counters of the connection.
    pub fn stats(&self) -> Stats {
        self.endpoint.stats(self.id).unwrap()
    }

    /// Goes on with the connection that the peer opened.
    pub fn take(&mut self) {
        self.id = self.endpoint.accept().unwrap();
    }

    pub fn state(&self) -> State {
        self.endpoint.state(self.id).unwrap_or(State::Closed)
    }

    /// An opening from another port of the peer's.
    pub fn say_from(&mut self, port: u16, bits: u8, sequence: u32, options: Options, payload: &[u8]) {
        self.say_as((way(), port), (bits, sequence, 0), options, payload);
    }

    /// An acknowledgement from another port of the peer's.
    pub fn ack_from(&mut self, port: u16, sequence: u32, acknowledgement: u32) {
        self.say_as((way(), port), (flags::ACK, sequence, acknowledgement), Options::default(), b"");
    }

    /// An opening that came another way.
    pub fn say_to(&mut self, way: Way, bits: u8, options: Options, payload: &[u8]) {
        self.say_as((way, PEER_PORT), (bits, 0, 0), options, payload);
    }

    pub fn say(&mut self, bits: u8, sequence: u32, acknowledgement: u32, options: Options, payload: &[u8]) {
        self.say_as((way(), PEER_PORT), (bits, sequence, acknowledgement), options, payload);
    }

    fn say_as(&mut self, (way, port): (Way, u16), numbers: (u8, u32, u32), options: Options, payload: &[u8]) {
        let (bits, sequence, acknowledgement) = numbers;
        let segment = Segment {
            source_port: port,
            destination_port: self.local_port,
            sequence: PEER_INITIAL.wrapping_add(sequence),
            acknowledgement: if bits & flags::ACK == 0 {
                0
            } else {
                self.initial.wrapping_add(acknowledgement)
            },
            flags: bits,
            window: self.peer_window,
            urgent: 0,
            options,
            payload: (payload, &[]),
            described: None,
            compression: None,
        };
        let mut bytes = Vec::new();
        encode(way.reversed(), &segment, &mut bytes);
        self.endpoint.handle(self.now, way, self.peer_ecn.into(), &bytes, &mut NullSink);
    }

    /// ICMP about our segment with this number, as it would quote it.
    pub fn icmp(&mut self, message: IcmpMessage, sequence: u32) {
        let mut quoted = [0; 8];
        quoted[..2].copy_from_slice(&self.local_port.to_be_bytes());
        quoted[2..4].copy_from_slice(&PEER_PORT.to_be_bytes());
        quoted[4..].copy_from_slice(&self.initial.wrapping_add(sequence).to_be_bytes());
        self.endpoint.handle_icmp(self.now, way(), message, (6, &quoted), &mut NullSink);
    }

    pub fn ack(&mut self, sequence: u32, acknowledgement: u32) {
        self.say(flags::ACK, sequence, acknowledgement, Options::default(), b"");
    }

    pub fn sack(&mut self, acknowledgement: u32, blocks: &[(u32, u32)]) {
        let mut sack = SackBlocks::default();
        for (first, end) in blocks {
            assert!(sack.push(self.initial.wrapping_add(*first), self.initial.wrapping_add(*end)));
        }
        self.say(flags::ACK, 1, acknowledgement, Options { sack, ..Options::default() }, b"");
    }

    pub fn data(&mut self, sequence: u32, payload: &[u8]) {
        self.say(flags::ACK, sequence, 1, Options::default(), payload);
    }

    /// Everything that it sends to the peer now.
    pub fn hear(&mut self) -> Vec<Heard> {
        let (mut heard, mut buffer) = (Vec::new(), Vec::new());
        while let Some(transmit) = self.endpoint.poll_transmit(self.now, &mut buffer, 4, &mut NullSink) {
            assert!(heard.len() < 1000, "it sends without end");
            if transmit.peer != way() {
                continue; // to somebody else: the flood of a test
            }
            for bytes in buffer.chunks(transmit.segment_bytes) {
                let segment = match transmit.fields.protocol {
                    compress::PROTOCOL => decompress(way().reversed(), bytes).unwrap().segment,
                    _ => decode(way().reversed(), bytes).unwrap(),
                };
                if segment.has(flags::SYN) {
                    self.initial = segment.sequence;
                }
                let has_ack = segment.has(flags::ACK);
                heard.push(Heard {
                    flags: segment.flags,
                    sequence: segment.sequence.wrapping_sub(self.initial),
                    acknowledgement: if has_ack {
                        segment.acknowledgement.wrapping_sub(PEER_INITIAL)
                    } else {
                        0
                    },
                    window: segment.window,
                    options: segment.options,
                    payload: segment.payload.0.to_vec(),
                    ecn: transmit.fields.ecn,
                    protocol: transmit.fields.protocol,
                    bytes: bytes.len(),
                });
            }
        }
        heard
    }

    pub fn one(&mut self) -> Heard {
        let mut heard = self.hear();
        assert_eq!(heard.len(), 1, "{heard:?}");
        heard.remove(0)
    }

    /// First numbers of the data that it sends now.
    pub fn data_sent(&mut self) -> Vec<u32> {
        self.hear().iter().filter(|heard| !heard.payload.is_empty()).map(|heard| heard.sequence).collect()
    }

    pub fn wait_ms(&mut self, ms: u64) {
        self.now = self.now.after(ms * MS);
        self.endpoint.handle_timeout(self.now, &mut NullSink);
    }

    /// Goes to the next deadline; returns how long that took, in ms.
    pub fn wait(&mut self) -> u64 {
        let due = self.endpoint.deadline().unwrap();
        let waited_ns = due.since(self.now);
        self.now = due;
        self.endpoint.handle_timeout(self.now, &mut NullSink);
        waited_ns / MS
    }

    pub fn write(&mut self, bytes: usize) {
        assert_eq!(self.endpoint.write(self.id, &vec![7; bytes]), Ok(bytes));
    }

    pub fn read(&mut self) -> Vec<u8> {
        let mut out = vec![0; 1 << 16];
        let count = self.endpoint.read(self.id, &mut out).unwrap().unwrap_or(0);
        out.truncate(count);
        out
    }

    pub fn events(&mut self) -> Vec<StreamEvent> {
        std::iter::from_fn(|| self.endpoint.poll_event()).map(|(_, event)| event).collect()
    }
}

pub fn stamps(value: u32, echo: u32) -> Options {
    Options { timestamps: Some(Timestamps { value, echo }), ..Options::default() }
}

impl Lone {
    /// A peer with timestamps opened a connection; its clock is at `value`.
    pub fn accepted_with_stamps(config: &Config, value: u32) -> Self {
        let mut lone = Self::new(config);
        lone.say(flags::SYN, 0, 0, Options { mss: Some(1000), ..stamps(value, 0) }, b"");
        let echo = lone.one().options.timestamps.unwrap().value;
        lone.say(flags::ACK, 1, 1, stamps(value, echo), b"");
        lone.take();
        lone
    }
}

//! The liar's tools: it opens a connection by the rules, and then says what it likes.

use std::net::SocketAddr;

use skyhaul_core::{ConnectionId, Connections, Engine, Instant, MS, NetworkFields, NullSink, Stats, Stream};
use skyhaul_stp::segment::{Opening, Report, Segment, Stat, decode, encode};
use skyhaul_stp::{Config, Endpoint, EndpointConfig, State};

pub(crate) const PORT: u16 = 4;
/// The liar's first packet number.
pub(crate) const INITIAL: u32 = 1000;
/// Segments that the engine may want to send at one moment; more is an endless loop.
const MAX_SEGMENTS: usize = 100_000;

/// Segment that the engine sent, without the data.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub(crate) segment: Segment<'static>,
    pub(crate) payload_bytes: usize,
    pub(crate) octets: usize,
}

/// The engine, and a peer to tell it lies.
pub(crate) struct Liar {
    pub(crate) engine: Endpoint,
    pub(crate) now: Instant,
    pub(crate) id: ConnectionId,
    pub(crate) address: SocketAddr,
    /// Everything that the engine sent.
    pub(crate) heard: Vec<Heard>,
    /// Names of the connection in the liar's segments.
    pub(crate) blank: Segment<'static>,
}

impl Liar {
    /// An engine that has accepted the liar's opening and has proof of its address.
    pub(crate) fn new(config: Config) -> Self {
        Self::far_away(config, 0)
    }

    /// Peer of an engine that has measured this round-trip time.
    pub(crate) fn far_away(config: Config, rtt_ns: u64) -> Self {
        let options = EndpointConfig { accept: config, max_connections: 100, ..EndpointConfig::default() };
        let mut engine = Endpoint::new(options, Stream::new(1, "adversary"));
        engine.listen(PORT);
        let blank =
            Segment { source_port: 50_000, destination_port: PORT, instance: 77, ..Segment::default() };
        let address = SocketAddr::from(([10, 0, 0, 9], 9));
        let mut liar = Self { engine, now: Instant::from_ns(1), id: 0, address, heard: Vec::new(), blank };
        liar.say(&Segment { bgn: Some(opening(1 << 20)), ..liar.blank.clone() });
        liar.id = liar.engine.accept().expect("the opening is in order");
        liar.wait(rtt_ns);
        let answer = liar.stat(|report| report);
        liar.say(&answer);
        liar
    }

    /// For `ns`, answers POLLs as `answer` likes, each after 100 ms or a little more.
    pub(crate) fn converse(
        &mut self,
        ns: u64,
        mut answer: impl FnMut(&Self, Segment<'static>) -> Segment<'static>,
    ) {
        let until = self.now.after(ns);
        while self.now < until {
            let before = self.heard.len();
            self.wait(10 * MS);
            let polled = self.heard[before..].iter().any(|heard| heard.segment.poll.is_some());
            if polled {
                let honest = self.stat(|report| report);
                self.wait(100 * MS);
                let answer = answer(self, honest);
                self.say(&answer);
            }
        }
    }

    /// Says a segment and hears what the engine answers at once.
    pub(crate) fn say(&mut self, segment: &Segment<'_>) {
        let mut bytes = Vec::new();
        encode(segment, &mut bytes);
        self.engine.handle(self.now, self.address, NetworkFields::default(), &bytes, &mut NullSink);
        self.listen();
    }

    /// Lets time pass in small steps.
    pub(crate) fn wait(&mut self, ns: u64) {
        let until = self.now.after(ns);
        while let Some(at) = self.engine.deadline().filter(|&at| at <= until) {
            assert!(at > self.now, "time stands still");
            self.now = at;
            self.engine.handle_timeout(at, &mut NullSink);
            self.listen();
        }
        self.now = until;
    }

    pub(crate) fn listen(&mut self) {
        let mut buffer = Vec::new();
        let mut count = 0;
        while let Some(sent) = self.engine.poll_transmit(self.now, &mut buffer, 8, &mut NullSink) {
            for datagram in buffer.chunks(sent.segment_bytes) {
                let segment = decode(datagram).expect("engines send what can be decoded");
                let payload_bytes = segment.payload_bytes();
                let segment = Segment { data: None, ..segment };
                self.heard.push(Heard { segment: owned(segment), payload_bytes, octets: datagram.len() });
                count += 1;
                assert!(count < MAX_SEGMENTS, "no end to what is sent at {:?}", self.now);
            }
        }
    }

    /// The engine writes; the liar hears it.
    pub(crate) fn engine_writes(&mut self, bytes: usize) -> usize {
        let taken = self.engine.write(self.id, &vec![1; bytes]).expect("the connection is open");
        self.listen();
        self.wait(20 * MS);
        taken
    }

    /// An honest answer to the engine's newest POLL, changed by `lie`.
    pub(crate) fn stat(&self, lie: impl FnOnce(Report) -> Report) -> Segment<'static> {
        let poll = self.heard.iter().rev().find_map(|heard| heard.segment.poll).expect("it has polled");
        let honest = Report { next: poll.next, window_bytes: 1 << 20, ..Report::default() };
        Segment {
            stat: Some(Stat { echo: poll.timestamp, report: lie(honest), ..Stat::default() }),
            ..self.blank.clone()
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        self.engine.stats(self.id).expect("the connection is held")
    }

    pub(crate) fn state(&self) -> Option<State> {
        self.engine.state(self.id)
    }

    /// Payload of everything that the engine sent.
    pub(crate) fn payload_heard(&self) -> usize {
        self.heard.iter().map(|heard| heard.payload_bytes).sum()
    }

    /// A packet of the liar's, `offset` behind its first.
    pub(crate) fn packet<'a>(&self, offset: u32, data: &'a [u8]) -> Segment<'a> {
        let number = (INITIAL + offset) & 0xFF_FFFF;
        Segment { number, data: Some((data, &[])), ..self.blank.clone() }
    }
}

/// A BGN by the rules.
pub(crate) fn opening(window_bytes: u32) -> Opening {
    Opening { max_payload_bytes: 1400, initial: INITIAL, window_bytes, nonce: 42, ..Opening::default() }
}

fn owned(segment: Segment<'_>) -> Segment<'static> {
    Segment { data: None, repair: None, piece: None, ..segment }
}

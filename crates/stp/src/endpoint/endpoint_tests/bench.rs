//! The test bench: two endpoints, 100 ms apart.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::net::SocketAddr;

use skyhaul_core::{
    ConnectionId, Connections, Engine, Event, Instant, MS, NetworkFields, PathHeader, SECOND, Stream,
    StreamEvent,
};

use crate::segment::{Segment, decode, encode, types};
use crate::{Config, Endpoint, EndpointConfig, State};

pub(super) const PORT: u16 = 4;
pub(super) const DELAY_NS: u64 = 100 * MS;
pub(super) const RTT_NS: u64 = 2 * DELAY_NS;

/// Endpoint A opens, endpoint B listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    A,
    B,
}

impl Side {
    pub(super) fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    pub(super) fn address(self) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 1 + self as u8], 4000))
    }
}

/// A segment on its way.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub(super) at: Instant,
    pub(super) to: Side,
    pub(super) bytes: Vec<u8>,
    pub(super) header: Option<PathHeader>,
}

type Router = alloc::boxed::Box<dyn FnMut(&mut PathHeader)>;
type Filter = alloc::boxed::Box<dyn FnMut(Side, &Segment<'_>) -> bool>;

/// Two endpoints and the wire between them.
pub(super) struct Bench {
    pub(super) a: Endpoint,
    pub(super) b: Endpoint,
    pub(super) now: Instant,
    /// One way.
    pub(super) delay_ns: u64,
    /// Time between two looks of B at what has arrived: a busy machine.
    pub(super) b_looks_ns: u64,
    pub(super) wire: Vec<Flight>,
    /// Everything sent, as (time in ms, sender, names of the types).
    pub(super) log: Vec<(u64, Side, String)>,
    pub(super) drop: Filter,
    /// Writes on the headers of A's packets.
    pub(super) router: Router,
    /// True if B drops what has a path header: it is of the version before those.
    pub(super) is_b_without_headers: bool,
    /// True if nothing with a path header arrives at B, though B knows them.
    pub(super) drops_headers: bool,
    /// Headers that A sent.
    pub(super) headers: Vec<PathHeader>,
    pub(super) events: Vec<(Side, ConnectionId, StreamEvent)>,
    pub(super) trace: Vec<(Instant, u64, Event)>,
    /// True if applications read.
    pub(super) reads: bool,
    /// Largest packet that the path takes from A to B, and back.
    pub(super) path_bytes: [u32; 2],
    /// False where packets that may be cut vanish, too.
    pub(super) carries_fragments: bool,
    /// True if B is of the version before the flag P.
    pub(super) is_b_old: bool,
    /// Largest packet that A sent, and those that crossed as fragments.
    pub(super) largest_bytes: u32,
    pub(super) cut_packets: u64,
    inbox: BTreeMap<ConnectionId, Vec<u8>>,
}

pub(super) fn type_names(bits: u8) -> String {
    match bits {
        types::RST => return "RST".into(),
        types::BLOCK => return "BLOCK".into(),
        types::REPAIR => return "REPAIR".into(),
        types::PIECE => return "PIECE".into(),
        _ => {}
    }
    let names = [
        (types::BGN, "BGN"),
        (types::BGNAK, "BGNAK"),
        (types::SD, "SD"),
        (types::POLL, "POLL"),
        (types::STAT, "STAT"),
        (types::USTAT, "USTAT"),
        (types::END, "END"),
        (types::ENDAK, "ENDAK"),
    ];
    let present: Vec<&str> = names.iter().filter(|(bit, _)| bits & bit != 0).map(|&(_, n)| n).collect();
    present.join("+")
}

impl Bench {
    pub(super) fn new() -> Self {
        Self::with(Config::standard(), 1)
    }

    /// B accepts with `accept`; `seed` picks numbers and instances.
    pub(super) fn with(accept: Config, seed: u64) -> Self {
        Self::between(EndpointConfig { accept, ..EndpointConfig::default() }, seed)
    }

    /// Both ends with these parameters.
    #[expect(clippy::needless_pass_by_value, reason = "reads better where it is called")]
    pub(super) fn between(config: EndpointConfig<SocketAddr>, seed: u64) -> Self {
        let endpoint = |name| Endpoint::new(config.clone(), Stream::new(seed, name));
        let mut bench = Self {
            a: endpoint("a"),
            b: endpoint("b"),
            now: Instant::from_ns(1),
            delay_ns: DELAY_NS,
            b_looks_ns: 1,
            wire: Vec::new(),
            log: Vec::new(),
            drop: alloc::boxed::Box::new(|_, _| false),
            router: alloc::boxed::Box::new(|_| {}),
            is_b_without_headers: false,
            drops_headers: false,
            headers: Vec::new(),
            events: Vec::new(),
            trace: Vec::new(),
            reads: true,
            path_bytes: [u32::MAX; 2],
            is_b_old: false,
            carries_fragments: true,
            largest_bytes: 0,
            cut_packets: 0,
            inbox: BTreeMap::new(),
        };
        bench.b.listen(PORT);
        bench
    }

    pub(super) fn end(&mut self, side: Side) -> &mut Endpoint {
        match side {
            Side::A => &mut self.a,
            Side::B => &mut self.b,
        }
    }

    /// A opens with the standard profile; BGN waits for the first write.
    pub(super) fn open(&mut self) -> ConnectionId {
        self.open_with(Config::standard())
    }

    pub(super) fn open_with(&mut self, config: Config) -> ConnectionId {
        self.a.connect(self.now, Side::B.address(), PORT, config, true).unwrap()
    }

    /// A has opened and written `data` a second ago: its connection, and its first datagram.
    pub(super) fn opened(data: &[u8]) -> (Self, ConnectionId, Vec<u8>) {
        let mut bench = Self::new();
        let id = bench.open();
        bench.a.write(id, data).unwrap();
        bench.pump();
        let first = bench.wire[0].bytes.clone();
        bench.run(SECOND);
        (bench, id, first)
    }

    /// Lets both sides send what is due now.
    pub(super) fn pump(&mut self) {
        for side in [Side::A, Side::B] {
            let now = self.now;
            let mut buffer = Vec::new();
            let mut trace = core::mem::take(&mut self.trace);
            while let Some(transmit) = self.end(side).poll_transmit(now, &mut buffer, 10, &mut trace) {
                if transmit.peer != side.other().address() {
                    continue; // to a stranger: it is not known what becomes of that
                }
                for datagram in buffer.chunks(transmit.segment_bytes) {
                    self.send(side, datagram, transmit.fields);
                }
            }
            self.trace = trace;
            while let Some((id, event)) = self.end(side).poll_event() {
                self.events.push((side, id, event));
            }
        }
    }

    fn send(&mut self, from: Side, datagram: &[u8], fields: NetworkFields) {
        let NetworkFields { may_fragment, path_header: mut header, .. } = fields;
        let mut segment = decode(datagram).unwrap();
        let mut bytes = datagram.to_vec();
        if self.is_b_old && from == Side::A && segment.poll.is_some_and(|poll| poll.pads) {
            segment.poll = segment.poll.map(|poll| crate::segment::Poll { pads: false, ..poll });
            bytes.clear();
            encode(&segment, &mut bytes);
        }
        if let Some(header) = header.as_mut().filter(|_| from == Side::A) {
            self.headers.push(*header);
            (self.router)(header);
        }
        let drops_headers = self.is_b_without_headers || self.drops_headers;
        let is_unknown = header.is_some() && from == Side::A && drops_headers;
        if self.is_b_without_headers && from == Side::B {
            let of_old = |opening: crate::segment::Opening| crate::segment::Opening {
                options: crate::segment::Options { feedback: false, ..opening.options },
                ..opening
            };
            segment.bgnak = segment.bgnak.map(of_old);
            bytes.clear();
            encode(&segment, &mut bytes);
        }
        let wire_bytes = fields.whole_bytes(datagram.len()) as u32 + 28;
        let is_too_large = wire_bytes > self.path_bytes[from as usize];
        if from == Side::A {
            self.largest_bytes = self.largest_bytes.max(wire_bytes);
            self.cut_packets += u64::from(is_too_large && may_fragment);
        }
        self.log.push((self.now.as_ns() / MS, from, type_names(segment.type_bits())));
        if !is_unknown
            && !(self.drop)(from, &segment)
            && (may_fragment && self.carries_fragments || !is_too_large)
        {
            let at = self.now.after(self.delay_ns);
            let looks_ns = if from == Side::A { self.b_looks_ns } else { 1 };
            let at = Instant::from_ns(at.as_ns().next_multiple_of(looks_ns));
            self.wire.push(Flight { at, to: from.other(), bytes, header });
        }
    }

    /// Puts a crafted segment on the wire to `to`, to arrive now.
    pub(super) fn inject(&mut self, to: Side, segment: &Segment<'_>) {
        let mut bytes = Vec::new();
        encode(segment, &mut bytes);
        let (now, from) = (self.now, to.other().address());
        let mut trace = core::mem::take(&mut self.trace);
        self.end(to).handle(now, from, NetworkFields::default(), &bytes, &mut trace);
        self.trace = trace;
    }

    /// Runs for `ns`; both sides read everything that arrives.
    pub(super) fn run(&mut self, ns: u64) {
        let until = self.now.after(ns);
        for _ in 0..200_000 {
            self.pump();
            self.read_all();
            self.pump();
            let wire = self.wire.iter().map(|f| f.at).min();
            let next = [wire, self.a.deadline(), self.b.deadline()].into_iter().flatten().min();
            let Some(next) = next.filter(|&at| at <= until) else {
                self.now = until;
                return;
            };
            assert!(next > self.now || wire == Some(next), "a deadline in the past at {:?}", self.now);
            self.now = self.now.max(next);
            self.arrive();
            let now = self.now;
            self.a.handle_timeout(now, &mut self.trace);
            self.b.handle_timeout(now, &mut self.trace);
        }
        panic!("an endless loop at {:?}", self.now);
    }

    /// Everything on the wire arrives now, and nothing leaves yet.
    pub(super) fn deliver_at_once(&mut self) {
        for flight in &mut self.wire {
            flight.at = self.now;
        }
        self.arrive();
    }

    fn arrive(&mut self) {
        let now = self.now;
        let (due, later) = core::mem::take(&mut self.wire).into_iter().partition(|f| f.at <= now);
        self.wire = later;
        for flight in due {
            let flight: Flight = flight;
            let from = flight.to.other().address();
            let mut trace = core::mem::take(&mut self.trace);
            let fields = NetworkFields { path_header: flight.header, ..NetworkFields::default() };
            self.end(flight.to).handle(now, from, fields, &flight.bytes, &mut trace);
            self.trace = trace;
        }
    }

    fn read_all(&mut self) {
        if !self.reads {
            return;
        }
        let mut buffer = vec![0; 65_536];
        let ids: Vec<(Side, ConnectionId)> =
            [Side::A, Side::B].into_iter().flat_map(|s| (1..48).map(move |id| (s, id))).collect();
        for (side, id) in ids {
            while let Ok(Some(n)) = self.end(side).read(id, &mut buffer) {
                if n == 0 {
                    break;
                }
                if side == Side::B {
                    self.inbox.entry(id).or_default().extend_from_slice(&buffer[..n]);
                }
            }
        }
    }

    /// Bytes that B has read on a connection.
    pub(super) fn received(&self, id: ConnectionId) -> &[u8] {
        self.inbox.get(&id).map_or(&[], Vec::as_slice)
    }

    pub(super) fn states(&self, id: ConnectionId) -> (Option<State>, Option<State>) {
        (self.a.state(id), self.b.state(id))
    }

    pub(super) fn heard(&self, side: Side, event: StreamEvent) -> bool {
        self.events.iter().any(|&(s, _, e)| s == side && e == event)
    }

    /// Names of the types that `side` sent, in order.
    pub(super) fn sent_by(&self, side: Side) -> Vec<&str> {
        self.log.iter().filter(|(_, s, _)| *s == side).map(|(_, _, n)| n.as_str()).collect()
    }

    pub(super) fn count(&self, side: Side, kind: &str) -> usize {
        self.sent_by(side).iter().filter(|names| names.split('+').any(|n| n == kind)).count()
    }
}

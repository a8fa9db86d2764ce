//! TCP: a connection against a peer and routers that say anything, at any time; and two ends with a path
//! between them that does anything.

use skyhaul_core::packet::ip_protocol;
use skyhaul_core::{ConnectionId, Connections, Ecn, Engine, Instant, MS, NetworkFields, NullSink, SECOND};
use skyhaul_tcp::scps::CAPABILITIES;
use skyhaul_tcp::scps::compress::{self, compress, fits};
use skyhaul_tcp::segment::{
    ExtraOptions, Options, SackBlocks, Segment, Timestamps, decode_packet, encode, flags,
};
use skyhaul_tcp::{Config, Endpoint, IcmpMessage, Unreachable};

use crate::input::Input;
use crate::tcp_pair::{config, endpoint};
use crate::tcp_segment::way;

const PORT: u16 = 4;
const PEER_PORT: u16 = 50_000;
/// Number of the peer in compressed headers.
const NUMBER: u8 = 9;
const MTU_BYTES: u32 = 1500;
/// Operations of one run.
const MAX_OPERATIONS: usize = 400;
/// Segments at one point in time: more is an endless loop.
const MAX_SEGMENTS: usize = 20_000;
/// Deadlines that a run lets pass at its end.
const LAST_DEADLINES: usize = 50;

/// Interprets bytes as operations. Nothing may panic, memory has its bounds, what is sent can be decoded,
/// time goes on from deadline to deadline, and two ends deliver what was written.
///
/// # Panics
///
/// If that does not hold.
pub fn tcp_connection(bytes: &[u8]) {
    let mut input = Input(bytes);
    if input.byte() % 4 == 3 {
        crate::tcp_pair::run(&mut input);
        return;
    }
    let mut bench = TcpBench::new(&mut input);
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

/// The endpoint under test and what its peer knows of it.
struct TcpBench {
    endpoint: Endpoint,
    config: Config,
    now: Instant,
    ids: Vec<ConnectionId>,
    local_port: u16,
    /// One past the newest number that the endpoint sent, what it acknowledged, and its clock.
    theirs: u32,
    ours: u32,
    stamp: u32,
    read: u64,
}

impl TcpBench {
    fn new(input: &mut Input<'_>) -> Self {
        let choice = input.byte();
        let config = config(choice);
        let endpoint = endpoint(&config, u64::from(input.byte()));
        let ours = u32::from(input.byte()).wrapping_sub(8);
        let (now, ids) = (Instant::from_ns(1), Vec::new());
        let mut bench =
            Self { endpoint, config, now, ids, local_port: PORT, theirs: 0, ours, stamp: 0, read: 0 };
        if choice & 64 != 0 {
            bench.open();
        }
        bench
    }

    fn open(&mut self) {
        let opened = self.endpoint.connect(self.now, way(), PEER_PORT, None, self.config.clone());
        let Ok(id) = opened else { return };
        self.local_port = self.endpoint.local_port(id).unwrap_or(PORT);
        self.ids.push(id);
        self.pump();
    }

    fn operate(&mut self, input: &mut Input<'_>) {
        match input.byte() % 16 {
            0 => {
                let length = usize::from(input.byte());
                let bytes = crate::input::with_tcp_checksum(way(), input.take(length));
                self.deliver(Ecn::Ce.into(), &bytes);
            }
            1 => self.now = self.now.after(u64::from(input.byte()) * MS),
            2 => self.now = self.now.after(u64::from(input.byte()) * SECOND),
            3 => self.pass_deadline(),
            4 => self.write(usize::from(input.byte()) * 64),
            5 => self.read(usize::from(input.byte()) * 64),
            6 => self.each(|endpoint, id, _| endpoint.finish(id)),
            7 => self.route(input),
            8 if input.byte() == 0 => self.each(|endpoint, id, _| endpoint.abort(id)),
            9 if input.byte() == 0 => {
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

    fn deliver(&mut self, fields: NetworkFields, bytes: &[u8]) {
        self.endpoint.handle(self.now, way(), fields, bytes, &mut NullSink);
        while let Some(id) = self.endpoint.accept() {
            self.ids.push(id);
        }
    }

    /// ICMP that quotes a number near what is under way.
    fn route(&mut self, input: &mut Input<'_>) {
        let unreachable = [
            Unreachable::Net,
            Unreachable::Host,
            Unreachable::Protocol,
            Unreachable::Port,
            Unreachable::Prohibited,
        ];
        let message = match input.byte() {
            kind @ 0..=4 => IcmpMessage::Unreachable(unreachable[usize::from(kind)]),
            5 => IcmpMessage::TimeExceeded,
            6 => IcmpMessage::ParameterProblem,
            7 => IcmpMessage::PacketTooBig { mtu_bytes: input.word() },
            8 => return self.report_damage(input),
            9 => IcmpMessage::LinkOutage,
            10 => IcmpMessage::LinkRestored,
            11 => IcmpMessage::SourceQuench,
            size => IcmpMessage::PacketTooBig { mtu_bytes: u32::from(size) * 6 },
        };
        let number = input.near(self.theirs.wrapping_sub(9)).to_be_bytes();
        let (protocol, before) = if self.config.scps.is_none() || number[3].is_multiple_of(2) {
            (ip_protocol::TCP, [self.local_port.to_be_bytes(), PEER_PORT.to_be_bytes()].concat())
        } else if number[3] & 2 == 0 {
            (compress::PROTOCOL, vec![1, 2]) // of connection 1, its number alone
        } else {
            (compress::PROTOCOL, vec![1, 3, 0, 0, 0, 0, 0, 0]) // behind window and acknowledgement
        };
        let quoted = [&before[..], &number].concat();
        self.endpoint.handle_icmp(self.now, way(), message, (protocol, &quoted), &mut NullSink);
    }

    /// ICMP that the peer's packets are damaged, about one with a number near the next.
    fn report_damage(&mut self, input: &mut Input<'_>) {
        let number = input.near(self.ours).to_be_bytes();
        let quoted = [PEER_PORT.to_be_bytes(), self.local_port.to_be_bytes()].concat();
        let (message, quoted) = (IcmpMessage::CorruptionExperienced, [&quoted[..], &number].concat());
        self.endpoint.handle_icmp(self.now, way(), message, (ip_protocol::TCP, &quoted), &mut NullSink);
    }

    /// A segment that carries the connection's ports and anything else.
    fn hear(&mut self, input: &mut Input<'_>) {
        let (bits, extra) = (input.byte(), input.byte());
        // Mostly an acknowledgement, or nothing would ever be open.
        let bits = if extra.is_multiple_of(4) {
            bits
        } else {
            flags::ACK | bits & (flags::PSH | flags::FIN | flags::ECE)
        };
        let data = vec![9; if extra & 4 == 0 { 0 } else { usize::from(extra >> 3) * 45 }];
        let options = if extra & 8 == 0 { self.usual_options(bits) } else { self.options(input) };
        let segment = Segment {
            source_port: PEER_PORT,
            destination_port: self.local_port,
            sequence: input.near(self.ours),
            acknowledgement: input.near(self.theirs),
            flags: bits,
            window: if extra & 16 == 0 { 30_000 } else { input.word() as u16 },
            options,
            payload: (&data, &[]),
            ..Segment::default()
        };
        let mut bytes = Vec::new();
        let ecn = if extra & 32 == 0 { Ecn::Ect0 } else { Ecn::Ce };
        if extra & 64 != 0 && self.config.scps.is_some() && fits(&segment) {
            compress(way().reversed(), NUMBER, &segment, extra & 1 == 0, &mut bytes);
            return self.deliver(NetworkFields { protocol: compress::PROTOCOL, ..ecn.into() }, &bytes);
        }
        encode(way().reversed(), &segment, &mut bytes);
        self.deliver(ecn.into(), &bytes);
    }

    fn usual_options(&self, bits: u8) -> Options {
        let is_syn = bits & flags::SYN != 0;
        let stamps = Timestamps { value: (self.now.as_ns() / MS) as u32, echo: self.stamp };
        let mut extra = ExtraOptions::default();
        if is_syn && self.config.scps.is_some() {
            extra.push(CAPABILITIES, &[0xFF, NUMBER]);
        }
        Options {
            mss: is_syn.then_some(1460),
            sack_permitted: is_syn,
            timestamps: self.config.timestamps.then_some(stamps),
            extra,
            ..Options::default()
        }
    }

    fn options(&mut self, input: &mut Input<'_>) -> Options {
        let shape = input.byte();
        let mut sack = SackBlocks::default();
        for _ in 0..(shape & 3).min(2) {
            let first = input.near(self.theirs.wrapping_sub(3000));
            sack.push(first, first.wrapping_add(u32::from(input.byte()) * 16));
        }
        let mut extra = ExtraOptions::default();
        if shape & 64 != 0 {
            let (kind, length) = (input.byte(), usize::from(input.byte() % 7));
            extra.push([11, 12, 13, 34][usize::from(kind % 4)], input.take(length));
        }
        Options {
            extra,
            mss: (shape & 4 != 0).then(|| u16::from(input.byte()) * 6),
            window_scale: (shape & 8 != 0).then(|| input.byte()),
            sack_permitted: shape & 16 != 0,
            timestamps: (shape & 32 != 0 && sack.as_slice().is_empty())
                .then(|| Timestamps { value: input.near(0), echo: input.near(self.stamp) }),
            sack,
        }
    }

    /// Sends all that is due, and looks at it as the peer would.
    fn pump(&mut self) {
        let (mut buffer, mut count) = (Vec::new(), 0);
        while let Some(sent) = self.endpoint.poll_transmit(self.now, &mut buffer, 8, &mut NullSink) {
            for bytes in buffer.chunks(sent.segment_bytes) {
                self.look_at(sent.fields, bytes);
                count += 1;
            }
            assert!(count <= MAX_SEGMENTS, "an endless loop at {:?}", self.now);
        }
        let deadline = self.endpoint.deadline();
        assert!(deadline.is_none_or(|at| at > self.now), "{deadline:?} at {:?}", self.now);
        while self.endpoint.poll_event().is_some() {}
    }

    fn look_at(&mut self, fields: NetworkFields, bytes: &[u8]) {
        assert!(bytes.len() + 20 <= MTU_BYTES as usize, "{} bytes", bytes.len());
        let segment = match decode_packet(way().reversed(), fields, bytes) {
            Ok(segment) => segment,
            Err(error) => panic!("sent what cannot be decoded: {error}"),
        };
        if segment.has(flags::RST) {
            return;
        }
        if segment.compression.is_none_or(|header| header.has_sequence) {
            self.theirs = segment.sequence.wrapping_add(segment.sequence_len() as u32);
        }
        if segment.has(flags::ACK) {
            self.ours = segment.acknowledgement;
        }
        self.stamp = segment.options.timestamps.map_or(self.stamp, |stamps| stamps.value);
    }

    fn pass_deadline(&mut self) {
        if let Some(at) = self.endpoint.deadline() {
            assert!(at > self.now, "time stands still at {at:?}");
            self.now = at;
        }
        self.endpoint.handle_timeout(self.now, &mut NullSink);
    }

    fn check(&self) {
        assert!(self.endpoint.connection_count() <= 8);
        let stats: Vec<_> = self.ids.iter().filter_map(|&id| self.endpoint.stats(id)).collect();
        // A window that was told in units of its scale may exceed the limit by what rounding adds.
        let most = 2 * self.config.receive_limit_bytes + u64::from(MTU_BYTES);
        for one in &stats {
            // SYN and FIN count.
            assert!(one.in_flight_bytes <= 2 * (self.config.send_limit_bytes + 2), "{one:?}");
            assert!(stats.len() > 1 || one.delivered_bytes.saturating_sub(self.read) <= most, "{one:?}");
        }
    }
}

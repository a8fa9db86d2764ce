//! Two TCP ends over a path that loses, repeats, marks and reorders as it is told, whose routers, and whoever
//! forges their words, say so by ICMP, and which is whole at last.

use std::collections::VecDeque;

use skyhaul_core::packet::ip_protocol;
use skyhaul_core::{
    ConnectionId, Connections, Ecn, Engine, Instant, MS, NetworkFields, NullSink, SECOND, Stream, Verdict,
};
use skyhaul_tcp::scps::{Scps, Snack, compress};
use skyhaul_tcp::segment::Way;
use skyhaul_tcp::{AcceleratedOpen, AckPolicy, Config, Endpoint, EndpointConfig, IcmpMessage, Recovery};

use crate::input::Input;
use crate::tcp_segment::way;

/// Largest packet of an endpoint.
const MTU_BYTES: u32 = 1500;
const PORT: u16 = 4;
const MAX_OPERATIONS: usize = 600;
/// Steps after which the healed path must have delivered everything.
const LAST_STEPS: usize = 20_000;
/// Packets of each end that a router may quote, the newest ones.
const MAX_QUOTABLE: usize = 8;

/// Bit of the choice of parameters: SCPS-TP is offered.
const OFFERS_SCPS: u8 = 128;

type Packet = (NetworkFields, Vec<u8>);

struct Pair {
    ends: [Endpoint; 2],
    under_way: [VecDeque<Packet>; 2],
    /// What each end sent last, for routers to quote.
    sent: [VecDeque<Packet>; 2],
    now: Instant,
    ids: [Option<ConnectionId>; 2],
    written: [u64; 2],
    read: [u64; 2],
}

/// Interprets bytes as operations of two ends that both offer SCPS-TP; gives how many words of routers were
/// taken for true.
///
/// # Panics
///
/// If what was written does not arrive in the end, or anything else does.
pub fn scps_pair(bytes: &[u8]) -> u64 {
    let mut bytes = bytes.to_vec();
    bytes.iter_mut().take(2).for_each(|choice| *choice |= OFFERS_SCPS);
    run(&mut Input(&bytes))
}

/// Gives how many words of routers were taken for true.
pub(super) fn run(input: &mut Input<'_>) -> u64 {
    let (a, b) = (config(input.byte()), config(input.byte()));
    let mut ends = [endpoint(&a, 1), endpoint(&b, 2)];
    let now = Instant::from_ns(1);
    let opened = ends[0].connect(now, way(), PORT, None, a).ok();
    let (under_way, sent) = Default::default();
    let mut pair = Pair { ends, under_way, sent, now, ids: [opened, None], written: [0; 2], read: [0; 2] };
    for _ in 0..MAX_OPERATIONS {
        if input.is_empty() {
            break;
        }
        pair.transmit();
        pair.operate(input);
    }
    pair.heal();
    pair.ends.iter().map(|end| end.endpoint_stats().icmp_taken).sum()
}

/// The byte of a stream at this place.
fn byte_at(end: usize, place: u64) -> u8 {
    (place.wrapping_mul(31) >> 3) as u8 ^ end as u8
}

/// The next packet under way comes once more, behind all others.
pub(super) fn come_twice<T: Clone>(under_way: &mut VecDeque<T>) {
    let again = under_way.front().cloned();
    under_way.extend(again);
}

/// The last packet under way comes next.
pub(super) fn overtake<T>(under_way: &mut VecDeque<T>) {
    if let Some(last) = under_way.pop_back() {
        under_way.push_front(last);
    }
}

impl Pair {
    fn way(end: usize) -> Way {
        if end == 0 { way() } else { way().reversed() }
    }

    fn operate(&mut self, input: &mut Input<'_>) {
        let choice = input.byte();
        let end = usize::from(choice >> 7);
        match choice & 15 {
            0 => drop(self.under_way[end].pop_front()),
            1 => come_twice(&mut self.under_way[end]),
            2 => {
                if let Some((fields, _)) = self.under_way[end].front_mut() {
                    fields.ecn = if fields.ecn == Ecn::Ect0 { Ecn::Ce } else { fields.ecn };
                }
            }
            3 => overtake(&mut self.under_way[end]),
            4 => self.now = self.now.after(u64::from(input.byte()) * MS),
            5 => self.pass_deadline(),
            6 | 7 => self.write(end, usize::from(input.byte()) * 64),
            8 => self.read(end, usize::from(input.byte()) * 64),
            9 if input.byte().is_multiple_of(8) => {
                self.ids[end].into_iter().for_each(|id| self.ends[end].finish(id));
            }
            10 | 11 => self.signal(end, input),
            _ => self.deliver(end),
        }
        self.ends.iter_mut().for_each(|end| end.handle_timeout(self.now, &mut NullSink));
    }

    fn transmit(&mut self) {
        for end in 0..2 {
            let mut buffer = Vec::new();
            while let Some(sent) = self.ends[end].poll_transmit(self.now, &mut buffer, 8, &mut NullSink) {
                for bytes in buffer.chunks(sent.segment_bytes) {
                    self.under_way[1 - end].push_back((sent.fields, bytes.to_vec()));
                    self.sent[end].push_front((sent.fields, bytes.to_vec()));
                }
                self.sent[end].truncate(MAX_QUOTABLE);
                assert!(self.under_way[1 - end].len() < 50_000, "an endless loop");
            }
            while self.ends[end].poll_event().is_some() {}
        }
    }

    fn deliver(&mut self, end: usize) {
        let Some((fields, bytes)) = self.under_way[end].pop_front() else { return };
        self.ends[end].handle(self.now, Self::way(end), fields, &bytes, &mut NullSink);
        let accepted = self.ends[end].accept();
        self.ids[end] = self.ids[end].or(accepted);
    }

    /// A router's word to an end about one of the last packets that the end sent or, of damage, that were to
    /// come to it; or a forged one, with another number or none of a packet at all.
    fn signal(&mut self, end: usize, input: &mut Input<'_>) {
        let choice = input.byte();
        let message = match choice & 3 {
            0 => IcmpMessage::CorruptionExperienced,
            1 => IcmpMessage::LinkOutage,
            2 => IcmpMessage::LinkRestored,
            _ => IcmpMessage::SourceQuench,
        };
        let quotable = &self.sent[if message.quotes_the_peer() { 1 - end } else { end }];
        let which = usize::from(choice >> 2 & 7) % quotable.len().max(1);
        let Some((fields, bytes)) = quotable.get(which) else { return };
        let protocol = if fields.protocol == 0 { ip_protocol::TCP } else { fields.protocol };
        let quoted = match choice >> 5 {
            0 => input.take(60).to_vec(),
            1 => with_another_number(protocol, bytes, input),
            2 => bytes[..bytes.len().min(8)].to_vec(), // as old routers return it
            _ => bytes[..bytes.len().min(68)].to_vec(),
        };
        let quoted = (protocol, &quoted[..]);
        self.ends[end].handle_icmp(self.now, Self::way(end), message, quoted, &mut NullSink);
    }

    fn pass_deadline(&mut self) {
        self.now =
            self.ends.iter().filter_map(Engine::deadline).min().map_or(self.now, |at| at.max(self.now));
        self.ends.iter_mut().for_each(|end| end.handle_timeout(self.now, &mut NullSink));
    }

    fn write(&mut self, end: usize, bytes: usize) {
        let Some(id) = self.ids[end] else { return };
        let from = self.written[end];
        let data: Vec<u8> = (from..from + bytes as u64).map(|place| byte_at(end, place)).collect();
        self.written[end] += self.ends[end].write(id, &data).unwrap_or(0) as u64;
    }

    fn read(&mut self, end: usize, bytes: usize) {
        let Some(id) = self.ids[end] else { return };
        let mut room = vec![0; bytes];
        let count = self.ends[end].read(id, &mut room).ok().flatten().unwrap_or(0);
        for &byte in &room[..count] {
            assert_eq!(byte, byte_at(1 - end, self.read[end]), "byte {} of the stream", self.read[end]);
            self.read[end] += 1;
        }
    }

    fn is_complete(&self) -> bool {
        self.read == [self.written[1], self.written[0]]
    }

    /// The path is whole: everything written arrives, unless an end has given up before.
    fn heal(&mut self) {
        for _ in 0..LAST_STEPS {
            self.transmit();
            (0..2).for_each(|end| self.read(end, 1 << 16));
            if self.is_complete() || self.has_ended() {
                return;
            }
            if self.under_way.iter().all(VecDeque::is_empty) {
                self.pass_deadline();
            }
            (0..2).for_each(|end| self.deliver(end));
        }
        panic!("written {:?}, read {:?}", self.written, self.read);
    }

    fn has_ended(&self) -> bool {
        (0..2).any(|end| {
            let state = self.ids[end].and_then(|id| self.ends[end].state_name(id));
            self.ids[end].is_some() && state.is_none_or(|state| state == "CLOSED")
        })
    }
}

/// A packet of this protocol with another sequence number near its own: ports of TCP are in front, or id and
/// flags of a compressed header, if it has one and no acknowledgement.
fn with_another_number(protocol: u8, packet: &[u8], input: &mut Input<'_>) -> Vec<u8> {
    let mut bytes = packet.to_vec();
    let at = if protocol == compress::PROTOCOL { 2 } else { 4 };
    if let Some(place) = bytes[at..].first_chunk_mut() {
        *place = input.near(u32::from_be_bytes(*place)).to_be_bytes();
    }
    bytes
}

/// Parameters by a choice of the fuzzer.
pub(super) fn config(choice: u8) -> Config {
    let mut config = match choice & 3 {
        0 | 1 => Config::standard(),
        2 => Config::paper(),
        _ => Config::sunos_4_1_3(),
    };
    if choice & 1 != 0 {
        config.recovery = Recovery::NewReno;
    }
    config.timestamps = choice & 4 != 0;
    config.nagle = choice & 8 != 0;
    config.discover_mtu = choice & 64 != 0;
    if choice & 16 != 0 {
        (config.receive_limit_bytes, config.send_limit_bytes) = (4096, 8192);
    }
    if choice & 32 != 0 {
        config.ack_policy = AckPolicy::Reduced { every_packets: 4, delay_ns: 300 * MS };
        config.keepalive =
            Some(skyhaul_tcp::Keepalive { idle_ns: 20 * SECOND, interval_ns: SECOND, max_questions: 3 });
    }
    if choice & OFFERS_SCPS != 0 {
        config.scps = Some(Scps {
            compression: choice & 2 == 0,
            loss_cause: if choice & 8 == 0 { Verdict::Congestion } else { Verdict::Corruption },
            snack: if choice & 16 == 0 { Snack::Vector } else { Snack::Off },
            source_quench: choice & 64 != 0,
            ..Scps::standard()
        });
        let kinds = [AcceleratedOpen::Ttcp, AcceleratedOpen::FastOpen];
        config.accelerated_open = Some(kinds[usize::from(choice >> 2 & 1)]);
    }
    // A fuzzer has better things to do than to fill megabytes.
    config.send_limit_bytes = config.send_limit_bytes.min(1 << 18);
    config.receive_limit_bytes = config.receive_limit_bytes.min(1 << 18);
    config
}

/// Endpoint that listens.
pub(super) fn endpoint(config: &Config, seed: u64) -> Endpoint {
    let options = EndpointConfig {
        accept: config.clone(),
        mtu_bytes: MTU_BYTES,
        max_connections: 8,
        ..EndpointConfig::default()
    };
    let mut endpoint = Endpoint::new(options, Stream::new(seed, "fuzz"));
    endpoint.listen(PORT);
    endpoint
}

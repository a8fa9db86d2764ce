//! Two TCP ends over a path that loses, repeats, marks and reorders as it is told, and is whole at last.

use std::collections::VecDeque;

use skyhaul_core::{
    ConnectionId, Connections, Ecn, Engine, Instant, MS, NetworkFields, NullSink, SECOND, Stream,
};
use skyhaul_tcp::scps::Scps;
use skyhaul_tcp::segment::Way;
use skyhaul_tcp::{AcceleratedOpen, AckPolicy, Config, Endpoint, EndpointConfig, Recovery};

use crate::input::Input;
use crate::tcp_segment::way;

/// Largest packet of an endpoint.
const MTU_BYTES: u32 = 1500;
const PORT: u16 = 4;
const MAX_OPERATIONS: usize = 600;
/// Steps after which the healed path must have delivered everything.
const LAST_STEPS: usize = 20_000;

struct Pair {
    ends: [Endpoint; 2],
    under_way: [VecDeque<(NetworkFields, Vec<u8>)>; 2],
    now: Instant,
    ids: [Option<ConnectionId>; 2],
    written: [u64; 2],
    read: [u64; 2],
}

pub(super) fn run(input: &mut Input<'_>) {
    let (a, b) = (config(input.byte()), config(input.byte()));
    let mut ends = [endpoint(&a, 1), endpoint(&b, 2)];
    let now = Instant::from_ns(1);
    let opened = ends[0].connect(now, way(), PORT, None, a).ok();
    let under_way = Default::default();
    let mut pair = Pair { ends, under_way, now, ids: [opened, None], written: [0; 2], read: [0; 2] };
    for _ in 0..MAX_OPERATIONS {
        if input.is_empty() {
            break;
        }
        pair.transmit();
        pair.operate(input);
    }
    pair.heal();
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
            _ => self.deliver(end),
        }
        self.ends.iter_mut().for_each(|end| end.handle_timeout(self.now, &mut NullSink));
    }

    fn transmit(&mut self) {
        for end in 0..2 {
            let mut buffer = Vec::new();
            while let Some(sent) = self.ends[end].poll_transmit(self.now, &mut buffer, 8, &mut NullSink) {
                let segments = buffer.chunks(sent.segment_bytes);
                self.under_way[1 - end].extend(segments.map(|bytes| (sent.fields, bytes.to_vec())));
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
    if choice & 128 != 0 {
        config.scps = Some(Scps { compression: choice & 2 == 0, ..Scps::standard() });
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

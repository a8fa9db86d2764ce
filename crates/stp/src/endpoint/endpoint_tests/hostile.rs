//! A hostile talker beside honest connections: forged openings with and without data, rubbish, segments with
//! guessed numbers, and all that was ever said, once more. Every honest byte arrives, once and in order.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::net::SocketAddr;

use skyhaul_core::{
    ConnectionId, Connections, Engine, MS, NetworkFields, NullSink, ResetReason, SECOND, Stream,
};

use super::bench::*;
use crate::segment::{Opening, Poll, Report, Segment, Stat, decode, encode};
use crate::{EndpointConfig, State};

const CONNECTIONS: usize = 4;
const BYTES: usize = 60_000;

/// Byte `i` of what is sent over connection `number`.
fn byte(number: usize, i: usize) -> u8 {
    (i * 7 + i / 251 + number) as u8
}

struct Talker {
    random: Stream,
    /// Datagrams that were on the wire.
    overheard: Vec<(Side, Vec<u8>)>,
}

impl Talker {
    fn pick(&mut self, below: u64) -> u64 {
        self.random.next_u64() % below
    }

    fn listen(&mut self, bench: &Bench) {
        for flight in &bench.wire {
            if self.overheard.len() < 2000
                && self.overheard.last().is_none_or(|(_, last)| *last != flight.bytes)
            {
                self.overheard.push((flight.to, flight.bytes.clone()));
            }
        }
    }

    /// A segment with the names of one that was overheard, or of nobody's.
    fn names(&mut self) -> (Side, Segment<'static>) {
        let index = self.pick(self.overheard.len().max(1) as u64) as usize;
        let heard = self.overheard.get(index).and_then(|(to, bytes)| Some((*to, decode(bytes).ok()?)));
        let Some((to, of)) = heard else { return (Side::B, Segment::default()) };
        let (source_port, destination_port) = (of.source_port, of.destination_port);
        let instance = self.random.next_u64() as u16; // that is what a stranger has to guess
        (to, Segment { source_port, destination_port, instance, number: of.number, ..Segment::default() })
    }

    fn forged(&mut self, data: &'static [u8]) -> Segment<'static> {
        let nonce = self.random.next_u64();
        let opening = Opening { max_payload_bytes: 1400, window_bytes: 1 << 20, nonce, ..Opening::default() };
        Segment {
            source_port: self.pick(1 << 16) as u16,
            destination_port: PORT,
            instance: nonce as u16,
            bgn: Some(opening),
            data: (!data.is_empty()).then_some((data, &[][..])),
            ..Segment::default()
        }
    }

    fn speak(&mut self, bench: &mut Bench) {
        let stranger = SocketAddr::from(((self.pick(1 << 16) as u32 + 0x0B00_0000).to_be_bytes(), 9));
        let mut bytes = Vec::new();
        let (mut to, names) = self.names();
        let mut from = to.other().address();
        match self.pick(8) {
            0 | 1 => (to, from) = (Side::B, self.tell(&mut bytes, stranger, &[])),
            2 => (to, from) = (Side::B, self.tell(&mut bytes, stranger, &[0xA5; 1000])),
            3 => {
                bytes.resize(self.pick(200) as usize, 0);
                self.random.fill(&mut bytes);
            }
            4 => {
                let rst = [ResetReason::Busy, ResetReason::Aborted, ResetReason::UnknownConnection];
                let rst = Some(rst[self.pick(3) as usize]);
                encode(&Segment { rst, ..names }, &mut bytes);
            }
            5 => {
                let data = Some((&[0x5A; 100][..], &[][..]));
                let poll = Some(Poll { timestamp: self.random.next_u64() as u32, ..Poll::default() });
                encode(&Segment { poll, data, ..names }, &mut bytes);
            }
            6 => {
                let report = Report { next: names.number, window_bytes: 0, ..Report::default() };
                let stat = Some(Stat { echo: self.random.next_u64() as u32, report, ..Stat::default() });
                encode(&Segment { stat, ..names }, &mut bytes);
            }
            _ => {
                let index = self.pick(self.overheard.len().max(1) as u64) as usize;
                let Some((whose, said)) = self.overheard.get(index) else { return };
                // Who repeats an opening elsewhere before it arrives has taken it over: that is the path.
                let is_opening = decode(said).is_ok_and(|segment| segment.bgn.is_some());
                let is_elsewhere = !is_opening && self.random.next_u64().is_multiple_of(4);
                from = if is_elsewhere { stranger } else { whose.other().address() };
                (to, bytes) = (*whose, said.clone());
            }
        }
        let now = bench.now;
        bench.end(to).handle(now, from, NetworkFields::default(), &bytes, &mut NullSink);
    }

    fn tell(&mut self, bytes: &mut Vec<u8>, stranger: SocketAddr, data: &'static [u8]) -> SocketAddr {
        encode(&self.forged(data), bytes);
        stranger
    }
}

/// What B has read over each connection, by the port of the peer, if that is A.
fn read(bench: &mut Bench, held: &mut Vec<ConnectionId>, read: &mut BTreeMap<u16, Vec<u8>>) {
    held.extend(core::iter::from_fn(|| bench.b.accept()));
    let mut buffer = [0; 4096];
    held.retain(|&id| {
        let key = bench.b.0.key(id).unwrap();
        while let Ok(Some(bytes @ 1..)) = bench.b.read(id, &mut buffer) {
            if key.peer == Side::A.address() {
                read.entry(key.remote_port).or_default().extend_from_slice(&buffer[..bytes]);
            }
        }
        let is_open = bench.b.state(id) != Some(State::Closed);
        if !is_open {
            bench.b.release(bench.now, id);
        }
        is_open
    });
}

fn run(seed: u64) {
    // Nothing is kept of most openings where places are few.
    let max_unproven = if seed.is_multiple_of(2) { 400 } else { 5 };
    let places = EndpointConfig { max_unproven, max_early: 4, ..EndpointConfig::default() };
    let mut bench = Bench::between(places, seed);
    let mut losses = Stream::new(seed, "losses");
    let lost_of_64 = seed % 4;
    bench.drop = alloc::boxed::Box::new(move |_, _| losses.next_u64() % 64 < lost_of_64);
    bench.reads = false;
    let mut talker = Talker { random: Stream::new(seed, "talker"), overheard: Vec::new() };
    let ids: Vec<ConnectionId> = (0..CONNECTIONS).map(|_| bench.open()).collect();
    let ports: Vec<u16> = ids.iter().map(|&id| bench.a.local_port(id).unwrap()).collect();
    for (number, &id) in ids.iter().enumerate() {
        let data: Vec<u8> = (0..BYTES).map(|i| byte(number, i)).collect();
        assert_eq!(bench.a.write(id, &data), Ok(BYTES));
    }
    let (mut held, mut inbox) = (Vec::new(), BTreeMap::new());
    let until = bench.now.after(60 * SECOND);
    let has_all = |inbox: &BTreeMap<u16, Vec<u8>>| {
        ports.iter().all(|port| inbox.get(port).is_some_and(|bytes| bytes.len() >= BYTES))
    };
    while !has_all(&inbox) && bench.now < until {
        bench.run(10 * MS);
        talker.listen(&bench);
        talker.speak(&mut bench);
        read(&mut bench, &mut held, &mut inbox);
    }
    for (number, port) in ports.iter().enumerate() {
        let bytes = inbox.get(port).map_or(&[][..], Vec::as_slice);
        let is_whole = bytes.len() == BYTES && bytes.iter().enumerate().all(|(i, &b)| b == byte(number, i));
        assert!(is_whole, "seed {seed}: connection {number} has {} bytes", bytes.len());
    }
    assert!(bench.b.kept_bytes() < 16 << 20, "seed {seed}");
}

#[test]
fn beside_a_hostile_talker_every_honest_byte_arrives_once_and_in_order() {
    (0..40).for_each(run);
}

//! Two engines and the way between them in virtual time.

use std::collections::VecDeque;

use skyhaul_core::{ConnectionId, Connections, Engine, Instant, MS, NetworkFields, NullSink, SECOND};

use crate::heap::live_bytes;
use crate::protocol::{Endpoint, connect, new_endpoint, way};

/// Connections that the opener's ports allow towards one peer, with some left to find free ones.
pub(crate) const MAX_CONNECTIONS: usize = 15_000;
pub(crate) const PORT: u16 = 7;
const DELAY_NS: u64 = 300 * MS;
/// After a step: long enough for every confirmation, shorter than the give-up time.
const REST_NS: u64 = 60 * SECOND;
/// Connections that are opened, or carry data, at the same time.
const BATCH: usize = 100;
/// The engine's bounds against floods are not what is measured.
pub(crate) const NO_LIMIT: usize = 1 << 20;

/// An engine, and how much it holds: what is allocated while it works and not freed then.
struct End {
    engine: Endpoint,
    held_bytes: i64,
    connections: Vec<ConnectionId>,
}

/// Two ends of connections. End 0 opens.
pub(crate) struct Ends {
    ends: [End; 2],
    now: Instant,
    wire: VecDeque<(Instant, usize, Vec<u8>)>,
    wanted: usize,
}

impl End {
    fn new(seed: u64) -> Self {
        let engine = new_endpoint(seed);
        Self { engine, held_bytes: 0, connections: Vec::new() }
    }

    /// Lets the engine work, and counts.
    fn work<T>(&mut self, work: impl FnOnce(&mut Endpoint) -> T) -> T {
        let before = live_bytes();
        let result = work(&mut self.engine);
        self.held_bytes += live_bytes() - before;
        result
    }
}

impl Ends {
    pub(crate) fn new(connections: usize) -> Self {
        let mut ends = [End::new(1), End::new(2)];
        ends[1].engine.listen(PORT);
        Self { ends, now: Instant::ZERO, wire: VecDeque::new(), wanted: connections }
    }

    /// Bytes that each engine holds.
    pub(crate) fn held_bytes(&self) -> [i64; 2] {
        self.ends.each_ref().map(|end| end.held_bytes)
    }

    /// Establishes the connections.
    pub(crate) fn open(&mut self) {
        let wanted = self.wanted;
        while self.ends[0].connections.len() < wanted {
            for _ in 0..BATCH.min(wanted - self.ends[0].connections.len()) {
                self.connect();
            }
            self.run_for(4 * DELAY_NS);
        }
        self.run_for(REST_NS);
        assert_eq!(self.ends[1].connections.len(), wanted, "every connection was accepted");
    }

    fn connect(&mut self) {
        let (now, end) = (self.now, &mut self.ends[0]);
        let opened = end.work(|engine| connect(engine, now));
        end.connections.push(opened.expect("a free port"));
    }

    /// Carries so many bytes both ways over every connection.
    pub(crate) fn exchange(&mut self, bytes: usize) {
        for first in (0..self.wanted).step_by(BATCH) {
            let batch = first..self.wanted.min(first + BATCH);
            let of = |end: usize| {
                self.ends[end].connections[batch.clone()].iter().map(move |&id| (end, id, bytes))
            };
            let mut left: Vec<(usize, ConnectionId, usize)> = of(0).chain(of(1)).collect();
            while !left.is_empty() {
                left.retain_mut(|(end, id, left)| {
                    *left -= self.write(*end, *id, *left);
                    *left > 0
                });
                self.run_for(DELAY_NS);
            }
            self.run_for(4 * DELAY_NS);
        }
        self.run_for(REST_NS);
    }

    fn write(&mut self, end: usize, id: ConnectionId, bytes: usize) -> usize {
        let data = vec![7; bytes];
        self.ends[end].work(|engine| engine.write(id, &data)).expect("an open connection")
    }

    /// Everything that happens in this time.
    fn run_for(&mut self, ns: u64) {
        let until = self.now.after(ns);
        loop {
            self.step();
            let wire = self.wire.front().map(|&(at, _, _)| at);
            let timers = self.ends.iter().filter_map(|end| end.engine.deadline());
            match timers.chain(wire).min() {
                Some(at) if at <= until => self.now = self.now.max(at),
                _ => break,
            }
        }
        self.now = until;
    }

    fn step(&mut self) {
        while self.wire.front().is_some_and(|&(at, _, _)| at <= self.now) {
            let Some((_, to, datagram)) = self.wire.pop_front() else { return };
            let now = self.now;
            self.ends[to].work(|engine| {
                engine.handle(now, way(to), NetworkFields::default(), &datagram, &mut NullSink);
            });
        }
        for end in 0..2 {
            self.listen_to(end);
            self.transmit(end);
        }
    }

    /// Takes connections, and reads what has come.
    fn listen_to(&mut self, end: usize) {
        let end = &mut self.ends[end];
        while let Some(id) = end.work(Endpoint::accept) {
            end.connections.push(id);
        }
        let mut room = [0; 4096];
        while let Some((id, _)) = end.work(Endpoint::poll_event) {
            while let Ok(Some(1..)) = end.work(|engine| engine.read(id, &mut room)) {}
        }
    }

    fn transmit(&mut self, from: usize) {
        let (now, end) = (self.now, &mut self.ends[from]);
        end.work(|engine| engine.handle_timeout(now, &mut NullSink));
        let mut buffer = Vec::with_capacity(65_536);
        while let Some(transmit) =
            end.work(|engine| engine.poll_transmit(now, &mut buffer, 16, &mut NullSink))
        {
            for datagram in buffer.chunks(transmit.segment_bytes) {
                self.wire.push_back((now.after(DELAY_NS), 1 - from, datagram.to_vec()));
            }
        }
    }
}

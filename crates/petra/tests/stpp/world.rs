//! Two endpoints and the hop between them, which has a delay; the declared rates of the ends are its rate.

use std::collections::VecDeque;
use std::net::SocketAddr;

use skyhaul_core::endpoint::Bounds;
use skyhaul_core::{
    ConnectionId, Connections, Engine, Instant, MS, NetworkFields, NullSink, Stats, Stream, StreamEvent,
};
use skyhaul_petra::stpp::pdu::{Body, Pdu, Status, decode};
use skyhaul_petra::stpp::{Config, Endpoint, EndpointConfig, State};

/// One-way delay: half of the round trip of all tests.
pub(crate) const DELAY_NS: u64 = 250 * MS;
/// Port that listens.
pub(crate) const PORT: u16 = 4;

/// PDU that left.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// When.
    pub(crate) at_ns: u64,
    /// End: 0 opened.
    pub(crate) from: usize,
    /// Its octets.
    pub(crate) bytes: Vec<u8>,
    /// True if it was lost.
    pub(crate) is_lost: bool,
}

impl Seen {
    /// What it says.
    pub(crate) fn pdu(&self) -> Pdu<'_> {
        decode(&self.bytes).expect("an endpoint made it")
    }

    /// Number, if it has data.
    pub(crate) fn data(&self) -> Option<u32> {
        match self.pdu().body {
            Body::Data { number, .. } => Some(number),
            _ => None,
        }
    }

    /// Status that it is.
    pub(crate) fn status(&self) -> Option<Status> {
        match self.pdu().body {
            Body::Status(status) => Some(status),
            _ => None,
        }
    }

    /// True if it asks.
    pub(crate) fn polls(&self) -> bool {
        matches!(self.pdu().body, Body::Poll { .. } | Body::Data { poll: Some(_), .. })
    }
}

/// Judge of what is lost: it sees each PDU as it leaves.
type Losses = Box<dyn FnMut(&Seen) -> bool>;

/// Two ends and what is between them.
pub(crate) struct World {
    /// Endpoints; 0 opens.
    pub(crate) ends: [Endpoint; 2],
    /// Connection at each end, once it is there.
    pub(crate) ids: [Option<ConnectionId>; 2],
    /// Everything that left.
    pub(crate) trace: Vec<Seen>,
    /// Octets that the application at 1 has read.
    pub(crate) read: Vec<u8>,
    /// True while the application at 1 reads.
    pub(crate) reads: bool,
    /// One-way delay.
    pub(crate) delay_ns: u64,
    /// Most octets that 1 kept.
    pub(crate) most_kept: u64,
    /// Events of both applications.
    pub(crate) events: [Vec<StreamEvent>; 2],
    now: Instant,
    unwritten: VecDeque<u8>,
    under_way: VecDeque<(Instant, usize, Vec<u8>)>,
    losses: Losses,
}

/// Address of an end.
pub(crate) fn address(end: usize) -> SocketAddr {
    ([10, 0, 0, end as u8 + 1], 0).into()
}

/// Endpoint of an end.
pub(crate) fn endpoint(accept: &Config, seed: u64) -> Endpoint {
    let config = EndpointConfig {
        accept: accept.clone(),
        mtu_bytes: 1500,
        carrier_bytes: |_| 0,
        head_bytes: 0,
        bounds: Bounds::NONE,
        receive_budget_bytes: u64::MAX,
    };
    Endpoint::new(config, Stream::new(seed, "stpp"))
}

/// Octets of the stream.
pub(crate) fn octets(count: usize) -> Vec<u8> {
    (0..count).map(|place| (place * 31 % 251) as u8).collect()
}

impl World {
    /// Connection with these parameters at both ends; the opener writes so many octets and finishes.
    pub(crate) fn new(config: &Config, count: usize, losses: impl FnMut(&Seen) -> bool + 'static) -> Self {
        let mut ends = [endpoint(config, 1), endpoint(config, 2)];
        ends[1].listen(PORT);
        let id = ends[0].connect(Instant::ZERO, address(1), PORT, config.clone()).expect("there is room");
        Self {
            ends,
            ids: [Some(id), None],
            trace: Vec::new(),
            read: Vec::new(),
            reads: true,
            delay_ns: DELAY_NS,
            most_kept: 0,
            events: [Vec::new(), Vec::new()],
            now: Instant::ZERO,
            unwritten: octets(count).into(),
            under_way: VecDeque::new(),
            losses: Box::new(losses),
        }
    }

    /// Time.
    pub(crate) fn now_ns(&self) -> u64 {
        self.now.as_ns()
    }

    /// Runs until this time.
    pub(crate) fn run_until(&mut self, end_ns: u64) {
        loop {
            self.settle();
            let deadlines = self.ends.iter().filter_map(Engine::deadline);
            let next = deadlines.chain(self.under_way.front().map(|&(at, ..)| at)).min();
            let Some(at) = next.filter(|at| at.as_ns() <= end_ns) else {
                self.now = Instant::from_ns(end_ns);
                return;
            };
            self.now = self.now.max(at);
            self.arrive();
            self.ends.iter_mut().for_each(|end| end.handle_timeout(self.now, &mut NullSink));
        }
    }

    /// Runs until both applications know that it is over; how long that took, ns.
    pub(crate) fn finish(&mut self) -> u64 {
        let from_ns = self.now.as_ns();
        self.run_until(3_600_000 * MS);
        let is_clean = |events: &Vec<StreamEvent>| events.contains(&StreamEvent::Closed(None));
        assert!(self.events.iter().all(is_clean), "{:?}", self.events);
        self.trace.last().map_or(0, |seen| seen.at_ns) - from_ns
    }

    /// Gives bytes to an end as if they had come from the other.
    pub(crate) fn inject(&mut self, to: usize, bytes: &[u8]) {
        self.ends[to].handle(self.now, address(1 - to), NetworkFields::default(), bytes, &mut NullSink);
        self.settle();
    }

    fn arrive(&mut self) {
        while self.under_way.front().is_some_and(|(at, ..)| *at <= self.now) {
            let Some((_, to, bytes)) = self.under_way.pop_front() else { return };
            self.ends[to].handle(self.now, address(1 - to), NetworkFields::default(), &bytes, &mut NullSink);
        }
    }

    /// Lets the applications work and everything leave that may.
    fn settle(&mut self) {
        loop {
            self.work();
            let sent = (0..2).filter(|&end| self.transmit(end)).count();
            if sent == 0 {
                return;
            }
        }
    }

    fn transmit(&mut self, from: usize) -> bool {
        let (mut buffer, mut any) = (Vec::new(), false);
        while let Some(transmit) = self.ends[from].poll_transmit(self.now, &mut buffer, 16, &mut NullSink) {
            any = true;
            for bytes in buffer.chunks(transmit.segment_bytes) {
                let mut seen = Seen { at_ns: self.now.as_ns(), from, bytes: bytes.to_vec(), is_lost: false };
                seen.is_lost = (self.losses)(&seen);
                if !seen.is_lost {
                    self.under_way.push_back((self.now.after(self.delay_ns), 1 - from, bytes.to_vec()));
                }
                self.trace.push(seen);
            }
        }
        any
    }

    fn work(&mut self) {
        if self.ids[1].is_none() {
            self.ids[1] = self.ends[1].accept();
        }
        for end in 0..2 {
            while let Some((_, event)) = self.ends[end].poll_event() {
                self.events[end].push(event);
            }
        }
        self.write();
        self.read();
    }

    fn write(&mut self) {
        let Some(id) = self.ids[0].filter(|_| !self.unwritten.is_empty()) else { return };
        let data = self.unwritten.make_contiguous();
        let taken = self.ends[0].write(id, data).unwrap_or(0);
        self.unwritten.drain(..taken);
        if self.unwritten.is_empty() {
            self.ends[0].finish(id);
        }
    }

    fn read(&mut self) {
        let Some(id) = self.ids[1] else { return };
        let kept = self.ends[1].endpoint_kept();
        self.most_kept = self.most_kept.max(kept);
        let mut out = [0; 4096];
        while self.reads {
            match self.ends[1].read(id, &mut out) {
                Ok(Some(0)) => {
                    self.ends[1].finish(id);
                    return;
                }
                Ok(Some(count)) => self.read.extend(&out[..count]),
                _ => return,
            }
        }
    }

    /// Reads at most so many octets at 1, whatever [`Self::reads`] says.
    pub(crate) fn read_some(&mut self, count: usize) {
        let mut out = vec![0; count];
        let id = self.ids[1].expect("it is accepted");
        if let Ok(Some(length)) = self.ends[1].read(id, &mut out) {
            self.read.extend(&out[..length]);
        }
    }

    /// Counters at an end.
    pub(crate) fn stats(&self, end: usize) -> Stats {
        self.ends[end].stats(self.ids[end].expect("it is there")).expect("it is not released")
    }

    /// State at an end.
    pub(crate) fn state(&self, end: usize) -> Option<State> {
        self.ends[end].state(self.ids[end]?)
    }

    /// Numbers of the PDUs with data that left, and when, ms.
    pub(crate) fn data(&self) -> Vec<(u64, u32)> {
        self.trace.iter().filter_map(|seen| Some((seen.at_ns / MS, seen.data()?))).collect()
    }

    /// Times at which a PDU left, ms.
    pub(crate) fn departures(&self, number: u32) -> Vec<u64> {
        self.data().into_iter().filter(|&(_, of)| of == number).map(|(at, _)| at).collect()
    }
}

/// What an endpoint keeps of what its peers sent.
trait Kept {
    fn endpoint_kept(&self) -> u64;
}

impl Kept for Endpoint {
    fn endpoint_kept(&self) -> u64 {
        skyhaul_core::endpoint::Hosted::endpoint(self).kept_bytes()
    }
}

//! Host, relay, host, with STPP on both hops: the first one faster than the second.

use std::collections::VecDeque;
use std::net::SocketAddr;

use skyhaul_core::endpoint::Bounds as Places;
use skyhaul_core::{
    ConnectionId, Connections, Engine, Instant, NetworkFields, NullSink, Stream, StreamEvent,
};
use skyhaul_petra::relay::{Bounds, Coupling, Side};
use skyhaul_petra::stpp::{Config, Endpoint, EndpointConfig};
use skyhaul_petra::utl::{self, UtlEvent, UtlLayer};

const PORT: u16 = 4;

/// Ends: host, relay towards it, relay towards the other host, other host. Hop 0 joins the first two.
const HOST: usize = 0;
const NEAR: usize = 1;
const FAR: usize = 2;
const OTHER: usize = 3;

/// Judge of what is lost: time, hop, whether it goes onwards, octets.
type Losses = Box<dyn FnMut(u64, usize, bool, &[u8]) -> bool>;

/// Parameters of a chain.
pub(crate) struct Setup {
    pub(crate) hops: [Config; 2],
    pub(crate) bounds: Bounds,
    pub(crate) delay_ns: u64,
    pub(crate) octets: [usize; 2],
    pub(crate) losses: Losses,
}

/// The chain as it runs.
pub(crate) struct Chain {
    pub(crate) ends: [Endpoint; 4],
    pub(crate) ids: [Option<ConnectionId>; 4],
    pub(crate) coupling: Coupling,
    /// Octets that each host read.
    pub(crate) read: [Vec<u8>; 2],
    pub(crate) events: [Vec<StreamEvent>; 4],
    /// True while the other host reads.
    pub(crate) reads: bool,
    /// True once the relay has stopped for ever.
    pub(crate) is_dead: bool,
    pub(crate) now: Instant,
    /// When a host last read something.
    pub(crate) last_read: Instant,
    /// UTL at both hosts, if they have it, and what it told them.
    pub(crate) layers: Option<[UtlLayer; 2]>,
    pub(crate) told: [Vec<UtlEvent>; 2],
    failed_at: Option<Instant>,
    onward: Config,
    unwritten: [VecDeque<u8>; 2],
    under_way: VecDeque<(Instant, usize, Vec<u8>)>,
    delay_ns: u64,
    losses: Losses,
}

fn address(end: usize) -> SocketAddr {
    ([10, 0, 0, end as u8 + 1], 0).into()
}

pub(crate) fn octets(count: usize) -> Vec<u8> {
    (0..count).map(|place| (place * 31 % 251) as u8).collect()
}

/// End at the other side of the hop.
fn peer(end: usize) -> usize {
    [NEAR, HOST, OTHER, FAR][end]
}

impl Chain {
    pub(crate) fn new(setup: Setup, seed: u64) -> Self {
        let Setup { hops, bounds, delay_ns, octets: counts, losses } = setup;
        let [first, onward] = hops;
        let endpoint = |end: usize| {
            let accept = if end < FAR { first.clone() } else { onward.clone() };
            let config = EndpointConfig {
                accept,
                mtu_bytes: 1500,
                carrier_bytes: |_| 0,
                head_bytes: 0,
                bounds: Places::NONE,
                receive_budget_bytes: u64::MAX,
            };
            Endpoint::new(config, Stream::new(seed + end as u64, "relay"))
        };
        let mut ends = [HOST, NEAR, FAR, OTHER].map(endpoint);
        ends[NEAR].listen(PORT);
        ends[OTHER].listen(PORT);
        let id =
            ends[HOST].connect(Instant::ZERO, address(NEAR), PORT, first.clone()).expect("there is room");
        Self {
            ends,
            ids: [Some(id), None, None, None],
            coupling: Coupling::new(bounds, bounds),
            read: [Vec::new(), Vec::new()],
            events: [const { Vec::new() }; 4],
            reads: true,
            is_dead: false,
            now: Instant::ZERO,
            last_read: Instant::ZERO,
            layers: None,
            told: [Vec::new(), Vec::new()],
            failed_at: None,
            onward,
            unwritten: counts.map(|count| octets(count).into()),
            under_way: VecDeque::new(),
            delay_ns,
            losses,
        }
    }

    /// The chain, with UTL above both hosts' connections.
    pub(crate) fn with_utl(self, config: utl::Config) -> Self {
        Self { layers: Some([UtlLayer::new(config), UtlLayer::new(config)]), ..self }
    }

    /// Runs until this time, or until nothing is left to do.
    pub(crate) fn run_until(&mut self, end_ns: u64) {
        loop {
            self.settle();
            let alive = |end: usize| !self.is_dead || end == HOST || end == OTHER;
            let deadlines = (0..4).filter(|&end| alive(end)).filter_map(|end| self.ends[end].deadline());
            let layers = self.layers.iter().flatten().filter_map(UtlLayer::deadline);
            let next = deadlines.chain(layers).chain(self.under_way.front().map(|&(at, ..)| at)).min();
            let Some(at) = next.filter(|at| at.as_ns() <= end_ns) else { return };
            self.now = self.now.max(at);
            self.time_layers();
            while self.under_way.front().is_some_and(|(at, ..)| *at <= self.now) {
                let Some((_, to, bytes)) = self.under_way.pop_front() else { break };
                let from = address(peer(to));
                self.ends[to].handle(self.now, from, NetworkFields::default(), &bytes, &mut NullSink);
            }
            self.ends.iter_mut().for_each(|end| end.handle_timeout(self.now, &mut NullSink));
        }
    }

    fn settle(&mut self) {
        loop {
            self.hosts();
            if !self.is_dead {
                self.relay();
            }
            let sent = (0..4).filter(|&end| self.transmit(end)).count();
            if sent == 0 {
                return;
            }
        }
    }

    fn transmit(&mut self, from: usize) -> bool {
        let (mut buffer, mut any) = (Vec::new(), false);
        while let Some(transmit) = self.ends[from].poll_transmit(self.now, &mut buffer, 16, &mut NullSink) {
            any = true;
            let (hop, is_onwards) = (from / 2, from == HOST || from == FAR);
            let is_dead = self.is_dead && (from == NEAR || from == FAR || from == HOST || from == OTHER);
            for bytes in buffer.chunks(transmit.segment_bytes) {
                if !is_dead && !(self.losses)(self.now.as_ns(), hop, is_onwards, bytes) {
                    self.under_way.push_back((self.now.after(self.delay_ns), peer(from), bytes.to_vec()));
                }
            }
        }
        any
    }

    fn hosts(&mut self) {
        for end in 0..4 {
            while let Some((_, event)) = self.ends[end].poll_event() {
                if let (NEAR | FAR, StreamEvent::Closed(Some(_))) = (end, event) {
                    self.coupling.fail();
                }
                self.events[end].push(event);
            }
        }
        self.ids[OTHER] = self.ids[OTHER].or_else(|| self.ends[OTHER].accept());
        if self.layers.is_some() {
            return self.hosts_with_utl();
        }
        for (place, end) in [HOST, OTHER].into_iter().enumerate() {
            let Some(id) = self.ids[end] else { continue };
            let data = self.unwritten[place].make_contiguous();
            let taken = self.ends[end].write(id, data).unwrap_or(0);
            self.unwritten[place].drain(..taken);
            if self.unwritten[place].is_empty() {
                self.ends[end].finish(id);
            }
            let mut out = [0; 4096];
            while let Ok(Some(count)) = self.ends[end].read(id, &mut out) {
                self.read[place].extend(&out[..count]);
                self.last_read = if count > 0 { self.now } else { self.last_read };
                if count == 0 || (end == OTHER && !self.reads) {
                    break;
                }
            }
        }
    }

    /// When a layer failed by its timer.
    pub(crate) fn failed_at_ns(&self) -> u64 {
        self.failed_at.map_or(0, Instant::as_ns)
    }

    /// Ends what is too old.
    fn time_layers(&mut self) {
        for (place, end) in [HOST, OTHER].into_iter().enumerate() {
            let is_late = self.layers.as_mut().is_some_and(|layers| layers[place].handle_timeout(self.now));
            if let (true, Some(id)) = (is_late, self.ids[end]) {
                self.failed_at.get_or_insert(self.now);
                self.ends[end].abort(id);
            }
        }
    }

    fn hosts_with_utl(&mut self) {
        let Some(layers) = &mut self.layers else { return };
        for ((place, end), layer) in [HOST, OTHER].into_iter().enumerate().zip(layers) {
            let Some(id) = self.ids[end] else { continue };
            loop {
                let taken = layer.write(self.unwritten[place].make_contiguous());
                self.unwritten[place].drain(..taken);
                if self.unwritten[place].is_empty() {
                    layer.finish();
                }
                let mut moves = layer.work(self.now, &mut self.ends[end], id);
                let mut out = [0; 4096];
                while (end == HOST || self.reads)
                    && let Some(count @ 1..) = layer.read(&mut out)
                {
                    self.read[place].extend(&out[..count]);
                    moves = true;
                }
                if !moves && taken == 0 {
                    break;
                }
            }
            if self.events[end].iter().any(|event| matches!(event, StreamEvent::Closed(_))) {
                layer.on_closed();
            }
            if layer.failure().is_some() {
                self.ends[end].abort(id);
            }
            self.told[place].extend(std::iter::from_fn(|| layer.poll_event()));
        }
    }

    fn relay(&mut self) {
        if self.ids[NEAR].is_none()
            && let Some(near) = self.ends[NEAR].accept()
        {
            self.ids[NEAR] = Some(near);
            let onward = self.onward.clone();
            self.ids[FAR] = self.ends[FAR].connect(self.now, address(OTHER), PORT, onward).ok();
        }
        let (Some(near), Some(far)) = (self.ids[NEAR], self.ids[FAR]) else { return };
        loop {
            let far_moved = self.coupling.work(Side::Far, &mut self.ends[FAR], far);
            let near_moved = self.coupling.work(Side::Near, &mut self.ends[NEAR], near);
            if !far_moved && !near_moved {
                break;
            }
        }
        if self.coupling.has_failed() {
            self.ends[NEAR].abort(near);
            self.ends[FAR].abort(far);
        }
    }
}

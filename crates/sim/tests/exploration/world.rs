//! Two engines, their applications, and a wire on which each segment can have a fate of its own.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use skyhaul_core::{ConnectionId, Connections, Ecn, Engine, Instant, MS, NullSink, SECOND, Stream};
use skyhaul_sim::{EndConfig, Engines, Peer, Protocol, TCP_IDS};
use skyhaul_tcp::segment::Way;

use crate::talk::{PACKET_BYTES, Plan, Talk};

const PORT: u16 = 4;
const DELAY_NS: u64 = 100 * MS;
/// Longest time from the last fault to the end; the slowest timer is 64 s, and lingering takes three.
const PATIENCE_NS: u64 = 1000 * SECOND;
/// Events of one run at most.
const MAX_STEPS: u32 = 3_000;

/// What may happen to a segment besides its arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Lost,
    /// It arrives, and again after this time.
    Copied(u64),
    /// It arrives so much later.
    Late(u64),
    /// It is lost, and so is everything that leaves within this time, both ways.
    Outage(u64),
    /// A queue marks it, if its sender knows what that means.
    Marked,
}

impl Fault {
    pub(crate) const ALL: [Self; 7] = [
        Self::Lost,
        Self::Copied(350 * MS),
        Self::Late(30 * MS),
        Self::Late(900 * MS),
        Self::Outage(250 * MS),
        Self::Outage(5 * SECOND),
        Self::Marked,
    ];

    /// Whether it can happen to this segment.
    pub(crate) fn fits(self, segment: &Leaving) -> bool {
        self != Self::Marked || segment.ecn != Ecn::NotEct
    }
}

/// A segment that has left and has no fate yet.
#[derive(Clone, Debug)]
pub(crate) struct Leaving {
    to: usize,
    ecn: Ecn,
    bytes: Vec<u8>,
}

impl Leaving {
    /// What a reader of a failure wants to know of it.
    fn types(&self, protocol: Protocol) -> u8 {
        match protocol {
            Protocol::Stp => {
                skyhaul_stp::segment::decode(&self.bytes).map_or(0, |segment| segment.type_bits())
            }
            Protocol::Tcp => skyhaul_tcp::segment::decode(way(self.to), &self.bytes).map_or(0, |s| s.flags),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct World {
    protocol: Protocol,
    ends: [Engines; 2],
    talks: [Talk; 2],
    now: Instant,
    wire: BTreeMap<(Instant, u64), Leaving>,
    leaving: VecDeque<Leaving>,
    sequence: u64,
    gone_until: Instant,
    last_fault: Instant,
    steps: u32,
    /// Faults so far: when, which, what types.
    pub(crate) faults: Vec<(Instant, Fault, u8)>,
}

fn address(end: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1 + end as u8], 4000))
}

/// The way from this end to the other one.
fn way(end: usize) -> Way {
    Way { local: address(end).ip(), remote: address(1 - end).ip() }
}

/// The engines of an end, with small packets.
fn engines(config: &EndConfig, end: usize) -> Engines {
    let (mut stp, mut tcp) = (skyhaul_stp::EndpointConfig::default(), skyhaul_tcp::EndpointConfig::default());
    match config {
        EndConfig::Stp(config) => stp.accept = (**config).clone(),
        EndConfig::Tcp(config) => tcp.accept = (**config).clone(),
    }
    let random = || Stream::new(end as u64, "exploration");
    let (stp, tcp) = (skyhaul_stp::Endpoint::new(stp, random()), skyhaul_tcp::Endpoint::new(tcp, random()));
    Engines::new(address(end).ip(), stp, tcp)
}

/// Opens as the plan says.
fn open(engines: &mut Engines, end: usize, config: &EndConfig, plan: Plan) -> Option<ConnectionId> {
    let (now, remote) = (Instant::from_ns(1), address(1 - end));
    match config {
        EndConfig::Stp(config) => {
            engines.stp.connect(now, remote, PORT, (**config).clone(), plan.is_held()).ok()
        }
        EndConfig::Tcp(config) => {
            let port = (plan == Plan::Meeting).then_some(PORT);
            let opened = engines.tcp_mut().connect(now, way(end), PORT, port, (**config).clone());
            opened.ok().map(|id| id + TCP_IDS)
        }
    }
}

impl World {
    pub(crate) fn new(config: &EndConfig, plan: Plan) -> Self {
        let mut config = config.clone();
        match &mut config {
            EndConfig::Stp(config) => config.max_payload_bytes = PACKET_BYTES,
            EndConfig::Tcp(config) => config.mss_bytes = PACKET_BYTES as u16,
        }
        let mut ends = [0, 1].map(|end| engines(&config, end));
        let mut talks = [Talk::new(plan, true), Talk::new(plan, false)];
        let now = Instant::from_ns(1);
        for (end, engines) in ends.iter_mut().enumerate() {
            engines.listen(PORT);
            if end == 0 || plan == Plan::Meeting {
                talks[end].id = open(engines, end, &config, plan);
            }
        }
        let mut world = Self {
            protocol: config.protocol(),
            ends,
            talks,
            now,
            wire: BTreeMap::new(),
            leaving: VecDeque::new(),
            sequence: 0,
            gone_until: Instant::ZERO,
            last_fault: now,
            steps: 0,
            faults: Vec::new(),
        };
        world.work();
        world
    }

    /// The next segment that waits for its fate.
    pub(crate) fn next_leaving(&mut self) -> Option<Leaving> {
        self.leaving.pop_front()
    }

    pub(crate) fn strike(&mut self, fault: Fault, segment: Leaving) {
        let types = segment.types(self.protocol);
        self.faults.push((self.now, fault, types));
        self.last_fault = self.now;
        match fault {
            Fault::Lost => {}
            Fault::Copied(ns) => {
                self.send_in(DELAY_NS + ns, segment.clone());
                self.send_in(DELAY_NS, segment);
            }
            Fault::Late(ns) => self.send_in(DELAY_NS + ns, segment),
            Fault::Outage(ns) => {
                self.gone_until = self.now.after(ns);
                self.last_fault = self.gone_until;
            }
            Fault::Marked => self.send_in(DELAY_NS, Leaving { ecn: Ecn::Ce, ..segment }),
        }
    }

    pub(crate) fn pass(&mut self, segment: Leaving) {
        if self.now >= self.gone_until {
            self.send_in(DELAY_NS, segment);
        }
    }

    /// Whether what leaves now is lost in any case.
    pub(crate) fn is_gone(&self) -> bool {
        self.now < self.gone_until
    }

    fn send_in(&mut self, ns: u64, segment: Leaving) {
        self.sequence += 1;
        self.wire.insert((self.now.after(ns), self.sequence), segment);
    }

    /// On to the next moment when something happens; false if nothing will.
    pub(crate) fn step(&mut self) -> Result<bool, String> {
        if self.talks.iter().all(Talk::is_over) && self.is_quiet() {
            return self.judge().map(|()| false);
        }
        let arrival = self.wire.first_key_value().map(|(&(at, _), _)| at);
        let deadlines = self.ends.iter().filter_map(Engine::deadline);
        let Some(at) = deadlines.chain(arrival).min() else { return Err("stuck".into()) };
        self.steps += 1;
        if at > self.last_fault.after(PATIENCE_NS) || self.steps > MAX_STEPS {
            return Err(format!("no end in sight after {} steps, at {:?}", self.steps, self.now));
        }
        self.now = at;
        self.arrive();
        for end in &mut self.ends {
            end.handle_timeout(at, &mut NullSink);
        }
        self.work();
        self.check()?;
        Ok(true)
    }

    /// Whether nothing is left of half a connection that a late opening brought up: TCP ends it by a reset.
    fn is_quiet(&self) -> bool {
        self.protocol == Protocol::Stp || self.ends.iter().all(|end| end.deadline().is_none())
    }

    fn arrive(&mut self) {
        while let Some(entry) = self.wire.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let Leaving { to, ecn, bytes } = entry.remove();
            let peer = Peer { protocol: self.protocol, address: address(1 - to) };
            self.ends[to].handle(self.now, peer, ecn, &bytes, &mut NullSink);
        }
    }

    /// Applications work, and what is due leaves.
    fn work(&mut self) {
        let mut buffer = Vec::new();
        for from in [0, 1] {
            self.talks[from].work(&mut self.ends[from]);
            while let Some(sent) = self.ends[from].poll_transmit(self.now, &mut buffer, 4, &mut NullSink) {
                let segments = buffer.chunks(sent.segment_bytes);
                let leaving = |s: &[u8]| Leaving { to: 1 - from, ecn: sent.ecn, bytes: s.to_vec() };
                self.leaving.extend(segments.map(leaving));
                assert!(self.leaving.len() < 200, "no end to what leaves");
            }
            self.talks[from].work(&mut self.ends[from]);
        }
    }

    /// What must hold at any time.
    fn check(&self) -> Result<(), String> {
        for (end, talk) in self.ends.iter().zip(&self.talks) {
            if let Some(at) = end.deadline().filter(|&at| at <= self.now) {
                return Err(format!("a deadline in the past: {at:?} at {:?}", self.now));
            }
            // TCP's late opening may come when its connection is over.
            let most = if self.protocol == Protocol::Stp { 1 } else { 2 };
            if end.connection_count() > most {
                return Err("two connections of one opening".into());
            }
            let stats = talk.id.and_then(|id| end.stats(id));
            if stats.is_some_and(|stats| stats.in_flight_bytes > 10 * PACKET_BYTES as u64) {
                return Err(format!("more under way than was written: {stats:?}"));
            }
        }
        Ok(())
    }

    /// At the end of all.
    fn judge(&mut self) -> Result<(), String> {
        for (index, name) in ["opener", "acceptor"].iter().enumerate() {
            self.talks[index].judge().map_err(|why| format!("{name}: {why}"))?;
            let end = &mut self.ends[index];
            self.talks[index].id.into_iter().for_each(|id| end.release(self.now, id));
            let left = (end.connection_count(), end.deadline());
            if left != (0, None) {
                return Err(format!("{name}: left over: {left:?}"));
            }
        }
        Ok(())
    }
}

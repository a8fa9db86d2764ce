//! Two engines, their applications, and a wire on which each segment can have a fate of its own.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use crate::common::family::{Family, Parameters};
use skyhaul_core::{Ecn, Instant, MS, NetworkFields, NullSink, SECOND, Stream};
use skyhaul_scenario::{Carrier, HostEngine};
use skyhaul_sim::{ConnectionKey, Engines, STP, StpEngine, TcpEngine};
use skyhaul_tcp::segment::Way;

use crate::talk::{PACKET_BYTES, Plan, Talk};

const PORT: u16 = 4;
const DELAY_NS: u64 = 100 * MS;
/// Longest time from the last fault to the end; the slowest timer is 64 s, and lingering takes three.
const PATIENCE_NS: u64 = 1000 * SECOND;
/// Events of one run at most.
const MAX_STEPS: u32 = 3_000;

/// Fault that may happen to a segment besides its arrival.
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

    /// True if it can happen to this segment.
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
    /// Types of it, for the reader of a failure.
    fn types(&self, protocol: Family) -> u8 {
        match protocol {
            Family::Stp => skyhaul_stp::segment::decode(&self.bytes).map_or(0, |segment| segment.type_bits()),
            Family::Tcp => skyhaul_tcp::segment::decode(way(self.to), &self.bytes).map_or(0, |s| s.flags),
        }
    }
}

/// Engines of both ends.
#[derive(Debug)]
struct Ends([Engines; 2]);

impl Clone for Ends {
    fn clone(&self) -> Self {
        Self([0, 1].map(|end| self.0[end].copied().expect("neither family is sealed")))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct World {
    protocol: Family,
    ends: Ends,
    talks: [Talk; 2],
    now: Instant,
    under_way: BTreeMap<(Instant, u64), Leaving>,
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

/// Engine of an end, with small packets. IP carries the segments, so that nothing stands in front of them.
fn engines(config: &Parameters, end: usize) -> Engines {
    let random = Stream::new(end as u64, "exploration");
    let engine: Box<dyn HostEngine> = match config {
        Parameters::Stp(accept) => {
            let accept = (**accept).clone();
            let config = skyhaul_stp::EndpointConfig { accept, ..skyhaul_stp::EndpointConfig::default() };
            Box::new(STP.host(skyhaul_stp::Endpoint::new(config, random)))
        }
        Parameters::Tcp(accept) => {
            let accept = (**accept).clone();
            let config = skyhaul_tcp::EndpointConfig { accept, ..skyhaul_tcp::EndpointConfig::default() };
            Box::new(TcpEngine::new(address(end).ip(), skyhaul_tcp::Endpoint::new(config, random)))
        }
    };
    Engines::new(end as u32, Carrier::Ip).with(config.family().protocol(), engine)
}

/// Opens as the plan says.
fn open(engines: &mut Engines, end: usize, config: &Parameters, plan: Plan) -> Option<ConnectionKey> {
    let (now, remote) = (Instant::from_ns(1), address(1 - end));
    let (engine, opened) = match config {
        Parameters::Stp(config) => {
            let (id, engine) = engines.find_mut::<StpEngine>()?;
            (id, engine.endpoint.connect(now, remote, PORT, (**config).clone(), plan.is_held()))
        }
        Parameters::Tcp(config) => {
            let (id, engine) = engines.find_mut::<TcpEngine>()?;
            let port = (plan == Plan::Meeting).then_some(PORT);
            (id, engine.endpoint.connect(now, way(end), PORT, port, (**config).clone()))
        }
    };
    opened.ok().map(|connection| ConnectionKey { engine, connection })
}

impl World {
    pub(crate) fn new(config: &Parameters, plan: Plan) -> Self {
        let mut config = config.clone();
        match &mut config {
            Parameters::Stp(config) => config.max_payload_bytes = PACKET_BYTES,
            Parameters::Tcp(config) => config.mss_bytes = PACKET_BYTES as u16,
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
            protocol: config.family(),
            ends: Ends(ends),
            talks,
            now,
            under_way: BTreeMap::new(),
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

    /// True if what leaves now is lost in any case.
    pub(crate) fn is_gone(&self) -> bool {
        self.now < self.gone_until
    }

    fn send_in(&mut self, ns: u64, segment: Leaving) {
        self.sequence += 1;
        self.under_way.insert((self.now.after(ns), self.sequence), segment);
    }

    /// On to the next moment when something happens; false if nothing will.
    pub(crate) fn step(&mut self) -> Result<bool, String> {
        if self.talks.iter().all(Talk::is_over) && self.is_quiet() {
            return self.judge().map(|()| false);
        }
        let arrival = self.under_way.first_key_value().map(|(&(at, _), _)| at);
        let deadlines = self.ends.0.iter().filter_map(Engines::deadline);
        let Some(at) = deadlines.chain(arrival).min() else { return Err("stuck".into()) };
        self.steps += 1;
        if at > self.last_fault.after(PATIENCE_NS) || self.steps > MAX_STEPS {
            return Err(format!("no end in sight after {} steps, at {:?}", self.steps, self.now));
        }
        self.now = at;
        self.arrive();
        for end in &mut self.ends.0 {
            end.handle_timeout(at, &mut NullSink);
        }
        self.work();
        self.check()?;
        Ok(true)
    }

    /// True if nothing is left of half a connection that a late opening brought up: TCP ends it by a reset.
    fn is_quiet(&self) -> bool {
        self.protocol == Family::Stp || self.ends.0.iter().all(|end| end.deadline().is_none())
    }

    fn arrive(&mut self) {
        while let Some(entry) = self.under_way.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let Leaving { to, ecn, bytes } = entry.remove();
            let protocol = self.protocol.protocol().number(Carrier::Ip);
            let fields = NetworkFields { protocol, ..ecn.into() };
            self.ends.0[to].handle(self.now, address(1 - to), fields, &bytes, &mut NullSink);
        }
    }

    /// Applications work, and what is due leaves.
    fn work(&mut self) {
        let mut buffer = Vec::new();
        for from in [0, 1] {
            self.talks[from].work(&mut self.ends.0[from]);
            while let Some(batch) =
                self.ends.0[from].poll_transmit(self.now, 0, &mut buffer, 4, &mut NullSink)
            {
                let sent = batch.transmit;
                let segments = buffer.chunks(sent.segment_bytes);
                let leaving = |s: &[u8]| Leaving { to: 1 - from, ecn: sent.fields.ecn, bytes: s.to_vec() };
                self.leaving.extend(segments.map(leaving));
                assert!(self.leaving.len() < 200, "no end to what leaves");
            }
            self.talks[from].work(&mut self.ends.0[from]);
        }
    }

    /// Invariants that hold at any time.
    fn check(&self) -> Result<(), String> {
        for (end, talk) in self.ends.0.iter().zip(&self.talks) {
            if let Some(at) = end.deadline().filter(|&at| at <= self.now) {
                return Err(format!("a deadline in the past: {at:?} at {:?}", self.now));
            }
            // TCP's late opening may come when its connection is over.
            let most = if self.protocol == Family::Stp { 1 } else { 2 };
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

    /// True if TCP's known weakness explains a bad end: the peer had everything and closed cleanly, but three
    /// faults kept its last acknowledgement back for longer than it stays in TIME-WAIT (its length is that of
    /// the longest repeat's interval), and it answered the next repeat by a reset [RFC 9293 3.6, 3.10.7.1].
    fn forgets_in_time_wait(&self, index: usize) -> bool {
        let peer = &self.talks[1 - index];
        self.protocol == Family::Tcp
            && self.faults.len() > 2
            && self.talks[index].was_reset_when_all_was_read()
            && peer.judge().is_ok()
    }

    /// At the end of all.
    fn judge(&mut self) -> Result<(), String> {
        for (index, name) in ["opener", "acceptor"].iter().enumerate() {
            if let Err(why) = self.talks[index].judge()
                && !self.forgets_in_time_wait(index)
            {
                return Err(format!("{name}: {why}"));
            }
            let end = &mut self.ends.0[index];
            self.talks[index].id.into_iter().for_each(|id| end.release(self.now, id));
            let left = (end.connection_count(), end.deadline());
            if left != (0, None) {
                return Err(format!("{name}: left over: {left:?}"));
            }
        }
        Ok(())
    }
}

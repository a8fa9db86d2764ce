//! Two engines, their applications, and a wire on which each segment can have a fate of its own.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use skyhaul_core::{Connections, Ecn, Engine, Instant, MS, NullSink, SECOND, Stream};
use skyhaul_stp::segment::decode;
use skyhaul_stp::{Config, Endpoint, EndpointConfig};

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
}

impl Fault {
    pub(crate) const ALL: [Self; 6] = [
        Self::Lost,
        Self::Copied(350 * MS),
        Self::Late(30 * MS),
        Self::Late(900 * MS),
        Self::Outage(250 * MS),
        Self::Outage(5 * SECOND),
    ];
}

/// A segment that has left and has no fate yet.
#[derive(Clone, Debug)]
pub(crate) struct Leaving {
    to: usize,
    bytes: Vec<u8>,
}

#[derive(Clone, Debug)]
pub(crate) struct World {
    ends: [Endpoint; 2],
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

impl World {
    pub(crate) fn new(config: &Config, plan: Plan) -> Self {
        let config = Config { max_payload_bytes: PACKET_BYTES, ..config.clone() };
        let options = EndpointConfig { accept: config.clone(), ..EndpointConfig::default() };
        let mut ends = [0, 1].map(|end| Endpoint::new(options.clone(), Stream::new(end, "exploration")));
        let mut talks = [Talk::new(plan, true), Talk::new(plan, false)];
        let now = Instant::from_ns(1);
        ends[1].listen(PORT);
        talks[0].id = ends[0].connect(now, address(1), PORT, config, plan.is_held()).ok();
        let mut world = Self {
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
        let types = decode(&segment.bytes).map_or(0, |segment| segment.type_bits());
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
        if self.talks.iter().all(Talk::is_over) {
            return self.judge().map(|()| false);
        }
        let arrival = self.wire.first_key_value().map(|(&(at, _), _)| at);
        let deadlines = self.ends.iter().filter_map(Endpoint::deadline);
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

    fn arrive(&mut self) {
        while let Some(entry) = self.wire.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let Leaving { to, bytes } = entry.remove();
            self.ends[to].handle(self.now, address(1 - to), Ecn::NotEct, &bytes, &mut NullSink);
        }
    }

    /// Applications work, and what is due leaves.
    fn work(&mut self) {
        let mut buffer = Vec::new();
        for from in [0, 1] {
            self.talks[from].work(&mut self.ends[from]);
            while let Some(sent) = self.ends[from].poll_transmit(self.now, &mut buffer, 4, &mut NullSink) {
                let segments = buffer.chunks(sent.segment_bytes);
                self.leaving.extend(segments.map(|s| Leaving { to: 1 - from, bytes: s.to_vec() }));
                assert!(self.leaving.len() < 200, "no end to what leaves");
            }
            self.talks[from].work(&mut self.ends[from]);
        }
    }

    /// What must hold at any time.
    fn check(&self) -> Result<(), String> {
        for end in &self.ends {
            if let Some(at) = end.deadline().filter(|&at| at <= self.now) {
                return Err(format!("a deadline in the past: {at:?} at {:?}", self.now));
            }
            if end.connection_count() > 1 {
                return Err("two connections of one opening".into());
            }
            let stats = end.stats(1);
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
            end.release(self.now, 1);
            let left = (end.connection_count(), end.deadline());
            if left != (0, None) {
                return Err(format!("{name}: left over: {left:?}"));
            }
        }
        Ok(())
    }
}

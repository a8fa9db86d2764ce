//! Runs a shape: faults first, then a healed link, then everything must be delivered and gone.

use std::fmt::Write as _;
use std::net::SocketAddr;

use skyhaul_core::{CloseReason, Connections, Engine, Instant, Packet, ResetReason, SECOND, Stream};
use skyhaul_sim::{Engines, Host};
use skyhaul_stp::segment::decode;
use skyhaul_stp::{Endpoint, EndpointConfig};

use super::air::{Air, ENVELOPE_BYTES};
use super::shape::Shape;
use super::talker::{Conversation, Talker};
use super::watch::Watch;
use crate::common::dice::Dice;
use crate::common::trace::{HostEvents, LastEvents};

/// Steps of a virtual second for which an engine woke up and in which no packet moves: timers need some,
/// an engine that wakes up for nothing needs many more.
const MAX_IDLE_STEPS: u64 = 5_000;

/// BGNAK, POLL and END with headers: the least that an acceptor without proof sends.
const LEAST_SENT_BYTES: u64 = 20 + 8 + 1 + 44;

/// Two hosts and the air between them.
struct World {
    shape: Shape,
    hosts: [Host; 2],
    watches: [Watch; 2],
    air: Air,
    now: Instant,
    events: LastEvents,
    /// An engine's deadline made this step.
    engine_woke: bool,
    idle_steps: u64,
    idle_since: Instant,
}

/// What a run was like, for the statistics of a dose.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Summary {
    /// Connections opened.
    pub(crate) connections: usize,
    /// Of those, connections that failed in an allowed way.
    pub(crate) failed: usize,
    /// Bytes delivered.
    pub(crate) bytes: u64,
}

/// Runs a shape; what went wrong is in the error.
pub(crate) fn run(shape: &Shape, events: LastEvents) -> Result<Summary, String> {
    let mut world = World::new(shape, events)?;
    let result = world.run();
    if let Err(why) = &result {
        world.events.print();
        return Err(format!("at {:?} (healed at {:?}): {why}", world.now, shape.heal_at));
    }
    result
}

fn address(host: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host as u8 + 1], 4000))
}

/// A stream whose first connection begins a little before packet numbers wrap, if wanted. The draws
/// before the initial number are port, instance and nonce for an opener, none for an acceptor.
fn entropy(shape: &Shape, host: usize) -> Stream {
    let end = &shape.ends[host];
    let skip = if end.opens.is_empty() { 0 } else { 3 };
    let name = |salt: u64| format!("swarm/host {host}/{salt}");
    let fits = |salt: &u64| {
        let mut stream = Stream::new(shape.seed, &name(*salt));
        let draw = (0..=skip).map(|_| stream.next_u64()).last();
        draw.is_some_and(|draw| draw & 0xFF_FFFF > 0xFF_FF00)
    };
    let salt = if end.near_wrap { (0..1 << 20).find(fits).unwrap_or(0) } else { 0 };
    Stream::new(shape.seed, &name(salt))
}

fn host(shape: &Shape, index: usize) -> Host {
    let end = &shape.ends[index];
    let config = EndpointConfig {
        accept: end.config.clone(),
        mtu_bytes: shape.mtu_bytes,
        head_bytes: ENVELOPE_BYTES as u32,
        ..EndpointConfig::default()
    };
    let dice = Dice::new(shape.seed, &format!("swarm/talker {index}"));
    let finish_from = if shape.finish_late { shape.heal_at } else { Instant::ZERO };
    let talker = Talker::new(end.clone(), address(1 - index), dice, finish_from);
    let stp = Endpoint::new(config, entropy(shape, index));
    let tcp =
        skyhaul_tcp::Endpoint::new(skyhaul_tcp::EndpointConfig::default(), Stream::new(shape.seed, "tcp"));
    Host::new(Engines::new(address(index).ip(), stp, tcp), address(index), Box::new(talker))
}

impl World {
    fn new(shape: &Shape, events: LastEvents) -> Result<Self, String> {
        let watches = [0, 1].map(|i| {
            let config = &shape.ends[i].config;
            Watch::new(shape.mtu_bytes, config.rate_bps.map(|rate| (rate, config.budget_burst_ns)))
        });
        Ok(Self {
            hosts: [host(shape, 0), host(shape, 1)],
            watches,
            air: Air::new(shape)?,
            shape: shape.clone(),
            now: Instant::ZERO,
            events,
            engine_woke: false,
            idle_steps: 0,
            idle_since: Instant::ZERO,
        })
    }

    fn run(&mut self) -> Result<Summary, String> {
        let until = self.shape.heal_at.after(self.shape.patience_ns());
        loop {
            self.step()?;
            let hosts = self.hosts.iter().filter_map(Host::deadline);
            match hosts.chain(self.air.deadline()).min() {
                None => return self.judge(),
                Some(at) if at > until && self.is_done() => return self.judge(),
                Some(at) if at > until => return Err(format!("no end in sight: {}", self.describe())),
                Some(at) => {
                    self.engine_woke = self.hosts.iter().any(|host| host.engines.stp.deadline() == Some(at));
                    self.now = at;
                }
            }
        }
    }

    fn is_done(&self) -> bool {
        self.hosts.iter().all(|host| host.app.is_done())
    }

    fn step(&mut self) -> Result<(), String> {
        let mut moved = false;
        while let Some((to, packet)) = self.air.receive(self.now) {
            moved = true;
            self.deliver(to, &packet);
        }
        for index in [0, 1] {
            moved |= self.work(index)?;
            self.check(index)?;
        }
        self.count_idle(moved)
    }

    fn deliver(&mut self, to: usize, packet: &Packet) {
        if let Ok(segment) = decode(&packet.bytes[ENVELOPE_BYTES..]) {
            self.watches[to].received(&segment, packet.meta.wire_bytes);
        }
        let mut sink = HostEvents { events: &mut self.events, host: to };
        self.hosts[to].receive(self.now, address(1 - to), packet, &mut sink);
    }

    fn work(&mut self, index: usize) -> Result<bool, String> {
        let (now, mut result, mut moved) = (self.now, Ok(()), false);
        let (watch, air) = (&mut self.watches[index], &mut self.air);
        let mut sink = HostEvents { events: &mut self.events, host: index };
        self.hosts[index].work(now, &mut sink, |packet, _| {
            moved = true;
            let checked = match decode(&packet.bytes[ENVELOPE_BYTES..]) {
                Ok(segment) => watch.sent(now, &segment, packet.meta.wire_bytes),
                Err(error) => Err(format!("sent what cannot be decoded: {error}")),
            };
            if result.is_ok() {
                result = checked;
            }
            air.send(now, index, packet);
        });
        result.map(|()| moved).map_err(|why| format!("host {index}: {why}"))
    }

    /// What must hold after each step: work is done until nothing is due, and limits hold.
    fn check(&self, index: usize) -> Result<(), String> {
        let host = &self.hosts[index];
        if let Some(at) = host.engines.stp.deadline().filter(|&at| at <= self.now) {
            return Err(format!("host {index}: busy loop: nothing to do, yet the deadline is {at:?}"));
        }
        if let Some(why) = host.app.failure() {
            return Err(format!("host {index}: {why}"));
        }
        for (&id, talk) in &self.talker(index).open {
            let delivered = host.engines.stp.stats(id).map_or(0, |stats| stats.delivered_bytes);
            let (held, limit) = (delivered - talk.read, self.shape.ends[index].config.receive_limit_bytes);
            // Packets in sequence may take the room of those that wait for them once more.
            if held > 2 * limit + u64::from(self.shape.mtu_bytes) {
                return Err(format!("host {index}: {held} bytes held for reading, limit {limit}"));
            }
            self.check_sender(index, talk)?;
        }
        Ok(())
    }

    /// Bytes that the peer has in sequence may still be held, all others must be: a lower bound.
    fn check_sender(&self, index: usize, talk: &Conversation) -> Result<(), String> {
        let other = &self.hosts[1 - index].engines.stp;
        let talks = &self.talker(1 - index).open;
        let Some((&id, _)) = talks.iter().find(|(_, t)| t.receives() == Some(talk.sends)) else {
            return Ok(());
        };
        let there = other.stats(id).map_or(u64::MAX, |stats| stats.delivered_bytes);
        let (held, limit) =
            (talk.written.saturating_sub(there), self.shape.ends[index].config.send_limit_bytes);
        if held > limit { Err(format!("host {index}: {held} bytes held for sending")) } else { Ok(()) }
    }

    fn count_idle(&mut self, moved: bool) -> Result<(), String> {
        self.idle_steps += u64::from(self.engine_woke && !moved);
        if self.now.since(self.idle_since) >= SECOND {
            (self.idle_steps, self.idle_since) = (0, self.now);
        }
        if self.idle_steps > MAX_IDLE_STEPS {
            return Err(format!("{} steps within a second in which nothing moved", self.idle_steps));
        }
        Ok(())
    }

    fn talker(&self, index: usize) -> &Talker {
        let talker = self.hosts[index].app.as_any().downcast_ref();
        talker.unwrap_or_else(|| unreachable!("hosts of a swarm run talkers"))
    }

    fn judge(&self) -> Result<Summary, String> {
        if !self.is_done() {
            return self.judge_stuck();
        }
        for (index, host) in self.hosts.iter().enumerate() {
            let (left, deadline) = (host.engines.stp.connection_count(), host.engines.stp.deadline());
            if left != 0 || deadline.is_some() {
                return Err(format!("host {index}: {left} connections remain, deadline {deadline:?}"));
            }
        }
        let mut summary = Summary::default();
        for index in [0, 1] {
            summary.connections += self.shape.ends[index].opens.len();
            for talk in &self.talker(index).over {
                summary.bytes += talk.read;
                summary.failed += usize::from(self.judge_one(index, talk)?);
            }
        }
        Ok(summary)
    }

    /// A known limit (specification, 11.2): an opener that is done may leave while its last words,
    /// the proof of its address among them, are lost. An acceptor without patience at its 3x limit
    /// then waits for ever.
    fn judge_stuck(&self) -> Result<Summary, String> {
        let hosts = [0, 1].map(|index| (&self.hosts[index].engines.stp, self.talker(index)));
        let waits = |(endpoint, talker): &(&Endpoint, &Talker)| {
            talker
                .open
                .keys()
                .filter_map(|&id| endpoint.stats(id))
                .all(|stats| 3 * stats.received_bytes < stats.sent_bytes + LEAST_SENT_BYTES)
        };
        let alone = hosts.iter().any(|(_, talker)| talker.open.is_empty());
        if alone && hosts.iter().all(waits) {
            return Ok(Summary { failed: 1, ..Summary::default() });
        }
        Err(format!("stuck: {}", self.describe()))
    }

    /// Whether the conversation failed in an allowed way.
    fn judge_one(&self, index: usize, talk: &Conversation) -> Result<bool, String> {
        let fail = |why: &str| Err(format!("host {index}: {why}: {talk:?}"));
        if let Some(fault) = talk.fault() {
            return fail(&fault);
        }
        let peer = self.talker(1 - index).over.iter().find(|t| t.receives() == Some(talk.sends));
        let arrived = peer.is_some_and(|peer| peer.ended);
        match talk.closed {
            Some(None) if arrived => Ok(false),
            Some(None) => fail("a clean close, but not everything was delivered"),
            Some(Some(reason)) if self.is_allowed(reason, talk, arrived) => Ok(true),
            _ => fail("it failed"),
        }
    }

    /// Patience may end where it is configured to; a peer that has seen both ends may have left
    /// before it could confirm the last of them.
    fn is_allowed(&self, reason: CloseReason, talk: &Conversation, arrived: bool) -> bool {
        let unknown = CloseReason::Reset(Some(ResetReason::UnknownConnection));
        let unsure = reason == unknown && talk.ended && arrived && !self.shape.finish_late;
        let tired = [unknown, CloseReason::Silence, CloseReason::ConnectTimeout].contains(&reason);
        unsure || (self.shape.impatient && tired)
    }

    fn describe(&self) -> String {
        let mut text = String::new();
        for index in [0, 1] {
            for (&id, talk) in &self.talker(index).open {
                let endpoint = &self.hosts[index].engines.stp;
                let _ = write!(text, "\nhost {index} connection {id}: {:?} {talk:?}", endpoint.state(id));
                let _ = write!(text, "\n  {:?}", endpoint.stats(id));
            }
            let deadline = self.hosts[index].deadline();
            let _ = write!(text, "\nhost {index} deadline {deadline:?}");
        }
        text
    }
}

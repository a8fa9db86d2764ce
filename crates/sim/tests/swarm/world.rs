//! Runs a shape: faults first, then a healed link, then everything must be delivered and gone.

use std::net::SocketAddr;

use skyhaul_core::{Instant, NullSink, Packet, SECOND};
use skyhaul_sim::{Host, TcpEngine};
use skyhaul_tcp::segment::Way;

use super::air::{Air, Said};
use super::hostile::{Hostile, Lie};
use super::hosts::host;
use super::shape::Shape;
use super::talker::Conversation;
use super::watch::Watch;
use crate::common::trace::LastEvents;

/// Steps of a virtual second for which an engine woke up and in which no packet moves: timers need some,
/// an engine that wakes up for nothing needs many more.
const MAX_IDLE_STEPS: u64 = 5_000;

/// Steps of a run at most: a run that never ends has a seed, too.
const MAX_STEPS: u64 = 20_000_000;

/// Two hosts and the air between them.
pub(crate) struct World {
    pub(crate) shape: Shape,
    pub(crate) hosts: [Host; 2],
    watches: [Watch; 2],
    air: Air,
    hostile: Option<Hostile>,
    pub(crate) lies: u64,
    now: Instant,
    events: LastEvents,
    /// An engine's deadline made this step.
    engine_woke: bool,
    steps: u64,
    idle_steps: u64,
    idle_since: Instant,
}

/// Summary of a run, for the statistics of a dose.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Summary {
    /// Connections opened.
    pub(crate) connections: usize,
    /// Of those, connections that failed in an allowed way.
    pub(crate) failed: usize,
    /// Bytes delivered.
    pub(crate) bytes: u64,
    /// Packets that a third party sent to both.
    pub(crate) lies: u64,
    /// Connections that were accepted from it.
    pub(crate) strangers: usize,
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

/// Where this host is.
pub(crate) fn address(host: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host as u8 + 1], 4000))
}

/// The way from this host to the other one.
pub(crate) fn way(host: usize) -> Way {
    Way { local: address(host).ip(), remote: address(1 - host).ip() }
}

impl World {
    fn new(shape: &Shape, events: LastEvents) -> Result<Self, String> {
        let watches = [0, 1].map(|i| Watch::new(shape.mtu_bytes, &shape.ends[i].config));
        Ok(Self {
            hosts: [host(shape, 0), host(shape, 1)],
            watches,
            air: Air::new(shape)?,
            hostile: Hostile::of(shape),
            lies: 0,
            shape: shape.clone(),
            now: Instant::ZERO,
            events,
            engine_woke: false,
            steps: 0,
            idle_steps: 0,
            idle_since: Instant::ZERO,
        })
    }

    fn run(&mut self) -> Result<Summary, String> {
        let until = self.shape.heal_at.after(self.shape.patience_ns());
        loop {
            self.step()?;
            let hosts = self.hosts.iter().filter_map(Host::deadline);
            let hostile = self.hostile.as_ref().and_then(Hostile::deadline);
            match hosts.chain(self.air.deadline()).chain(hostile).min() {
                None => return self.judge(),
                Some(at) if at > until && self.is_done() => return self.judge(),
                Some(at) if at > until => return Err(format!("no end in sight: {}", self.describe())),
                Some(at) => {
                    self.engine_woke = self.hosts.iter().any(|host| host.engines.deadline() == Some(at));
                    self.now = at;
                }
            }
        }
    }

    /// True if all applications are done.
    pub(crate) fn is_done(&self) -> bool {
        self.hosts.iter().all(|host| host.app.is_done())
    }

    fn step(&mut self) -> Result<(), String> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err(format!("no end after {MAX_STEPS} steps: {}", self.describe()));
        }
        let mut moved = false;
        while let Some((to, packet)) = self.air.receive(self.now) {
            moved = true;
            self.deliver(to, &packet);
        }
        while let Some(lie) = self.hostile.as_mut().and_then(|hostile| hostile.lie(self.now)) {
            (moved, self.lies) = (true, self.lies + 1);
            self.suffer(&lie);
        }
        for index in [0, 1] {
            moved |= self.work(index)?;
        }
        // What routers say of what has just left may make more of it leave.
        while let Some(said) = self.air.hear() {
            self.say(&said);
            moved |= self.work(said.to)?;
        }
        for index in [0, 1] {
            self.check(index)?;
        }
        self.count_idle(moved)
    }

    fn say(&mut self, Said { to, message, quoted }: &Said) {
        let Some((_, engine)) = self.hosts[*to].engines.find_mut::<TcpEngine>() else { return };
        let (protocol, bytes) = quoted;
        engine.endpoint.handle_icmp(self.now, way(*to), *message, (*protocol, bytes), &mut NullSink);
    }

    fn suffer(&mut self, Lie { from, to, packet }: &Lie) {
        if *from == address(1 - to) {
            self.watches[*to].received(*to, packet);
        }
        self.hosts[*to].receive(self.now, *from, packet, &mut self.events);
    }

    fn deliver(&mut self, to: usize, packet: &Packet) {
        self.watches[to].received(to, packet);
        if let Some(hostile) = &mut self.hostile {
            hostile.see(to, packet);
        }
        self.hosts[to].receive(self.now, address(1 - to), packet, &mut self.events);
    }

    fn work(&mut self, index: usize) -> Result<bool, String> {
        let (now, mut result, mut moved) = (self.now, Ok(()), false);
        let (watch, air, hostile) = (&mut self.watches[index], &mut self.air, &mut self.hostile);
        self.hosts[index].work(now, &mut self.events, |packet, _| {
            moved = true;
            if let Some(hostile) = hostile.as_mut().filter(|_| packet.meta.to != 1 - index as u32) {
                return hostile.hear(index, &packet);
            }
            if result.is_ok() {
                result = watch.sent(now, index, &packet);
            }
            air.send(now, index, packet);
        });
        result.map(|()| moved).map_err(|why| format!("host {index}: {why}"))
    }

    /// Invariants after each step: work is done until nothing is due, and limits hold.
    fn check(&self, index: usize) -> Result<(), String> {
        let host = &self.hosts[index];
        if let Some(at) = host.engines.deadline().filter(|&at| at <= self.now) {
            return Err(format!("host {index}: busy loop: nothing to do, yet the deadline is {at:?}"));
        }
        if let Some(why) = host.app.failure() {
            return Err(format!("host {index}: {why}"));
        }
        for (&id, talk) in &self.talker(index).open {
            let delivered = host.engines.stats(id).map_or(0, |stats| stats.delivered_bytes);
            let (held, limit) = (delivered - talk.read, self.shape.ends[index].limits_bytes().1);
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
        let other = &self.hosts[1 - index].engines;
        let talks = &self.talker(1 - index).open;
        let Some((&id, _)) = talks.iter().find(|(_, t)| t.receives() == Some(talk.sends)) else {
            return Ok(());
        };
        let there = other.stats(id).map_or(u64::MAX, |stats| stats.delivered_bytes);
        let (held, limit) = (talk.written.saturating_sub(there), self.shape.ends[index].limits_bytes().0);
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
}

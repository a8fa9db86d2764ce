//! What carries packets between nodes.

use skyhaul_core::{EventSink, Instant, NullSink, Packet};
use skyhaul_link::Link;

use super::routes::Routes;
use super::schedule::Schedule;
use crate::build::wires;
use crate::scenario::{NodeKind, Scenario};
use crate::simulate::RunError;

/// A link and what is at its ports.
#[derive(Debug)]
pub struct Wire {
    /// The link.
    pub link: Link,
    /// Numbers of the nodes at port 0 and port 1.
    pub ends: [u32; 2],
}

/// All links, the way through them, and when they and the hosts want to act: the links come first
/// in the schedule.
#[derive(Debug)]
pub(super) struct Fabric {
    pub(super) wires: Vec<Wire>,
    pub(super) routes: Routes,
    pub(super) schedule: Schedule,
    pub(super) unroutable_packets: u64,
}

impl Fabric {
    pub(super) fn new(wires: Vec<Wire>, routes: Routes, nodes: usize) -> Self {
        let schedule = Schedule::new(wires.len() + nodes);
        Self { wires, routes, schedule, unroutable_packets: 0 }
    }

    /// Number of a node in the schedule.
    pub(super) fn component(&self, node: usize) -> usize {
        self.wires.len() + node
    }

    /// Hands a packet that is at node `at` to the next link on its way.
    pub(super) fn forward(&mut self, now: Instant, at: u32, packet: Packet, sink: &mut dyn EventSink) {
        let Some((index, port)) = self.routes.next(at, packet.meta.to) else {
            self.unroutable_packets += 1;
            return;
        };
        let link = &mut self.wires[index as usize].link;
        link.handle(now, port, packet, sink);
        if let Some(deadline) = link.deadline() {
            self.schedule.hasten(index as usize, deadline);
        }
    }

    /// The next packet that link `index` delivers now, and the node that it reaches.
    pub(super) fn deliver(&mut self, now: Instant, index: usize) -> Option<(u32, Packet)> {
        let wire = &mut self.wires[index];
        let deadline = wire.link.deadline();
        if deadline.is_none_or(|at| at > now) {
            self.schedule.set(index, deadline);
            return None;
        }
        let (port, packet) = wire.link.poll_transmit(now)?;
        Some((wire.ends[port as usize], packet))
    }
}

/// The links and routers of a scenario without what its hosts do: packets go in at hosts and come out at hosts. What
/// a simulation has between its hosts, to be driven by somebody else, in real time for example.
///
/// The links are those of a simulation of the same scenario and seed: outages, channels and the fates of the n-th
/// packet are the same.
#[derive(Debug)]
pub struct Middle {
    fabric: Fabric,
    is_router: Vec<bool>,
}

impl Middle {
    /// Those of `scenario` at time zero.
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Self, RunError> {
        let is_router = scenario.nodes.iter().map(|node| node.kind == NodeKind::Router).collect();
        let fabric = Fabric::new(wires(scenario, seed)?, Routes::new(scenario), scenario.nodes.len());
        Ok(Self { fabric, is_router })
    }

    /// A packet sets out at host `at` for the host that its meta data name.
    pub fn send(&mut self, now: Instant, at: u32, packet: Packet) {
        self.fabric.forward(now, at, packet, &mut NullSink);
    }

    /// When [`poll`](Self::poll) is to be called next.
    pub fn deadline(&self) -> Option<Instant> {
        self.fabric.schedule.first().map(|(at, _)| at)
    }

    /// The next packet that has reached a host by `now`: when, which host, and the packet. Routers forward at the
    /// scheduled times, however late this is called.
    pub fn poll(&mut self, now: Instant) -> Option<(Instant, u32, Packet)> {
        loop {
            let (at, index) = self.fabric.schedule.first().filter(|&(at, _)| at <= now)?;
            let Some((node, packet)) = self.fabric.deliver(at, index) else { continue };
            if !self.is_router.get(node as usize).is_some_and(|is| *is) {
                return Some((at, node, packet));
            }
            self.fabric.forward(at, node, packet, &mut NullSink);
        }
    }

    /// The links, in the order of the scenario.
    pub fn wires(&self) -> &[Wire] {
        &self.fabric.wires
    }

    /// Changes link `index`; `None` if there is none.
    pub fn change<T>(&mut self, index: usize, change: impl FnOnce(&mut Link) -> T) -> Option<T> {
        let link = &mut self.fabric.wires.get_mut(index)?.link;
        let done = change(link);
        self.fabric.schedule.set(index, link.deadline());
        Some(done)
    }

    /// Packets for which there was no way on.
    pub fn unroutable_packets(&self) -> u64 {
        self.fabric.unroutable_packets
    }
}

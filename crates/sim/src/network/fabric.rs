//! What carries packets between nodes.

use skyhaul_core::{EventSink, Instant, Packet};
use skyhaul_link::Link;

use super::routes::Routes;
use super::schedule::Schedule;

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

//! The links and routers of a scenario as a medium, and packets on their way through it.

use skyhaul_core::{Instant, Packet};
use skyhaul_net::realtime::{Delivery, Medium};
use skyhaul_sim::Middle;

/// The middle of a scenario, with a port for each attached host.
#[derive(Debug)]
pub(crate) struct Ports {
    middle: Middle,
    /// Node of each port.
    nodes: Vec<u32>,
}

impl Ports {
    pub(crate) fn new(middle: Middle, nodes: Vec<u32>) -> Self {
        Self { middle, nodes }
    }

    pub(crate) fn middle(&self) -> &Middle {
        &self.middle
    }

    pub(crate) fn middle_mut(&mut self) -> &mut Middle {
        &mut self.middle
    }
}

impl Medium for Ports {
    fn handle(&mut self, now: Instant, port: usize, mut packet: Packet) {
        packet.meta.from = self.nodes[port];
        self.middle.send(now, self.nodes[port], packet);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Delivery> {
        loop {
            let (at, node, packet) = self.middle.poll(now)?;
            // A host that nobody attached has nothing behind it.
            if let Some(port) = self.nodes.iter().position(|&own| own == node) {
                return Some(Delivery { port, at, packet });
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.middle.deadline()
    }
}

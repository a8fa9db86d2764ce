//! Capture of what crosses emulated links.

use std::net::{IpAddr, SocketAddr};

use skyhaul_capture::{Direction, Heads, Inlet, Record};
use skyhaul_core::{Event, Instant, Packet};
use skyhaul_sim::{Interfaces, LinkEnd, LinkTap};

/// Capture of an emulation.
#[derive(Debug)]
pub(crate) struct LinkCapture {
    pub(crate) inlet: Inlet,
    pub(crate) interfaces: Interfaces,
    /// Time of the world when the emulation began, ns since 1970.
    pub(crate) origin_ns: u64,
    /// Nodes of hosts at UDP sockets, with the addresses that they get in the capture. Where there are none,
    /// packets are of IP.
    pub(crate) places: Vec<(u32, SocketAddr)>,
}

impl LinkCapture {
    fn offer(&self, now: Instant, end: LinkEnd, direction: Direction, packet: &Packet, events: Vec<Event>) {
        let Some(interface) = self.interfaces.number(end) else { return };
        let at_ns = self.origin_ns.saturating_add(now.as_ns());
        let (heads, bytes) = (self.heads(packet), packet.bytes.clone());
        self.inlet.offer(Record { at_ns, interface, direction, heads, bytes, events });
    }

    fn heads(&self, packet: &Packet) -> Option<Heads> {
        let place = |node| self.places.iter().find(|&&(of, _)| of == node).map(|&(_, place)| place);
        let (source, destination) = place(packet.meta.from).zip(place(packet.meta.to))?;
        Some(Heads { source, destination, fields: packet.meta.fields })
    }
}

impl LinkTap for LinkCapture {
    fn entered(&mut self, now: Instant, end: LinkEnd, packet: &Packet, drops: &[Event]) {
        self.offer(now, end, Direction::Outbound, packet, drops.to_vec());
    }

    fn left(&mut self, now: Instant, end: LinkEnd, packet: &Packet) {
        self.offer(now, end, Direction::Inbound, packet, Vec::new());
    }
}

/// Addresses of two hosts at UDP sockets in a capture: those of the scenario's hosts, with the ports of the
/// sockets that stand for the other one.
pub(crate) fn places(hosts: [(u32, IpAddr); 2], sockets: [SocketAddr; 2]) -> Vec<(u32, SocketAddr)> {
    let of = |i: usize| (hosts[i].0, SocketAddr::new(hosts[i].1, sockets[i].port()));
    vec![of(0), of(1)]
}

//! Devices of hosts as gates: a packet goes to the host that has its destination.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;

use skyhaul_core::Packet;
use skyhaul_net::realtime::{Arrival, Gates};
use skyhaul_net::tun::PacketGate;

use crate::Addresses;

/// One device for each attached host.
pub(crate) struct HostGates {
    gates: Vec<HostGate>,
    addresses: Arc<Addresses>,
}

struct HostGate {
    gate: PacketGate,
    node: u32,
    /// Node that gets what is for nobody's address.
    gateway: u32,
}

impl HostGates {
    /// `devices`, each with the node of its host.
    pub(crate) fn new(devices: Vec<(u32, OwnedFd)>, addresses: Arc<Addresses>) -> Self {
        let gateway = |node| {
            let host = addresses.hosts().iter().find(|host| host.node == node);
            host.map_or(node, |host| addresses.gateway(host).node)
        };
        let gates = devices
            .into_iter()
            .map(|(node, fd)| HostGate { gate: PacketGate::new(fd), node, gateway: gateway(node) })
            .collect();
        Self { gates, addresses }
    }
}

impl Gates for HostGates {
    fn count(&self) -> usize {
        self.gates.len()
    }

    fn fd(&self, port: usize) -> BorrowedFd<'_> {
        self.gates[port].gate.as_fd()
    }

    fn receive(&mut self, port: usize, take: &mut dyn FnMut(Arrival)) -> io::Result<()> {
        let HostGate { gate, node, gateway } = &mut self.gates[port];
        gate.receive(&mut |mut packet: Packet| {
            // Routers send messages and answer none.
            let is_place = |address: &IpAddr| !address.is_multicast() && !self.addresses.is_router(*address);
            let to = destination(&packet.bytes).filter(is_place);
            let owner = |address| self.addresses.owner(address).map_or(*gateway, |host| host.node);
            match to.map(owner).filter(|to| to != node) {
                Some(to) => {
                    packet.meta.to = to;
                    take(Arrival::Packet(packet));
                }
                None => take(Arrival::Stray),
            }
        })
    }

    fn send(&mut self, port: usize, packet: &Packet) -> io::Result<()> {
        self.gates[port].gate.send(packet)
    }
}

/// Where an IP packet goes.
fn destination(packet: &[u8]) -> Option<IpAddr> {
    match packet.first()? >> 4 {
        4 => {
            let octets: [u8; 4] = packet.get(16..20)?.try_into().ok()?;
            Some(Ipv4Addr::from(octets).into())
        }
        6 => {
            let octets: [u8; 16] = packet.get(24..40)?.try_into().ok()?;
            Some(Ipv6Addr::from(octets).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_have_a_destination_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let is_whole = match bytes.first().map(|first| first >> 4) {
                Some(4) => bytes.len() >= 20,
                Some(6) => bytes.len() >= 40,
                _ => false,
            };
            prop_assert_eq!(destination(&bytes).is_some(), is_whole);
        }
    }
}

//! Which address belongs to which host of a scenario.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use skyhaul_core::MIN_IPV6_MTU_BYTES;
use skyhaul_scenario::{NodeKind, Scenario};

/// First address of the network of all hosts, and the length of its prefix.
const NET_V4: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 0);
/// Bits of the network's part of an IPv4 address.
pub(crate) const PREFIX_V4: u8 = 16;
const NET_V6: Ipv6Addr = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 0);
/// What stands before the first router in that network.
const ROUTERS: u16 = 0x8000;
/// Bits of the network's part of an IPv6 address.
pub(crate) const PREFIX_V6: u8 = 64;

/// A node of a scenario as hosts see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostAddress {
    /// Number of its node.
    pub node: u32,
    /// Its name.
    pub name: String,
    /// `10.77.0.1` for the first host of the scenario, `10.77.128.1` for the first router, and so on.
    pub v4: Ipv4Addr,
    /// `fd77::1` for the first host of the scenario, `fd77::8001` for the first router, and so on.
    pub v6: Ipv6Addr,
}

/// The hosts and routers of a scenario, in its order.
#[derive(Clone, Debug)]
pub struct Addresses {
    hosts: Vec<HostAddress>,
    /// What their messages come from; nothing is answered there.
    routers: Vec<HostAddress>,
    /// Of each host, the place of the one that its default route points at.
    gateways: Vec<usize>,
    /// True if every link takes what IPv6 needs [RFC 8200 5] when the scenario begins.
    takes_v6: bool,
}

impl Addresses {
    /// Those of all hosts and routers of `scenario`. At most 32,767 of each have an address; scenarios have
    /// fewer.
    pub fn new(scenario: &Scenario) -> Self {
        let are = |routers: bool, before: u16| {
            let nodes = scenario.nodes.iter().enumerate();
            let nodes = nodes.filter(move |(_, node)| (node.kind == NodeKind::Router) == routers);
            let addressed = nodes.zip(before + 1..).map(|((number, node), place)| HostAddress {
                node: number as u32,
                name: node.name.clone(),
                v4: Ipv4Addr::from_bits(NET_V4.to_bits() | u32::from(place)),
                v6: Ipv6Addr::from_bits(NET_V6.to_bits() | u128::from(place)),
            });
            addressed.collect::<Vec<HostAddress>>()
        };
        let (hosts, routers) = (are(false, 0), are(true, ROUTERS));
        let gateways = (0..hosts.len()).map(|place| gateway(scenario, &hosts, place)).collect();
        let is_wide = |mtu_bytes: Option<u32>| mtu_bytes.is_none_or(|bytes| bytes >= MIN_IPV6_MTU_BYTES);
        let directions = scenario.links.iter().flat_map(|link| [&link.config.forward, &link.config.reverse]);
        let takes_v6 = directions.map(|direction| direction.mtu_bytes).all(is_wide);
        Self { hosts, routers, gateways, takes_v6 }
    }

    /// True if names stand for IPv6 addresses, too: over a link of less than 1280 bytes these lead nowhere.
    pub(crate) fn takes_v6(&self) -> bool {
        self.takes_v6
    }

    /// All hosts.
    pub fn hosts(&self) -> &[HostAddress] {
        &self.hosts
    }

    /// All routers.
    pub fn routers(&self) -> &[HostAddress] {
        &self.routers
    }

    /// The host called `name`.
    pub fn named(&self, name: &str) -> Option<&HostAddress> {
        self.hosts.iter().find(|host| host.name == name)
    }

    /// The host that the default route of `host` points at: the other end of the first flow that it has a
    /// part in, or else the first other host. Itself if it is alone.
    pub fn gateway(&self, host: &HostAddress) -> &HostAddress {
        let place = self.hosts.iter().position(|other| other.node == host.node).unwrap_or(0);
        &self.hosts[self.gateways[place]]
    }

    /// The host with this address.
    pub(crate) fn owner(&self, address: IpAddr) -> Option<&HostAddress> {
        self.hosts.get(place(address)?.checked_sub(1)?)
    }

    /// True if a router has this address.
    pub(crate) fn is_router(&self, address: IpAddr) -> bool {
        let number = || place(address)?.checked_sub(usize::from(ROUTERS) + 1);
        number().is_some_and(|number| number < self.routers.len())
    }
}

/// Place of an address in the network.
fn place(address: IpAddr) -> Option<usize> {
    match address {
        IpAddr::V4(v4) => Some(v4.to_bits().checked_sub(NET_V4.to_bits())? as usize),
        IpAddr::V6(v6) => usize::try_from(v6.to_bits().checked_sub(NET_V6.to_bits())?).ok(),
    }
}

fn gateway(scenario: &Scenario, hosts: &[HostAddress], place: usize) -> usize {
    let node = hosts[place].node as usize;
    let peer = scenario.flows.iter().find_map(|flow| match (flow.from, flow.to) {
        (from, to) if from == node => Some(to),
        (from, to) if to == node => Some(from),
        _ => None,
    });
    let of_flow = peer.and_then(|peer| hosts.iter().position(|host| host.node as usize == peer));
    of_flow.or_else(|| (0..hosts.len()).find(|&other| other != place)).unwrap_or(place)
}

#[cfg(test)]
#[path = "addresses_tests.rs"]
mod tests;

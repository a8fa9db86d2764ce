//! Forms of packets: what a router that sends signals reads of them, and how its messages look.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bytes::Bytes;
use skyhaul_core::{Ecn, NetworkFields, Packet, PacketMeta, SignalNumbers, ip};
use skyhaul_link::{Passing, SignalMessage};
use skyhaul_tcp::icmp::{self, Family};

use super::address;

/// Octets of the IPv4 header that a simulated message has on the wire.
const IP_BYTES: usize = 20;
/// Flow of simulated messages: none of the scenario's.
const NO_FLOW: u32 = u32::MAX;

/// What the octets of packets are.
#[derive(Debug)]
pub(super) enum Form {
    /// What stands behind an IP header, between simulated nodes.
    Segments,
    /// Whole IP packets. Routers have these addresses; one without is silent.
    Packets(BTreeMap<u32, (Ipv4Addr, Ipv6Addr)>),
}

impl Form {
    /// Packet as a router reads it; `None` if it cannot: a fragment, options of IPv4, a wrong header.
    pub(super) fn passing(&self, packet: &Packet) -> Option<Passing> {
        let PacketMeta { from, to, fields, .. } = packet.meta;
        let nodes = [from, to];
        Some(match self {
            Self::Segments => Passing {
                nodes,
                addresses: nodes.map(|node| address(node).ip()),
                protocol: fields.protocol,
                segment: packet.bytes.clone(),
                segment_bytes: fields.whole_bytes(packet.bytes.len()),
            },
            Self::Packets(_) => {
                let header = ip::parse(&packet.bytes).ok()?;
                let segment = packet.bytes.slice(header.body);
                Passing {
                    nodes,
                    addresses: [header.source, header.destination],
                    protocol: header.fields.protocol,
                    segment_bytes: segment.len(),
                    segment,
                }
            }
        })
    }

    /// Packet of a message of the router at `node`, without number and time.
    pub(super) fn message(
        &self,
        node: u32,
        message: &SignalMessage,
        numbers: &SignalNumbers,
    ) -> Option<Packet> {
        let (router, to) = (self.router(node, message.to_address)?, message.to_address);
        let [source, destination] = message.addresses;
        let about = (source, destination, message.protocol);
        let body = icmp::signal(numbers, message.kind, [router, to], about, &message.quote.octets());
        let protocol = Family::of(router).protocol();
        let meta = PacketMeta { from: node, to: message.to, ..PacketMeta::default() };
        Some(match self {
            Self::Segments => {
                let fields = NetworkFields { protocol, ..NetworkFields::default() };
                let wire_bytes = (body.len() + IP_BYTES) as u32;
                Packet {
                    bytes: Bytes::from(body),
                    meta: PacketMeta { wire_bytes, fields, flow: NO_FLOW, ..meta },
                }
            }
            Self::Packets(_) => {
                let header = ip::write_header(router, to, protocol, Ecn::NotEct, body.len());
                let bytes = Bytes::from([&header[..], &body].concat());
                Packet { meta: PacketMeta { wire_bytes: bytes.len() as u32, ..meta }, bytes }
            }
        })
    }

    /// Address of the router at `node`, of the family of `to`.
    fn router(&self, node: u32, to: IpAddr) -> Option<IpAddr> {
        match self {
            Self::Segments => Some(address(node).ip()),
            Self::Packets(routers) => {
                let &(v4, v6) = routers.get(&node)?;
                Some(if to.is_ipv4() { v4.into() } else { v6.into() })
            }
        }
    }
}

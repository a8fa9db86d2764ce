//! Headers of packets that were seen without them: those that the system makes, or that a simulation counts
//! and does not store.

use std::net::{IpAddr, SocketAddr};

use skyhaul_core::packet::ip_protocol;
use skyhaul_core::{Ecn, NetworkFields, internet_checksum, internet_sum, pseudo_header_sum};

const IPV4_BYTES: usize = 20;
const IPV6_BYTES: usize = 40;
const UDP_BYTES: usize = 8;
/// Time to live and hop limit: that of a host that is asked for nothing else.
const TTL: u8 = 64;
/// Flag of IPv4 that no router may cut the packet.
const DONT_FRAGMENT: u16 = 0x4000;
/// Where the checksum stands in a header of IPv4.
const IPV4_CHECKSUM: usize = 10;

/// Values of the headers in front of a packet's octets: IP, and UDP where that is the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heads {
    /// Source. The port counts for UDP alone.
    pub source: SocketAddr,
    /// Destination, of the family of `source`.
    pub destination: SocketAddr,
    /// Protocol number, ECN and permission to fragment.
    pub fields: NetworkFields,
}

impl Heads {
    /// Appends the headers in front of `body`, and `body`. Lengths that do not fit into 16 bits are cut: no
    /// packet is so long.
    pub fn put(&self, body: &[u8], out: &mut Vec<u8>) {
        let is_udp = self.fields.protocol == ip_protocol::UDP;
        let carried_bytes = body.len() + if is_udp { UDP_BYTES } else { 0 };
        match (self.source.ip(), self.destination.ip()) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let flags = if self.fields.may_fragment { 0 } else { DONT_FRAGMENT };
                let start = out.len();
                out.extend_from_slice(&[0x45, ecn_bits(self.fields.ecn)]);
                out.extend_from_slice(&((IPV4_BYTES + carried_bytes) as u16).to_be_bytes());
                out.extend_from_slice(&[0, 0]);
                out.extend_from_slice(&flags.to_be_bytes());
                out.extend_from_slice(&[TTL, self.fields.protocol, 0, 0]);
                out.extend_from_slice(&source.octets());
                out.extend_from_slice(&destination.octets());
                let sum = internet_checksum(internet_sum(&out[start..]));
                let place = start + IPV4_CHECKSUM;
                out[place..place + 2].copy_from_slice(&sum.to_be_bytes());
            }
            (source, destination) => {
                let traffic_class = u32::from(ecn_bits(self.fields.ecn)) << 20;
                out.extend_from_slice(&(0x6000_0000 | traffic_class).to_be_bytes());
                out.extend_from_slice(&(carried_bytes as u16).to_be_bytes());
                out.extend_from_slice(&[self.fields.protocol, TTL]);
                out.extend_from_slice(&v6_octets(source));
                out.extend_from_slice(&v6_octets(destination));
            }
        }
        if is_udp {
            self.put_udp(body, out);
        }
        out.extend_from_slice(body);
    }

    fn put_udp(&self, body: &[u8], out: &mut Vec<u8>) {
        let bytes = UDP_BYTES + body.len();
        let start = out.len();
        out.extend_from_slice(&self.source.port().to_be_bytes());
        out.extend_from_slice(&self.destination.port().to_be_bytes());
        out.extend_from_slice(&(bytes as u16).to_be_bytes());
        let (source, destination) = (self.source.ip(), self.destination.ip());
        let pseudo_header = pseudo_header_sum(source, destination, ip_protocol::UDP, bytes);
        let sum = internet_checksum(pseudo_header + internet_sum(&out[start..]) + internet_sum(body));
        // Zero would say that there is no checksum [RFC 768].
        out.extend_from_slice(&if sum == 0 { 0xFFFF } else { sum }.to_be_bytes());
    }

    /// Octets that [`put`](Self::put) adds to those of a packet.
    pub fn bytes(&self) -> usize {
        let ip = if self.source.is_ipv4() && self.destination.is_ipv4() { IPV4_BYTES } else { IPV6_BYTES };
        ip + if self.fields.protocol == ip_protocol::UDP { UDP_BYTES } else { 0 }
    }
}

fn v6_octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

/// ECN field of the IP header [RFC 3168 5].
fn ecn_bits(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0b00,
        Ecn::Ect1 => 0b01,
        Ecn::Ect0 => 0b10,
        Ecn::Ce => 0b11,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{NetHeaders, PacketHeaders, TransportHeader};

    fn heads(source: &str, destination: &str) -> Heads {
        let fields = NetworkFields { protocol: ip_protocol::UDP, ..Ecn::Ect0.into() };
        Heads { source: source.parse().unwrap(), destination: destination.parse().unwrap(), fields }
    }

    #[test]
    fn headers_are_those_that_another_implementation_reads() {
        for heads in [heads("10.0.0.1:5", "10.0.0.2:4700"), heads("[fd77::1]:5", "[fd77::2]:4700")] {
            let mut packet = Vec::new();
            heads.put(b"hello", &mut packet);
            assert_eq!(packet.len(), heads.bytes() + 5);
            let read = PacketHeaders::from_ip_slice(&packet).unwrap();
            let Some(TransportHeader::Udp(udp)) = read.transport else { panic!("no UDP") };
            assert_eq!((udp.source_port, udp.destination_port, udp.length), (5, 4700, 13));
            match read.net.unwrap() {
                NetHeaders::Ipv4(ip, _) => {
                    assert_eq!(ip.header_checksum, ip.calc_header_checksum());
                    assert!(ip.dont_fragment && ip.ecn.value() == 2);
                    assert_eq!(udp.checksum, udp.calc_checksum_ipv4(&ip, b"hello").unwrap());
                }
                NetHeaders::Ipv6(ip, _) => {
                    assert_eq!(udp.checksum, udp.calc_checksum_ipv6(&ip, b"hello").unwrap());
                    assert_eq!((ip.payload_length, ip.traffic_class), (13, 2));
                }
                NetHeaders::Arp(_) => panic!("no IP"),
            }
        }
    }
}

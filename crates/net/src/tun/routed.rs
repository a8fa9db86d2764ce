//! Path headers in packets of IP: datagrams of ours over UDP, whose checksum goes with what routers write.

use skyhaul_core::ip;
use skyhaul_core::packet::ip_protocol;
use skyhaul_core::{PathHeader, internet_checksum, internet_sum};

use crate::path_header;

const UDP_HEADER_BYTES: usize = 8;
const CHECKSUM_AT: usize = 6;

/// Where the header of UDP begins in a whole packet that carries it, without extensions of IPv6 in between.
fn udp_at(packet: &[u8]) -> Option<usize> {
    let protocol = match packet.first()? >> 4 {
        4 => packet.get(9),
        6 => packet.get(6),
        _ => None,
    };
    if *protocol? != ip_protocol::UDP {
        return None;
    }
    let header = ip::parse(packet).ok()?;
    let udp = packet.get(header.body.clone())?;
    let length = u16::from_be_bytes([*udp.get(4)?, *udp.get(5)?]);
    let is_all = usize::from(length) == udp.len() && header.body.end == packet.len();
    (is_all && udp.len() >= UDP_HEADER_BYTES).then_some(header.body.start)
}

/// Path header of a packet, if it is a datagram of ours that has one. It counts among the packet's octets.
pub(super) fn header_of(packet: &[u8]) -> Option<PathHeader> {
    path_header::of_datagram(&packet[udp_at(packet)? + UDP_HEADER_BYTES..])
}

/// Packet with what routers have written on its path header. The checksum of UDP, where there is one, is
/// corrected by what changed [RFC 1624 3]: one that was wrong stays wrong.
pub(super) fn written(packet: &[u8], header: &PathHeader) -> Vec<u8> {
    let mut out = packet.to_vec();
    let Some(udp_at) = udp_at(packet) else { return out };
    let (before, datagram) = out.split_at_mut(udp_at + UDP_HEADER_BYTES);
    let changed = path_header::written(datagram, header);
    let checksum_at = udp_at + CHECKSUM_AT;
    let checksum = u16::from_be_bytes([before[checksum_at], before[checksum_at + 1]]);
    if checksum != 0 {
        let sums = [internet_sum(datagram), internet_sum(&changed)];
        let sum = u64::from(!checksum) + (0xFFFF - sums[0]) + sums[1];
        let new = match internet_checksum(sum) {
            0 => 0xFFFF, // 0 would say that there is none [RFC 768]
            new => new,
        };
        before[checksum_at..checksum_at + 2].copy_from_slice(&new.to_be_bytes());
    }
    datagram.copy_from_slice(&changed);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::PacketBuilder;
    use proptest::prelude::*;
    use skyhaul_core::{HeaderTime, pseudo_header_sum};

    fn header(delta_bytes_per_s: i32) -> PathHeader {
        PathHeader { rtt: HeaderTime::from_ns(600_000_000), delta_bytes_per_s, ..PathHeader::default() }
    }

    /// Packet of IPv4 or IPv6 with a datagram that has a header.
    fn packet(is_v6: bool, body: &[u8], delta_bytes_per_s: i32) -> Vec<u8> {
        let datagram = [b"\x24", body].concat();
        let payload = path_header::insert(&datagram, datagram.len(), &header(delta_bytes_per_s));
        let mut out = Vec::new();
        if is_v6 {
            let builder = PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(4700, 4701);
            builder.write(&mut out, &payload).unwrap();
        } else {
            PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
                .udp(4700, 4701)
                .write(&mut out, &payload)
                .unwrap();
        }
        out
    }

    fn is_sum_right(packet: &[u8]) -> bool {
        let header = ip::parse(packet).unwrap();
        let body = &packet[header.body];
        let pseudo = pseudo_header_sum(header.source, header.destination, ip_protocol::UDP, body.len());
        internet_checksum(pseudo + internet_sum(body)) == 0
    }

    proptest! {
        #[test]
        fn checksums_go_with_what_routers_write(
            is_v6 in any::<bool>(),
            body in proptest::collection::vec(any::<u8>(), 0..90),
            deltas in any::<[i32; 2]>(),
            routers in 0u8..16,
        ) {
            let packet = packet(is_v6, &body, deltas[0]);
            prop_assert!(is_sum_right(&packet));
            let there = header_of(&packet).unwrap();
            prop_assert_eq!(there, PathHeader { wire_bytes: 0, ..header(deltas[0]) });
            let granted = PathHeader { delta_bytes_per_s: deltas[1], routers, ..there };
            let out = written(&packet, &granted);
            prop_assert!(is_sum_right(&out));
            prop_assert_eq!(header_of(&out), Some(granted));
            let at = udp_at(&packet).unwrap();
            prop_assert_eq!(&out[..at + CHECKSUM_AT], &packet[..at + CHECKSUM_AT]);
            prop_assert_eq!(&out[at + 29..], &packet[at + 29..]);
        }

        #[test]
        fn any_octets_are_a_packet_with_a_header_or_none(
            is_v6 in any::<bool>(), changes in proptest::collection::vec((0usize..90, any::<u8>()), 0..3),
        ) {
            let mut bytes = packet(is_v6, b"body", 100);
            for (at, octet) in changes {
                if let Some(old) = bytes.get_mut(at) {
                    *old = octet;
                }
            }
            if let Some(header) = header_of(&bytes) {
                prop_assert_eq!(written(&bytes, &header), bytes);
            }
        }
    }

    #[test]
    fn datagrams_without_checksum_stay_without() {
        let mut packet = packet(false, b"body", 100);
        let at = udp_at(&packet).unwrap() + CHECKSUM_AT;
        packet[at..at + 2].fill(0);
        let out = written(&packet, &PathHeader { routers: 2, ..header(50) });
        assert_eq!(out[at..at + 2], [0, 0]);
        assert_eq!(header_of(&out).unwrap().routers, 2);
    }

    #[test]
    fn fragments_and_what_is_cut_off_have_none() {
        let whole = packet(false, b"body", 100);
        for bytes in 0..whole.len() {
            assert_eq!(header_of(&whole[..bytes]), None, "{bytes} octets");
        }
        let mut fragment = whole.clone();
        fragment[6] |= 0x20;
        let sum = internet_checksum(internet_sum(&[&fragment[..10], &[0, 0], &fragment[12..20]].concat()));
        fragment[10..12].copy_from_slice(&sum.to_be_bytes());
        assert_eq!(header_of(&fragment), None);
    }
}

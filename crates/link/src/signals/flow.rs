//! Flows as a router tells them apart, and what it can say of a packet.

use core::net::IpAddr;

use skyhaul_core::packet::ip_protocol;

use super::Passing;

/// Bit of the first flags of a compressed header: it has a sequence number.
const HAS_NUMBER: u8 = 0x02;

/// Packets of one connection in one direction, as far as their headers show. Ordered by node, so that of two
/// maps with equal flows both are walked alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Flow {
    /// Where they come from and go to.
    pub(super) nodes: [u32; 2],
    pub(super) addresses: [IpAddr; 2],
    pub(super) protocol: u8,
    /// Ports; of a compressed header the connection id, and zeros.
    names: [u8; 4],
}

impl Flow {
    /// Flow of a packet; `None` if its ends hear no signals: neither TCP nor that with compressed headers.
    pub(super) fn of(packet: &Passing) -> Option<Self> {
        let names = match packet.protocol {
            ip_protocol::TCP => *packet.segment.first_chunk()?,
            ip_protocol::COMPRESSED_TCP => [*packet.segment.first()?, 0, 0, 0],
            _ => return None,
        };
        let Passing { nodes, addresses, protocol, .. } = *packet;
        Some(Self { nodes, addresses, protocol, names })
    }
}

/// True if a packet has a sequence number.
pub(super) fn has_number(packet: &Passing) -> bool {
    match packet.protocol {
        ip_protocol::TCP => packet.segment.len() >= 8,
        _ => packet.segment.get(1).is_some_and(|flags| flags & HAS_NUMBER != 0),
    }
}

/// True if it carries something that its sender keeps until it is acknowledged, so that its number is under
/// way.
pub(super) fn has_data(packet: &Passing) -> bool {
    let &[.., high, bits] = packet.segment.get(..14).unwrap_or(&[0, 0][..]) else { return false };
    match packet.protocol {
        ip_protocol::TCP => {
            let header_bytes = usize::from(high >> 4) * 4;
            // SYN and FIN take numbers.
            packet.segment.len() > header_bytes.max(20) || bits & 0b11 != 0
        }
        _ => has_number(packet),
    }
}

//! Flows as a router tells them apart, and what it can say of a packet.

use skyhaul_core::Packet;
use skyhaul_core::packet::ip_protocol;

/// Bit of the first flags of a compressed header: it has a sequence number.
const HAS_NUMBER: u8 = 0x02;

/// Packets of one connection in one direction, as far as their headers show. Ordered by node, so that of two
/// maps with equal flows both are walked alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Flow {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) protocol: u8,
    /// Ports; of a compressed header the connection id, and zeros.
    names: [u8; 4],
}

impl Flow {
    /// Flow of a packet; `None` if its ends hear no signals: neither TCP nor that with compressed headers.
    pub(crate) fn of(packet: &Packet) -> Option<Self> {
        let names = match packet.meta.fields.protocol {
            ip_protocol::TCP => *packet.bytes.first_chunk()?,
            ip_protocol::COMPRESSED_TCP => [*packet.bytes.first()?, 0, 0, 0],
            _ => return None,
        };
        Some(Self {
            from: packet.meta.from,
            to: packet.meta.to,
            protocol: packet.meta.fields.protocol,
            names,
        })
    }
}

/// True if a packet has a sequence number.
pub(crate) fn has_number(packet: &Packet) -> bool {
    match packet.meta.fields.protocol {
        ip_protocol::TCP => packet.bytes.len() >= 8,
        _ => packet.bytes.get(1).is_some_and(|flags| flags & HAS_NUMBER != 0),
    }
}

/// True if it carries something that its sender keeps until it is acknowledged, so that its number is under
/// way.
pub(crate) fn has_data(packet: &Packet) -> bool {
    let &[.., high, bits] = packet.bytes.get(..14).unwrap_or(&[0, 0][..]) else { return false };
    match packet.meta.fields.protocol {
        ip_protocol::TCP => {
            let header_bytes = usize::from(high >> 4) * 4;
            // SYN and FIN take numbers.
            packet.bytes.len() > header_bytes.max(20) || bits & 0b11 != 0
        }
        _ => has_number(packet),
    }
}

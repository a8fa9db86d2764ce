//! ICMP as a host speaks it: answers to echo requests, and word that nobody takes a packet [RFC 792,
//! RFC 4443, RFC 1122 3.2.2].

use skyhaul_core::Ecn;
use skyhaul_core::ip::{self, Header};
use skyhaul_core::packet::ip_protocol::UDP;
use skyhaul_tcp::icmp::{self, Family, HEADER_BYTES};

#[cfg(test)]
mod too_big_tests;

/// As much of a packet is quoted as leaves the message within what every path carries [RFC 1812 4.3.2.3].
const MAX_V4_BYTES: usize = 576;
const MAX_V6_BYTES: usize = 1280;

/// True if the body of a packet of this protocol is a whole message.
pub(super) fn is_intact(header: &Header, message: &[u8]) -> bool {
    icmp::is_intact(header.source, header.destination, message)
}

/// The packet that answers an echo request.
pub(super) fn echo_reply(header: &Header, message: &[u8]) -> Option<Vec<u8>> {
    let (request, reply) = Family::of(header.source).echo();
    let is_request = message.len() >= HEADER_BYTES && message[0] == request && message[1] == 0;
    is_request.then(|| packet(header, &[&[reply, 0, 0, 0], &message[4..]]))
}

/// The packet that tells the sender of `packet` that nobody takes it: no such port for UDP, else no such
/// protocol.
pub(super) fn unreachable(header: &Header, packet: &[u8]) -> Vec<u8> {
    let family = Family::of(header.source);
    let is_udp = header.fields.protocol == UDP;
    let (kind, code, rest, largest) = match family {
        Family::V4 => (3, if is_udp { 3 } else { 2 }, 0, MAX_V4_BYTES - 20),
        Family::V6 if is_udp => (1, 4, 0, MAX_V6_BYTES - 40),
        // Parameter problem: the octet that named the protocol.
        Family::V6 => (4, 1, header.protocol_at as u32, MAX_V6_BYTES - 40),
    };
    let quoted = &packet[..packet.len().min(largest - HEADER_BYTES)];
    self::packet(header, &[&[kind, code, 0, 0], &rest.to_be_bytes(), quoted])
}

/// The packet that tells the sender of `packet` that it did not fit a link: fragmentation needed [RFC 792,
/// RFC 1191 4], or packet too big [RFC 4443 3.2]. It seems to come from where `packet` was to go. `None`
/// where nobody may be told: about error messages, later fragments, and packets of no single sender [RFC 1122
/// 3.2.2, RFC 4443 2.4 (e)].
pub fn packet_too_big(packet: &[u8], mtu_bytes: u32) -> Option<Vec<u8>> {
    let (header, body) = ip::parse_quoted(packet)?;
    let family = Family::of(header.source);
    let is_error =
        header.fields.protocol == family.protocol() && body.first().is_none_or(|&kind| family.is_error(kind));
    let is_one = !(header.source.is_unspecified() || header.source.is_multicast());
    if is_error || !is_one {
        return None;
    }
    let (kind, code, word, largest) = match family {
        Family::V4 => (3, 4, mtu_bytes.min(0xFFFF), MAX_V4_BYTES - 20),
        Family::V6 => (2, 0, mtu_bytes, MAX_V6_BYTES - 40),
    };
    let quoted = &packet[..packet.len().min(largest - HEADER_BYTES)];
    Some(self::packet(&header, &[&[kind, code, 0, 0], &word.to_be_bytes(), quoted]))
}

/// A message to the sender of a packet with this `header`. The checksum of `parts` is zero yet.
fn packet(to: &Header, parts: &[&[u8]]) -> Vec<u8> {
    let (source, destination) = (to.destination, to.source);
    let message = icmp::message(source, destination, parts);
    let protocol = Family::of(source).protocol();
    let header = ip::write_header(source, destination, protocol, Ecn::NotEct, message.len());
    [&header[..], &message].concat()
}

//! IP as an end of a path needs it: one header, no fragments, no options of our own [RFC 791, RFC 8200].

mod v4;
mod v6;

use core::fmt;
use core::net::IpAddr;
use core::ops::Range;

use crate::{Ecn, NetworkFields};

/// The longest header that [`write_header`] writes.
pub const MAX_HEADER_BYTES: usize = v6::HEADER_BYTES;
/// Time to live, or hop limit, of what is sent [RFC 1700].
const HOPS: u8 = 64;

/// Header of a packet, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Who sent it.
    pub source: IpAddr,
    /// Whom it is for.
    pub destination: IpAddr,
    /// Protocol of the body, and the ECN field.
    pub fields: NetworkFields,
    /// Where the body lies in the packet.
    pub body: Range<usize>,
    /// Where the octet stands that named the protocol.
    pub protocol_at: usize,
}

/// Why a packet was not read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Lengths, version or checksum are wrong.
    Malformed,
    /// A piece of a packet. This host joins none: TCP finds out the path's MTU.
    Fragment,
    /// It wants to be treated in a way that this host does not know: options, routing, too many headers.
    Unsupported,
}

/// Reads the header of a whole packet.
pub fn parse(packet: &[u8]) -> Result<Header, Refused> {
    match packet.first().map(|first| first >> 4) {
        Some(4) => v4::parse(packet),
        Some(6) => v6::parse(packet),
        _ => Err(Refused::Malformed),
    }
}

/// The addresses, the protocol and the beginning of the body of a packet that somebody quotes: it may be cut
/// anywhere, and its checksum counts for nothing.
pub fn parse_quoted(packet: &[u8]) -> Option<(Header, &[u8])> {
    let header = match packet.first()? >> 4 {
        4 => v4::parse_quoted(packet),
        6 => v6::parse_quoted(packet),
        _ => None,
    }?;
    let body = packet.get(header.body.start..)?;
    Some((header, body))
}

/// A header for a packet whose body has `body_bytes`.
///
/// # Panics
/// If the addresses are of two families.
pub fn write_header(
    source: IpAddr,
    destination: IpAddr,
    protocol: u8,
    ecn: Ecn,
    body_bytes: usize,
) -> Written {
    let mut written = Written { bytes: [0; MAX_HEADER_BYTES], length: 0 };
    match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let header = v4::header(source, destination, protocol, bits(ecn), body_bytes);
            written.length = header.len();
            written.bytes[..header.len()].copy_from_slice(&header);
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            written.bytes = v6::header(source, destination, protocol, bits(ecn), body_bytes);
            written.length = v6::HEADER_BYTES;
        }
        _ => panic!("addresses of two families"),
    }
    written
}

/// A header that was written.
#[derive(Clone, Copy)]
pub struct Written {
    bytes: [u8; MAX_HEADER_BYTES],
    length: usize,
}

impl core::ops::Deref for Written {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&**self).finish()
    }
}

/// The codepoint in the last two bits of an octet [RFC 3168 5].
fn ecn(octet: u8) -> Ecn {
    match octet & 3 {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

fn bits(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    }
}

/// Writes another codepoint into a packet, as a router does that is congested.
pub fn set_ecn(packet: &mut [u8], ecn: Ecn) {
    match packet.first().map(|first| first >> 4) {
        Some(4) => v4::set_ecn(packet, bits(ecn)),
        Some(6) if packet.len() >= 2 => packet[1] = packet[1] & !0x30 | bits(ecn) << 4,
        _ => {}
    }
}

/// True if routers may cut a packet into fragments: IPv4 without the flag DF.
pub fn may_fragment(packet: &[u8]) -> bool {
    packet.first().is_some_and(|first| first >> 4 == 4)
        && packet.get(6).is_some_and(|flags| flags & v4::DONT_FRAGMENT == 0)
}

/// The codepoint of a packet.
pub fn ecn_of(packet: &[u8]) -> Ecn {
    match packet {
        [first, second, ..] if first >> 4 == 4 => ecn(*second),
        [first, second, ..] if first >> 4 == 6 => ecn(second >> 4),
        _ => Ecn::NotEct,
    }
}

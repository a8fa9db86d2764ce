//! The header of IPv6 and the extension headers that may follow it [RFC 8200].

use core::net::Ipv6Addr;

use crate::NetworkFields;

use super::{HOPS, Header, Refused, ecn};

pub(super) const HEADER_BYTES: usize = 40;
/// Extension headers that are looked past; a packet with more is dropped.
const MAX_EXTENSIONS: usize = 8;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;

pub(super) fn parse(packet: &[u8]) -> Result<Header, Refused> {
    let fixed: &[u8; HEADER_BYTES] = packet.first_chunk().ok_or(Refused::Malformed)?;
    let end = HEADER_BYTES + usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    let packet = packet.get(..end).ok_or(Refused::Malformed)?;
    skip_extensions(read(fixed, end), packet, false)
}

pub(super) fn parse_quoted(packet: &[u8]) -> Option<Header> {
    let fixed: &[u8; HEADER_BYTES] = packet.first_chunk()?;
    skip_extensions(read(fixed, packet.len()), packet, true).ok()
}

fn read(fixed: &[u8; HEADER_BYTES], end: usize) -> Header {
    let address = |at: usize| {
        let mut octets = [0; 16];
        octets.copy_from_slice(&fixed[at..at + 16]);
        Ipv6Addr::from(octets)
    };
    Header {
        source: address(8).into(),
        destination: address(24).into(),
        fields: NetworkFields { protocol: fixed[6], ..ecn(fixed[1] >> 4).into() },
        body: HEADER_BYTES..end,
        protocol_at: 6,
    }
}

/// Moves the body behind the headers that concern the path [RFC 8200 4].
fn skip_extensions(mut header: Header, packet: &[u8], is_quoted: bool) -> Result<Header, Refused> {
    for _ in 0..=MAX_EXTENSIONS {
        let at = header.body.start;
        let length = match header.fields.protocol {
            FRAGMENT => 8,
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS => {
                8 + 8 * usize::from(*packet.get(at + 1).ok_or(Refused::Malformed)?)
            }
            _ => return Ok(header),
        };
        let extension = packet.get(at..at + length).ok_or(Refused::Malformed)?;
        if !is_quoted {
            check(header.fields.protocol, extension)?;
        }
        header.fields.protocol = extension[0];
        header.protocol_at = at;
        header.body.start = at + length;
    }
    Err(Refused::Unsupported)
}

/// Check that an extension header can be passed over.
fn check(kind: u8, extension: &[u8]) -> Result<(), Refused> {
    match kind {
        // A whole packet may carry one, too [RFC 6946].
        FRAGMENT if u16::from_be_bytes([extension[2], extension[3]]) & 0xFFF9 == 0 => Ok(()),
        FRAGMENT => Err(Refused::Fragment),
        // We are not the last on its list [RFC 8200 4.4].
        ROUTING if extension[3] != 0 => Err(Refused::Unsupported),
        ROUTING => Ok(()),
        _ => check_options(&extension[2..]),
    }
}

/// All options are unknown here; those that must be known end the packet [RFC 8200 4.2].
fn check_options(mut options: &[u8]) -> Result<(), Refused> {
    while let Some((&kind, rest)) = options.split_first() {
        if kind == 0 {
            options = rest;
            continue;
        }
        if kind >> 6 != 0 {
            return Err(Refused::Unsupported);
        }
        let length = usize::from(*rest.first().ok_or(Refused::Malformed)?);
        options = rest.get(1 + length..).ok_or(Refused::Malformed)?;
    }
    Ok(())
}

pub(super) fn header(
    source: Ipv6Addr,
    destination: Ipv6Addr,
    protocol: u8,
    ecn: u8,
    body_bytes: usize,
) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[0] = 0x60;
    header[1] = ecn << 4;
    header[4..6].copy_from_slice(&(body_bytes as u16).to_be_bytes());
    header[6] = protocol;
    header[7] = HOPS;
    header[8..24].copy_from_slice(&source.octets());
    header[24..40].copy_from_slice(&destination.octets());
    header
}

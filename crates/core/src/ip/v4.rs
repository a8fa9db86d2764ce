//! The header of IPv4 [RFC 791, RFC 6864].

use core::net::Ipv4Addr;

use crate::{NetworkFields, internet_checksum, internet_sum};

use super::{HOPS, Header, Refused, ecn};

pub(super) const HEADER_BYTES: usize = 20;
pub(super) const DONT_FRAGMENT: u8 = 0x40;

pub(super) fn parse(packet: &[u8]) -> Result<Header, Refused> {
    let fixed: &[u8; HEADER_BYTES] = packet.first_chunk().ok_or(Refused::Malformed)?;
    let header = usize::from(fixed[0] & 15) * 4;
    let total = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    if header < HEADER_BYTES || total < header || packet.len() < total {
        return Err(Refused::Malformed);
    }
    if internet_checksum(internet_sum(&packet[..header])) != 0 {
        return Err(Refused::Malformed);
    }
    // More fragments, or an offset.
    if u16::from_be_bytes([fixed[6], fixed[7]]) & 0x3FFF != 0 {
        return Err(Refused::Fragment);
    }
    Ok(read(fixed, header..total))
}

pub(super) fn parse_quoted(packet: &[u8]) -> Option<Header> {
    let fixed: &[u8; HEADER_BYTES] = packet.first_chunk()?;
    let header = usize::from(fixed[0] & 15) * 4;
    let is_first = u16::from_be_bytes([fixed[6] & 0x1F, fixed[7]]) == 0;
    (is_first && (HEADER_BYTES..=packet.len()).contains(&header)).then(|| read(fixed, header..packet.len()))
}

fn read(fixed: &[u8; HEADER_BYTES], body: core::ops::Range<usize>) -> Header {
    let address = |at: usize| Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]);
    Header {
        source: address(12).into(),
        destination: address(16).into(),
        fields: NetworkFields { protocol: fixed[9], ..ecn(fixed[1]).into() },
        body,
        protocol_at: 9,
    }
}

/// It must not be fragmented, so that routers tell when it is too large; its identification then means
/// nothing [RFC 1191, RFC 6864 4.1].
pub(super) fn header(
    source: Ipv4Addr,
    destination: Ipv4Addr,
    protocol: u8,
    ecn: u8,
    body_bytes: usize,
) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[0] = 0x45;
    header[1] = ecn;
    header[2..4].copy_from_slice(&((HEADER_BYTES + body_bytes) as u16).to_be_bytes());
    header[6] = DONT_FRAGMENT;
    header[8] = HOPS;
    header[9] = protocol;
    header[12..16].copy_from_slice(&source.octets());
    header[16..20].copy_from_slice(&destination.octets());
    write_checksum(&mut header);
    header
}

pub(super) fn set_ecn(packet: &mut [u8], ecn: u8) {
    let header = usize::from(packet[0] & 15) * 4;
    if let Some(header) = packet.get_mut(..header.max(HEADER_BYTES)) {
        header[1] = header[1] & !3 | ecn;
        write_checksum(header);
    }
}

fn write_checksum(header: &mut [u8]) {
    header[10..12].fill(0);
    let sum = internet_checksum(internet_sum(header));
    header[10..12].copy_from_slice(&sum.to_be_bytes());
}

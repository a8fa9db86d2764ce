//! The checksum of segment and pseudo-header [RFC 9293 3.1, RFC 8200 8.1].

use skyhaul_core::{internet_checksum, internet_sum, pseudo_header_sum};

use super::Way;

/// Protocol number in the IP header.
const PROTOCOL: u8 = 6;

/// Zero for a segment that carries its right checksum; the checksum to write for one whose field is zero.
pub fn checksum(way: Way, segment: &[u8]) -> u16 {
    let pseudo_header = pseudo_header_sum(way.local, way.remote, PROTOCOL, segment.len());
    internet_checksum(pseudo_header + internet_sum(segment))
}

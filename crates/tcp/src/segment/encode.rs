//! Segments to bytes, and their checksum [RFC 9293 3.1, RFC 8200 8.1].

use alloc::vec::Vec;

use skyhaul_core::{internet_checksum, internet_sum, pseudo_header_sum};

use super::{HEADER_BYTES, Segment, Way};

/// Protocol number in the IP header.
const PROTOCOL: u8 = 6;

/// Appends the segment as it goes from `way.local` to `way.remote`. Its options must fit into
/// [`MAX_OPTIONS_BYTES`](super::MAX_OPTIONS_BYTES). Octets of the header, options counted.
pub fn encode(way: Way, segment: &Segment<'_>, out: &mut Vec<u8>) -> usize {
    let start = out.len();
    let words = (HEADER_BYTES + segment.options.encoded_len()) / 4;
    debug_assert!(words < 16, "options of more than 40 bytes");
    out.extend_from_slice(&header(segment, words as u8));
    segment.options.encode(out);
    if let Some(description) = segment.described {
        description.encode(out);
    } else {
        out.extend_from_slice(segment.payload.0);
        out.extend_from_slice(segment.payload.1);
    }
    let sum = checksum(way, &out[start..]);
    out[start + 16..start + 18].copy_from_slice(&sum.to_be_bytes());
    4 * words
}

/// Header of so many words, options counted, without its checksum.
fn header(segment: &Segment<'_>, words: u8) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..2].copy_from_slice(&segment.source_port.to_be_bytes());
    header[2..4].copy_from_slice(&segment.destination_port.to_be_bytes());
    header[4..8].copy_from_slice(&segment.sequence.to_be_bytes());
    header[8..12].copy_from_slice(&segment.acknowledgement.to_be_bytes());
    (header[12], header[13]) = (words << 4, segment.flags);
    header[14..16].copy_from_slice(&segment.window.to_be_bytes());
    header[18..].copy_from_slice(&segment.urgent.to_be_bytes());
    header
}

/// Zero for a segment that carries its right checksum; the checksum to write for one whose field is zero.
pub fn checksum(way: Way, segment: &[u8]) -> u16 {
    let pseudo_header = pseudo_header_sum(way.local, way.remote, PROTOCOL, segment.len());
    internet_checksum(pseudo_header + internet_sum(segment))
}

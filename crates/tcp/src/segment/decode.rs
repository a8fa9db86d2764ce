//! Bytes to segments: total, any input gives a value or an error.

use skyhaul_core::{Description, NetworkFields};

use super::{Compression, HEADER_BYTES, Malformed, Options, Segment, Way, checksum, flags};
use crate::accelerated::is_counted;
use crate::scps::compress::{self, Compressed, decompress};

/// Decodes the body of an IP packet that came from `way.remote` to `way.local`.
pub fn decode(way: Way, bytes: &[u8]) -> Result<Segment<'_>, Malformed> {
    let header: &[u8; HEADER_BYTES] = bytes.first_chunk().ok_or(Malformed::Truncated)?;
    let offset = usize::from(header[12] >> 4) * 4;
    if offset < HEADER_BYTES {
        return Err(Malformed::Offset);
    }
    let (head, payload) = bytes.split_at_checked(offset).ok_or(Malformed::Truncated)?;
    if checksum(way, bytes) != 0 {
        return Err(Malformed::Checksum);
    }
    let short = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let long = |at: usize| u32::from(short(at)) << 16 | u32::from(short(at + 2));
    // Its options are read where they stay: a segment is moved as rarely as can be.
    let mut segment = Segment {
        source_port: short(0),
        destination_port: short(2),
        sequence: long(4),
        acknowledgement: long(8),
        flags: header[13],
        window: short(14),
        urgent: short(18),
        options: Options::default(),
        payload: (payload, &[]),
        described: None,
        compression: None,
    };
    segment.options.read(&head[HEADER_BYTES..])?;
    check_flags(&segment)?;
    Ok(segment)
}

/// Decodes the body of an IP packet with these fields: plain or compressed, its data here or described.
pub fn decode_packet(way: Way, fields: NetworkFields, bytes: &[u8]) -> Result<Segment<'_>, Malformed> {
    let mut segment = match fields.protocol {
        compress::PROTOCOL => decode_compressed(way, bytes)?,
        _ => decode(way, bytes)?,
    };
    let described_bytes = fields.described_bytes;
    if described_bytes > 0 {
        let described = Description::decode(segment.payload.0).ok_or(Malformed::Truncated)?;
        if described.length != u64::from(described_bytes) {
            return Err(Malformed::Truncated);
        }
        segment.payload = (&[], &[]);
        segment.described = Some(described);
    }
    Ok(segment)
}

fn decode_compressed(way: Way, bytes: &[u8]) -> Result<Segment<'_>, Malformed> {
    let Compressed { connection_id, segment, has_sequence } = decompress(way, bytes)?;
    Ok(Segment { compression: Some(Compression { connection_id, has_sequence }), ..segment })
}

/// A segment without ACK, SYN and RST is dropped in every state [RFC 9293 3.10.7]; SYN together with RST is
/// nothing that any state asks for, and together with FIN it is so in T/TCP alone [RFC 1644 3.2].
fn check_flags(segment: &Segment<'_>) -> Result<(), Malformed> {
    let has = |bit: u8| segment.flags & bit != 0;
    let is_whole = || is_counted(segment);
    let contradicts = has(flags::SYN) && (has(flags::RST) || (has(flags::FIN) && !is_whole()));
    if contradicts || !has(flags::SYN | flags::RST | flags::ACK) { Err(Malformed::Flags) } else { Ok(()) }
}

//! Bytes to segments: total, any input gives a value or an error.

use skyhaul_core::Description;

use super::{HEADER_BYTES, Malformed, Options, Segment, Way, checksum, flags};

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
    check_flags(header[13])?;
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
    };
    segment.options.read(&head[HEADER_BYTES..])?;
    Ok(segment)
}

/// Decodes a segment whose data may be described, as that of so many octets (0: it is not).
pub(crate) fn decode_described(way: Way, described_bytes: u16, bytes: &[u8]) -> Option<Segment<'_>> {
    let mut segment = decode(way, bytes).ok()?;
    if described_bytes > 0 {
        let described = Description::decode(segment.payload.0)?;
        if described.length != u64::from(described_bytes) {
            return None;
        }
        segment.payload = (&[], &[]);
        segment.described = Some(described);
    }
    Some(segment)
}

/// A segment without ACK, SYN and RST is dropped in every state [RFC 9293 3.10.7]; SYN together with FIN or
/// RST is nothing that any state asks for.
fn check_flags(bits: u8) -> Result<(), Malformed> {
    let has = |bit: u8| bits & bit != 0;
    let contradicts = has(flags::SYN) && has(flags::FIN | flags::RST);
    if contradicts || !has(flags::SYN | flags::RST | flags::ACK) { Err(Malformed::Flags) } else { Ok(()) }
}

//! Bytes to segments: total, any input gives a value or an error.

use skyhaul_core::{Description, NetworkFields};

use super::{Compression, HEADER_BYTES, Malformed, Segment, Way, checksum, flags};
use crate::accelerated::is_counted;
use crate::scps::compress::{self, Compressed, decompress};

/// Decodes the body of an IP packet that came from `way.remote` to `way.local`.
pub fn decode(way: Way, bytes: &[u8]) -> Result<Segment<'_>, Malformed> {
    built(|segment| read(way, bytes, segment))
}

/// Segment that `read` makes of an empty one. It is made where it goes: it is large, and each move of it
/// costs.
#[inline]
fn built<'a>(read: impl FnOnce(&mut Segment<'a>) -> Result<(), Malformed>) -> Result<Segment<'a>, Malformed> {
    let mut built = Ok(Segment::default());
    if let Ok(segment) = &mut built
        && let Err(why) = read(segment)
    {
        built = Err(why);
    }
    built
}

/// Reads a plain segment into an empty one.
fn read<'a>(way: Way, bytes: &'a [u8], segment: &mut Segment<'a>) -> Result<(), Malformed> {
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
    (segment.source_port, segment.destination_port) = (short(0), short(2));
    (segment.sequence, segment.acknowledgement) = (long(4), long(8));
    (segment.flags, segment.window, segment.urgent) = (header[13], short(14), short(18));
    segment.payload = (payload, &[]);
    segment.options.read(&head[HEADER_BYTES..])?;
    check_flags(segment)
}

/// Decodes the body of an IP packet with these fields: plain or compressed, its data here or described.
pub fn decode_packet(way: Way, fields: NetworkFields, bytes: &[u8]) -> Result<Segment<'_>, Malformed> {
    built(|segment| {
        if fields.protocol == compress::PROTOCOL {
            *segment = decode_compressed(way, bytes)?;
        } else {
            read(way, bytes, segment)?;
        }
        describe(segment, fields.described_bytes)
    })
}

/// Takes the data of a segment for a description of so many octets; nothing where there are none.
fn describe(segment: &mut Segment<'_>, described_bytes: u16) -> Result<(), Malformed> {
    if described_bytes > 0 {
        let described = Description::decode(segment.payload.0).ok_or(Malformed::Truncated)?;
        if described.length != u64::from(described_bytes) {
            return Err(Malformed::Truncated);
        }
        segment.payload = (&[], &[]);
        segment.described = Some(described);
    }
    Ok(())
}

fn decode_compressed(way: Way, bytes: &[u8]) -> Result<Segment<'_>, Malformed> {
    let Compressed { connection_id, segment, has_sequence } = decompress(way, bytes)?;
    Ok(Segment { compression: Some(Compression { connection_id, has_sequence }), ..segment })
}

/// A segment without ACK, SYN and RST is dropped in every state [RFC 9293 3.10.7]; SYN together with RST is
/// nothing that any state asks for, and together with FIN it is so in T/TCP alone [RFC 1644 2.2].
fn check_flags(segment: &Segment<'_>) -> Result<(), Malformed> {
    let has = |bit: u8| segment.flags & bit != 0;
    let is_whole = || is_counted(segment);
    let contradicts = has(flags::SYN) && (has(flags::RST) || (has(flags::FIN) && !is_whole()));
    if contradicts || !has(flags::SYN | flags::RST | flags::ACK) { Err(Malformed::Flags) } else { Ok(()) }
}

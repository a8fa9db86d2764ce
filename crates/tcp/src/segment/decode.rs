//! Bytes to segments: total, any input gives a value or an error.

use skyhaul_core::{Description, NetworkFields};

use super::{Compression, HEADER_BYTES, Malformed, Options, Segment, Way, checksum, flags};
use crate::accelerated::is_counted;
use crate::scps::compress::{self, Compressed, decompress};

/// Decodes the body of an IP packet that came from `way.remote` to `way.local`.
pub fn decode(way: Way, bytes: &[u8]) -> Result<Segment<'_>, Malformed> {
    whole(split(way, bytes)?, 0)
}

/// Decodes the body of an IP packet with these fields: plain or compressed, its data here or described.
pub fn decode_packet(way: Way, fields: NetworkFields, bytes: &[u8]) -> Result<Segment<'_>, Malformed> {
    if fields.protocol != compress::PROTOCOL {
        return whole(split(way, bytes)?, fields.sizing.described_bytes());
    }
    let mut segment = decode_compressed(way, bytes)?;
    describe(&mut segment, fields.sizing.described_bytes())?;
    Ok(segment)
}

/// Parts of a plain segment whose checksum is right: header, options, payload.
type Parts<'a> = (&'a [u8; HEADER_BYTES], &'a [u8], &'a [u8]);

fn split(way: Way, bytes: &[u8]) -> Result<Parts<'_>, Malformed> {
    let header: &[u8; HEADER_BYTES] = bytes.first_chunk().ok_or(Malformed::Truncated)?;
    let offset = usize::from(header[12] >> 4) * 4;
    if offset < HEADER_BYTES {
        return Err(Malformed::Offset);
    }
    let (head, payload) = bytes.split_at_checked(offset).ok_or(Malformed::Truncated)?;
    if checksum(way, bytes) != 0 {
        return Err(Malformed::Checksum);
    }
    Ok((header, &head[HEADER_BYTES..], payload))
}

/// Segment of these parts, whose data stand for so many octets, if not 0. It is made where it goes: it is
/// large, and each move of it costs.
fn whole((header, options, payload): Parts<'_>, described_bytes: u16) -> Result<Segment<'_>, Malformed> {
    let short = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let long = |at: usize| u32::from(short(at)) << 16 | u32::from(short(at + 2));
    let mut whole = Ok(Segment {
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
    });
    if let Ok(segment) = &mut whole
        && let Err(why) = finish(segment, options, described_bytes)
    {
        whole = Err(why);
    }
    whole
}

fn finish(segment: &mut Segment<'_>, options: &[u8], described_bytes: u16) -> Result<(), Malformed> {
    segment.options.read(options)?;
    check_flags(segment)?;
    describe(segment, described_bytes)
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

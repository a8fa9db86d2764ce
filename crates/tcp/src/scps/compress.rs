//! Compressed headers, IP protocol 105 [SCPS-TP 3.3.1]: every segment stands alone. The layout is that of the
//! public reference implementation (`docs/spec/scps-tp.md`).

use alloc::vec::Vec;

use skyhaul_core::packet::ip_protocol;
use skyhaul_core::{internet_checksum, internet_sum, pseudo_header_sum};

use super::RECORD;
use crate::segment::{ExtraOptions, MAX_OPTIONS_BYTES, Malformed, Options, Segment, Timestamps, Way, flags};

/// IP protocol of compressed segments.
pub const PROTOCOL: u8 = ip_protocol::COMPRESSED_TCP;
/// IP protocol that checksums are reckoned with; [`PROTOCOL`] is believed, too.
const CHECKSUM_PROTOCOL: u8 = 6;

/// Bits of the first octet of flags.
mod first {
    pub(super) const MORE: u8 = 0x80;
    pub(super) const TS_VALUE: u8 = 0x40;
    pub(super) const TS_ECHO: u8 = 0x20;
    pub(super) const RECORD: u8 = 0x10;
    pub(super) const PUSH: u8 = 0x04;
    pub(super) const SEQUENCE: u8 = 0x02;
    pub(super) const ACK: u8 = 0x01;
}

/// Bits of the second one.
mod second {
    pub(super) const OPTIONS: u8 = 0x80;
    pub(super) const PAD: u8 = 0x40;
    pub(super) const URGENT: u8 = 0x20;
    pub(super) const ACK_RESET: u8 = 0x10;
    pub(super) const RESET: u8 = 0x04;
    pub(super) const FIN: u8 = 0x01;
}

/// Segment with its header compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compressed<'a> {
    /// Number that the sender announced for the connection in its option 20.
    pub connection_id: u8,
    /// The segment. Its ports are zero: they are those of the connection. Without ACK, window and
    /// acknowledgement are zero, too; without its number, which none with data lacks, so is that.
    pub segment: Segment<'a>,
    /// True if the number stands in it.
    pub has_sequence: bool,
}

/// True if a header without loss can be made of a segment: openings, resets and what carries ECN's bits go
/// uncompressed, which have no place, or no clear one.
pub fn fits(segment: &Segment<'_>) -> bool {
    has_place(segment.flags, &segment.options)
}

/// As [`fits`], for a segment with these bits and options.
pub(crate) fn has_place(bits: u8, options: &Options) -> bool {
    let plain = flags::FIN | flags::PSH | flags::ACK | flags::URG;
    let has_blocks = !options.sack.as_slice().is_empty();
    bits & !plain == 0 && !is_of_a_syn(options) && !has_blocks
}

/// Bytes of the compressed header of data that has nothing beside it but timestamps, if it has those.
pub(crate) const fn data_header_bytes(has_timestamps: bool) -> usize {
    let timestamps = if has_timestamps { 8 } else { 0 };
    2 + 4 + timestamps + CHECKSUM_BYTES
}

/// Bytes of the compressed header of a segment with these bits and options, its number in it or not.
pub(crate) fn header_bytes(bits: u8, options: &Options, has_sequence: bool) -> usize {
    let header = Segment { flags: bits, options: *options, ..Segment::default() };
    let mut bytes = Vec::with_capacity(CHECKSUM_BYTES + 2 * MAX_OPTIONS_BYTES);
    push_header(0, &header, has_sequence, &mut bytes);
    bytes.len() + CHECKSUM_BYTES
}

/// True if there are options that stand in a SYN alone.
fn is_of_a_syn(options: &Options) -> bool {
    options.mss.is_some() || options.window_scale.is_some() || options.sack_permitted
}

const CHECKSUM_BYTES: usize = 2;

/// Appends a segment that [`fits`], as it goes from `way.local` to `way.remote`. Its number stands in it
/// where `has_sequence` is set, or where it has data or FIN. Bytes of its header.
pub fn compress(
    way: Way,
    connection_id: u8,
    segment: &Segment<'_>,
    has_sequence: bool,
    out: &mut Vec<u8>,
) -> usize {
    let start = out.len();
    push_header(connection_id, segment, has_sequence, out);
    let checksum_at = out.len();
    out.extend_from_slice(&[0; CHECKSUM_BYTES]);
    if let Some(description) = segment.described {
        description.encode(out);
    } else {
        out.extend_from_slice(segment.payload.0);
        out.extend_from_slice(segment.payload.1);
    }
    let sum = checksum(way, CHECKSUM_PROTOCOL, &out[start..]);
    out[checksum_at..checksum_at + CHECKSUM_BYTES].copy_from_slice(&sum.to_be_bytes());
    checksum_at + CHECKSUM_BYTES - start
}

fn checksum(way: Way, protocol: u8, segment: &[u8]) -> u16 {
    internet_checksum(
        pseudo_header_sum(way.local, way.remote, protocol, segment.len()) + internet_sum(segment),
    )
}

/// Appends the header without its checksum: an even number of octets. Only options, behind an octet of their
/// length, make it odd or even; where there are none and no second octet of flags, it is even as it is.
fn push_header(connection_id: u8, segment: &Segment<'_>, has_sequence: bool, out: &mut Vec<u8>) {
    let start = out.len();
    let bit = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
    let has = |bits: u8| segment.has(bits);
    let stamps = segment.options.timestamps;
    let has_sequence = has_sequence || segment.sequence_len() > 0;
    let is_record = |kind: u8| kind == RECORD;
    let mut others = ExtraOptions::default();
    for (kind, value) in segment.options.extra.iter().filter(|&(kind, _)| !is_record(kind)) {
        others.push(kind, value);
    }
    let two = bit(!others.as_bytes().is_empty(), second::OPTIONS)
        | bit(has(flags::URG), second::URGENT)
        | bit(has(flags::FIN), second::FIN);
    let one = bit(two != 0, first::MORE)
        | bit(stamps.is_some(), first::TS_VALUE | first::TS_ECHO)
        | bit(segment.options.extra.iter().any(|(kind, _)| is_record(kind)), first::RECORD)
        | bit(has(flags::PSH), first::PUSH)
        | bit(has_sequence, first::SEQUENCE)
        | bit(has(flags::ACK), first::ACK);
    out.extend_from_slice(&[connection_id, one]);
    if two != 0 {
        out.push(two);
    }
    if has(flags::URG) {
        out.extend_from_slice(&segment.urgent.to_be_bytes());
    }
    if has(flags::ACK) {
        out.extend_from_slice(&segment.window.to_be_bytes());
        out.extend_from_slice(&segment.acknowledgement.to_be_bytes());
    }
    if has_sequence {
        out.extend_from_slice(&segment.sequence.to_be_bytes());
    }
    if let Some(stamps) = stamps {
        out.extend_from_slice(&stamps.value.to_be_bytes());
        out.extend_from_slice(&stamps.echo.to_be_bytes());
    }
    if two & second::OPTIONS != 0 {
        out.push(others.as_bytes().len() as u8); // 40 at most
        out.extend_from_slice(others.as_bytes());
    }
    if !(out.len() - start).is_multiple_of(2) {
        out[start + 2] |= second::PAD;
        out.push(0);
    }
}

/// Decodes the body of an IP packet of [`PROTOCOL`] that came from `way.remote` to `way.local`.
pub fn decompress(way: Way, bytes: &[u8]) -> Result<Compressed<'_>, Malformed> {
    let is_right = |protocol| checksum(way, protocol, bytes) == 0;
    let mut rest = Reader(bytes);
    let [connection_id, one] = rest.take()?;
    let two = if one & first::MORE != 0 { rest.take::<1>()?[0] } else { 0 };
    check(one, two)?;
    let has = |bits: u8| one & bits != 0;
    let has_second = |bits: u8| two & bits != 0;
    let mut segment = Segment::default();
    let set = |is_set: bool, bits: u8| if is_set { bits } else { 0 };
    segment.flags = set(has(first::PUSH), flags::PSH)
        | set(has(first::ACK), flags::ACK)
        | set(has_second(second::URGENT), flags::URG)
        | set(has_second(second::RESET), flags::RST)
        | set(has_second(second::FIN), flags::FIN);
    if has_second(second::URGENT) {
        segment.urgent = u16::from_be_bytes(rest.take()?);
    }
    if has(first::ACK) {
        segment.window = u16::from_be_bytes(rest.take()?);
        segment.acknowledgement = u32::from_be_bytes(rest.take()?);
    }
    if has(first::SEQUENCE) {
        segment.sequence = u32::from_be_bytes(rest.take()?);
    }
    let mut stamps = None;
    if has(first::TS_VALUE) {
        let (value, echo) = (rest.take()?, rest.take()?);
        stamps = Some(Timestamps { value: u32::from_be_bytes(value), echo: u32::from_be_bytes(echo) });
    }
    let mut options = Options::default();
    if has_second(second::OPTIONS) {
        let [length] = rest.take()?;
        if usize::from(length) > MAX_OPTIONS_BYTES {
            return Err(Malformed::Options);
        }
        let (listed, behind) = rest.0.split_at_checked(usize::from(length)).ok_or(Malformed::Truncated)?;
        rest = Reader(behind);
        options.read(listed)?;
    }
    if is_of_a_syn(&options) || options.timestamps.is_some() || options.extra.get(RECORD).is_some() {
        return Err(Malformed::Options);
    }
    options.timestamps = stamps;
    if has(first::RECORD) && !options.extra.push(RECORD, &[]) {
        return Err(Malformed::Options);
    }
    if has_second(second::PAD) {
        rest.take::<1>()?;
    }
    rest.take::<CHECKSUM_BYTES>()?;
    segment.options = options;
    segment.payload = (rest.0, &[]);
    if segment.sequence_len() > 0 && !has(first::SEQUENCE) {
        return Err(Malformed::Flags);
    }
    if !is_right(CHECKSUM_PROTOCOL) && !is_right(PROTOCOL) {
        return Err(Malformed::Checksum);
    }
    Ok(Compressed { connection_id, segment, has_sequence: has(first::SEQUENCE) })
}

/// Connection id and number of a segment of ours that somebody returns: the beginning of it, as much as is
/// there. `None`: its number is not among that.
pub(crate) fn quoted(bytes: &[u8]) -> Option<(u8, u32)> {
    let mut rest = Reader(bytes);
    let [connection_id, one] = rest.take().ok()?;
    let two = if one & first::MORE != 0 { rest.take::<1>().ok()?[0] } else { 0 };
    if two & second::URGENT != 0 {
        rest.take::<2>().ok()?;
    }
    if one & first::ACK != 0 {
        rest.take::<6>().ok()?; // window and acknowledgement
    }
    let number = rest.take().ok().filter(|_| one & first::SEQUENCE != 0)?;
    Some((connection_id, u32::from_be_bytes(number)))
}

/// One timestamp alone means nothing. The bit of a reset without ACK (ACKR) stands beside RST, and beside no
/// acknowledgement; a reset ends no stream.
fn check(one: u8, two: u8) -> Result<(), Malformed> {
    let stamps = one & (first::TS_VALUE | first::TS_ECHO);
    let is_torn = stamps != 0 && stamps != first::TS_VALUE | first::TS_ECHO;
    let resets = two & second::RESET != 0;
    let is_unclear = two & second::ACK_RESET != 0 && (!resets || one & first::ACK != 0);
    if is_torn || is_unclear || resets && two & second::FIN != 0 { Err(Malformed::Flags) } else { Ok(()) }
}

/// Octets that are read from the front.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Malformed::Truncated)?;
        self.0 = rest;
        Ok(*taken)
    }
}

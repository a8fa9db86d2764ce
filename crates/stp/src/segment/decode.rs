//! Bytes to segments: total, any input gives a value or an error.

use alloc::vec::Vec;
use core::fmt;

use skyhaul_core::Integrity;
use skyhaul_core::checksum::{START, crc16};

use super::block::take_block;
use super::gap_list::{MAX_RUNS, MAX_SPAN, take_rice_runs, take_varint, take_varint_runs};
use super::piece::take_piece;
use super::{
    Extras, Feedback, HEADER_BYTES, OPTION_FEEDBACK, OPTION_INCREMENTS, OPTION_PIECES, OPTION_REPAIRS,
    OPTION_TIMING, Opening, Options, Poll, Report, Segment, Stat, Timing, WIRE_VERSION, poll_flags,
    reset_reason, types,
};

/// Why bytes are not a segment. The receiver drops them and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Shorter than its type demands.
    Truncated,
    /// The checksum does not match.
    Checksum,
    /// No type bit, or a combination without meaning.
    Type,
    /// An opening of another version, or with broken options.
    Opening,
    /// A gap list that is too long, too wide or broken.
    GapList,
    /// A block that is too large or broken.
    Block,
    /// A piece that is cut off, empty, no part of its packet, or a tiny one in the middle of it.
    Piece,
    /// Padding that is not zero, SD without data, or bytes behind the last body.
    Length,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "shorter than its type demands",
            Self::Checksum => "the checksum does not match",
            Self::Type => "a type without meaning",
            Self::Opening => "an opening of another version or with broken options",
            Self::GapList => "a broken gap list",
            Self::Block => "a block that is too large or broken",
            Self::Piece => "a piece that contradicts itself",
            Self::Length => "bytes that belong to nothing",
        })
    }
}

impl core::error::Error for Malformed {}

/// Decodes a whole datagram body, by its checksum.
pub fn decode(bytes: &[u8]) -> Result<Segment<'_>, Malformed> {
    decode_with(Integrity::Checksum, bytes)
}

/// Decodes a whole datagram body. Under a seal its checksum is not looked at.
pub fn decode_with(integrity: Integrity, bytes: &[u8]) -> Result<Segment<'_>, Malformed> {
    // Made where it goes: a segment is large, and each move of it costs.
    let mut decoded = Ok(Segment::default());
    if let Ok(segment) = &mut decoded
        && let Err(why) = read(integrity, bytes, segment)
    {
        decoded = Err(why);
    }
    decoded
}

/// Reads a segment into an empty one.
fn read<'a>(integrity: Integrity, bytes: &'a [u8], segment: &mut Segment<'a>) -> Result<(), Malformed> {
    if bytes.len() < HEADER_BYTES {
        return Err(Malformed::Truncated);
    }
    if integrity == Integrity::Checksum {
        check_sum(bytes)?;
    }
    let kind = bytes[4];
    check_type(kind)?;
    segment.source_port = u16::from_be_bytes([bytes[0], bytes[1]]);
    segment.destination_port = u16::from_be_bytes([bytes[2], bytes[3]]);
    segment.number = u32::from_be_bytes([0, bytes[5], bytes[6], bytes[7]]);
    segment.instance = u16::from_be_bytes([bytes[10], bytes[11]]);
    let mut reader = Reader { rest: &bytes[HEADER_BYTES..], total: bytes.len() };
    match kind {
        types::RST => segment.rst = Some(reset_reason(reader.array::<4>()?[0])),
        types::BLOCK => segment.block = Some(take_block(&mut reader.rest).ok_or(Malformed::Block)?),
        types::REPAIR => segment.repair = Some(reader.data()?),
        types::PIECE => segment.piece = Some(take_piece(&mut reader.rest).ok_or(Malformed::Piece)?),
        _ => read_bodies(kind, &mut reader, segment)?,
    }
    if reader.rest.is_empty() { Ok(()) } else { Err(Malformed::Length) }
}

fn check_sum(bytes: &[u8]) -> Result<(), Malformed> {
    let sum = crc16(crc16(crc16(START, &bytes[..8]), &[0, 0]), &bytes[10..]);
    if sum.to_be_bytes() == bytes[8..10] { Ok(()) } else { Err(Malformed::Checksum) }
}

/// BGN goes with data, POLL and END only: its sender knows nothing of the peer yet.
fn check_type(kind: u8) -> Result<(), Malformed> {
    let with_bgn = types::BGN | types::SD | types::POLL | types::END;
    match kind {
        0 => Err(Malformed::Type),
        types::RST | types::BLOCK | types::REPAIR | types::PIECE => Ok(()),
        _ if kind & types::BGN != 0 && kind & !with_bgn != 0 => Err(Malformed::Type),
        _ => Ok(()),
    }
}

fn read_bodies<'a>(kind: u8, reader: &mut Reader<'a>, segment: &mut Segment<'a>) -> Result<(), Malformed> {
    let has = |bit: u8| kind & bit != 0;
    if has(types::BGN) {
        segment.bgn = Some(reader.opening()?);
    }
    if has(types::BGNAK) {
        segment.bgnak = Some(reader.opening()?);
    }
    if has(types::POLL) {
        segment.poll = Some(reader.poll()?);
    }
    if has(types::STAT) {
        let echo = reader.u32()?;
        let (report, Extras { timing, feedback, wanting }) = reader.report()?;
        segment.stat = Some(Stat { echo, report, timing, feedback, wanting });
    }
    if has(types::USTAT) {
        segment.ustat = Some(reader.report()?.0);
    }
    if has(types::END) {
        segment.end = Some(reader.number()?.0);
    }
    segment.endak = has(types::ENDAK);
    if has(types::SD) {
        segment.data = Some((reader.data()?, &[]));
    }
    Ok(())
}

/// Block and symbols, in a STAT.
type Wanting = Option<(u8, u32)>;

struct Reader<'a> {
    rest: &'a [u8],
    /// Bytes of the whole segment: padding is counted from its start.
    total: usize,
}

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or(Malformed::Truncated)?;
        self.rest = rest;
        Ok(*head)
    }

    fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    /// A 24-bit number and the octet behind it (ignored by this version where it is reserved).
    fn number(&mut self) -> Result<(u32, u8), Malformed> {
        let [a, b, c, octet] = self.array()?;
        Ok((u32::from_be_bytes([0, a, b, c]), octet))
    }

    fn poll(&mut self) -> Result<Poll, Malformed> {
        let timestamp = self.u32()?;
        let (next, flags) = self.number()?;
        let has_settled = flags & poll_flags::SETTLED != 0;
        let settled = if has_settled { Some(self.number()?.0) } else { None };
        let has = |flag: u8| flags & flag != 0;
        let (spares_ustats, pads) = (has(poll_flags::SPARES_USTATS), has(poll_flags::PADS));
        Ok(Poll { timestamp, next, settled, spares_ustats, pads })
    }

    fn opening(&mut self) -> Result<Opening, Malformed> {
        let [version, _flags, high, low] = self.array()?;
        if version != WIRE_VERSION {
            return Err(Malformed::Opening);
        }
        let (initial, options_bytes) = self.number()?;
        let window_bytes = self.u32()?;
        let nonce = u64::from_be_bytes(self.array()?);
        let options = self.options(usize::from(options_bytes))?;
        Ok(Opening {
            max_payload_bytes: u16::from_be_bytes([high, low]),
            initial,
            window_bytes,
            nonce,
            options,
        })
    }

    /// Options are (kind, length, value); those of unknown kinds are skipped.
    fn options(&mut self, bytes: usize) -> Result<Options, Malformed> {
        if bytes > self.rest.len() {
            return Err(Malformed::Truncated);
        }
        let (mut options, rest) = self.rest.split_at(bytes);
        let mut known = Options::default();
        while let [kind, length, value @ ..] = options {
            known.timing |= *kind == OPTION_TIMING;
            known.repairs |= *kind == OPTION_REPAIRS;
            known.increments |= *kind == OPTION_INCREMENTS;
            known.pieces |= *kind == OPTION_PIECES;
            known.feedback |= *kind == OPTION_FEEDBACK;
            options = value.get(usize::from(*length)..).ok_or(Malformed::Opening)?;
        }
        self.rest = rest;
        if options.is_empty() { Ok(known) } else { Err(Malformed::Opening) }
    }

    fn report(&mut self) -> Result<(Report, Extras), Malformed> {
        let (next, flags) = self.number()?;
        let window_bytes = self.u32()?;
        let timing = match flags & 8 {
            0 => None,
            _ => Some(Timing { clock: self.u32()?, octets: self.u32()? }),
        };
        let feedback = if flags & 64 == 0 { None } else { Some(self.feedback()?) };
        let wanting = if flags & 16 == 0 { None } else { self.wanting()? };
        let silent = if flags & 32 == 0 { None } else { Some(self.silent()?) };
        let (start, runs) = match flags & 3 {
            0 => (0, Vec::new()),
            coding => self.gap_list(coding)?,
        };
        let report = Report { next, window_bytes, more: flags & 4 != 0, silent, start, runs };
        if span(&report) > MAX_SPAN {
            return Err(Malformed::GapList);
        }
        Ok((report, Extras { timing, feedback, wanting }))
    }

    fn feedback(&mut self) -> Result<Feedback, Malformed> {
        let sum_bytes_per_s = self.u32()?;
        let [routers] = self.array()?;
        Ok(Feedback { sum_bytes_per_s, routers })
    }

    fn silent(&mut self) -> Result<(u32, u32), Malformed> {
        let mut varint = || take_varint(&mut self.rest).ok_or(Malformed::GapList);
        let (first, packets) = (varint()?, varint()?);
        if packets == 0 || u64::from(first) + u64::from(packets) > MAX_SPAN {
            return Err(Malformed::GapList);
        }
        Ok((first, packets))
    }

    fn wanting(&mut self) -> Result<Wanting, Malformed> {
        let [block] = self.array()?;
        Ok(Some((block, take_varint(&mut self.rest).ok_or(Malformed::Truncated)?)))
    }

    fn gap_list(&mut self, coding: u8) -> Result<(u32, Vec<u32>), Malformed> {
        let start = take_varint(&mut self.rest).ok_or(Malformed::GapList)?;
        let count = take_varint(&mut self.rest).ok_or(Malformed::GapList)? as usize;
        if count == 0 || count > MAX_RUNS {
            return Err(Malformed::GapList);
        }
        let runs = match coding {
            1 => take_varint_runs(&mut self.rest, count),
            2 => take_rice_runs(&mut self.rest, count),
            _ => None,
        };
        Ok((start, runs.ok_or(Malformed::GapList)?))
    }

    /// The rest of the segment, behind padding to a multiple of 4 from the segment's start.
    fn data(&mut self) -> Result<&'a [u8], Malformed> {
        let at = self.total - self.rest.len();
        let padding = (4 - at % 4) % 4;
        let (zeros, data) = self.rest.split_at_checked(padding).ok_or(Malformed::Truncated)?;
        if data.is_empty() || zeros.iter().any(|&z| z != 0) {
            return Err(Malformed::Length);
        }
        self.rest = &[];
        Ok(data)
    }
}

/// Numbers from the next expected one on that a report speaks of, those that it is silent about included.
fn span(report: &Report) -> u64 {
    let runs: u64 = report.runs.iter().map(|&r| u64::from(r)).sum();
    u64::from(report.start) + runs + report.silent.map_or(0, |(_, packets)| u64::from(packets))
}

//! Bytes to PDUs: total, any input gives a value or an error.

use core::fmt;

use skyhaul_core::Integrity;

use super::mask::Coded;
use super::{
    Body, CRC, HEADER_BYTES, MAX_MASK_PDUS, MAX_PAYLOAD_BYTES, MAX_SDU_HEADER_BYTES, MAX_WINDOW_PDUS,
    MIN_SDU_HEADER_BYTES, Mask, OPENING_BYTES, Opening, Pdu, Status, WIRE_VERSION, crc32, flags, kinds,
};

/// Why bytes are not a PDU. The receiver drops them and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Shorter than its kind demands.
    Truncated,
    /// The CRC does not match.
    Crc,
    /// No such kind, or flags or fields that it does not have.
    Kind,
    /// An opening of another version, or with values that cannot be.
    Opening,
    /// A mask that is cut off, does not rise, or speaks of numbers that the status does not.
    Mask,
    /// Data without octets, or octets that belong to nothing.
    Length,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "shorter than its kind demands",
            Self::Crc => "the CRC does not match",
            Self::Kind => "a kind without meaning",
            Self::Opening => "an opening of another version or with values that cannot be",
            Self::Mask => "a broken mask",
            Self::Length => "bytes that belong to nothing",
        })
    }
}

impl core::error::Error for Malformed {}

/// Decodes a whole PDU, by its CRC.
pub fn decode(bytes: &[u8]) -> Result<Pdu<'_>, Malformed> {
    decode_with(Integrity::Checksum, bytes)
}

/// Decodes a whole PDU. Under a seal its CRC is not looked at.
pub fn decode_with(integrity: Integrity, bytes: &[u8]) -> Result<Pdu<'_>, Malformed> {
    let (header, body) = bytes.split_first_chunk::<HEADER_BYTES>().ok_or(Malformed::Truncated)?;
    if integrity == Integrity::Checksum {
        check_crc(header, body)?;
    }
    let word = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let long = |at: usize| u32::from(word(at)) << 16 | u32::from(word(at + 2));
    let fields = Fields { kind: header[4], flags: header[5], number: long(8), clock: long(12) };
    let body = read_body(fields, body)?;
    Ok(Pdu { source_port: word(0), destination_port: word(2), tag: word(6), body })
}

fn check_crc(header: &[u8; HEADER_BYTES], body: &[u8]) -> Result<(), Malformed> {
    let crc = crc32(&[&header[..CRC.start], &[0; CRC.end - CRC.start], body]);
    if crc.to_be_bytes() == header[CRC] { Ok(()) } else { Err(Malformed::Crc) }
}

/// Fields of a header whose meaning depends on the kind.
#[derive(Clone, Copy)]
struct Fields {
    kind: u8,
    flags: u8,
    number: u32,
    clock: u32,
}

impl Fields {
    /// Fails unless all flags are of `known`, and the number and the clock are 0 where they mean nothing.
    fn check(self, known: u8, has_number: bool, has_clock: bool) -> Result<(), Malformed> {
        let is_known = self.flags & !known == 0;
        let is_empty = (has_number || self.number == 0) && (has_clock || self.clock == 0);
        if is_known && is_empty { Ok(()) } else { Err(Malformed::Kind) }
    }
}

fn read_body(fields: Fields, body: &[u8]) -> Result<Body<'_>, Malformed> {
    match fields.kind {
        kinds::OPEN | kinds::OPEN_ACK => {
            fields.check(0, false, false)?;
            let opening = read_opening(body)?;
            Ok(if fields.kind == kinds::OPEN { Body::Open(opening) } else { Body::OpenAck(opening) })
        }
        kinds::DATA => read_data(fields, body),
        kinds::POLL => {
            fields.check(0, false, true)?;
            empty(body).map(|()| Body::Poll { clock: fields.clock })
        }
        kinds::STATUS => read_status(fields, body).map(Body::Status),
        kinds::RESET => {
            fields.check(flags::REFLECTED, true, false)?;
            let reason = u8::try_from(fields.number).map_err(|_| Malformed::Kind)?;
            empty(body).map(|()| Body::Reset { reason, is_reflected: fields.flags != 0 })
        }
        _ => Err(Malformed::Kind),
    }
}

fn empty(body: &[u8]) -> Result<(), Malformed> {
    if body.is_empty() { Ok(()) } else { Err(Malformed::Length) }
}

fn read_data(fields: Fields, payload: &[u8]) -> Result<Body<'_>, Malformed> {
    let polls = fields.flags & flags::POLL != 0;
    fields.check(flags::POLL, true, polls)?;
    if payload.is_empty() || payload.len() > usize::from(MAX_PAYLOAD_BYTES) {
        return Err(Malformed::Length);
    }
    Ok(Body::Data { number: fields.number, poll: polls.then_some(fields.clock), payload })
}

fn read_opening(body: &[u8]) -> Result<Opening, Malformed> {
    let body: &[u8; OPENING_BYTES] = body.try_into().map_err(|_| Malformed::Opening)?;
    let word = |at: usize| u16::from_be_bytes([body[at], body[at + 1]]);
    let opening =
        Opening { tag: word(2), payload_bytes: word(4), window_pdus: word(6), sdu_header_bytes: word(8) };
    let Opening { tag, payload_bytes, window_pdus, sdu_header_bytes } = opening;
    let is_sound = body[0] == WIRE_VERSION
        && body[1] == 0
        && word(10) == 0
        && tag != 0
        && (1..=MAX_PAYLOAD_BYTES).contains(&payload_bytes)
        && (1..=MAX_WINDOW_PDUS).contains(&window_pdus)
        && (MIN_SDU_HEADER_BYTES..=MAX_SDU_HEADER_BYTES).contains(&sdu_header_bytes);
    if is_sound { Ok(opening) } else { Err(Malformed::Opening) }
}

fn read_status(fields: Fields, body: &[u8]) -> Result<Status, Malformed> {
    fields.check(flags::SOLICITED | flags::STOPPED | flags::BITMAP | flags::RICE, true, true)?;
    let has = |flag: u8| fields.flags & flag != 0;
    let (echo, mask) = if has(flags::SOLICITED) {
        let (echo, mask) = body.split_first_chunk().ok_or(Malformed::Truncated)?;
        (Some(u32::from_be_bytes(*echo)), mask)
    } else {
        (None, body)
    };
    let [span @ .., first, second] = fields.clock.to_be_bytes();
    let span = u32::from(u16::from_be_bytes(span));
    if span > MAX_MASK_PDUS {
        return Err(Malformed::Mask);
    }
    let coded = match (has(flags::BITMAP), has(flags::RICE)) {
        (false, false) => Coded::List,
        (true, false) => Coded::Bitmap,
        (false, true) => Coded::Rice,
        (true, true) => return Err(Malformed::Kind),
    };
    let mask = Mask::decode([first, second], mask, span, coded).ok_or(Malformed::Mask)?;
    let last_seq_no = fields.number.wrapping_add(span);
    let (last_io, is_stopped) = (fields.number, has(flags::STOPPED));
    Ok(Status { last_io, last_seq_no, echo, is_stopped, mask })
}

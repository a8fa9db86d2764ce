//! PDUs to bytes.

use alloc::vec::Vec;

use skyhaul_core::Integrity;

use super::mask::Coded;
use super::{Body, CRC, HEADER_BYTES, Opening, Pdu, Status, WIRE_VERSION, crc32, flags, kinds};

/// Place of the CRC before it is known.
const NO_CRC: [u8; CRC.end - CRC.start] = [0; CRC.end - CRC.start];

/// Appends a PDU with its CRC.
pub fn encode(pdu: &Pdu<'_>, out: &mut Vec<u8>) {
    encode_with(Integrity::Checksum, pdu, out);
}

/// Appends a PDU. Under a seal its CRC is 0.
pub fn encode_with(integrity: Integrity, pdu: &Pdu<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    let (kind, flags) = head(&pdu.body);
    out.extend_from_slice(&pdu.source_port.to_be_bytes());
    out.extend_from_slice(&pdu.destination_port.to_be_bytes());
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&pdu.tag.to_be_bytes());
    out.extend_from_slice(&pdu.number().to_be_bytes());
    if let Body::Status(status) = &pdu.body {
        encode_status(status, out);
    } else {
        out.extend_from_slice(&clock(&pdu.body).to_be_bytes());
        out.extend_from_slice(&NO_CRC);
        encode_body(&pdu.body, out);
    }
    debug_assert!(out.len() - start >= HEADER_BYTES);
    if integrity == Integrity::Checksum {
        let crc = crc32(&[&out[start..]]);
        out[start + CRC.start..start + CRC.end].copy_from_slice(&crc.to_be_bytes());
    }
}

/// Kind and flags.
fn head(body: &Body<'_>) -> (u8, u8) {
    match body {
        Body::Open(_) => (kinds::OPEN, 0),
        Body::OpenAck(_) => (kinds::OPEN_ACK, 0),
        Body::Data { poll, .. } => (kinds::DATA, poll.map_or(0, |_| flags::POLL)),
        Body::Poll { .. } => (kinds::POLL, 0),
        Body::Status(status) => (kinds::STATUS, status_flags(status)),
        Body::Reset { is_reflected, .. } => (kinds::RESET, if *is_reflected { flags::REFLECTED } else { 0 }),
    }
}

/// Clock of a PDU that has none of a status.
fn clock(body: &Body<'_>) -> u32 {
    match body {
        Body::Data { poll, .. } => poll.unwrap_or(0),
        Body::Poll { clock } => *clock,
        _ => 0,
    }
}

fn status_flags(status: &Status) -> u8 {
    let bit = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
    let mask = match status.mask.coded() {
        Coded::List => 0,
        Coded::Bitmap => flags::BITMAP,
        Coded::Rice => flags::RICE,
    };
    bit(status.echo.is_some(), flags::SOLICITED) | bit(status.is_stopped, flags::STOPPED) | mask
}

fn encode_body(body: &Body<'_>, out: &mut Vec<u8>) {
    match body {
        Body::Open(opening) | Body::OpenAck(opening) => encode_opening(*opening, out),
        Body::Data { payload, .. } => out.extend_from_slice(payload),
        Body::Status(_) | Body::Poll { .. } | Body::Reset { .. } => {}
    }
}

/// What is behind LAST_IO: the distance of LAST_SEQ_NO, and the mask, which begins before the CRC.
fn encode_status(status: &Status, out: &mut Vec<u8>) {
    let span = status.last_seq_no.wrapping_sub(status.last_io);
    let (spare, behind) = status.mask.encode(span);
    out.extend_from_slice(&(span as u16).to_be_bytes()); // a window at most
    out.extend_from_slice(&spare);
    out.extend_from_slice(&NO_CRC);
    out.extend(status.echo.into_iter().flat_map(u32::to_be_bytes));
    out.extend(behind);
}

fn encode_opening(opening: Opening, out: &mut Vec<u8>) {
    let Opening { tag, payload_bytes, window_pdus, sdu_header_bytes } = opening;
    out.extend_from_slice(&[WIRE_VERSION, 0]);
    for word in [tag, payload_bytes, window_pdus, sdu_header_bytes, 0] {
        out.extend_from_slice(&word.to_be_bytes());
    }
}

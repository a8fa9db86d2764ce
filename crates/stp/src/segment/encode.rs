//! Segments to bytes.

use alloc::vec::Vec;

use skyhaul_core::Integrity;
use skyhaul_core::checksum::{START, crc16};

use super::block::put_block;
use super::gap_list::{Coding, choose, put_runs, put_varint, varint_len};
use super::piece::put_piece;
use super::{
    END_BYTES, Extras, FEEDBACK_BYTES, Feedback, HEADER_BYTES, OPENING_BYTES, OPTION_FEEDBACK,
    OPTION_INCREMENTS, OPTION_PADDING, OPTION_PIECES, OPTION_REPAIRS, OPTION_TIMING, Opening, PIECE_BYTES,
    POLL_BYTES, Poll, Report, SETTLED_BYTES, Segment, Stat, TIMING_BYTES, Timing, WIRE_VERSION, block_len,
    poll_flags, reset_code,
};

/// Appends the segment to `out`, with its checksum. Expects what [`super::decode`] would accept.
pub fn encode(segment: &Segment<'_>, out: &mut Vec<u8>) {
    encode_with(Integrity::Checksum, segment, out);
}

/// Appends the segment to `out`. Under a seal its checksum is 0.
pub fn encode_with(integrity: Integrity, segment: &Segment<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    put_header(segment, out);
    for opening in segment.bgn.iter().chain(segment.bgnak.iter()) {
        put_opening(opening, out);
    }
    if let Some(poll) = &segment.poll {
        put_poll(poll, out);
    }
    if let Some(stat) = &segment.stat {
        out.extend_from_slice(&stat.echo.to_be_bytes());
        put_report(&stat.report, stat.extras(), out);
    }
    if let Some(report) = &segment.ustat {
        put_report(report, Extras::default(), out);
    }
    if let Some(end) = segment.end {
        put_24(out, end);
        out.push(0);
    }
    if let Some(reason) = segment.rst {
        out.extend_from_slice(&[reset_code(reason), 0, 0, 0]);
    }
    if let Some(block) = &segment.block {
        put_block(block, out);
    }
    if let Some(symbol) = segment.repair {
        out.extend_from_slice(symbol);
    }
    if let Some(piece) = &segment.piece {
        put_piece(piece, out);
    }
    if let Some((first, second)) = segment.data {
        let unaligned = (out.len() - start) % 4;
        out.extend_from_slice(&[0; 3][..(4 - unaligned) % 4]);
        out.extend_from_slice(first);
        out.extend_from_slice(second);
    }
    if integrity == Integrity::Checksum {
        let sum = crc16(START, &out[start..]);
        out[start + 8..start + 10].copy_from_slice(&sum.to_be_bytes());
    }
}

fn put_24(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_be_bytes()[1..]);
}

fn put_header(segment: &Segment<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(&segment.source_port.to_be_bytes());
    out.extend_from_slice(&segment.destination_port.to_be_bytes());
    out.push(segment.type_bits());
    put_24(out, segment.number);
    out.extend_from_slice(&[0, 0]); // checksum, set last
    out.extend_from_slice(&segment.instance.to_be_bytes());
}

fn put_opening(opening: &Opening, out: &mut Vec<u8>) {
    out.extend_from_slice(&[WIRE_VERSION, 0]);
    out.extend_from_slice(&opening.max_payload_bytes.to_be_bytes());
    put_24(out, opening.initial);
    out.push(opening.options.bytes() as u8);
    out.extend_from_slice(&opening.window_bytes.to_be_bytes());
    out.extend_from_slice(&opening.nonce.to_be_bytes());
    if opening.options.timing {
        out.extend_from_slice(&[OPTION_TIMING, 0]);
    }
    if opening.options.repairs {
        out.extend_from_slice(&[OPTION_REPAIRS, 0]);
    }
    if opening.options.increments {
        out.extend_from_slice(&[OPTION_INCREMENTS, 0]);
    }
    if opening.options.pieces {
        out.extend_from_slice(&[OPTION_PIECES, 0]);
    }
    if opening.options.feedback {
        out.extend_from_slice(&[OPTION_FEEDBACK, 0]);
    }
    if opening.options.padding > 0 {
        out.extend_from_slice(&[OPTION_PADDING, opening.options.padding]);
        out.resize(out.len() + usize::from(opening.options.padding), 0);
    }
}

fn put_poll(poll: &Poll, out: &mut Vec<u8>) {
    out.extend_from_slice(&poll.timestamp.to_be_bytes());
    put_24(out, poll.next);
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    out.push(
        flag(poll.settled.is_some(), poll_flags::SETTLED)
            | flag(poll.spares_ustats, poll_flags::SPARES_USTATS)
            | flag(poll.pads, poll_flags::PADS),
    );
    if let Some(settled) = poll.settled {
        put_24(out, settled);
        out.push(0);
    }
}

fn put_report(report: &Report, Extras { timing, feedback, wanting }: Extras, out: &mut Vec<u8>) {
    let (coding, _) = choose(&report.runs);
    let code = match coding {
        Coding::Empty => 0,
        Coding::Varint => 1,
        Coding::Rice { .. } => 2,
    };
    put_24(out, report.next);
    let extras = u8::from(timing.is_some()) << 3
        | u8::from(wanting.is_some()) << 4
        | u8::from(report.silent.is_some()) << 5
        | u8::from(feedback.is_some()) << 6;
    out.push(code | u8::from(report.more) << 2 | extras);
    out.extend_from_slice(&report.window_bytes.to_be_bytes());
    if let Some(Timing { clock, octets }) = timing {
        out.extend_from_slice(&clock.to_be_bytes());
        out.extend_from_slice(&octets.to_be_bytes());
    }
    if let Some(Feedback { sum_bytes_per_s, routers }) = feedback {
        out.extend_from_slice(&sum_bytes_per_s.to_be_bytes());
        out.push(routers);
    }
    if let Some((block, symbols)) = wanting {
        out.push(block);
        put_varint(out, symbols);
    }
    if let Some((first, packets)) = report.silent {
        put_varint(out, first);
        put_varint(out, packets);
    }
    if coding != Coding::Empty {
        put_varint(out, report.start);
        put_varint(out, report.runs.len() as u32);
        put_runs(out, &report.runs, coding);
    }
}

/// Bytes of a report's body.
pub fn report_len(report: &Report) -> usize {
    let list = if report.runs.is_empty() {
        0
    } else {
        varint_len(report.start) + varint_len(report.runs.len() as u32) + choose(&report.runs).1
    };
    let silent = report.silent.map_or(0, |(first, packets)| varint_len(first) + varint_len(packets));
    8 + silent + list
}

/// Bytes of a STAT's body.
pub fn stat_len(stat: &Stat) -> usize {
    let timing = if stat.timing.is_some() { TIMING_BYTES } else { 0 };
    let wanting = stat.wanting.map_or(0, |(_, symbols)| 1 + varint_len(symbols));
    let feedback = if stat.feedback.is_some() { FEEDBACK_BYTES } else { 0 };
    4 + report_len(&stat.report) + timing + feedback + wanting
}

/// Bytes of the segment without data and its padding.
pub fn encoded_len(segment: &Segment<'_>) -> usize {
    let opening = |opening: &Option<Opening>| opening.map_or(0, |o| OPENING_BYTES + o.options.bytes());
    HEADER_BYTES
        + opening(&segment.bgn)
        + opening(&segment.bgnak)
        + segment.poll.as_ref().map_or(0, |p| POLL_BYTES + p.settled.map_or(0, |_| SETTLED_BYTES))
        + segment.stat.as_ref().map_or(0, stat_len)
        + segment.ustat.as_ref().map_or(0, report_len)
        + if segment.end.is_some() { END_BYTES } else { 0 }
        + if segment.rst.is_some() { 4 } else { 0 }
        + segment.block.as_ref().map_or(0, block_len)
        + segment.repair.map_or(0, <[u8]>::len)
        + segment.piece.map_or(0, |piece| PIECE_BYTES + piece.bytes())
}

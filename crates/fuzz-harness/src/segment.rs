//! Any bytes at the decoder.

use skyhaul_stp::segment::{Report, Segment, decode, encode};

use crate::input::with_checksum;

/// Runs in a list at most, and what they may add up to (specification, 3.6).
const MAX_RUNS: usize = 16_384;
const MAX_DISTANCE: u64 = 1 << 23;

/// Any bytes give a value or an error; a value has its bounds, and what it is encoded to decodes to
/// the same value.
///
/// # Panics
///
/// If that does not hold.
pub fn segment_decode(bytes: &[u8]) {
    one(bytes);
    one(&with_checksum(bytes));
}

fn one(bytes: &[u8]) {
    let Ok(segment) = decode(bytes) else { return };
    check(&segment, bytes.len());
    let mut again = Vec::new();
    encode(&segment, &mut again);
    assert_eq!(decode(&again).as_ref(), Ok(&segment), "encoded to {again:02x?}");
}

fn check(segment: &Segment<'_>, bytes: usize) {
    assert!(segment.payload_bytes() < bytes);
    let reports = segment.stat.iter().map(|stat| &stat.report).chain(&segment.ustat);
    for Report { start, runs, silent, .. } in reports {
        let silent = silent.map_or(0, |(_, packets)| u64::from(packets));
        let all: u64 = runs.iter().map(|&run| u64::from(run)).sum::<u64>() + silent;
        assert!(runs.len() <= MAX_RUNS && u64::from(*start) + all <= MAX_DISTANCE);
        assert!(runs.len() <= 8 * bytes, "{} runs out of {bytes} octets", runs.len());
    }
}

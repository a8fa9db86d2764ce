//! Any bytes at TCP's decoder.

use std::net::Ipv4Addr;

use skyhaul_tcp::segment::{MAX_OPTIONS_BYTES, Way, decode, encode};

use crate::input::with_tcp_checksum;

/// Any bytes give a value or an error; what a value is encoded to decodes to the same value.
///
/// # Panics
///
/// If that does not hold.
pub fn tcp_segment(bytes: &[u8]) {
    one(bytes);
    one(&with_tcp_checksum(way(), bytes));
}

/// The addresses of all fuzzed segments, as their receiver sees them.
pub(super) fn way() -> Way {
    Way { local: Ipv4Addr::new(10, 0, 0, 1).into(), remote: Ipv4Addr::new(10, 0, 0, 2).into() }
}

fn one(bytes: &[u8]) {
    let Ok(segment) = decode(way(), bytes) else { return };
    assert!(segment.payload_bytes() + 20 <= bytes.len());
    // Options without padding may say more than padded ones have room for.
    if segment.options.encoded_len() > MAX_OPTIONS_BYTES {
        return;
    }
    let mut again = Vec::new();
    encode(way().reversed(), &segment, &mut again);
    assert_eq!(decode(way(), &again).as_ref(), Ok(&segment), "encoded to {again:02x?}");
}

//! Any bytes at the decoder of compressed headers.

use skyhaul_core::{internet_checksum, internet_sum, pseudo_header_sum};
use skyhaul_tcp::scps::compress::{compress, decompress, fits};

use crate::tcp_segment::way;

/// Protocol number of the pseudo-header.
const PROTOCOL: u8 = 6;

/// Any bytes give a value or an error; what a value is compressed to decodes to that value. The bytes once as
/// they are, and once with two more that make their checksum right wherever it stands.
///
/// # Panics
///
/// If that does not hold.
pub fn scps_compressed(bytes: &[u8]) {
    one(bytes);
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len().next_multiple_of(2), 0);
    let pseudo_header = pseudo_header_sum(way().local, way().remote, PROTOCOL, bytes.len() + 2);
    let sum = internet_checksum(pseudo_header + internet_sum(&bytes));
    bytes.extend_from_slice(&sum.to_be_bytes());
    one(&bytes);
}

fn one(bytes: &[u8]) {
    let Ok(read) = decompress(way(), bytes) else { return };
    assert!(read.segment.payload_bytes() + 4 <= bytes.len());
    if !fits(&read.segment) {
        return;
    }
    let mut again = Vec::new();
    compress(way().reversed(), read.connection_id, &read.segment, read.has_sequence, &mut again);
    assert_eq!(decompress(way(), &again).as_ref(), Ok(&read), "compressed to {again:02x?}");
}

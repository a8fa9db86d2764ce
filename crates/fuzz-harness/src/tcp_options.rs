//! Any options in a segment that is fine otherwise.

use skyhaul_tcp::segment::{HEADER_BYTES, MAX_OPTIONS_BYTES};

use crate::tcp_segment::tcp_segment;

/// The first bytes are the options, filled up with "end of options"; nothing else is wrong with the segment,
/// so that every input reaches them.
///
/// # Panics
///
/// As [`tcp_segment`].
pub fn tcp_options(bytes: &[u8]) {
    let options = &bytes[..bytes.len().min(MAX_OPTIONS_BYTES)];
    let words = (HEADER_BYTES + options.len()).div_ceil(4);
    let mut segment = vec![0; HEADER_BYTES];
    segment[12] = (words as u8) << 4;
    segment.extend_from_slice(options);
    segment.resize(words * 4, 0);
    tcp_segment(&segment);
}

//! Labels of TCP's segments in ladder diagrams.

use skyhaul_scenario::{SegmentLabel, SentSegment};
use skyhaul_tcp::segment::flags;

use crate::protocols::joined;

/// Label and purpose. `first`: number of the first octet of the connection's data, which counts as 1.
pub(in crate::protocols) fn label(sent: SentSegment, first: u64) -> SegmentLabel {
    let names = [(flags::SYN, "SYN"), (flags::FIN, "FIN"), (flags::RST, "RST"), (flags::ACK, "ACK")];
    if sent.payload_bytes == 0 {
        return (joined(sent.types, &names), "other");
    }
    let position = u64::from((sent.number as u32).wrapping_sub(first as u32)) + 1;
    let end = position + u64::from(sent.payload_bytes) - 1;
    let data = format!("{position}-{end}{}", if sent.is_repeat { " again" } else { "" });
    let with = joined(sent.types & !flags::ACK, &names);
    (if with.is_empty() { data } else { format!("{data} + {with}") }, "data")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_of_tcp_is_named_by_its_flags_and_the_place_of_its_bytes() {
        let sent =
            |types, number, payload_bytes, is_repeat| SentSegment { types, number, payload_bytes, is_repeat };
        let first = u64::from(u32::MAX);
        assert_eq!(label(sent(flags::SYN | flags::ACK, 7, 0, false), 7), ("SYN + ACK".into(), "other"));
        assert_eq!(label(sent(flags::ACK, first, 1000, false), first), ("1-1000".into(), "data"));
        let last = sent(flags::ACK | flags::FIN, 999, 500, true);
        assert_eq!(label(last, first), ("1001-1500 again + FIN".into(), "data"), "numbers wrap");
    }
}

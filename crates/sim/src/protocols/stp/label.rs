//! Labels of STP's segments in ladder diagrams.

use skyhaul_scenario::{SegmentLabel, SentSegment};
use skyhaul_stp::segment::types;

use crate::protocols::joined;

/// Label and purpose. `first`: number of the first data packet of the connection, which counts as 1.
pub(super) fn label(sent: SentSegment, first: u64) -> SegmentLabel {
    let position = (sent.number.wrapping_sub(first) & 0xFF_FFFF) + 1;
    let sd = format!("SD {position}{}", if sent.is_repeat { " again" } else { "" });
    if sent.types & types::RST == types::RST {
        return ("RST".into(), kind(sent.types));
    }
    if sent.types == types::BLOCK {
        return ("BLOCK".into(), "other");
    }
    if sent.types == types::REPAIR {
        return ("REPAIR".into(), "data");
    }
    if sent.types == types::PIECE {
        return (format!("PIECE {position}"), "data");
    }
    let parts = [
        (types::BGN, "BGN"),
        (types::BGNAK, "BGNAK"),
        (types::SD, &sd),
        (types::POLL, "POLL"),
        (types::STAT, "STAT"),
        (types::USTAT, "USTAT"),
        (types::END, "END"),
        (types::ENDAK, "ENDAK"),
    ];
    (joined(sent.types, &parts), kind(sent.types))
}

fn kind(types: u8) -> &'static str {
    let kinds = [(types::SD, "data"), (types::USTAT, "ustat"), (types::STAT, "stat"), (types::POLL, "poll")];
    kinds.iter().find(|(bit, _)| types & bit != 0).map_or("other", |&(_, kind)| kind)
}

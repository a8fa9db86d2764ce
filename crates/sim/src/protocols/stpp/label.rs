//! Labels of STPP's PDUs in ladder diagrams.

use skyhaul_petra::stpp::pdu::types;
use skyhaul_scenario::{SegmentLabel, SentSegment};

use crate::protocols::joined;

/// Label and purpose.
pub(super) fn label(sent: SentSegment) -> SegmentLabel {
    let data = format!("PDU {}{}", sent.number, if sent.is_repeat { " again" } else { "" });
    let parts = [
        (types::OPEN, "OPEN"),
        (types::OPEN_ACK, "OPEN_ACK"),
        (types::DATA, data.as_str()),
        (types::POLL, "POLL"),
        (types::STATUS, if sent.types & types::SOLICITED != 0 { "SSTAT" } else { "USTAT" }),
        (types::STOPPED, "STOP_TX"),
        (types::RESET, "RESET"),
    ];
    (joined(sent.types, &parts), kind(sent.types))
}

fn kind(of: u8) -> &'static str {
    let is = |bit: u8| of & bit != 0;
    match () {
        () if is(types::DATA) => "data",
        () if is(types::SOLICITED) => "stat",
        () if is(types::STATUS) => "ustat",
        () if is(types::POLL) => "poll",
        () => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pdu_is_named_by_its_types_and_its_number() {
        let sent = |types, number, is_repeat| SentSegment { types, number, payload_bytes: 600, is_repeat };
        assert_eq!(label(sent(types::DATA, 7, true)), ("PDU 7 again".into(), "data"));
        assert_eq!(label(sent(types::DATA | types::POLL, 7, false)), ("PDU 7 + POLL".into(), "data"));
        assert_eq!(label(sent(types::POLL, 0, false)), ("POLL".into(), "poll"));
        let stops = types::STATUS | types::STOPPED;
        assert_eq!(label(sent(stops, 5, false)), ("USTAT + STOP_TX".into(), "ustat"));
        assert_eq!(label(sent(types::STATUS | types::SOLICITED, 5, false)), ("SSTAT".into(), "stat"));
    }
}

//! What a ladder diagram writes at a packet, in the words of its protocol.

use skyhaul_stp::segment::types;
use skyhaul_tcp::segment::flags;

/// A segment that left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) types: u8,
    pub(super) number: u64,
    pub(super) payload_bytes: u32,
    pub(super) is_repeat: bool,
}

/// What is written there, and what the packet is for.
pub(super) type Words = (String, &'static str);

/// Of STP. `first`: number of the first data packet of the connection, which counts as 1.
pub(super) fn of_stp(sent: Sent, first: u64) -> Words {
    let position = (sent.number.wrapping_sub(first) & 0xFF_FFFF) + 1;
    let sd = format!("SD {position}{}", again(sent));
    if sent.types & types::RST == types::RST {
        return ("RST".into(), kind(sent.types));
    }
    if sent.types == types::BLOCK {
        return ("BLOCK".into(), "other");
    }
    if sent.types == types::REPAIR {
        return ("REPAIR".into(), "data");
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

/// Of TCP. `first`: number of the first octet of the connection's data, which counts as 1.
pub(super) fn of_tcp(sent: Sent, first: u64) -> Words {
    let names = [(flags::SYN, "SYN"), (flags::FIN, "FIN"), (flags::RST, "RST"), (flags::ACK, "ACK")];
    if sent.payload_bytes == 0 {
        return (joined(sent.types, &names), "other");
    }
    let position = u64::from((sent.number as u32).wrapping_sub(first as u32)) + 1;
    let end = position + u64::from(sent.payload_bytes) - 1;
    let data = format!("{position}-{end}{}", again(sent));
    let with = joined(sent.types & !flags::ACK, &names);
    (if with.is_empty() { data } else { format!("{data} + {with}") }, "data")
}

fn again(sent: Sent) -> &'static str {
    if sent.is_repeat { " again" } else { "" }
}

fn joined(bits: u8, parts: &[(u8, &str)]) -> String {
    let there: Vec<&str> = parts.iter().filter(|(bit, _)| bits & bit != 0).map(|&(_, text)| text).collect();
    there.join(" + ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_of_tcp_is_named_by_its_flags_and_the_place_of_its_bytes() {
        let sent = |types, number, payload_bytes, is_repeat| Sent { types, number, payload_bytes, is_repeat };
        let first = u64::from(u32::MAX);
        assert_eq!(of_tcp(sent(flags::SYN | flags::ACK, 7, 0, false), 7), ("SYN + ACK".into(), "other"));
        assert_eq!(of_tcp(sent(flags::ACK, first, 1000, false), first), ("1-1000".into(), "data"));
        let last = sent(flags::ACK | flags::FIN, 999, 500, true);
        assert_eq!(of_tcp(last, first), ("1001-1500 again + FIN".into(), "data"), "numbers wrap");
    }
}

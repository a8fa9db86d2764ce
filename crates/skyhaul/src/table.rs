//! The result for people, also for those who know no protocol.

use std::fmt::Write as _;

use skyhaul_core::units::{show_bytes, show_rate};

use crate::result::{FileResult, Losses, Traffic, TransferResult};

/// A short table; a line per figure that is known.
pub(crate) fn table(result: &TransferResult) -> String {
    let mut out = String::new();
    for (name, value) in lines(result) {
        let _ = writeln!(out, "  {name:<17} {value}");
    }
    out
}

fn lines(result: &TransferResult) -> Vec<(&'static str, String)> {
    let known = [
        ("link", result.link.as_ref().map(|link| format!("{link}, seed {}", result.seed.unwrap_or(0)))),
        ("delivered", Some(show_bytes(result.payload_bytes))),
        ("took", result.elapsed_s.map(|s| format!("{s:.2} s, until the last byte had arrived"))),
        ("confirmed after", result.confirmed_s.map(|s| format!("{s:.2} s, when the sender knew it"))),
        ("speed", result.goodput_bps.filter(|bps| *bps > 0.0).map(show_rate)),
        ("the link allows", result.limit_bps.map(show_rate)),
        ("of that, used", result.share.map(|s| format!("{:.1} %", s * 100.0))),
        (if is_sender(result) { "sent" } else { "received" }, Some(traffic(result, result.forward))),
        ("sent back", Some(traffic(result, result.reverse))),
        ("sent again", is_sender(result).then(|| format!("{} packets", result.retransmitted_packets))),
        ("lost on the way", is_sender(result).then(|| losses(result))),
        ("round trip", round_trip(result)),
    ];
    let known = known.into_iter().filter_map(|(name, value)| Some((name, value?)));
    known.chain(result.files.iter().map(|f| ("file", file(f)))).collect()
}

/// A lone receiver cannot tell what was lost.
fn is_sender(result: &TransferResult) -> bool {
    result.controller != "receiver"
}

fn file(file: &FileResult) -> String {
    match (&file.digest, &file.error) {
        (Some(digest), _) => format!("{}  verified, BLAKE3 {digest}", file.name),
        (None, error) => format!("{}  FAILED: {}", file.name, error.as_deref().unwrap_or("unknown")),
    }
}

fn round_trip(result: &TransferResult) -> Option<String> {
    let smoothed = result.rtt_ms.smoothed?;
    let min = result.rtt_ms.min.unwrap_or(smoothed);
    Some(format!("{smoothed:.1} ms now, {min:.1} ms at best"))
}

fn traffic(result: &TransferResult, traffic: Traffic) -> String {
    let all = format!("{} in {} packets", show_bytes(traffic.bytes), traffic.packets);
    if result.payload_bytes == 0 {
        return all;
    }
    let per_mb = traffic.bytes as f64 * 1e6 / result.payload_bytes as f64;
    format!("{all}: {} for each MB delivered", show_bytes(per_mb as u64))
}

/// Packets that the sender took for lost, and for what reason.
fn losses(result: &TransferResult) -> String {
    let Losses { congestion, corruption, outage, unknown } = result.losses;
    let causes = [
        (congestion, "congestion"),
        (corruption, "damage"),
        (outage, "an outage"),
        (unknown, "no known reason"),
    ];
    let total: u64 = causes.iter().map(|(packets, _)| packets).sum();
    let named: Vec<String> = causes
        .iter()
        .filter(|(packets, _)| *packets > 0)
        .map(|(packets, cause)| format!("{packets} for {cause}"))
        .collect();
    match (total, total == unknown) {
        (0, _) => "nothing".into(),
        (_, true) => format!("{total} packets, as far as the sender knows"),
        (_, false) => format!("{total} packets, as the sender judges: {}", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skyhaul_files::Report;
    use skyhaul_stp::Stats;

    fn with(lost_packets: [u64; 4]) -> TransferResult {
        let stats = Stats { lost_packets, controller: "fixed-rate", ..Stats::default() };
        TransferResult::new(&Report::default(), Some(&stats))
    }

    #[test]
    fn losses_are_told_in_plain_words() {
        assert_eq!(losses(&with([0; 4])), "nothing");
        assert_eq!(losses(&with([0, 0, 0, 7])), "7 packets, as far as the sender knows");
        let judged = losses(&with([1, 20, 3, 4]));
        assert!(judged.starts_with("28 packets") && judged.contains("20 for damage"), "{judged}");
    }

    #[test]
    fn a_receiver_does_not_claim_that_nothing_was_lost() {
        let result = TransferResult::new(&Report::default(), None);
        assert!(!table(&result).contains("lost"), "{}", table(&result));
    }
}

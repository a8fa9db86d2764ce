//! The result for people.

use std::fmt::Write as _;

use skyhaul_core::units::{show_bytes, show_rate};

use crate::result::TransferResult;

/// A short table; a line per figure that is known.
pub(crate) fn table(result: &TransferResult) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = writeln!(out, "  {name:<22} {value}");
        }
    };
    line("link", result.link.as_ref().map(|l| format!("{l}, seed {}", result.seed.unwrap_or(0))));
    line("delivered", Some(show_bytes(result.payload_bytes)));
    line("time", result.elapsed_s.map(|s| format!("{s:.2} s until the last byte was there")));
    line("confirmed after", result.confirmed_s.map(|s| format!("{s:.2} s")));
    line("goodput", result.goodput_bps.map(show_rate));
    line("limit of this link", result.limit_bps.map(show_rate));
    line("share of the limit", result.share.map(|s| format!("{:.1} %", s * 100.0)));
    line("sent", Some(traffic(result, result.forward)));
    line("sent back", Some(traffic(result, result.reverse)));
    line("sent again", Some(format!("{} packets", result.retransmitted_packets)));
    line("losses taken for", Some(losses(result)));
    let rtt = result
        .rtt_ms
        .smoothed
        .map(|s| format!("{s:.1} ms (at least {:.1} ms)", result.rtt_ms.min.unwrap_or(s)));
    line("round trip", rtt);
    for file in &result.files {
        let value = match (&file.digest, &file.error) {
            (Some(digest), _) => format!("{}  BLAKE3 {digest}, verified", file.name),
            (None, error) => format!("{}  FAILED: {}", file.name, error.as_deref().unwrap_or("unknown")),
        };
        line("file", Some(value));
    }
    out
}

fn traffic(result: &TransferResult, traffic: crate::result::Traffic) -> String {
    let all = format!("{} in {} packets", show_bytes(traffic.bytes), traffic.packets);
    if result.payload_bytes == 0 {
        return all;
    }
    let per_mb = traffic.bytes as f64 * 1e6 / result.payload_bytes as f64;
    format!("{all}, {} per MB delivered", show_bytes(per_mb as u64))
}

fn losses(result: &TransferResult) -> String {
    let l = result.losses;
    let named = [
        (l.congestion, "congestion"),
        (l.corruption, "corruption"),
        (l.outage, "outage"),
        (l.unknown, "nothing (no verdict with a declared rate)"),
    ];
    let parts: Vec<String> =
        named.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if parts.is_empty() { "there were none".into() } else { parts.join(", ") }
}

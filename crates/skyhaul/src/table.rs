//! The result for people, also for those who know no protocol.

use std::fmt::Write as _;

use skyhaul_core::units::{show_bytes, show_rate};

use crate::result::{FileResult, Losses, Probing, Traffic, TransferResult};
use crate::truth::{Dropped, noticed};

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
        ("sent again", is_sender(result).then(|| packets(result.retransmitted_packets))),
        ("link was gone", gone(result)),
        ("noticed", seen(result)),
        ("paused to ask", asked(result.probing)),
        ("lost on the way", is_sender(result).then(|| losses(result))),
        ("really lost", result.truth.as_ref().map(|truth| really(truth.dropped))),
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
    let all = format!("{} in {}", show_bytes(traffic.bytes), packets(traffic.packets));
    if result.payload_bytes == 0 {
        return all;
    }
    let per_mb = traffic.bytes as f64 * 1e6 / result.payload_bytes as f64;
    format!("{all}: {} for each MB delivered", show_bytes(per_mb as u64))
}

/// Packets that the sender took for lost, and for what reason.
fn losses(result: &TransferResult) -> String {
    let Losses { congestion, corruption, outage, unknown } = result.losses;
    let total = congestion + corruption + outage + unknown;
    match (total, total == unknown) {
        (0, _) => "nothing".into(),
        (_, true) => format!("{}, as far as the sender knows", packets(total)),
        (_, false) => {
            let causes = causes([congestion, corruption, outage, unknown]);
            format!("{}, taken for: {causes}", packets(total))
        }
    }
}

/// What the emulated link did to packets on the way there, questions included.
fn really(dropped: Dropped) -> String {
    let Dropped { congestion, corruption, outage } = dropped;
    match congestion + corruption + outage {
        0 => "nothing".into(),
        total => {
            let causes = causes([congestion, corruption, outage, 0]);
            format!("{}, questions included: {causes}", packets(total))
        }
    }
}

fn packets(count: u64) -> String {
    if count == 1 { "1 packet".into() } else { format!("{count} packets") }
}

/// Packets by cause: congestion, corruption, outage, unknown.
fn causes([congestion, corruption, outage, unknown]: [u64; 4]) -> String {
    named([
        (outage, "the link being gone"),
        (corruption, "damage"),
        (congestion, "a full queue"),
        (unknown, "no known reason"),
    ])
}

fn named(counts: [(u64, &str); 4]) -> String {
    let named = counts.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{name} {count}"));
    named.collect::<Vec<_>>().join(", ")
}

/// When there was no link: the truth, or else what the sender found out.
fn gone(result: &TransferResult) -> Option<String> {
    if let Some(truth) = result.truth.as_ref() {
        let all = format!("{}, {:.1} s in all", times(truth.gone_times), truth.gone_s);
        return (truth.gone_times > 0).then_some(all);
    }
    let outages = || result.verdicts.iter().flatten().filter(|v| v.verdict == "outage");
    let seconds: f64 = outages().filter_map(|v| v.duration_s).sum();
    let all = format!("{}, {seconds:.1} s in all, as the sender found", times(outages().count()));
    (seconds > 0.0).then_some(all)
}

/// How the sender met that.
fn seen(result: &TransferResult) -> Option<String> {
    let noticed = noticed(result.verdicts.as_deref()?, &result.truth.as_ref()?.gone)?;
    let average = if noticed.times > 1 { format!(" (mean of {})", noticed.times) } else { String::new() };
    Some(format!(
        "after {:.2} s, sending {:.2} s after it was back{average}",
        noticed.after_gone_s, noticed.after_back_s
    ))
}

/// What the sender stopped for.
fn asked(probing: Probing) -> Option<String> {
    let Probing { cycles, congestion, link, aborted } = probing;
    let unanswered = cycles.saturating_sub(congestion + link + aborted);
    let found = named([
        (link, "the link"),
        (congestion, "a full queue"),
        (aborted, "a false alarm"),
        (unanswered, "no answer"),
    ]);
    (cycles > 0).then(|| format!("{}; found: {found}", times(cycles as usize)))
}

fn times(count: usize) -> String {
    match count {
        1 => "once".into(),
        _ => format!("{count} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::{Gone, Truth};
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
        assert_eq!(losses(&with([0, 0, 0, 1])), "1 packet, as far as the sender knows");
        let judged = losses(&with([1, 20, 3, 4]));
        assert!(judged.starts_with("28 packets") && judged.contains("damage 20"), "{judged}");
    }

    #[test]
    fn what_the_link_did_stands_beside_what_the_sender_took_it_for() {
        let gone = vec![Gone { at_s: 1.0, duration_s: 2.0 }];
        let dropped = Dropped { outage: 30, ..Dropped::default() };
        let truth = Truth { gone, gone_times: 1, gone_s: 2.0, dropped };
        let all = table(&TransferResult { truth: Some(truth), ..with([0, 0, 28, 0]) });
        for line in ["gone     once, 2.0 s in all", "the link being gone 28", "the link being gone 30"] {
            assert!(all.contains(line), "{line}: {all}");
        }
    }

    #[test]
    fn asking_is_told_if_it_happened() {
        assert_eq!(asked(Probing::default()), None);
        let told = asked(Probing { cycles: 4, congestion: 0, link: 2, aborted: 1 }).unwrap_or_default();
        assert!(
            told.starts_with("4 times") && told.ends_with("the link 2, a false alarm 1, no answer 1"),
            "{told}"
        );
    }

    #[test]
    fn a_receiver_does_not_claim_that_nothing_was_lost() {
        let result = TransferResult::new(&Report::default(), None);
        assert!(!table(&result).contains("lost"), "{}", table(&result));
    }
}

//! The result for people, also for those who know no protocol.

use std::io;

use skyhaul_core::units::{show_bytes, show_rate};
use skyhaul_lab::transfer::{LossCounts, Probing, Traffic};

use crate::counted::packets;
use crate::fallback;
use crate::fast_open::FastOpenResult;
use crate::file_lines::write_file_lines;
use crate::link_history::{Dropped, noticed};
use crate::pauses::pauses;
use crate::protection::Protection;
use crate::remembered::{KnownPath, PathMemoryResult};
use crate::result::TransferResult;
use crate::scps::ScpsResult;
use crate::why::why;
use crate::wrap::wrapped;

/// A short table; a line per figure that is known. If nothing was delivered, there are no figures but of what
/// was sent for nothing; if the peer was never heard, nothing at all.
///
/// # Errors
/// Those of `out`.
pub(crate) fn write_table(
    out: &mut dyn io::Write,
    result: &TransferResult,
    every_file: bool,
) -> io::Result<()> {
    let is_for_nothing = is_for_nothing(result);
    if is_for_nothing && heard(result).packets == 0 {
        return Ok(());
    }
    let before = if is_for_nothing { in_vain(result) } else { before(result) };
    let after = if is_for_nothing { Lines::new() } else { after(result) };
    let before = before.into_iter().map(|(name, value)| (name.to_owned(), value));
    let after = after.into_iter().map(|(name, value)| (name.to_owned(), value));
    let left_out = result.verdicts_left_out.unwrap_or(0);
    let pauses = pauses(result.verdicts.as_deref().unwrap_or_default(), left_out);
    for (name, value) in before.chain(pauses).chain(after) {
        writeln!(out, "  {name:<17} {}", wrapped(&value, INDENT))?;
    }
    write_file_lines(out, &result.files, every_file)
}

/// True if nothing was delivered. A demo tells of its link in any case.
fn is_for_nothing(result: &TransferResult) -> bool {
    result.link.is_none() && result.files.delivered() == 0
}

/// Traffic that came from the other end.
fn heard(result: &TransferResult) -> Traffic {
    if is_sender(result) { result.reverse } else { result.forward }
}

/// Columns in front of the values.
const INDENT: usize = 20;

type Lines = Vec<(&'static str, String)>;

/// Line above the list of pauses.
fn before(result: &TransferResult) -> Lines {
    known([
        ("link", result.link.as_ref().map(|link| format!("{link}, seed {}", result.seed.unwrap_or(0)))),
        ("delivered", Some(show_bytes(result.payload_bytes))),
        ("protection", result.protection.as_ref().map(Protection::words)),
        ("took", result.elapsed_s.map(|s| format!("{s:.2} s, until the last byte had arrived"))),
        ("confirmed after", result.confirmed_s.map(|s| format!("{s:.2} s, when the sender knew it"))),
        ("held back by", why(result)),
        ("speed", result.goodput_bps.filter(|bps| *bps > 0.0).map(show_rate)),
        ("rate", result.fell_back.map(fallback::words)),
        ("the link allows", result.limit_bps.map(show_rate)),
        ("of that, used", result.share.map(|s| format!("{:.1} %", s * 100.0))),
    ])
    .into_iter()
    .chain(sent(result))
    .chain(known([
        ("sent again", is_sender(result).then(|| again(result))),
        ("link was gone", gone(result)),
        ("noticed", seen(result)),
        ("paused to ask", asked(result.probing)),
    ]))
    .collect()
}

/// Lines above the list of pauses where nothing was delivered.
fn in_vain(result: &TransferResult) -> Lines {
    sent(result).into_iter().chain(known([("paused to ask", asked(result.probing))])).collect()
}

/// Lines about what was sent both ways.
fn sent(result: &TransferResult) -> Lines {
    known([
        (if is_sender(result) { "sent" } else { "received" }, Some(traffic(result, result.forward))),
        ("sent back", Some(traffic(result, result.reverse))),
    ])
}

/// Line below it.
fn after(result: &TransferResult) -> Lines {
    known([
        ("lost on the way", is_sender(result).then(|| losses(result))),
        ("really lost", result.truth.as_ref().map(|truth| really(truth.dropped))),
        ("round trip", round_trip(result)),
        ("packets", result.path_mtu.map(|bytes| format!("up to {bytes} B, as far as the path is known"))),
        ("path", result.path_memory.as_ref().and_then(path)),
        ("scps-tp", result.scps_tp.as_ref().map(ScpsResult::words)),
        ("opening", result.fast_open.as_ref().map(FastOpenResult::words)),
    ])
}

fn known<const N: usize>(lines: [(&'static str, Option<String>); N]) -> Lines {
    lines.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// A lone receiver cannot tell what was lost.
fn is_sender(result: &TransferResult) -> bool {
    result.controller != "receiver"
}

/// Memory of the path, before and after.
fn path(memory: &PathMemoryResult) -> Option<String> {
    let used = memory.used.map(|used| {
        let outcome = memory.outcome.unwrap_or("not used");
        format!("begun with {} of {}: {outcome}", rate(used), ago(used.age_s.unwrap_or(0)))
    });
    let kept = memory.kept.map(|kept| format!("{} are remembered for the next time", rate(kept)));
    let said: Vec<String> = used.into_iter().chain(kept).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

fn ago(age_s: u64) -> String {
    match age_s {
        0..120 => format!("{age_s} s ago"),
        120..7200 => format!("{} min ago", age_s / 60),
        _ => format!("{} h ago", age_s / 3600),
    }
}

fn rate(known: KnownPath) -> String {
    show_rate(known.rate_bps as f64)
}

fn round_trip(result: &TransferResult) -> Option<String> {
    let smoothed = result.rtt_ms.smoothed?;
    let min = result.rtt_ms.min.unwrap_or(smoothed);
    Some(format!("{} now, {} at best", milliseconds(smoothed), milliseconds(min)))
}

/// With digits enough for a round trip within one machine.
fn milliseconds(ms: f64) -> String {
    match ms {
        ms if ms >= 1.0 => format!("{ms:.1} ms"),
        ms if ms >= 0.1 => format!("{ms:.2} ms"),
        ms => format!("{ms:.3} ms"),
    }
}

/// Least that must have been delivered for a ratio to it. Of less, the opening and the confirmation are most:
/// of a file of two bytes, hundreds of MB for each MB.
const MIN_RATIO_BYTES: u64 = 100_000;

fn traffic(result: &TransferResult, traffic: Traffic) -> String {
    let all = format!("{} in {}", show_bytes(traffic.bytes), packets(traffic.packets));
    if result.payload_bytes < MIN_RATIO_BYTES {
        return all;
    }
    let per_mb = traffic.bytes as f64 * 1e6 / result.payload_bytes as f64;
    format!("{all}: {} for each MB delivered", show_bytes(per_mb as u64))
}

/// Packets that were repeated, those of them that were not known to be lost, and repair symbols.
fn again(result: &TransferResult) -> String {
    let (all, safe) = (result.retransmitted_packets, result.idle_repeats);
    let repeats = match safe {
        0 => packets(all),
        _ => format!("{}: {} taken for lost, {safe} just in case", packets(all), all.saturating_sub(safe)),
    };
    let repeats = match result.spurious_repeats {
        0 => repeats,
        late => format!("{repeats}; {late} had only been overtaken"),
    };
    match result.repair_packets {
        0 => repeats,
        symbols => format!("{repeats}; {symbols} for repair"),
    }
}

/// Packets that the sender took for lost, and for what reason.
fn losses(result: &TransferResult) -> String {
    let LossCounts { congestion, corruption, outage, unknown } = result.losses;
    let total = congestion + corruption + outage + unknown;
    match (total, total == unknown) {
        (0, _) => "nothing".into(),
        (_, true) => format!("{} with data, for a reason that was not sought", packets(total)),
        (_, false) => {
            let causes = causes([congestion, corruption, outage, unknown]);
            format!("{} with data, taken for: {causes}", packets(total))
        }
    }
}

/// Fate of packets at the emulated link on the way there, questions included.
fn really(dropped: Dropped) -> String {
    let Dropped { congestion, corruption, outage } = dropped;
    match congestion + corruption + outage {
        0 => "nothing".into(),
        total => {
            let causes = causes([congestion, corruption, outage, 0]);
            format!("{} with or without data: {causes}", packets(total))
        }
    }
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

/// Times without a link: the truth, or else what the sender found out.
fn gone(result: &TransferResult) -> Option<String> {
    if let Some(truth) = result.truth.as_ref() {
        let all = || format!("{}, {:.1} s in all", times(truth.gone_times), truth.gone_s);
        let never = |s| format!("not yet: first at {s:.1} s (a larger --size meets that)");
        return truth.next_gone_s.map(never).or((truth.gone_times > 0).then(all));
    }
    let outages = || result.verdicts.iter().flatten().filter(|v| v.verdict == "outage");
    let seconds: f64 = outages().filter_map(|v| v.duration_s).sum();
    let all = format!("{}, {seconds:.1} s in all, as the sender found", times(outages().count()));
    (seconds > 0.0).then_some(all)
}

/// Delays with which the sender met that.
fn seen(result: &TransferResult) -> Option<String> {
    let noticed = noticed(result.verdicts.as_deref()?, &result.truth.as_ref()?.gone)?;
    let average = if noticed.times > 1 { format!(" (mean of {})", noticed.times) } else { String::new() };
    Some(format!(
        "after {:.2} s, sending {:.2} s after it was back{average}",
        noticed.after_gone_s, noticed.after_back_s
    ))
}

/// Pauses of the sender.
fn asked(probing: Probing) -> Option<String> {
    let Probing { cycles, congestion, link, aborted } = probing;
    let unanswered = cycles.saturating_sub(congestion + link + aborted);
    let found = named([
        (link, "the link at fault"),
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
#[path = "table_tests.rs"]
mod tests;

//! Reason why a transfer did not go faster, in one sentence, and what can be done about it.

use skyhaul_core::units::{show_bytes, show_rate};

use crate::errors::ErrorResult;
use crate::limited::{Cause, LimitedBy};
use crate::result::TransferResult;

/// Part of the time from which on a further cause is named.
const WORTH_NAMING: f64 = 0.1;
/// Time below which no reason is told: nobody waits for less.
const WORTH_TELLING_S: f64 = 0.1;
/// Part of what a path carries that is a safe declaration.
const SAFE_PART: f64 = 0.95;
/// Part of the packets beyond which losses are more than a link's damage, with a declared rate.
const MUCH: f64 = 0.25;
/// Round trips beyond which an opening is more than a handshake and a search for a rate.
const OPENING_RTTS: f64 = 12.0;
/// Name of what drops packets where more is sent than leaves.
const FULL_QUEUE: &str = "a full queue";
/// IP bytes for each byte of a file, in packets of 1500.
const WITH_HEADERS: f64 = 1.03;

/// Words for the progress line.
pub(crate) fn doing(cause: Cause) -> &'static str {
    match cause {
        Cause::Opening => "finding the path's rate",
        Cause::DeclaredRate => "at declared rate",
        Cause::PathRate => "at path's rate",
        Cause::Neighbour => "beside others",
        Cause::Losses => "repeating what was lost",
        Cause::Outage => "waiting for the link",
        Cause::ReceiverWindow => "waiting for the receiver's window",
        Cause::ReceiverDisk => "waiting for the receiver's disk",
        Cause::Source => "waiting for this machine's disk",
        Cause::SendBuffer => "waiting for room in the send buffer",
        Cause::Machine => "as fast as this machine can",
        Cause::Confirmation => "waiting for confirmation",
        Cause::ReceiverBusy => "waiting for room at the receiver",
    }
}

/// Name of a cause in the sentence.
fn named(cause: Cause) -> &'static str {
    match cause {
        Cause::Opening => "the opening",
        Cause::DeclaredRate => "the declared rate",
        Cause::PathRate => "the path's rate",
        Cause::Neighbour => "others on the path",
        Cause::Losses => "losses",
        Cause::Outage => "the link being gone",
        Cause::ReceiverWindow => "the receiver's window",
        Cause::ReceiverDisk => "the receiver's disk",
        Cause::Source => "reading here",
        Cause::SendBuffer => "the send buffer",
        Cause::Machine => "this machine",
        Cause::Confirmation => "waiting for confirmation",
        Cause::ReceiverBusy => "a receiver without room",
    }
}

/// The sentence: the longest cause, its time of all, other long ones, an explanation with what to do;
/// `None` if nothing is known.
pub(crate) fn why(result: &TransferResult) -> Option<String> {
    let by = result.limited_by.as_ref()?;
    let total_s = by.total_s();
    let mut ranked = by.ranked().into_iter();
    let (first, seconds) = ranked.next().filter(|_| total_s >= WORTH_TELLING_S)?;
    let others: Vec<(Cause, f64)> =
        ranked.filter(|(_, seconds)| *seconds >= WORTH_NAMING * total_s).collect();
    // Advice on what nobody can help is of no use where something else took time, too.
    let avoidable = others.iter().map(|&(cause, _)| cause).find(|&cause| !is_inherent(cause));
    let is_helpless = is_inherent(first) && result.lowered_rate_bps.is_none();
    let advised = avoidable.filter(|_| is_helpless).unwrap_or(first);
    let others: Vec<String> =
        others.into_iter().map(|(cause, seconds)| format!("{} {}", named(cause), shown(seconds))).collect();
    let others = if others.is_empty() { String::new() } else { format!(" (then {})", others.join(", ")) };
    let (seconds, total) = (shown(seconds), shown(total_s));
    let turn = if advised == first { String::new() } else { format!("; {}", named(advised)) };
    Some(format!("{}, {seconds} of {total}{others}{turn}: {}", named(first), told(advised, by, result)))
}

/// True if that time passes on any path of this rate and length.
fn is_inherent(cause: Cause) -> bool {
    matches!(cause, Cause::PathRate | Cause::Confirmation)
}

/// True if the opening took more round trips of the empty path than a handshake and a search do.
fn is_drowned(by: &LimitedBy, result: &TransferResult) -> bool {
    result.rtt_ms.min.is_some_and(|min_ms| by.seconds(Cause::Opening) * 1e3 > OPENING_RTTS * min_ms)
}

fn shown(seconds: f64) -> String {
    if seconds >= 0.1 { format!("{seconds:.1} s") } else { format!("{:.1} ms", seconds * 1e3) }
}

/// Explanation, and what to do.
fn told(cause: Cause, by: &LimitedBy, result: &TransferResult) -> String {
    let text = match cause {
        Cause::Losses => return losses(by, result),
        Cause::DeclaredRate
            if by.seconds(Cause::Losses) >= WORTH_NAMING * by.total_s() && is_too_high(result) =>
        {
            return losses(by, result);
        }
        Cause::DeclaredRate | Cause::PathRate if result.lowered_rate_bps.is_some() => {
            return losses(by, result);
        }
        Cause::DeclaredRate => {
            let rate = result.declared_rate_bps.map_or("a rate".into(), |bps| show_rate(bps as f64));
            return format!(
                "{rate} and no more was asked for; if the path carries more, declare more, or leave --rate out: \
                 then it is found out"
            );
        }
        Cause::Source if result.read_s.is_some_and(|read_s| read_s * 2.0 > by.seconds(cause)) => {
            "the standard input was read to its end before anything left; feed it faster, or send a file"
        }
        Cause::Source => "the files were read more slowly than they could leave; a faster disk helps",
        Cause::Opening if is_drowned(by, result) => {
            "it was not answered at once: nobody listened yet, or its packets were lost or waited in a queue on the \
             way; if others fill the path, it is faster when they are done"
        }
        Cause::Opening if result.is_told_rate => {
            "the handshake takes round trips, and so do the first words of routers; many files in one command share \
             them"
        }
        Cause::Opening => {
            "the handshake and the search for a rate take round trips; many files in one command share \
             them, and a path that is remembered (no --no-memory) is not searched again"
        }
        Cause::PathRate if result.is_told_rate => {
            "routers on the path told this rate; those who follow them share it, and it is faster when others are \
             done"
        }
        Cause::PathRate => {
            return format!(
                "this is what the path was found to carry; if others use it, too, it is faster when they are done{}",
                declaring("if it is known to carry more", result)
            );
        }
        Cause::Neighbour => {
            return format!(
                "they keep its queue filled, and this transfer took its share; it is faster when they are done{}",
                declaring("if nobody else is there", result)
            );
        }
        Cause::Outage if result.losses.outage == 0 => {
            "nothing was heard for a while, and nothing was lost: the link held it back, or the receiver's machine \
             stood still"
        }
        Cause::Outage if result.error.as_ref().is_some_and(ErrorResult::is_of_patience) => {
            "nothing passed; --give-up says how long such a link is waited for"
        }
        Cause::Outage => "nothing passed in that time, and what was lost then goes again by itself",
        Cause::ReceiverWindow => {
            "its buffer holds less than this long and fast a path; several commands at once share the path"
        }
        Cause::ReceiverDisk => {
            "what arrived was not stored as fast; a faster disk for `receive --dir`, or a machine that does less, \
             helps"
        }
        Cause::SendBuffer => {
            "it was full of what the receiver had not confirmed; several commands at once share the path"
        }
        Cause::Machine if by.is_within_machine() => {
            "the path lies within it, and both ends share its processors; it is faster with less beside it"
        }
        Cause::Machine => {
            "it was stopped, or too busy to send what was due; end what else runs on it, and do not let it sleep"
        }
        Cause::ReceiverBusy => {
            "others had all places there, and it was asked again and again; many files in one command need one \
             place"
        }
        Cause::Confirmation => {
            "all had left, and the receiver's word takes a round trip; many files in one command share it"
        }
    };
    text.into()
}

/// Losses: by a declaration that is too high, else by what they were taken for.
fn losses(by: &LimitedBy, result: &TransferResult) -> String {
    if let Some(declared_bps) = result.declared_rate_bps.filter(|_| is_too_high(result)) {
        let declared = show_rate(declared_bps as f64);
        let (about, rate) = carried_bps(by, result).map_or((String::new(), "less".into()), |carried_bps| {
            let rate = format!("--rate {}", argument(carried_bps * SAFE_PART));
            (format!(", about {}", show_rate(carried_bps)), rate)
        });
        return format!(
            "the declared rate, {declared}, is above what the path carries{about}, so {}; declare {rate}, or leave \
             --rate out: then it is found out",
            sent(result)
        );
    }
    let counts = result.losses;
    let taken = [
        (counts.unknown, "no known reason", "look whether the link, or another on the path, loses packets"),
        (counts.corruption, "damage", "the link loses packets by itself: a cleaner signal helps"),
        (counts.congestion, FULL_QUEUE, "others send, too, or a queue is short: the path has no more room"),
    ];
    // What is known of some holds for others of them, unless most are unknown.
    let known = counts.corruption + counts.congestion;
    let skipped = usize::from(counts.unknown <= known);
    let told = taken.into_iter().skip(skipped).max_by_key(|(count, ..)| *count);
    let (_, cause, remedy) = told.unwrap_or_default();
    let declaring =
        if cause == FULL_QUEUE { declaring("if nobody else is there", result) } else { String::new() };
    format!("most were taken for {cause}, and {}; {remedy}{declaring}", sent(result))
}

/// Advice against a rate that was found out and is not the path's: delays that vary of themselves mislead the
/// search, and so do bursts that pass faster than what follows.
fn declaring(when: &str, result: &TransferResult) -> String {
    let is_measured = result.declared_rate_bps.is_none() && result.controller == "model";
    if is_measured { format!("; {when}, declare the path's rate (--rate)") } else { String::new() }
}

/// What was sent, for each MB where what was delivered is all of it.
fn sent(result: &TransferResult) -> String {
    let sent_bytes = show_bytes(result.forward.bytes);
    match result.payload_bytes {
        0 => format!("{sent_bytes} were sent for nothing"),
        bytes if !is_whole(result) => format!("{sent_bytes} were sent for {}", show_bytes(bytes)),
        bytes => format!(
            "{} were sent for each MB",
            show_bytes((result.forward.bytes as f64 * 1e6 / bytes as f64) as u64)
        ),
    }
}

/// True if every file arrived. What others took on their way is not in what was delivered.
fn is_whole(result: &TransferResult) -> bool {
    result.files.are_all_there()
}

/// True if the declared rate was lowered, or most losses were not a link's damage, and a queue was full or
/// more vanished than a link loses.
fn is_too_high(result: &TransferResult) -> bool {
    if result.lowered_rate_bps.is_some() {
        return true;
    }
    let counts = result.losses;
    let all = counts.congestion + counts.corruption + counts.unknown;
    let is_much = all as f64 > MUCH * result.forward.packets as f64;
    counts.corruption * 2 < all && (is_much || counts.congestion * 2 > all)
}

/// Rate of the path while the sender sent, in bit/s of IP bytes; `None`: what was delivered does not tell.
fn carried_bps(by: &LimitedBy, result: &TransferResult) -> Option<f64> {
    if !is_whole(result) {
        return None;
    }
    // A declared rate that was lowered is the path's.
    let causes = [Cause::Losses, Cause::DeclaredRate, Cause::PathRate];
    let counting = if result.lowered_rate_bps.is_some() { &causes[..] } else { &causes[..2] };
    let seconds: f64 = counting.iter().map(|&cause| by.seconds(cause)).sum();
    let bits = result.payload_bytes as f64 * 8.0 * WITH_HEADERS;
    let carried_bps = (seconds > 0.0 && bits > 0.0).then(|| bits / seconds)?;
    // It was lowered to that part of what seemed to get through, of which a queue may have taken some.
    let through_bps = result.lowered_rate_bps.map_or(f64::INFINITY, |bps| bps as f64 / SAFE_PART);
    Some(carried_bps.min(through_bps))
}

/// A rate as options take it, rounded down to two digits or so.
fn argument(bps: f64) -> String {
    let (unit, name) = match bps {
        b if b >= 1e9 => (1e9, "G"),
        b if b >= 1e6 => (1e6, "M"),
        _ => (1e3, "k"),
    };
    let value = bps / unit;
    let (step, digits) = match value {
        v if v >= 100.0 => (10.0, 0),
        v if v >= 10.0 => (1.0, 0),
        _ => (0.1, 1),
    };
    format!("{:.digits$}{name}", ((value / step).floor() * step).max(step))
}

#[cfg(test)]
#[path = "why_tests.rs"]
mod tests;

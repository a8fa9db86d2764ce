//! Events as comments of packets, in the words of `docs/events.md`.

use skyhaul_core::event::{Alarm, DropCause, Phase, Refusal, Repeat, RuledBy};
use skyhaul_core::units::show_rate;
use skyhaul_core::{Event, Verdict};

/// Losses that a comment names one by one; of further ones it has the number.
const MAX_NAMED_LOSSES: usize = 100;

/// Comments that tell of events, losses of one verdict in a row in one. Numbers of packets get as many bits
/// as they have on the wire: `number_bits`.
pub(crate) fn comments(events: &[Event], number_bits: u32) -> Vec<String> {
    let is_one = |a: &Event, b: &Event| match (a, b) {
        (Event::Lost { verdict: a, .. }, Event::Lost { verdict: b, .. }) => a == b,
        _ => false,
    };
    let rows = events.chunk_by(is_one);
    rows.filter_map(|row| losses(row, number_bits).or_else(|| comment(row.first()?, number_bits))).collect()
}

/// Comment of losses of one verdict.
fn losses(row: &[Event], number_bits: u32) -> Option<String> {
    let &Event::Lost { verdict, .. } = row.first()? else { return None };
    let named = row.iter().take(MAX_NAMED_LOSSES).filter_map(|event| match *event {
        Event::Lost { first, end, .. } => Some(run(first, end, number_bits)),
        _ => None,
    });
    let named = named.collect::<Vec<_>>().join(", ");
    let more = match row.len().saturating_sub(MAX_NAMED_LOSSES) {
        0 => String::new(),
        more => format!(" and {more} further gaps"),
    };
    Some(format!("lost: {named}{more}; verdict: {}", verdict_text(verdict)))
}

/// True if an event has a comment: the packet itself does not say it all.
pub(crate) fn has_comment(event: &Event) -> bool {
    matches!(event, Event::Lost { .. }) || comment(event, u64::BITS).is_some()
}

/// Comment that tells of one event that is no loss.
fn comment(event: &Event, number_bits: u32) -> Option<String> {
    Some(match *event {
        Event::Sent { repeat: Some(repeat), .. } => format!("sent again: {}", repeat_text(repeat)),
        Event::Refused { why } => format!("refused: {}", refusal_text(why)),
        Event::Gap { first, end } => format!("gap: {} missing", run(first, end, number_bits)),
        Event::Acknowledged { next, packets, bytes } => {
            format!("acknowledged: {packets} packets, {bytes} B; all before {}", on_wire(next, number_bits))
        }
        Event::Window { cwnd_bytes, peer_bytes, in_flight_bytes, phase } => {
            let cwnd = if cwnd_bytes == u64::MAX { "none".into() } else { format!("{cwnd_bytes} B") };
            let phase = phase_text(phase);
            format!("window: {cwnd}, peer's {peer_bytes} B, {in_flight_bytes} B in flight, {phase}")
        }
        Event::Rate { rate_bps } => format!("rate: {}", show_rate(rate_bps as f64)),
        Event::Rtt { sample_ns, smoothed_ns, variance_ns, min_ns } => {
            let [sample, smoothed, variance, min] = [sample_ns, smoothed_ns, variance_ns, min_ns].map(ms);
            format!("rtt: {sample}, smoothed {smoothed}, deviation {variance}, least {min}")
        }
        Event::State { from, to } => format!("state: {from} to {to}"),
        Event::Persist { on: true } => "persist: the peer's window is closed".into(),
        Event::Persist { on: false } => "persist: the peer's window is open again".into(),
        Event::LinkOutage { down: true } => "link outage: a router says that a link is down".into(),
        Event::LinkOutage { down: false } => "link outage: over".into(),
        Event::CorruptionTold => "corruption told: packets are damaged on their way to this end".into(),
        Event::GaveUp { received: true, offset, bytes } => {
            format!("given up: {bytes} B of the stream behind {offset} B are missing for good")
        }
        Event::GaveUp { received: false, offset, bytes } => {
            format!("given up: {bytes} B of the stream behind {offset} B are not repeated any more")
        }
        Event::PathMtu { mtu_bytes } => format!("path mtu: {mtu_bytes} B from now on"),
        Event::Oversized { wire_bytes, mtu_bytes } => {
            format!("oversized: {wire_bytes} B, the path takes {mtu_bytes} B; IP may cut it")
        }
        Event::Resume { phase, rate_bps, rtt_ns } => {
            let (phase, rate) = (phase.name(), show_rate(rate_bps as f64));
            format!("resume: {phase}; remembered {rate}, {}", ms(rtt_ns))
        }
        Event::Ruled { by } => format!("rate: {}", ruled_text(by)),
        Event::ProbeStarted { alarm, loss_rtt_ns } => {
            let alarm = match alarm {
                Alarm::Silence => "silence",
                Alarm::Gap => "a gap",
            };
            format!("probing begins: {alarm}, loss.RTT {}", ms(loss_rtt_ns))
        }
        Event::ProbeEnded { verdict, duration_ns, probes, answers, .. } => {
            let verdict = verdict.map_or("false alarm", verdict_text);
            format!(
                "probing ends: {verdict}, after {}, {answers} of {probes} probes answered",
                ms(duration_ns)
            )
        }
        Event::LinkDrop { order, wire_bytes, cause, .. } => {
            format!("dropped: {} (packet {order} of this end, {wire_bytes} B)", drop_text(cause))
        }
        _ => return None,
    })
}

/// Numbers from `first` to before `end`.
fn run(first: u64, end: u64, number_bits: u32) -> String {
    let [first, last] = [first, end.saturating_sub(1)].map(|number| on_wire(number, number_bits));
    if first == last { first.to_string() } else { format!("{first} to {last}") }
}

fn on_wire(number: u64, bits: u32) -> u64 {
    number & u64::MAX >> (u64::BITS - bits)
}

fn ms(ns: u64) -> String {
    format!("{}.{:03} ms", ns / 1_000_000, ns / 1000 % 1000)
}

fn ruled_text(by: RuledBy) -> &'static str {
    match by {
        RuledBy::Routers => "by the routers on the path",
        RuledBy::NoRouter => "measured, as no router is on the path",
        RuledBy::QueueBehind => "measured, as a queue stands behind the last router",
        RuledBy::PeerWithout => "measured, as the peer takes no path headers",
    }
}

fn verdict_text(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Congestion => "congestion",
        Verdict::Corruption => "corruption",
        Verdict::Outage => "outage",
        Verdict::Unknown => "unknown",
    }
}

fn repeat_text(repeat: Repeat) -> &'static str {
    match repeat {
        Repeat::Stat => "a STAT listed it",
        Repeat::Ustat => "a USTAT listed it",
        Repeat::Idle => "nothing else was to be sent",
        Repeat::Timer => "the retransmission timer ran out",
        Repeat::Recovery => "acknowledgements showed that it is missing",
        Repeat::TooBig => "it was larger than the path takes",
        Repeat::Refused => "the answer to the opening did not take it",
        Repeat::TailProbe => "the last one, to learn what arrived",
        Repeat::LowPriority => "at low priority, to learn what the path has left",
    }
}

fn refusal_text(why: Refusal) -> &'static str {
    match why {
        Refusal::Undecodable => "not a segment: truncated, damaged or malformed",
        Refusal::Unknown => "of no connection",
        Refusal::WrongInstance => "of another instance",
        Refusal::OutsideWindow => "outside of the window",
        Refusal::Absurd => "it says what cannot be",
        Refusal::Duplicate => "duplicate",
        Refusal::Replay => "an opening seen before",
        Refusal::Full => "no room for an opening",
    }
}

fn drop_text(cause: DropCause) -> &'static str {
    match cause {
        DropCause::QueueFull => "the queue is full",
        DropCause::Early => "random early detection",
        DropCause::Policed => "a policer",
        DropCause::RandomLoss => "random loss",
        DropCause::BitError => "bit errors",
        DropCause::Outage => "outage",
        DropCause::TooLarge => "larger than the link takes",
    }
}

fn phase_text(phase: Phase) -> &'static str {
    match phase {
        Phase::SlowStart => "slow start",
        Phase::Avoidance => "avoidance",
        Phase::FixedRate => "fixed rate",
        Phase::Startup => "startup",
        Phase::Drain => "drain",
        Phase::Explicit => "explicit",
        Phase::ProbeBandwidth => "probe bandwidth",
        Phase::ProbeRtt => "probe rtt",
        Phase::Measuring => "measuring",
        Phase::Holding => "holding",
        Phase::Competing => "competing",
        Phase::Sharing => "sharing",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_packet_shows_is_no_comment() {
        let sent = |repeat| Event::Sent { types: 1, number: 2, payload_bytes: 3, wire_bytes: 4, repeat };
        assert!(!has_comment(&sent(None)) && !has_comment(&Event::Arrived { packet: 1 }));
        assert_eq!(comments(&[sent(Some(Repeat::Stat))], 24), ["sent again: a STAT listed it"]);
    }

    #[test]
    fn losses_of_one_verdict_are_one_comment_with_the_numbers_of_the_wire() {
        let lost = |first, end, verdict| Event::Lost { first, end, verdict };
        let events = [
            lost((1 << 24) + 17, (1 << 24) + 18, Verdict::Outage),
            lost((1 << 24) + 20, (1 << 24) + 23, Verdict::Outage),
            lost(30, 31, Verdict::Congestion),
            Event::Persist { on: true },
        ];
        let expected = [
            "lost: 17, 20 to 22; verdict: outage",
            "lost: 30; verdict: congestion",
            "persist: the peer's window is closed",
        ];
        assert_eq!(comments(&events, 24), expected);
    }

    #[test]
    fn what_is_given_up_stands_with_its_place_in_the_stream() {
        let given_up = |received| Event::GaveUp { received, offset: 1000, bytes: 536 };
        let expected = [
            "given up: 536 B of the stream behind 1000 B are missing for good",
            "given up: 536 B of the stream behind 1000 B are not repeated any more",
        ];
        assert_eq!(comments(&[given_up(true), given_up(false)], 32), expected);
    }

    #[test]
    fn a_comment_does_not_grow_without_bound() {
        let lost = |first| Event::Lost { first, end: first + 1, verdict: Verdict::Unknown };
        let text = comments(&(0..3000).map(lost).collect::<Vec<_>>(), 24).concat();
        assert!(text.ends_with("98, 99 and 2900 further gaps; verdict: unknown"), "{text}");
    }
}

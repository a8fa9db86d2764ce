//! What a sender took trouble for, and what an emulated link really did: parts of the result
//! (`docs/guide/json.md`).

use serde::Serialize;
use skyhaul_core::event::Alarm;
use skyhaul_core::{Instant, MS, SECOND, Verdict};
use skyhaul_link::{Conditions, Counters, LinkConfig, Outage};

use crate::cycles::{Cycle, End};

/// Outages that are listed.
const MAX_OUTAGES: usize = 256;

/// A probing cycle.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct VerdictResult {
    /// From the first write to the alarm.
    pub(crate) at_s: f64,
    pub(crate) alarm: &'static str,
    pub(crate) verdict: &'static str,
    /// The rest is null if the cycle had no end.
    pub(crate) duration_s: Option<f64>,
    pub(crate) probes: Option<u32>,
    pub(crate) answers: Option<u32>,
    pub(crate) loss_rtt_ms: f64,
    pub(crate) worst_rtt_ms: Option<f64>,
}

/// What the emulated link really did.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Truth {
    /// When it was gone, the first [`MAX_OUTAGES`] times.
    pub(crate) gone: Vec<Gone>,
    /// How often it was gone.
    pub(crate) gone_times: usize,
    /// How long, all together.
    pub(crate) gone_s: f64,
    /// Packets on the way there that it dropped, named like what a sender takes them for.
    pub(crate) dropped: Dropped,
}

/// A time without a link.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Gone {
    /// From the first write on.
    pub(crate) at_s: f64,
    pub(crate) duration_s: f64,
}

/// Dropped packets by what really happened.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Dropped {
    pub(crate) congestion: u64,
    pub(crate) corruption: u64,
    pub(crate) outage: u64,
}

/// The cycles of a sender whose first write was at `start`.
pub(crate) fn verdicts(cycles: &[Cycle], start: Instant) -> Vec<VerdictResult> {
    cycles.iter().map(|cycle| verdict(cycle, start)).collect()
}

fn verdict(cycle: &Cycle, start: Instant) -> VerdictResult {
    let end = cycle.end;
    VerdictResult {
        at_s: seconds(cycle.at.since(start)),
        alarm: match cycle.alarm {
            Alarm::Silence => "silence",
            Alarm::Gap => "gap",
        },
        verdict: end.map_or("unfinished", |end| name(&end)),
        duration_s: end.map(|end| seconds(end.duration_ns)),
        probes: end.map(|end| end.probes),
        answers: end.map(|end| end.answers),
        loss_rtt_ms: cycle.loss_rtt_ns as f64 / MS as f64,
        worst_rtt_ms: end.and_then(|end| end.worst_rtt_ns).map(|ns| ns as f64 / MS as f64),
    }
}

fn name(end: &End) -> &'static str {
    match end.verdict {
        Some(Verdict::Congestion) => "congestion",
        Some(Verdict::Corruption) => "corruption",
        Some(Verdict::Outage) => "outage",
        Some(Verdict::Unknown) => "unknown",
        None => "false-alarm",
    }
}

impl Truth {
    /// About the link from `start` to `end`, by its own clock.
    pub(crate) fn new(
        config: &LinkConfig,
        seed: u64,
        start: Instant,
        end: Instant,
        counters: &Counters,
    ) -> Self {
        let outages = Conditions::new(config, seed).map(|c| c.outages(start, end)).unwrap_or_default();
        let length_ns = |outage: &Outage| outage.to.since(outage.from);
        let gone = |outage: &Outage| Gone {
            at_s: seconds(outage.from.since(start)),
            duration_s: seconds(length_ns(outage)),
        };
        let drops = counters.dropped;
        Self {
            gone: outages.iter().take(MAX_OUTAGES).map(gone).collect(),
            gone_times: outages.len(),
            gone_s: seconds(outages.iter().map(length_ns).sum()),
            dropped: Dropped {
                congestion: drops.queue_full,
                corruption: drops.random_loss + drops.bit_error,
                outage: drops.outage,
            },
        }
    }
}

/// How a sender met the outages of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Noticed {
    /// Outages that a cycle fell to.
    pub(crate) times: usize,
    /// From the beginning of an outage to the alarm, on average.
    pub(crate) after_gone_s: f64,
    /// From the end of an outage to the end of the cycle, on average.
    pub(crate) after_back_s: f64,
}

/// Sets the cycles that found an outage beside the outages; `None` if there was no such cycle. A
/// cycle that lasted through several counts from the beginning of the first to the end of the last.
pub(crate) fn noticed(verdicts: &[VerdictResult], gone: &[Gone]) -> Option<Noticed> {
    let delays: Vec<[f64; 2]> = verdicts
        .iter()
        .filter(|v| v.verdict == "outage")
        .filter_map(|v| delays_s(v.at_s, v.at_s + v.duration_s?, gone))
        .collect();
    let mean = |which: usize| delays.iter().map(|d| d[which]).sum::<f64>() / delays.len() as f64;
    (!delays.is_empty()).then(|| Noticed {
        times: delays.len(),
        after_gone_s: mean(0),
        after_back_s: mean(1),
    })
}

/// What a cycle that found an outage was late at both ends.
fn delays_s(alarm_s: f64, end_s: f64, gone: &[Gone]) -> Option<[f64; 2]> {
    let first = gone.iter().rev().find(|g| g.at_s <= alarm_s)?;
    let backs = gone.iter().rev().map(|g| g.at_s + g.duration_s);
    let back = backs.into_iter().find(|back| *back <= end_s)?;
    Some([alarm_s - first.at_s, end_s - back])
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / SECOND as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(at_s: f64, duration_s: f64) -> VerdictResult {
        let at = Instant::ZERO;
        let end =
            End { verdict: Some(Verdict::Outage), duration_ns: 1, probes: 1, answers: 1, worst_rtt_ns: None };
        let whole = verdict(&Cycle { at, alarm: Alarm::Silence, loss_rtt_ns: 0, end: Some(end) }, at);
        VerdictResult { at_s, duration_s: Some(duration_s), ..whole }
    }

    fn gone(at_s: f64, duration_s: f64) -> Gone {
        Gone { at_s, duration_s }
    }

    #[test]
    fn cycles_are_set_beside_the_outages() {
        let outages = [gone(1.0, 2.0), gone(10.0, 1.0), gone(11.5, 0.5)];
        assert_eq!(noticed(&[], &outages), None);
        assert_eq!(noticed(&[cycle(0.5, 0.1)], &outages), None, "before the first outage");
        let both = noticed(&[cycle(1.5, 1.75), cycle(10.25, 2.0)], &outages);
        assert_eq!(both, Some(Noticed { times: 2, after_gone_s: 0.375, after_back_s: 0.25 }));
    }

    #[test]
    fn a_cycle_without_an_end_is_told_as_such() {
        let open = Cycle { at: Instant::from_ns(SECOND), alarm: Alarm::Gap, loss_rtt_ns: MS, end: None };
        let told = verdict(&open, Instant::ZERO);
        assert_eq!((told.alarm, told.verdict, told.duration_s), ("gap", "unfinished", None));
        assert!((told.at_s - 1.0).abs() < 1e-9 && (told.loss_rtt_ms - 1.0).abs() < 1e-9);
    }
}

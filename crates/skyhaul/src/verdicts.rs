//! What a sender took trouble for, with all that its rules decided by: a part of the result
//! (`docs/guide/json.md`).

use serde::Serialize;
use skyhaul_core::event::Alarm;
use skyhaul_core::{Instant, MS, SECOND, Verdict};

use crate::cycles::{Cycle, End};

/// A probing cycle. What is not known is null: what a cycle without an end would have come to, and
/// what would have decided a false alarm.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct VerdictResult {
    /// From the first write to the alarm.
    pub(crate) at_s: f64,
    pub(crate) alarm: &'static str,
    pub(crate) verdict: &'static str,
    pub(crate) duration_s: Option<f64>,
    pub(crate) probes: Option<u32>,
    pub(crate) answers: Option<u32>,
    /// Probes without an answer before the first one that was answered.
    pub(crate) silent_probes: Option<u32>,
    pub(crate) loss_rtt_ms: f64,
    pub(crate) alarm_rtt_ms: Option<f64>,
    pub(crate) worst_rtt_ms: Option<f64>,
    /// The first round trips that decided.
    pub(crate) rtts_ms: Option<Vec<f64>>,
    pub(crate) missing_packets: Option<u32>,
    pub(crate) listed_packets: Option<u32>,
    pub(crate) row_packets: Option<u32>,
    pub(crate) row_ms: Option<f64>,
}

/// The cycles of a sender whose first write was at `start`.
pub(crate) fn verdicts(cycles: &[Cycle], start: Instant) -> Vec<VerdictResult> {
    cycles.iter().map(|cycle| verdict(cycle, start)).collect()
}

fn verdict(cycle: &Cycle, start: Instant) -> VerdictResult {
    let end = cycle.end;
    let basis = end.and_then(|end| end.basis);
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
        silent_probes: end.map(|end| end.silent_probes),
        loss_rtt_ms: ms(cycle.loss_rtt_ns),
        alarm_rtt_ms: end.map(|end| ms(end.alarm_rtt_ns)),
        worst_rtt_ms: basis.map(|basis| ms(basis.worst_rtt_ns)),
        rtts_ms: basis.map(|basis| basis.rtts_ns.into_iter().filter(|&ns| ns > 0).map(ms).collect()),
        missing_packets: basis.map(|basis| basis.missing_packets),
        listed_packets: basis.map(|basis| basis.listed_packets),
        row_packets: basis.map(|basis| basis.row_packets),
        row_ms: basis.map(|basis| ms(basis.row_duration_ns)),
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

fn ms(ns: u64) -> f64 {
    ns as f64 / MS as f64
}

pub(crate) fn seconds(ns: u64) -> f64 {
    ns as f64 / SECOND as f64
}

/// A cycle for tests.
#[cfg(test)]
pub(crate) mod samples {
    use super::*;
    use crate::cycles::Basis;

    /// What decided.
    pub(crate) fn basis() -> Basis {
        Basis {
            worst_rtt_ns: 120 * MS,
            rtts_ns: [110 * MS, 120 * MS, 0, 0],
            missing_packets: 40,
            listed_packets: 50,
            row_packets: 30,
            row_duration_ns: 300 * MS,
        }
    }

    fn end() -> End {
        let (verdict, basis) = (Some(Verdict::Outage), Some(basis()));
        End { verdict, duration_ns: SECOND, probes: 9, answers: 2, silent_probes: 5, alarm_rtt_ns: 0, basis }
    }

    pub(crate) fn outage() -> VerdictResult {
        let at = Instant::ZERO;
        verdict(&Cycle { at, alarm: Alarm::Silence, loss_rtt_ns: 100 * MS, end: Some(end()) }, at)
    }

    pub(crate) fn unfinished() -> VerdictResult {
        let at = Instant::from_ns(SECOND);
        verdict(&Cycle { at, alarm: Alarm::Gap, loss_rtt_ns: MS, end: None }, Instant::ZERO)
    }

    pub(crate) fn false_alarm() -> VerdictResult {
        let at = Instant::ZERO;
        let end = End { verdict: None, basis: None, ..end() };
        verdict(&Cycle { at, alarm: Alarm::Silence, loss_rtt_ns: MS, end: Some(end) }, at)
    }
}

#[cfg(test)]
mod tests {
    use super::samples::{false_alarm, outage, unfinished};

    #[test]
    fn a_verdict_is_told_with_all_that_decided_it() {
        let told = serde_json::to_value(outage()).unwrap();
        assert_eq!(told["rtts_ms"], serde_json::json!([110.0, 120.0]), "{told}");
        for (field, value) in [("worst_rtt_ms", 120.0), ("loss_rtt_ms", 100.0), ("row_ms", 300.0)] {
            assert_eq!(told[field], value, "{field}: {told}");
        }
        for (field, value) in
            [("silent_probes", 5), ("missing_packets", 40), ("listed_packets", 50), ("row_packets", 30)]
        {
            assert_eq!(told[field], value, "{field}: {told}");
        }
    }

    #[test]
    fn a_false_alarm_was_decided_by_nothing() {
        let told = serde_json::to_value(false_alarm()).unwrap();
        assert_eq!((&told["verdict"], &told["probes"]), (&"false-alarm".into(), &9.into()), "{told}");
        for field in ["worst_rtt_ms", "rtts_ms", "missing_packets", "listed_packets", "row_packets", "row_ms"]
        {
            assert!(told[field].is_null(), "{field}: {told}");
        }
    }

    #[test]
    fn a_cycle_without_an_end_is_told_as_such() {
        let told = unfinished();
        assert_eq!((told.alarm, told.verdict, told.duration_s), ("gap", "unfinished", None));
        assert!((told.at_s - 1.0).abs() < 1e-9 && (told.loss_rtt_ms - 1.0).abs() < 1e-9);
    }
}

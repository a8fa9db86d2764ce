//! Verdicts of a sender, with all that its rules decided by: a part of the result
//! (`docs/guide/json.md`).

use serde::Serialize;
use skyhaul_core::event::Alarm;
use skyhaul_core::{Instant, MS, SECOND, Verdict};
use skyhaul_stp::ProbingConfig;

use crate::cycles::{CycleEnd, CycleRecord};

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
    /// The round trips that decided were longer than those before, see [`ProbingConfig::is_longer`].
    #[serde(skip)]
    pub(crate) is_longer: bool,
    /// The first round trips that decided.
    pub(crate) rtts_ms: Option<Vec<f64>>,
    pub(crate) missing_packets: Option<u32>,
    pub(crate) listed_packets: Option<u32>,
    pub(crate) row_packets: Option<u32>,
    pub(crate) row_ms: Option<f64>,
}

/// The cycles of a sender whose first write was at `start`.
pub(crate) fn verdicts(
    cycles: &[CycleRecord],
    start: Instant,
    probing: &ProbingConfig,
) -> Vec<VerdictResult> {
    cycles.iter().map(|cycle| verdict(cycle, start, probing)).collect()
}

fn verdict(cycle: &CycleRecord, start: Instant, probing: &ProbingConfig) -> VerdictResult {
    // Without an end, and without an answer, every probe so far is silent and none is answered.
    let unanswered = Some(cycle.so_far).filter(|so_far| !so_far.is_answered);
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
        probes: Some(end.map_or(cycle.so_far.probes, |end| end.probes)),
        answers: end.map(|end| end.answers).or(unanswered.map(|_| 0)),
        silent_probes: end.map(|end| end.silent_probes).or(unanswered.map(|so_far| so_far.probes)),
        loss_rtt_ms: ms(cycle.loss_rtt_ns),
        alarm_rtt_ms: cycle.alarm_rtt_ns.map(ms),
        worst_rtt_ms: basis.map(|basis| ms(basis.worst_rtt_ns)),
        is_longer: basis.is_some_and(|basis| probing.is_longer(basis.worst_rtt_ns, cycle.loss_rtt_ns)),
        rtts_ms: basis.map(|basis| basis.rtts_ns.into_iter().filter(|&ns| ns > 0).map(ms).collect()),
        missing_packets: basis.map(|basis| basis.missing_packets),
        listed_packets: basis.map(|basis| basis.listed_packets),
        row_packets: basis.map(|basis| basis.row_packets),
        row_ms: basis.map(|basis| ms(basis.row_duration_ns)),
    }
}

fn name(end: &CycleEnd) -> &'static str {
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
    use crate::cycles::{Basis, SoFar};

    /// Grounds of a verdict.
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

    fn end() -> CycleEnd {
        let (verdict, basis) = (Some(Verdict::Outage), Some(basis()));
        CycleEnd {
            verdict,
            duration_ns: SECOND,
            probes: 9,
            answers: 2,
            silent_probes: 5,
            alarm_rtt_ns: 0,
            basis,
        }
    }

    fn told(cycle: &CycleRecord) -> VerdictResult {
        verdict(cycle, Instant::ZERO, &ProbingConfig::standard())
    }

    fn cycle() -> CycleRecord {
        CycleRecord {
            at: Instant::ZERO,
            alarm: Alarm::Silence,
            loss_rtt_ns: 100 * MS,
            alarm_rtt_ns: Some(90 * MS),
            so_far: SoFar::default(),
            end: Some(end()),
        }
    }

    pub(crate) fn outage() -> VerdictResult {
        told(&cycle())
    }

    /// Verdict with so many of a hundred packets missing.
    pub(crate) fn full_queue(worst_rtt_ms: u64, missing_packets: u32) -> VerdictResult {
        let basis =
            Basis { worst_rtt_ns: worst_rtt_ms * MS, missing_packets, listed_packets: 100, ..basis() };
        let end = CycleEnd { verdict: Some(Verdict::Congestion), basis: Some(basis), ..end() };
        told(&CycleRecord { end: Some(end), ..cycle() })
    }

    pub(crate) fn unfinished() -> VerdictResult {
        let (at, so_far) = (Instant::from_ns(SECOND), SoFar { probes: 6, is_answered: false });
        told(&CycleRecord { at, alarm: Alarm::Gap, loss_rtt_ns: MS, so_far, end: None, ..cycle() })
    }

    pub(crate) fn false_alarm() -> VerdictResult {
        let end = CycleEnd { verdict: None, basis: None, ..end() };
        told(&CycleRecord { loss_rtt_ns: MS, end: Some(end), ..cycle() })
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
        assert_eq!((told.probes, told.answers, told.silent_probes), (Some(6), Some(0), Some(6)));
        assert_eq!((told.alarm_rtt_ms, told.worst_rtt_ms), (Some(90.0), None));
    }
}

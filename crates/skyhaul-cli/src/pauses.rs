//! Each pause in which a sender asked, in plain words with the figures that decided: lines of the table.

use crate::counted::{counted, packets};
use crate::verdicts::VerdictResult;

/// Pauses that are listed; `--json` lists more.
const MAX_LISTED: usize = 5;

/// Time from which a false alarm is listed: shorter ones of a busy machine on a short path say nothing.
const MIN_FALSE_ALARM_S: f64 = 0.1;

/// A line for each of the first pauses, and how many there are besides.
pub(crate) fn pauses(verdicts: &[VerdictResult], left_out: u64) -> Vec<(String, String)> {
    let lines = verdicts.iter().filter(|verdict| is_worth_a_line(verdict)).take(MAX_LISTED).map(pause);
    let listed = verdicts.iter().filter(|verdict| is_worth_a_line(verdict)).count();
    let more = listed.saturating_sub(MAX_LISTED) as u64 + left_out;
    let rest = (more > 0).then(|| ("  and".into(), format!("{more} more: --json lists them")));
    lines.chain(rest).collect()
}

fn is_worth_a_line(verdict: &VerdictResult) -> bool {
    let is_short = verdict.duration_s.is_some_and(|s| s < MIN_FALSE_ALARM_S);
    verdict.verdict != "false-alarm" || !is_short
}

fn pause(verdict: &VerdictResult) -> (String, String) {
    let lasted = verdict.duration_s.map(|s| format!("{s:.2} s, ")).unwrap_or_default();
    (format!("  at {:.1} s", verdict.at_s), format!("{lasted}{}", finding(verdict)))
}

fn finding(verdict: &VerdictResult) -> String {
    match verdict.verdict {
        "outage" => format!("the link was gone: {}", vanished(verdict)),
        "corruption" => format!("damage: answers in {}; {}", round_trips(verdict), missing(verdict)),
        "congestion" if verdict.is_longer => {
            format!("a full queue: answers in {}; {}", round_trips(verdict), missing(verdict))
        }
        // Then the share that is missing decided.
        "congestion" => {
            format!(
                "a full queue: {}, more than a link loses, with answers in {}",
                missing(verdict),
                round_trips(verdict)
            )
        }
        "false-alarm" => "a false alarm: nothing was missing".into(),
        _ => unfinished(verdict),
    }
}

fn unfinished(verdict: &VerdictResult) -> String {
    let so_far = unanswered(verdict).map_or_else(|| "no verdict yet".into(), |questions| questions + " yet");
    format!("{so_far} when this ended")
}

fn unanswered(verdict: &VerdictResult) -> Option<String> {
    let questions = verdict.silent_probes.filter(|&n| n > 0);
    questions.map(|n| counted(n.into(), "question") + " without an answer")
}

/// Packets that vanished in a row.
fn vanished(verdict: &VerdictResult) -> String {
    let questions = unanswered(verdict);
    let row = verdict.row_packets.filter(|&n| n > 0);
    let row = row.map(|n| format!("{} missing in a row", packets(n.into())));
    questions.into_iter().chain(row).collect::<Vec<_>>().join(", ")
}

fn round_trips(verdict: &VerdictResult) -> String {
    let worst_ms = verdict.worst_rtt_ms.unwrap_or(0.0); // a verdict has one
    format!("{worst_ms:.0} ms, {:.0} ms before", verdict.loss_rtt_ms)
}

fn missing(verdict: &VerdictResult) -> String {
    let missing = verdict.missing_packets.unwrap_or(0);
    format!("{missing} of {} missing", packets(verdict.listed_packets.unwrap_or(0).into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdicts::samples::{false_alarm, full_queue, outage, unfinished};

    fn told(verdict: &VerdictResult) -> String {
        let (name, text) = pause(verdict);
        format!("{}|{text}", name.trim_start())
    }

    #[test]
    fn every_verdict_is_told_with_what_decided_it() {
        let row =
            "at 0.0 s|1.00 s, the link was gone: 5 questions without an answer, 30 packets missing in a row";
        assert_eq!(told(&outage()), row);
        let one = VerdictResult { silent_probes: Some(0), ..outage() };
        assert_eq!(told(&one), "at 0.0 s|1.00 s, the link was gone: 30 packets missing in a row");
        let damage = VerdictResult { verdict: "corruption", ..outage() };
        assert_eq!(
            told(&damage),
            "at 0.0 s|1.00 s, damage: answers in 120 ms, 100 ms before; 40 of 50 packets missing"
        );
        assert_eq!(told(&false_alarm()), "at 0.0 s|1.00 s, a false alarm: nothing was missing");
        let so_far = "at 1.0 s|6 questions without an answer yet when this ended";
        assert_eq!(told(&unfinished()), so_far);
        let answered = VerdictResult { silent_probes: None, ..unfinished() };
        assert_eq!(told(&answered), "at 1.0 s|no verdict yet when this ended");
    }

    #[test]
    fn a_full_queue_is_told_with_what_decided_first() {
        assert_eq!(
            told(&full_queue(150, 30)),
            "at 0.0 s|1.00 s, a full queue: answers in 150 ms, 100 ms before; 30 of 100 packets missing"
        );
        assert_eq!(
            told(&full_queue(101, 30)),
            "at 0.0 s|1.00 s, a full queue: 30 of 100 packets missing, more than a link loses, with answers in \
             101 ms, 100 ms before"
        );
    }

    #[test]
    fn a_long_list_ends_with_how_many_there_are_besides() {
        assert!(pauses(&[], 0).is_empty());
        assert_eq!(pauses(&vec![outage(); MAX_LISTED], 0).len(), MAX_LISTED);
        let (_, last) = pauses(&vec![outage(); 9], 3).pop().unwrap_or_default();
        assert_eq!(last, "7 more: --json lists them");
    }

    #[test]
    fn false_alarms_of_a_short_path_are_not_listed() {
        let short = VerdictResult { duration_s: Some(0.003), ..false_alarm() };
        assert!(pauses(&vec![short.clone(); 9], 0).is_empty());
        assert_eq!(pauses(&[short, false_alarm()], 0).len(), 1);
    }
}

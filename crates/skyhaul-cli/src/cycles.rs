//! The probing cycles of a sender, written down as they come.

use std::cell::RefCell;

use skyhaul_core::event::{Alarm, DECIDING_RTTS};
use skyhaul_core::{Event, Instant, Verdict};
use skyhaul_net::{Observations, Observed, Watch, watch};

/// Cycles that are kept; of further ones only the connection's counters tell.
pub(crate) const MAX_CYCLES: usize = 256;
/// Events that may come between two looks, which are a fifth of a second apart.
const MAX_WAITING: usize = 1024;

/// One cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CycleRecord {
    /// Time at which it began, by the clock of the sending endpoint.
    pub(crate) at: Instant,
    pub(crate) alarm: Alarm,
    pub(crate) loss_rtt_ns: u64,
    /// The last round trip before; `None` if none was seen.
    pub(crate) alarm_rtt_ns: Option<u64>,
    /// Facts known while it lasts, or lasted until the transfer ended.
    pub(crate) so_far: SoFar,
    /// `None` while it lasts.
    pub(crate) end: Option<CycleEnd>,
}

/// Facts known of a cycle without an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SoFar {
    /// Set when the log is closed.
    pub(crate) probes: u32,
    /// An answer to a probe came, valid or not.
    pub(crate) is_answered: bool,
}

/// End of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CycleEnd {
    /// `None`: a false alarm.
    pub(crate) verdict: Option<Verdict>,
    pub(crate) duration_ns: u64,
    pub(crate) probes: u32,
    pub(crate) answers: u32,
    pub(crate) silent_probes: u32,
    pub(crate) alarm_rtt_ns: u64,
    /// `None` after a false alarm.
    pub(crate) basis: Option<Basis>,
}

/// Grounds of a verdict, as in `Event::ProbeEnded`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Basis {
    pub(crate) worst_rtt_ns: u64,
    pub(crate) rtts_ns: [u64; DECIDING_RTTS],
    pub(crate) missing_packets: u32,
    pub(crate) listed_packets: u32,
    pub(crate) row_packets: u32,
    pub(crate) row_duration_ns: u64,
}

impl CycleEnd {
    /// End that the event tells, if it is one that ends a cycle.
    fn of(event: &Event) -> Option<Self> {
        let &Event::ProbeEnded {
            verdict,
            duration_ns,
            probes,
            answers,
            worst_rtt_ns,
            rtts_ns,
            alarm_rtt_ns,
            silent_probes,
            missing_packets,
            listed_packets,
            row_packets,
            row_duration_ns,
            ..
        } = event
        else {
            return None;
        };
        let basis =
            Basis { worst_rtt_ns, rtts_ns, missing_packets, listed_packets, row_packets, row_duration_ns };
        let basis = verdict.is_some().then_some(basis);
        Some(Self { verdict, duration_ns, probes, answers, silent_probes, alarm_rtt_ns, basis })
    }
}

/// Log of the cycles that a watch sees.
#[derive(Debug)]
pub(crate) struct CycleLog {
    observations: Observations,
    notes: RefCell<Notes>,
}

#[derive(Debug, Default)]
struct Notes {
    kept: Vec<CycleRecord>,
    running: Option<CycleRecord>,
    latest_rtt_ns: Option<u64>,
    /// Of all cycles that have ended.
    probes: u64,
}

impl CycleLog {
    /// A log, and the watch that the sending endpoint must be given.
    pub(crate) fn new() -> (Watch, Self) {
        let (watch, observations) = watch(MAX_WAITING, is_of_cycle);
        (watch, Self { observations, notes: RefCell::default() })
    }

    /// Writes down what has come since the last look; gives what started the cycle that goes on now.
    pub(crate) fn look(&self) -> Option<Alarm> {
        let mut notes = self.notes.borrow_mut();
        self.observations.take().for_each(|observed| notes.take(&observed));
        notes.running.map(|cycle| cycle.alarm)
    }

    /// The first [`MAX_CYCLES`] cycles; the last may not have ended. `probes`: all that the connection
    /// has sent.
    pub(crate) fn finish(self, probes: u64) -> Vec<CycleRecord> {
        self.look();
        let mut notes = self.notes.into_inner();
        if let Some(mut running) = notes.running.take() {
            running.so_far.probes = u32::try_from(probes.saturating_sub(notes.probes)).unwrap_or(u32::MAX);
            notes.keep(running);
        }
        notes.kept
    }
}

impl Notes {
    fn take(&mut self, observed: &Observed) {
        let at = observed.at;
        match observed.event {
            Event::ProbeStarted { alarm, loss_rtt_ns } => {
                let (alarm_rtt_ns, so_far) = (self.latest_rtt_ns, SoFar::default());
                self.running = Some(CycleRecord { at, alarm, loss_rtt_ns, alarm_rtt_ns, so_far, end: None });
            }
            Event::Rtt { sample_ns, .. } => self.answered(at, sample_ns),
            _ => self.ended(&observed.event),
        }
    }

    fn answered(&mut self, at: Instant, rtt_ns: u64) {
        self.latest_rtt_ns = Some(rtt_ns);
        // Others answer questions from before the alarm.
        if let Some(cycle) = self.running.as_mut().filter(|cycle| rtt_ns <= at.since(cycle.at)) {
            cycle.so_far.is_answered = true;
        }
    }

    fn ended(&mut self, event: &Event) {
        let Some(end) = CycleEnd::of(event) else { return };
        self.probes += u64::from(end.probes);
        if let Some(cycle) = self.running.take() {
            let alarm_rtt_ns = Some(end.alarm_rtt_ns);
            self.keep(CycleRecord { alarm_rtt_ns, end: Some(end), ..cycle });
        }
    }

    fn keep(&mut self, cycle: CycleRecord) {
        if self.kept.len() < MAX_CYCLES {
            self.kept.push(cycle);
        }
    }
}

fn is_of_cycle(event: &Event) -> bool {
    matches!(event, Event::ProbeStarted { .. } | Event::ProbeEnded { .. } | Event::Rtt { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(at_ns: u64) -> Observed {
        let event = Event::ProbeStarted { alarm: Alarm::Silence, loss_rtt_ns: 9 };
        Observed { at: Instant::from_ns(at_ns), source: 1, event }
    }

    fn ended(at_ns: u64, verdict: Option<Verdict>) -> Observed {
        let event = Event::ProbeEnded {
            verdict,
            duration_ns: 5,
            probes: 3,
            answers: 1,
            loss_rtt_ns: 9,
            worst_rtt_ns: 8,
            rtts_ns: [8, 0, 0, 0],
            alarm_rtt_ns: 7,
            silent_probes: 2,
            missing_packets: 6,
            listed_packets: 20,
            row_packets: 5,
            row_duration_ns: 4,
        };
        Observed { at: Instant::from_ns(at_ns), source: 1, event }
    }

    #[test]
    fn a_beginning_and_an_end_make_a_cycle() {
        let mut notes = Notes::default();
        notes.take(&started(10));
        assert_eq!(notes.running.map(|c| c.alarm), Some(Alarm::Silence));
        notes.take(&ended(15, Some(Verdict::Outage)));
        notes.take(&started(20));
        notes.take(&ended(25, None));
        assert_eq!((notes.kept.len(), notes.running), (2, None));
        assert_eq!(notes.kept[0].at, Instant::from_ns(10));
        let ends: Vec<CycleEnd> = notes.kept.iter().filter_map(|cycle| cycle.end).collect();
        let basis = Basis {
            worst_rtt_ns: 8,
            rtts_ns: [8, 0, 0, 0],
            missing_packets: 6,
            listed_packets: 20,
            row_packets: 5,
            row_duration_ns: 4,
        };
        assert_eq!(ends[0].basis, Some(basis));
        assert_eq!(ends[1].basis, None, "a false alarm was decided by nothing");
        assert_eq!((ends[1].silent_probes, ends[1].alarm_rtt_ns), (2, 7));
    }

    #[test]
    fn only_so_many_are_kept_and_one_without_an_end_is_one_of_them() {
        let (_, log) = CycleLog::new();
        log.notes.borrow_mut().take(&started(1));
        assert_eq!(log.look(), Some(Alarm::Silence));
        assert_eq!(log.finish(0).len(), 1);
        let mut notes = Notes::default();
        (0..1000).flat_map(|n| [started(n), ended(n, None)]).for_each(|o| notes.take(&o));
        assert_eq!(notes.kept.len(), MAX_CYCLES);
    }

    fn answered(at_ns: u64, sample_ns: u64) -> Observed {
        let event = Event::Rtt { sample_ns, smoothed_ns: 9, variance_ns: 1, min_ns: 9 };
        Observed { at: Instant::from_ns(at_ns), source: 1, event }
    }

    #[test]
    fn of_a_cycle_without_an_end_all_is_known_that_has_happened() {
        let running = |later: &[Observed]| {
            let (_, log) = CycleLog::new();
            let before = [started(1), ended(6, None), answered(8, 7), started(10)];
            before.iter().chain(later).for_each(|o| log.notes.borrow_mut().take(o));
            let last = *log.finish(3 + 4).last().unwrap();
            (last.alarm_rtt_ns, last.so_far.probes, last.so_far.is_answered)
        };
        assert_eq!(running(&[]), (Some(7), 4, false), "three of seven probes were of the cycle before");
        assert_eq!(running(&[answered(15, 6)]), (Some(7), 4, false), "the question left before the alarm");
        assert_eq!(running(&[answered(15, 5)]), (Some(7), 4, true));
    }
}

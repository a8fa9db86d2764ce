//! The probing cycles of a sender, written down as they come.

use std::cell::RefCell;

use skyhaul_core::event::Alarm;
use skyhaul_core::{Event, Instant, Verdict};
use skyhaul_net::{Observations, Observed, Watch, watch};

/// Cycles that are kept; of further ones only the connection's counters tell.
pub(crate) const MAX_CYCLES: usize = 256;
/// Events that may come between two looks, which are a fifth of a second apart.
const MAX_WAITING: usize = 1024;

/// One cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cycle {
    /// When it began, by the clock of the sending endpoint.
    pub(crate) at: Instant,
    pub(crate) alarm: Alarm,
    pub(crate) loss_rtt_ns: u64,
    /// `None` while it lasts.
    pub(crate) end: Option<End>,
}

/// How a cycle ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// `None`: a false alarm.
    pub(crate) verdict: Option<Verdict>,
    pub(crate) duration_ns: u64,
    pub(crate) probes: u32,
    pub(crate) answers: u32,
    /// `None` after a false alarm.
    pub(crate) worst_rtt_ns: Option<u64>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct CycleLog {
    observations: Observations,
    notes: RefCell<Notes>,
}

#[derive(Debug, Default)]
struct Notes {
    kept: Vec<Cycle>,
    running: Option<Cycle>,
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

    /// The first [`MAX_CYCLES`] cycles; the last may not have ended.
    pub(crate) fn finish(self) -> Vec<Cycle> {
        self.look();
        let mut notes = self.notes.into_inner();
        if let Some(running) = notes.running.take() {
            notes.keep(running);
        }
        notes.kept
    }
}

impl Notes {
    fn take(&mut self, observed: &Observed) {
        match observed.event {
            Event::ProbeStarted { alarm, loss_rtt_ns } => {
                self.running = Some(Cycle { at: observed.at, alarm, loss_rtt_ns, end: None });
            }
            Event::ProbeEnded { verdict, duration_ns, probes, answers, worst_rtt_ns, .. } => {
                let worst_rtt_ns = verdict.map(|_| worst_rtt_ns);
                let end = End { verdict, duration_ns, probes, answers, worst_rtt_ns };
                if let Some(cycle) = self.running.take() {
                    self.keep(Cycle { end: Some(end), ..cycle });
                }
            }
            _ => {}
        }
    }

    fn keep(&mut self, cycle: Cycle) {
        if self.kept.len() < MAX_CYCLES {
            self.kept.push(cycle);
        }
    }
}

fn is_of_cycle(event: &Event) -> bool {
    matches!(event, Event::ProbeStarted { .. } | Event::ProbeEnded { .. })
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
            worst_rtt_ns: 0,
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
        let worst = notes.kept.iter().map(|c| c.end.and_then(|e| e.worst_rtt_ns));
        assert_eq!(worst.collect::<Vec<_>>(), [Some(0), None], "a false alarm decided by no round trip");
    }

    #[test]
    fn only_so_many_are_kept_and_one_without_an_end_is_one_of_them() {
        let (_, log) = CycleLog::new();
        log.notes.borrow_mut().take(&started(1));
        assert_eq!(log.look(), Some(Alarm::Silence));
        assert_eq!(log.finish().len(), 1);
        let mut notes = Notes::default();
        (0..1000).flat_map(|n| [started(n), ended(n, None)]).for_each(|o| notes.take(&o));
        assert_eq!(notes.kept.len(), MAX_CYCLES);
    }
}

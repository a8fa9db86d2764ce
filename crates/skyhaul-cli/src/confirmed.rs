//! The progress of a lone sender: what the receiver has confirmed. What was written says nothing:
//! the stream takes megabytes at once that the link carries in minutes.

use std::cell::Cell;
use std::convert::Infallible;

use skyhaul_core::event::Alarm;
use skyhaul_core::{Instant, SECOND, Stats};
use skyhaul_files::Event;
use skyhaul_net::{Clock, Monitor, Protocol};

use crate::cycles::CycleLog;
use crate::limited::LimitLog;
use crate::line::Said;
use crate::output::note;
use crate::progress::{TICK, TransferBar};

/// Silence after which it is mentioned: longer than any round trip.
const SILENCE_NS: u64 = 3 * SECOND;

/// Line about what is confirmed.
pub(crate) struct ConfirmedLine<'a, P: Protocol> {
    progress: &'a TransferBar,
    cycles: &'a CycleLog,
    limits: &'a LimitLog<P>,
    monitor: Monitor<P>,
    clock: Clock,
    begun_at: Instant,
    /// Text that is said once of a receiver that does not answer.
    no_answer: Cell<Option<String>>,
    /// Payload bytes written to the stream, and how many there are.
    written: Cell<(u64, u64)>,
    /// Files that were refused or given up.
    failed: Cell<u64>,
}

impl<'a, P: Protocol> ConfirmedLine<'a, P> {
    pub(crate) fn new(
        progress: &'a TransferBar,
        (cycles, limits): (&'a CycleLog, &'a LimitLog<P>),
        monitor: Monitor<P>,
        clock: Clock,
        no_answer: String,
    ) -> Self {
        let (begun_at, no_answer) = (clock.now(), Cell::new(Some(no_answer)));
        Self {
            progress,
            cycles,
            limits,
            monitor,
            clock,
            begun_at,
            no_answer,
            written: Cell::default(),
            failed: Cell::default(),
        }
    }

    /// Takes what the sending session tells.
    pub(crate) fn observe(&self, event: &Event<'_>) {
        match event {
            Event::Started { bytes, .. } => {
                self.written.set((0, *bytes));
                self.progress.observe(event);
            }
            Event::File { .. } => self.progress.observe(event),
            Event::Moved { bytes, total } => self.written.set((*bytes, *total)),
            Event::Settled { report, .. } if report.failure().is_some() => {
                self.failed.set(self.failed.get() + 1);
            }
            _ => {}
        }
    }

    /// Keeps the line up to date for as long as the transfer lasts.
    pub(crate) async fn show(&self) -> Infallible {
        let mut tick = tokio::time::interval(TICK);
        loop {
            tick.tick().await;
            let alarm = self.cycles.look();
            if let Some(stats) = self.monitor.stats() {
                self.update(&stats, alarm);
            }
        }
    }

    /// A confirmed byte may belong to a record's head: no more is there than was written as payload.
    fn update(&self, stats: &Stats, alarm: Option<Alarm>) {
        let (written, total) = self.written.get();
        let confirmed = stats.acknowledged_bytes.min(written);
        self.progress.moved(confirmed, total);
        let silent_ns = self.clock.now().since(stats.last_heard);
        let mut said = words(stats, alarm, confirmed >= total, silent_ns);
        if said.is_empty() {
            said.extend(self.limits.doing().map(Into::into));
        }
        if self.failed.get() > 0 {
            said.push(format!("files that failed: {}", self.failed.get()));
        }
        self.progress.say(said);
        let is_late = self.clock.now().since(self.begun_at) >= SILENCE_NS;
        if is_late
            && stats.received_packets == 0
            && let Some(text) = self.no_answer.take()
        {
            note(&text);
        }
    }
}

/// Words about the link and the receiver.
fn words(stats: &Stats, alarm: Option<Alarm>, is_all: bool, silent_ns: u64) -> Said {
    let silent_s = silent_ns / SECOND;
    match (stats.received_packets, alarm, silent_ns) {
        (0, ..) => vec!["waiting for the receiver".into()],
        (_, Some(Alarm::Silence), SECOND..) => {
            vec![format!("link silent for {silent_s} s"), asking(Alarm::Silence).into()]
        }
        (_, Some(alarm), _) => vec![asking(alarm).into()],
        (_, None, SILENCE_NS..) => vec![format!("nothing heard for {silent_s} s")],
        _ if is_all => vec!["waiting for confirmation".into()],
        _ => Said::new(),
    }
}

/// Words about a probing cycle that goes on.
pub(crate) fn asking(alarm: Alarm) -> &'static str {
    match alarm {
        Alarm::Silence => "asking: is it back?",
        Alarm::Gap => "asking: why the losses?",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(received_packets: u64, is_all: bool, seconds: u64) -> String {
        words(&Stats { received_packets, ..Stats::default() }, None, is_all, seconds * SECOND).join(", ")
    }

    fn while_asking(alarm: Alarm, seconds: u64) -> String {
        words(&Stats { received_packets: 9, ..Stats::default() }, Some(alarm), false, seconds * SECOND)
            .join(", ")
    }

    #[test]
    fn a_person_is_told_why_nothing_moves() {
        assert_eq!(after(0, false, 50), "waiting for the receiver");
        assert_eq!(after(9, false, 1), "", "it moves");
        assert_eq!(after(9, false, 12), "nothing heard for 12 s");
        assert_eq!(after(9, true, 0), "waiting for confirmation");
        assert_eq!(while_asking(Alarm::Silence, 0), "asking: is it back?");
        assert_eq!(while_asking(Alarm::Silence, 4), "link silent for 4 s, asking: is it back?");
        assert_eq!(while_asking(Alarm::Gap, 1), "asking: why the losses?");
    }
}

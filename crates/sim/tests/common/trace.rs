//! Event sinks for tests: a hash of everything, and the last events for people.

use std::collections::VecDeque;

use skyhaul_core::{Event, EventSink, Instant};
use skyhaul_sim::Source;

/// FNV-1a over the printed form of every event: equal traces have equal sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceSum {
    /// The hash so far.
    pub(crate) sum: u64,
    /// Events so far.
    pub(crate) events: u64,
}

impl TraceSum {
    /// The sum of nothing.
    pub(crate) fn new() -> Self {
        Self { sum: 0xcbf2_9ce4_8422_2325, events: 0 }
    }

    /// Takes anything printable into the sum.
    pub(crate) fn add(&mut self, text: &str) {
        for byte in text.bytes() {
            self.sum = (self.sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl EventSink<Source> for TraceSum {
    fn emit(&mut self, now: Instant, source: Source, event: Event) {
        self.events += 1;
        self.add(&format!("{now:?} {source} {event:?}\n"));
    }
}

/// Keeps the last so many events; wants none if that is 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastEvents {
    keep: usize,
    events: VecDeque<(Instant, String)>,
}

impl LastEvents {
    /// As many as the environment variable `SKYHAUL_TRACE` says.
    pub(crate) fn from_environment() -> Self {
        let keep = std::env::var("SKYHAUL_TRACE").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
        Self { keep, events: VecDeque::new() }
    }

    /// A line of the test's own.
    pub(crate) fn note(&mut self, now: Instant, line: impl FnOnce() -> String) {
        if self.keep == 0 {
            return;
        }
        if self.events.len() == self.keep {
            self.events.pop_front();
        }
        self.events.push_back((now, line()));
    }

    /// Prints them.
    pub(crate) fn print(&self) {
        for (at, line) in &self.events {
            println!("{at:?} {line}");
        }
    }
}

impl EventSink<Source> for LastEvents {
    fn wants(&self) -> bool {
        self.keep > 0
    }

    fn emit(&mut self, now: Instant, source: Source, event: Event) {
        self.note(now, || format!("{source} {event:?}"));
    }
}

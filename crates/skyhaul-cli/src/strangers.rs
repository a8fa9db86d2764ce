//! Sessions that bring nothing, of which little is told: whoever likes can open them by the thousand, and
//! what stands in a terminal or in a log is to be read.

use std::cell::RefCell;

use skyhaul_core::{Instant, SECOND};

use crate::allowance::Allowance;
use crate::counted::counted;
use crate::output::note;

/// Bytes that are written at once about transfers that bring nothing.
const BURST_BYTES: u64 = 16 * 1024;
/// And then in each second.
const RATE_BYTES_PER_S: u64 = 500;
/// Least time between two lines that count.
const SPACING_NS: u64 = 60 * SECOND;

/// What is told of them.
#[derive(Debug, Default)]
pub(crate) struct Strangers(RefCell<Tally>);

#[derive(Debug)]
struct Tally {
    /// Connections that ended before they were a transfer, since the last line that counted.
    no_transfers: u64,
    /// Transfers without a file, of which nothing else is told.
    untold: u64,
    counted_at: Option<Instant>,
    written_bytes: Allowance,
}

impl Default for Tally {
    fn default() -> Self {
        let written_bytes = Allowance::new(BURST_BYTES, RATE_BYTES_PER_S);
        Self { no_transfers: 0, untold: 0, counted_at: None, written_bytes }
    }
}

impl Strangers {
    /// A connection ended before there was a valid opening.
    pub(crate) fn no_transfer(&self, now: Instant) {
        self.0.borrow_mut().no_transfers += 1;
        self.count(now);
    }

    /// True if a transfer that brought no file may be told in so many bytes; else it is counted.
    pub(crate) fn admit(&self, bytes: u64, now: Instant) -> bool {
        let is_admitted = self.0.borrow_mut().admit(bytes, now);
        self.count(now);
        is_admitted
    }

    /// Tells what is counted and not told yet.
    pub(crate) fn finish(&self) {
        let line = self.0.borrow_mut().line();
        if let Some(line) = line {
            note(&line);
        }
    }

    fn count(&self, now: Instant) {
        let line = self.0.borrow_mut().due(now);
        if let Some(line) = line {
            note(&line);
        }
    }
}

impl Tally {
    fn admit(&mut self, bytes: u64, now: Instant) -> bool {
        // One that is long is told, too; then it takes time until the next.
        let is_admitted = self.written_bytes.has_left(now);
        if is_admitted {
            self.written_bytes.spend(bytes, now);
        } else {
            self.untold += 1;
        }
        is_admitted
    }

    /// The line that counts, if it is time for one.
    fn due(&mut self, now: Instant) -> Option<String> {
        if self.counted_at.is_some_and(|at| now.since(at) < SPACING_NS) {
            return None;
        }
        let line = self.line()?;
        self.counted_at = Some(now);
        Some(line)
    }

    fn line(&mut self) -> Option<String> {
        let (none, untold) = (std::mem::take(&mut self.no_transfers), std::mem::take(&mut self.untold));
        let none = (none > 0).then(|| format!("{} without a transfer", counted(none, "connection")));
        let untold = (untold > 0).then(|| format!("{} without a file", counted(untold, "more transfer")));
        let parts: Vec<String> = none.into_iter().chain(untold).collect();
        (!parts.is_empty()).then(|| format!("ended: {}", parts.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_connections_that_are_no_transfers_takes_a_line_a_minute() {
        let mut tally = Tally::default();
        let mut lines = Vec::new();
        for second in 0..600u64 {
            for _ in 0..500 {
                tally.no_transfers += 1;
                lines.extend(tally.due(Instant::from_ns(second * SECOND)));
            }
        }
        assert_eq!(lines.len(), 10);
        assert_eq!(lines[0], "ended: 1 connection without a transfer");
        assert_eq!(lines[1], "ended: 30000 connections without a transfer");
        assert_eq!(tally.line().as_deref(), Some("ended: 29999 connections without a transfer"), "the rest");
        assert_eq!(tally.line(), None);
    }

    #[test]
    fn a_flood_of_transfers_without_a_file_takes_a_bounded_rate() {
        let mut tally = Tally::default();
        let mut bytes = 0;
        for ms in 0..600_000u64 {
            bytes += 700 * u64::from(tally.admit(700, Instant::from_ns(ms * SECOND / 1000)));
        }
        assert!((290_000..=BURST_BYTES + 700 + 600 * RATE_BYTES_PER_S).contains(&bytes), "{bytes}");
        assert_eq!(
            tally.line(),
            Some(format!("ended: {} more transfers without a file", 600_000 - bytes / 700))
        );
    }

    #[test]
    fn a_long_one_is_told_and_the_next_waits() {
        let mut tally = Tally::default();
        assert!(tally.admit(10 * BURST_BYTES, Instant::ZERO));
        assert!(!tally.admit(1, Instant::from_ns(SECOND)));
        assert!(tally.admit(1, Instant::from_ns(300 * SECOND)));
    }
}

//! Sessions that bring nothing, of which little is told: whoever likes can open them by the thousand, and
//! what stands in a terminal or in a log is to be read.

use std::cell::RefCell;

use skyhaul_core::{Instant, SECOND};

use crate::counted::counted;

/// Least time between two lines that count.
const SPACING_NS: u64 = 60 * SECOND;

/// What is told of them.
#[derive(Debug, Default)]
pub(crate) struct Strangers(RefCell<Tally>);

#[derive(Debug, Default)]
struct Tally {
    /// Connections that ended before they were a transfer, since the last line that counted.
    no_transfers: u64,
    /// Transfers without a file, of which nothing else is told.
    untold: u64,
    counted_at: Option<Instant>,
}

impl Strangers {
    /// A connection ended before there was a valid opening.
    pub(crate) fn no_transfer(&self) {
        self.0.borrow_mut().no_transfers += 1;
    }

    /// A transfer that brought no file is not told by itself.
    pub(crate) fn untold(&self) {
        self.0.borrow_mut().untold += 1;
    }

    /// The line that counts, if it is time for one.
    pub(crate) fn due(&self, now: Instant) -> Option<String> {
        self.0.borrow_mut().due(now)
    }

    /// What is counted and not told yet.
    pub(crate) fn rest(&self) -> Option<String> {
        self.0.borrow_mut().line()
    }
}

impl Tally {
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
    use std::net::IpAddr;

    use super::*;
    use crate::outlet::{BURST_BYTES, BYTES_PER_S, Outlet};

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
        let (strangers, outlet) = (Strangers::default(), Outlet::default());
        let mut bytes = 0;
        for ms in 0..600_000u64 {
            let (now, peer) =
                (Instant::from_ns(ms * SECOND / 1000), IpAddr::from([192, 0, 2, (ms % 6) as u8]));
            if outlet.has_room(peer, 700, now) {
                outlet.spend_on(peer, 700, now);
                bytes += 700;
            } else {
                strangers.untold();
            }
        }
        assert!((290_000..=BURST_BYTES + 700 + 600 * BYTES_PER_S).contains(&bytes), "{bytes}");
        let untold = format!("ended: {} more transfers without a file", 600_000 - bytes / 700);
        assert_eq!(strangers.rest(), Some(untold));
    }
}

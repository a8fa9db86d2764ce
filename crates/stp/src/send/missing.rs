//! Reading of STATs and USTATs: which packets they call missing, which received, and of which they are
//! silent.

use skyhaul_core::Instant;

use super::PollRecord;
use crate::probing::Row;
use crate::segment::Report;

/// Reading of a report: what it calls missing, and what received.
#[derive(Clone, Copy)]
pub(crate) struct Missing<'a> {
    pub(crate) report: &'a Report,
    /// Next packet that the peer expects.
    pub(super) next: u64,
    /// Where the list begins, as it counts: without the silent packets.
    pub(super) first_run: u64,
    pub(super) silent: Silent,
    /// POLL that a STAT answers; none for USTATs and late STATs.
    pub(crate) poll: Option<PollRecord>,
}

/// Packets that a report says nothing of, and does not count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Silent {
    pub(super) first: u64,
    pub(super) packets: u64,
}

impl Silent {
    /// Ranges of packets that [from, end) stands for.
    fn ranges(self, from: u64, end: u64) -> [(u64, u64); 2] {
        let Self { first, packets } = self;
        let behind = |number: u64| number.max(first).saturating_add(packets);
        [(from.min(first), end.min(first)), (behind(from), behind(end))]
    }
}

impl<'a> Missing<'a> {
    /// Reading of `report`, whose next expected packet is `next`.
    pub(super) fn new(report: &'a Report, next: u64, poll: Option<PollRecord>) -> Self {
        let none = Silent { first: u64::MAX, packets: 0 };
        let silent = report.silent.map_or(none, |(first, packets)| Silent {
            first: next + u64::from(first),
            packets: u64::from(packets),
        });
        Self { report, next, first_run: next + u64::from(report.start), silent, poll }
    }

    /// One past the last run, as the list counts.
    pub(super) fn listed_to(&self) -> u64 {
        self.first_run + self.report.runs.iter().map(|&run| u64::from(run)).sum::<u64>()
    }

    /// One past the last packet that the report speaks of by number.
    pub(super) fn end(&self) -> u64 {
        let last =
            self.silent.ranges(self.first_run, self.listed_to())[usize::from(self.silent.packets > 0)].1;
        last.max(self.listed_to())
    }

    /// True if nothing below this list was left to another part.
    pub(super) fn is_first_part(&self) -> bool {
        self.report.start == 0
    }

    /// Packets of every second run, from the first on (missing) or from the second (received).
    fn runs_from(&self, first: usize) -> impl Iterator<Item = (u64, u64)> + '_ {
        let mut at = self.first_run;
        let silent = self.silent;
        let ranges = self.report.runs.iter().enumerate().filter_map(move |(i, &run)| {
            let (from, end) = (at, at + u64::from(run));
            at = end;
            (i % 2 == first).then_some(silent.ranges(from, end))
        });
        ranges.flatten()
    }

    /// Numbers of the missing packets, rising.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        self.runs_from(0).flat_map(|(from, end)| from..end)
    }

    /// Packets called received: between the missing ones, behind them as far as a complete STAT tells, and
    /// before them if this is not left to another part.
    pub(super) fn received(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let silent = self.silent;
        let is_whole = self.silent.packets > 0; // such a STAT has no parts
        let before = is_whole.then(|| silent.ranges(self.next, self.first_run));
        let tells = !self.report.more && (!self.report.runs.is_empty() || is_whole);
        let behind = self.poll.filter(|_| tells).map(|poll| {
            let end = poll.next.saturating_sub(silent.packets);
            silent.ranges(self.listed_to(), end.max(self.listed_to()))
        });
        let to_list = before.into_iter().flatten().chain(self.runs_from(1));
        to_list.chain(behind.into_iter().flatten()).filter(|(from, end)| from < end)
    }
}

/// Longest row in (order, time) of transmissions, sorted.
pub(super) fn longest_row(left: &[(u64, Instant)]) -> Row {
    let rows = left.chunk_by(|a, b| b.0 == a.0 + 1);
    let row = |row: &[(u64, Instant)]| Row {
        packets: row.len() as u64,
        duration_ns: row[row.len() - 1].1.since(row[0].1), // chunks are not empty
        end_order: row[row.len() - 1].0 + 1,
    };
    rows.map(row).max_by_key(|row| row.packets).unwrap_or_default()
}

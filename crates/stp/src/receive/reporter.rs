//! Reporter of a receiver: what the peer is told of the packets that arrived, and when (`docs/spec/stp.md`,
//! 6.2).

use skyhaul_core::{Instant, PathHeader, Stats, truncate_number};

use super::feedback::FeedbackSum;
use super::replies::{Asked, Pending, Replies};
use super::{Assembly, PollArrival, Reply, ReplySize};
use crate::config::Config;
use crate::segment::{
    CLOCK_SHIFT, FEEDBACK_BYTES, GapList, HEADER_BYTES, ListBounds, Opening, Poll, Report, Stat, Timing,
};

/// Octets of a STAT besides its coded runs, with room to spare.
const STAT_FIXED_BYTES: usize = HEADER_BYTES + 40;
/// Gaps in a segment of a STAT at most: what making one costs does not depend on what arrived.
const MAX_STAT_GAPS: usize = 384;
/// Bounds of a USTAT's list: what of a gap has filled in more places is left to the STAT.
const USTAT_BOUNDS: ListBounds = ListBounds { max_bytes: 128, max_gaps: 64 };

/// Replies to the peer, and what it is known to have been told.
#[derive(Clone, Debug)]
pub(super) struct Reporter {
    replies: Replies,
    /// One past the last packet that STATs have told of.
    told_to: u64,
    /// True if the peer does not want to be told of gaps by USTAT.
    spares_ustats: bool,
    /// True if the peer polled again after a STAT had left, so it most likely has that STAT.
    polled_again: bool,
    /// USTATs allowed per POLL received; `None`: no limit.
    ustats_per_poll: Option<u32>,
    ustat_credit: u32,
    /// True if a STAT told of a small window: its opening is to be told, too.
    window_closed: bool,
    /// True if STATs are to carry when their POLL came, and what had come by then.
    tells_timing: bool,
    /// Feedback of routers that arrived.
    feedback: FeedbackSum,
}

impl Reporter {
    /// Reporter to the sender of `opening`, whose first packet is `initial`.
    pub(super) fn new(initial: u64, opening: &Opening, config: &Config) -> Self {
        Self {
            replies: Replies::default(),
            told_to: initial,
            spares_ustats: false,
            polled_again: false,
            ustats_per_poll: config.ustats_per_poll,
            ustat_credit: config.ustats_per_poll.unwrap_or(0),
            window_closed: false,
            tells_timing: opening.options.timing,
            feedback: FeedbackSum::new(opening.options.feedback),
        }
    }

    /// A path header arrived.
    pub(super) fn take_header(&mut self, header: &PathHeader) {
        self.feedback.take(header);
    }

    /// Request for a BGNAK.
    pub(super) fn accept(&mut self) {
        self.replies.accept();
    }

    /// Request for an ENDAK.
    pub(super) fn confirm_end(&mut self) {
        self.replies.confirm_end();
    }

    /// True if the peer most likely has a STAT of ours.
    pub(super) fn polled_again(&self) -> bool {
        self.polled_again
    }

    /// Writes the counters.
    pub(super) fn count(&self, stats: &mut Stats) {
        stats.stats = self.replies.sent_stats();
        stats.ustats = self.replies.sent_ustats();
    }

    /// Invariants, checked in debug builds.
    pub(super) fn check_invariants(&self) {
        debug_assert!(self.ustats_per_poll.is_none_or(|budget| self.ustat_credit <= 2 * budget));
    }

    /// Announces a window that has opened again; without this the peer would have to ask.
    pub(super) fn offer_window(&mut self, assembly: &Assembly) {
        if self.window_closed && assembly.is_half_open() {
            self.window_closed = false;
            self.replies.push_ustat(report(assembly, GapList::default()));
        }
    }

    /// Queues a USTAT with what is missing of [first, end), if the peer wants it and the budget has one left.
    /// Result: false if nothing is missing.
    pub(super) fn tell_gap(&mut self, assembly: &Assembly, (first, end): (u64, u64)) -> bool {
        let list = assembly.list(first, end, (end, end), USTAT_BOUNDS);
        if list.first.is_none() {
            return false;
        }
        let is_limited = self.ustats_per_poll.is_some();
        if self.spares_ustats || is_limited && self.ustat_credit == 0 {
            return true;
        }
        self.ustat_credit -= u32::from(is_limited);
        self.replies.push_ustat(report(assembly, list));
        true
    }

    /// A newer POLL of the peer's own.
    pub(super) fn note_poll(&mut self, poll: &Poll) {
        self.polled_again = self.replies.sent_stats() > 0;
        self.spares_ustats = poll.spares_ustats;
        let budget = self.ustats_per_poll.unwrap_or(0);
        self.ustat_credit = (self.ustat_credit + budget).min(2 * budget);
    }

    /// Request for a STAT.
    pub(super) fn ask(&mut self, asked: Asked) {
        self.window_closed |= is_small(asked.window_bytes, &asked.arrival);
        self.replies.ask(asked);
    }

    /// STAT that is to be made next, or the next part of one, if its time has come.
    pub(super) fn to_make(&self, now: Instant) -> Option<Pending> {
        self.replies.to_make(now).copied()
    }

    /// Makes it: the gap list up to what the POLL asks about, as far as it fits. It leaves out what was told
    /// before where that leaves a list that fits into one segment. `wanting`: symbols that are wanted of a
    /// block. Result: true if packets are missing.
    pub(super) fn make(
        &mut self,
        of: Pending,
        assembly: &Assembly,
        wanting: Option<(u8, u32)>,
        now: Instant,
    ) -> bool {
        let Asked { echo, covers, settled, arrival, window_bytes, .. } = of.asked;
        let feedback = self.feedback.told().filter(|_| of.from.is_none());
        let feedback_bytes = if feedback.is_some() { FEEDBACK_BYTES } else { 0 };
        let max_bytes = arrival.max_segment_bytes - STAT_FIXED_BYTES - feedback_bytes;
        let bounds = ListBounds { max_bytes, max_gaps: MAX_STAT_GAPS };
        let first = of.from.unwrap_or(assembly.next());
        let list = |silent| assembly.list(first, covers, silent, bounds);
        let told = settled.map(|settled| (settled.max(assembly.next()), self.told_to.min(covers)));
        let told = told.filter(|&(first, end)| of.from.is_none() && first < end);
        let told = told.filter(|&(first, end)| assembly.has_gap(first, end));
        let brief = told.map(|told| (told, list(told))).filter(|(_, list)| list.rest.is_none());
        let (silent, list) = match brief {
            Some((told, list)) => (Some((offset_of(assembly, told.0), (told.1 - told.0) as u32)), list),
            None => (None, list((covers, covers))),
        };
        let is_missing = silent.is_some() || list.first.is_some();
        let clock = (arrival.now.as_ns() >> CLOCK_SHIFT) as u32;
        let timing = Timing { clock, octets: arrival.octets as u32 };
        let timing = (self.tells_timing && of.from.is_none()).then_some(timing);
        let rest = list.rest;
        self.window_closed |= is_small(assembly.window_bytes(), &arrival);
        let report = report(assembly, list);
        let at_arrival = window_bytes.min(u64::from(u32::MAX)) as u32;
        let report = Report { silent, window_bytes: report.window_bytes.min(at_arrival), ..report };
        self.replies.put(of, Stat { echo, report, timing, feedback, wanting }, rest, now);
        is_missing
    }

    /// Size of the next reply that may leave; `None`: none. A STAT has its size once it is made.
    pub(super) fn next_reply(&self, now: Instant) -> Option<ReplySize> {
        self.replies.next(now)
    }

    /// When a STAT leaves that waits because too many did.
    pub(super) fn stat_at(&self, now: Instant) -> Option<Instant> {
        self.replies.stat_at(now)
    }

    /// Reply for the segment that leaves now.
    pub(super) fn take_reply(&mut self) -> Reply {
        let (reply, told_to) = self.replies.take();
        self.told_to = told_to.unwrap_or(self.told_to);
        reply
    }
}

/// Report of what is in the assembly, with this list.
pub(super) fn report(assembly: &Assembly, GapList { first, runs, .. }: GapList) -> Report {
    Report {
        next: truncate_number(assembly.next()),
        window_bytes: assembly.window_bytes().min(u64::from(u32::MAX)) as u32,
        start: first.map_or(0, |first| offset_of(assembly, first)),
        runs,
        ..Report::default()
    }
}

/// Distance of a packet from the next expected one.
fn offset_of(assembly: &Assembly, number: u64) -> u32 {
    (number - assembly.next()) as u32
}

/// True if a STAT that tells of this window is to be followed by a USTAT when it opens.
fn is_small(window_bytes: u64, arrival: &PollArrival) -> bool {
    window_bytes < 2 * arrival.max_segment_bytes as u64
}

//! Replies that wait to be sent: BGNAK, ENDAK, STATs, USTATs.

use alloc::collections::VecDeque;

use skyhaul_core::Instant;

use super::PollArrival;
use crate::allowance::Allowance;
use crate::segment::{Report, Stat, report_len, stat_len};

/// Segments of one STAT at most; the rest is left to the next.
const MAX_STAT_PARTS: u32 = 16;
/// Least size of a STAT's body, as long as it is not made.
const MIN_STAT_BYTES: usize = 12;
/// Time that a STAT takes of what may be spent on them, and a STAT with a list that time for every 64 gaps
/// more: without lists 8000 STATs a second, with the longest ones 1140.
const STAT_NS: u64 = 125_000;
const GAPS_PER_STAT_NS: u64 = 64;
/// Time that a quiet receiver saves for STATs: 256 without lists leave at once.
const STAT_BURST_NS: u64 = 256 * STAT_NS;
/// USTATs that wait; further ones are left to the next STAT.
const MAX_USTATS: usize = 8;

/// Reply of one segment: one of each kind at most, and no USTAT beside a STAT.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reply {
    /// BGNAK.
    pub(crate) accepts: bool,
    /// ENDAK.
    pub(crate) confirms_end: bool,
    /// STAT, or a part of one.
    pub(crate) stat: Option<Stat>,
    /// USTAT.
    pub(crate) ustat: Option<Report>,
}

/// Size of a reply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplySize {
    /// Bytes of its bodies but BGNAK.
    pub(crate) bytes: usize,
    /// True if it has a BGNAK.
    pub(crate) accepts: bool,
}

/// POLL that is to be answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// Timestamp to echo.
    pub(super) echo: u32,
    /// Packets below are asked about.
    pub(super) covers: u64,
    /// Number below which what was told to be missing was sent again; `None`: all is to be told.
    pub(super) settled: Option<u64>,
    /// True if it came in a probe of the path's MTU.
    pub(super) is_probe: bool,
    /// True if it is in doubt who asked: the answer need not have been heard by the peer.
    pub(super) is_in_doubt: bool,
    pub(super) arrival: PollArrival,
    /// Window when it arrived: what was read since then opens no more of it at once.
    pub(super) window_bytes: u64,
}

/// STAT that is to be made next, or a further part of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) asked: Asked,
    /// First gap of the part; `None`: it is the first part.
    pub(super) from: Option<u64>,
    /// Parts that may follow.
    parts_left: u32,
    /// True for an answer to a probe of the path's MTU that a later POLL overtook: it says that the probe
    /// arrived, and the later answer says all else.
    is_overtaken: bool,
}

impl Pending {
    fn new(asked: Asked) -> Self {
        Self { asked, from: None, parts_left: MAX_STAT_PARTS - 1, is_overtaken: false }
    }
}

/// STAT, or a part of one, that leaves next.
#[derive(Clone, Debug)]
struct Made {
    stat: Stat,
    bytes: usize,
    of: Pending,
}

/// Time that a STAT with a list of so many gaps costs.
fn stat_cost_ns(gaps: usize) -> u64 {
    STAT_NS + STAT_NS * gaps as u64 / GAPS_PER_STAT_NS
}

/// Queue of replies. A STAT is made when it leaves, so a POLL that a later one overtakes costs nothing.
/// Bounds: the newest POLL and one probe of the path's MTU, a part at a time, [`MAX_STAT_PARTS`],
/// [`MAX_USTATS`].
#[derive(Clone, Debug, Default)]
pub(super) struct Replies {
    accepts: bool,
    confirms_end: bool,
    /// Answer to a probe of the path's MTU that a later POLL overtook: that does not take its place, or the
    /// probe would pass for lost (`docs/spec/stp.md`, section 14.2).
    probe: Option<Pending>,
    /// Answer to the newest POLL, or what is left of it.
    newest: Option<Pending>,
    made: Option<Made>,
    /// Time spent on STATs.
    budget: Allowance<STAT_BURST_NS>,
    ustats: VecDeque<Report>,
    sent_stats: u64,
    sent_ustats: u64,
}

impl Replies {
    /// Request for a BGNAK.
    pub(super) fn accept(&mut self) {
        self.accepts = true;
    }

    /// Request for an ENDAK.
    pub(super) fn confirm_end(&mut self) {
        self.confirms_end = true;
    }

    /// USTAT to send, if there is room for it.
    pub(super) fn push_ustat(&mut self, report: Report) {
        if self.ustats.len() < MAX_USTATS {
            self.ustats.push_back(report);
        }
    }

    /// Request for a STAT. It says all that waiting STATs and USTATs would, but that a probe of the path's
    /// MTU arrived.
    pub(super) fn ask(&mut self, asked: Asked) {
        self.ustats.clear();
        let overtaken = |of: Pending| Pending { is_overtaken: true, ..of };
        let is_kept = |of: &Pending| of.asked.is_probe && of.from.is_none();
        // One that is made already leaves as it is, if it is whole.
        self.made = self.made.take().filter(|made| is_kept(&made.of) && !made.stat.report.more);
        match &mut self.made {
            Some(made) => made.of = overtaken(made.of),
            None => self.probe = self.probe.or_else(|| self.newest.filter(is_kept).map(overtaken)),
        }
        self.newest = Some(Pending::new(asked));
    }

    /// What is to be made next, if it may be made now.
    pub(super) fn to_make(&self, now: Instant) -> Option<&Pending> {
        self.waiting().filter(|_| self.budget.ready_at() <= now)
    }

    /// By reference: it is asked for every segment that leaves, and nearly always there is none.
    fn waiting(&self) -> Option<&Pending> {
        if self.made.is_some() { None } else { self.probe.as_ref().or(self.newest.as_ref()) }
    }

    /// When a STAT that waits may be made, if that is not now.
    pub(super) fn stat_at(&self, now: Instant) -> Option<Instant> {
        self.waiting().map(|_| self.budget.ready_at()).filter(|&at| at > now)
    }

    /// Takes the STAT that was to be made; `rest`: the first gap that is left to another part.
    pub(super) fn put(&mut self, of: Pending, mut stat: Stat, rest: Option<u64>, now: Instant) {
        let place = if self.probe.is_some() { &mut self.probe } else { &mut self.newest };
        stat.report.more = rest.is_some();
        *place = match rest {
            Some(from) if of.parts_left > 0 => {
                Some(Pending { from: Some(from), parts_left: of.parts_left - 1, ..of })
            }
            _ => None,
        };
        self.budget.spend(now, stat_cost_ns(stat.report.runs.len() / 2));
        self.made = Some(Made { bytes: stat_len(&stat), stat, of });
    }

    /// Size of the next reply; `None`: none waits, or none but a STAT that may not be made yet.
    pub(super) fn next(&self, now: Instant) -> Option<ReplySize> {
        let report_bytes = match &self.made {
            Some(made) => Some(made.bytes),
            None if self.to_make(now).is_some() => Some(MIN_STAT_BYTES),
            None => self.ustats.front().map(report_len),
        };
        let waits = report_bytes.is_some() || self.accepts || self.confirms_end;
        waits.then(|| ReplySize { bytes: report_bytes.unwrap_or(0), accepts: self.accepts })
    }

    /// Reply for the segment that leaves now, and one past the last packet that its STAT tells of, if it ends
    /// one.
    pub(super) fn take(&mut self) -> (Reply, Option<u64>) {
        let made = self.made.take();
        let ustat = if made.is_none() { self.ustats.pop_front() } else { None };
        self.sent_stats += u64::from(made.is_some());
        self.sent_ustats += u64::from(ustat.is_some());
        let tells = |of: &Pending| !of.is_overtaken && !of.asked.is_in_doubt;
        let ends = made.as_ref().filter(|made| !made.stat.report.more && tells(&made.of));
        let told_to = ends.map(|made| made.of.asked.covers);
        let accepts = core::mem::take(&mut self.accepts);
        let confirms_end = core::mem::take(&mut self.confirms_end);
        (Reply { accepts, confirms_end, stat: made.map(|made| made.stat), ustat }, told_to)
    }

    /// STAT segments sent.
    pub(super) fn sent_stats(&self) -> u64 {
        self.sent_stats
    }

    /// USTAT segments sent.
    pub(super) fn sent_ustats(&self) -> u64 {
        self.sent_ustats
    }
}

//! Replies that wait to be sent: BGNAK, ENDAK, STATs, USTATs.

use alloc::collections::VecDeque;

use crate::segment::{Report, Stat, report_len, stat_len};

/// Segments of one STAT at most; the rest is left to the next.
const MAX_STAT_PARTS: usize = 8;
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

/// Answer to a probe of the path's MTU among the STATs that wait: an answer to a later POLL does not take its
/// place, or the probe would pass for lost (`docs/spec/stp.md`, section 14.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ProbeAnswer {
    /// None.
    #[default]
    None,
    /// The STAT that waits is one.
    Newest,
    /// The first segment of those that wait is one, and the others are a newer STAT.
    Kept,
}

/// Queue of replies. Bounds: [`MAX_STAT_PARTS`] and one answer to a probe, [`MAX_USTATS`].
#[derive(Clone, Debug, Default)]
pub(super) struct Replies {
    accepts: bool,
    confirms_end: bool,
    stats: VecDeque<Stat>,
    probe_answer: ProbeAnswer,
    /// Packets below were asked about by the POLL that `stats` answer.
    stat_covers: u64,
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

    /// STAT to send, in parts, about the packets below `covers`. It says all that waiting STATs and USTATs
    /// would, but that a probe of the path's MTU arrived (`answers_probe`).
    pub(super) fn set_stat(&mut self, covers: u64, answers_probe: bool, parts: impl Iterator<Item = Stat>) {
        let keeps = match self.probe_answer {
            ProbeAnswer::None => false,
            ProbeAnswer::Newest => self.stats.len() == 1,
            ProbeAnswer::Kept => true,
        };
        self.probe_answer = match answers_probe {
            _ if keeps => ProbeAnswer::Kept,
            true => ProbeAnswer::Newest,
            false => ProbeAnswer::None,
        };
        self.stat_covers = covers;
        self.ustats.clear();
        self.stats.truncate(usize::from(keeps));
        self.stats.extend(parts.take(MAX_STAT_PARTS));
    }

    /// Size of the next reply; `None`: none waits.
    pub(super) fn next(&self) -> Option<ReplySize> {
        let report_bytes = match self.stats.front() {
            Some(stat) => Some(stat_len(stat)),
            None => self.ustats.front().map(report_len),
        };
        let waits = report_bytes.is_some() || self.accepts || self.confirms_end;
        waits.then(|| ReplySize { bytes: report_bytes.unwrap_or(0), accepts: self.accepts })
    }

    /// Reply for the segment that leaves now, and one past the last packet that its STAT tells of, if it ends
    /// one.
    pub(super) fn take(&mut self) -> (Reply, Option<u64>) {
        let stat = self.stats.pop_front();
        let ustat = if stat.is_none() { self.ustats.pop_front() } else { None };
        self.sent_stats += u64::from(stat.is_some());
        self.sent_ustats += u64::from(ustat.is_some());
        let is_kept = core::mem::take(&mut self.probe_answer) == ProbeAnswer::Kept;
        let told_to = stat.as_ref().filter(|stat| !stat.report.more && !is_kept).map(|_| self.stat_covers);
        let accepts = core::mem::take(&mut self.accepts);
        let confirms_end = core::mem::take(&mut self.confirms_end);
        (Reply { accepts, confirms_end, stat, ustat }, told_to)
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

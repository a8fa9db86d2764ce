//! What a negative acknowledgement has asked for, while it is open whether it was lost: what was only
//! overtaken comes by itself. It goes again at once [SCPS-TP 3.3.2]; the controller hears of a loss as late
//! as RACK would find it [RFC 8985 6.2], and takes its answer back where the original came [RFC 4015].

use alloc::collections::VecDeque;

use skyhaul_core::Instant;

use super::Scoreboard;
use super::rack::Found;

/// Bound of what is in doubt at once; what is asked for beyond is lost.
const MAX_SUSPECTS: usize = 1 << 10;

/// Segment that left once, and is asked for.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    first: u64,
    end: u64,
    loss: Found,
    /// Its repeat left no earlier.
    asked_at: Instant,
    /// When it was first said to be there. That may be taken back, until it is acknowledged: of what lies
    /// between the holes of one segment it is an inference.
    came_at: Option<Instant>,
    /// The controller was told that it is lost.
    is_told: bool,
}

/// Times that decide on what is in doubt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubt {
    pub(super) now: Instant,
    /// Everything below is acknowledged.
    pub(super) una: u64,
    /// Time that a segment which was overtaken has to come.
    pub(super) patience_ns: u64,
    /// No repeat is answered sooner; 0: that is not known.
    pub(super) rtt_min_ns: u64,
}

/// What an acknowledgement or a timer says of what was in doubt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Settled {
    /// Lost, and not told before.
    pub(super) found: Found,
    /// Something was only overtaken.
    pub(super) is_overtaken: bool,
    /// Something that was told was only overtaken.
    pub(super) has_erred: bool,
    /// Something else that was told is open.
    pub(super) is_open: bool,
    /// Something that was told was lost.
    pub(super) is_confirmed: bool,
}

/// Segments that were asked for, in the order of asking.
#[derive(Clone, Debug, Default)]
pub(super) struct Suspects {
    open: VecDeque<Suspect>,
    due: Option<Instant>,
}

impl Suspects {
    /// Takes a segment that is asked for; what is lost at once, beyond the bound.
    pub(super) fn add(&mut self, (first, end): (u64, u64), loss: Found, now: Instant) -> Found {
        if self.open.len() >= MAX_SUSPECTS {
            return loss;
        }
        self.open.push_back(Suspect { first, end, loss, asked_at: now, came_at: None, is_told: false });
        Found::default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Moment at which the next one is lost, if it has not come by then.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Decides on those that have come, and on those that had their time. One that came sooner than its
    /// repeat can have done is the original.
    pub(super) fn settle(&mut self, board: &Scoreboard, doubt: &Doubt) -> Settled {
        let mut settled = Settled::default();
        self.open.retain_mut(|suspect| {
            let from = suspect.first.max(doubt.una);
            let is_acknowledged = suspect.end <= doubt.una;
            let is_missing = !is_acknowledged && board.unknown(from, suspect.end).next().is_some();
            suspect.came_at = if is_missing { None } else { suspect.came_at.or(Some(doubt.now)) };
            let is_original = suspect.came_at.is_some_and(|at| at < suspect.asked_at.after(doubt.rtt_min_ns));
            let is_late = suspect.asked_at.after(doubt.patience_ns) <= doubt.now;
            if is_original {
                settled.is_overtaken |= is_acknowledged;
                settled.has_erred |= is_acknowledged && suspect.is_told;
            } else if !suspect.is_told && (!is_missing || is_late) {
                suspect.is_told = true;
                settled.found.add(suspect.loss);
            }
            settled.is_confirmed |= is_acknowledged && !is_original;
            !is_acknowledged
        });
        settled.is_open = self.open.iter().any(|suspect| suspect.is_told);
        let waiting = self.open.iter().find(|suspect| !suspect.is_told && suspect.came_at.is_none());
        self.due = waiting.map(|suspect| suspect.asked_at.after(doubt.patience_ns));
        settled
    }

    /// What the controller was told counts no more.
    pub(super) fn take_back(&mut self) {
        self.open.iter_mut().for_each(|suspect| suspect.is_told = false);
    }

    /// Nothing below `una` is waited for.
    pub(super) fn forget_below(&mut self, una: u64) {
        self.open.retain(|suspect| suspect.end > una);
    }

    /// Nothing is in doubt.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

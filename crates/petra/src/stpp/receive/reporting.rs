//! Statuses: when the peer is told what has arrived.

use skyhaul_core::Instant;

/// Part of T_stat by which a change between STOP_TX and RESUME_TX may follow the last status.
const EARLY_PART: u64 = 8;

/// Schedule of statuses [PETRA III-F 5, 7].
#[derive(Clone, Debug)]
pub(super) struct Reporter {
    /// T_stat.
    interval_ns: u64,
    last_at: Option<Instant>,
    /// True if something has arrived since the last one.
    has_news: bool,
    /// Clock of a POLL that is not answered.
    asked: Option<u32>,
    /// True if the last one said STOP_TX.
    said_stop: bool,
}

impl Reporter {
    pub(super) fn new(interval_ns: u64) -> Self {
        Self { interval_ns, last_at: None, has_news: false, asked: None, said_stop: false }
    }

    /// Takes in that a PDU has come.
    pub(super) fn on_arrival(&mut self) {
        self.has_news = true;
    }

    /// Takes in a POLL: the next status answers it.
    pub(super) fn on_poll(&mut self, clock: u32) {
        self.asked = Some(clock);
    }

    /// When the next status is due; `None`: there is nothing to tell. A POLL is answered at once. Gaps are
    /// told again and again; a receiver without gaps is silent once it has told of everything.
    pub(super) fn due(&self, now: Instant, has_gaps: bool, is_stopped: bool) -> Option<Instant> {
        if self.asked.is_some() {
            return Some(now);
        }
        let after = |ns: u64| self.last_at.map_or(now, |at| at.after(ns).max(now));
        if is_stopped != self.said_stop {
            return Some(after(self.interval_ns / EARLY_PART));
        }
        (self.has_news || has_gaps).then(|| after(self.interval_ns))
    }

    /// Takes in that a status leaves now; the clock of the POLL that it answers.
    pub(super) fn depart(&mut self, now: Instant, is_stopped: bool) -> Option<u32> {
        self.last_at = Some(now);
        self.has_news = false;
        self.said_stop = is_stopped;
        self.asked.take()
    }
}

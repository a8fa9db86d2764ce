//! Doubts about what may be forged: whom an RST answers, and how often the peer is asked for that.

use alloc::collections::VecDeque;

use skyhaul_core::{Instant, MS, SECOND};

/// Segments with a POLL whose numbers are remembered.
const MAX_ASKED: usize = 64;
/// Least time between two challenges: a flood of what is in doubt costs the peer nothing.
const CHALLENGE_INTERVAL_NS: u64 = 100 * MS;
/// Segments of other instances within [`GUESSING_NS`] that tell of somebody who guesses ours. Whoever keeps
/// below needs 12 days for 2^18 guesses.
const MIN_GUESSES: u32 = 16;
/// Time within which these are counted, and for which a guess is likely from the last one on.
const GUESSING_NS: u64 = 60 * SECOND;

/// Numbers that a peer which has forgotten the connection has seen of late, and the last challenge.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubts {
    /// Packet number fields of the last segments with a POLL.
    asked: VecDeque<u32>,
    challenged_at: Option<Instant>,
    /// True if the next POLL is to bring our BGN once more.
    begins_again: bool,
    /// Guesses at our instance since a moment.
    guesses: u32,
    counted_since: Instant,
    /// End of the time in which a further one is likely.
    guessed_until: Instant,
}

impl Doubts {
    /// A segment with a POLL leaves; `number24` is its packet number field.
    pub(super) fn note_poll(&mut self, number24: u32) {
        if self.asked.back() == Some(&number24) {
            return;
        }
        if self.asked.len() == MAX_ASKED {
            self.asked.pop_front();
        }
        self.asked.push_back(number24);
    }

    /// True if a segment with this number asked of late: an RST that copies it was most likely made by
    /// somebody who read it.
    pub(super) fn has_asked(&self, number24: u32) -> bool {
        self.asked.contains(&number24)
    }

    /// The peer knows nothing of a connection that it has accepted: it is to hear of it again.
    pub(super) fn begin_again(&mut self) {
        self.begins_again = true;
    }

    /// True if the next POLL is to bring our BGN once more.
    pub(super) fn begins_again(&self) -> bool {
        self.begins_again
    }

    /// A BGN left.
    pub(super) fn begun(&mut self) {
        self.begins_again = false;
    }

    /// A segment of another instance arrived.
    pub(super) fn note_guess(&mut self, now: Instant) {
        if now.since(self.counted_since) >= GUESSING_NS {
            (self.guesses, self.counted_since) = (0, now);
        }
        self.guesses = self.guesses.saturating_add(1);
        if self.guesses >= MIN_GUESSES {
            self.guessed_until = now.after(GUESSING_NS);
        }
    }

    /// True if somebody guesses at our instance, and may have found it.
    pub(super) fn are_guesses_likely(&self, now: Instant) -> bool {
        now < self.guessed_until
    }

    /// True if the peer may be asked now whether it knows the connection.
    pub(super) fn may_challenge(&mut self, now: Instant) -> bool {
        let may = self.challenged_at.is_none_or(|at| at.after(CHALLENGE_INTERVAL_NS) <= now);
        if may {
            self.challenged_at = Some(now);
        }
        may
    }
}

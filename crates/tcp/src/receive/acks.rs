//! Acknowledgements that are owed.

use skyhaul_core::{Instant, SECOND};

use crate::ack_policy::{AckPolicy, Unacked, Urgency};

/// Debt of the receiver.
#[derive(Clone, Debug, Default)]
pub(super) struct Acks {
    /// Moment at which an acknowledgement leaves, unless something takes it along before; zero: at once.
    due: Option<Instant>,
    /// It leaves by itself, before anything that could take it along.
    is_alone: bool,
    /// Data since the last one.
    unacked: Unacked,
    /// Moment before which those that only a share of a rate is for leave no more.
    spaced_until: Instant,
    /// Segments of low class that were not answered; more than this many are not.
    unanswered_low: u8,
    /// Challenge acknowledgements of the running second [RFC 5961 7], and its begin; each connection counts
    /// its own, so that nobody learns from one about another.
    challenges: u32,
    challenged_since: Option<Instant>,
}

impl Acks {
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// A segment with so much data, or FIN, arrived.
    pub(super) fn owe(&mut self, bytes: usize, policy: AckPolicy, urgency: Urgency, now: Instant) {
        let Unacked { packets, bytes: before } = self.unacked;
        self.unacked =
            Unacked { packets: packets.saturating_add(1), bytes: before.saturating_add(bytes as u64) };
        match policy.due(self.unacked, urgency, now) {
            Some(due) => _ = self.due.get_or_insert(due.max(self.spaced_until)),
            None => self.owe_now(),
        }
    }

    /// One leaves at once, by itself.
    pub(super) fn owe_alone(&mut self) {
        self.owe_now();
        self.is_alone = true;
    }

    pub(super) fn owes_alone(&self) -> bool {
        self.is_alone
    }

    /// A segment of low class with data arrived.
    pub(super) fn owe_low(&mut self) {
        self.unanswered_low = self.unanswered_low.saturating_add(1);
    }

    pub(super) fn owes_low(&self) -> bool {
        self.unanswered_low > 0
    }

    /// An answer of low class leaves.
    pub(super) fn pay_low(&mut self) {
        self.unanswered_low = self.unanswered_low.saturating_sub(1);
    }

    pub(super) fn owe_now(&mut self) {
        self.due = Some(Instant::ZERO);
    }

    /// A segment that may be forged arrived. True if it is answered: not too many were this second.
    pub(super) fn challenge(&mut self, max_per_s: u32, now: Instant) -> bool {
        if self.challenged_since.is_none_or(|since| now.since(since) >= SECOND) {
            (self.challenged_since, self.challenges) = (Some(now), 0);
        }
        let answers = self.challenges < max_per_s;
        if answers {
            self.challenges += 1;
            self.owe_now();
        }
        answers
    }

    /// An acknowledgement left alone, after which the next one waits so long.
    pub(super) fn space(&mut self, spacing_ns: u64, now: Instant) {
        self.spaced_until = now.after(spacing_ns);
    }

    /// An acknowledgement leaves.
    pub(super) fn pay(&mut self) {
        self.due = None;
        self.is_alone = false;
        self.unacked = Unacked::default();
    }
}

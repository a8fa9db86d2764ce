//! Voice of an end that only answers: after some silence it says that it is there. It may have moved, or the
//! network in between may have given it another address, and nobody would learn of that.

use skyhaul_core::{Instant, SECOND};

/// Silence after which an end that got segments speaks up; then each time after twice as long.
pub const SPEAK_UP_NS: u64 = SECOND;

/// Times that it speaks up since it was last spoken to.
const MAX_TIMES: u32 = 6;

/// When to speak up.
#[derive(Debug, Default)]
pub(crate) struct Voice {
    heard_at: Instant,
    /// Whether more may be expected: the last record had a segment.
    is_spoken_to: bool,
    times: u32,
    /// When to look next. A record that comes does not move it: the timer looks, and waits on.
    at: Option<Instant>,
}

impl Voice {
    /// A record came.
    pub(crate) fn heard(&mut self, now: Instant, has_segment: bool) {
        (self.heard_at, self.is_spoken_to, self.times) = (now, has_segment, 0);
        let first = now.after(SPEAK_UP_NS);
        if has_segment && self.at.is_none_or(|at| at > first) {
            self.at = Some(first);
        }
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.at
    }

    /// Whether it is time to speak now; then the next time is set.
    pub(crate) fn fire(&mut self, now: Instant) -> bool {
        if self.at.is_none_or(|at| at > now) {
            return false;
        }
        let wait = |times: u32| self.heard_at.after((2_u64.pow(times + 1) - 1) * SPEAK_UP_NS);
        if !self.is_spoken_to || self.times == MAX_TIMES {
            self.at = None;
            return false;
        }
        let is_due = wait(self.times) <= now;
        self.times += u32::from(is_due);
        self.at = Some(wait(self.times));
        is_due
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn it_speaks_more_and_more_rarely_and_then_no_more() {
        let at = |s: u64| Instant::from_ns(s * SECOND);
        let mut voice = Voice::default();
        assert_eq!(voice.deadline(), None);
        voice.heard(at(10), true);
        voice.heard(at(11), true);
        let mut spoken = Vec::new();
        while let Some(now) = voice.deadline() {
            assert!(now <= at(200), "it never ends");
            if voice.fire(now) {
                spoken.push(now.since(at(11)) / SECOND);
            }
        }
        assert_eq!(spoken, [1, 3, 7, 15, 31, 63]);
    }

    #[test]
    fn it_keeps_silent_where_nothing_is_to_come() {
        let mut voice = Voice::default();
        voice.heard(Instant::from_ns(SECOND), true);
        voice.heard(Instant::from_ns(SECOND + 1), false);
        assert!(!voice.fire(Instant::from_ns(5 * SECOND)));
        assert_eq!(voice.deadline(), None);
    }
}

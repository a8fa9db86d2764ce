//! Facts about a host that openings with data go by: the caches of T/TCP [RFC 1644 3.1], the cookie of Fast
//! Open [RFC 7413 4.1.3]. They are bounded where they are kept, by the number of ways.

use skyhaul_core::{Instant, SECOND};

use super::{Cookie, Lesson};
use crate::sequence::is_earlier;

/// Time without Fast Open after an opening with a cookie was lost; doubled with each further one in a row.
const VANISHED_FOR_NS: u64 = 60 * SECOND;
/// Doublings at most: an hour.
const MAX_DOUBLINGS: u32 = 6;
/// Largest segment of a host that nothing is known of.
const DEFAULT_MSS: u16 = 536;

/// Facts about a host.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    /// cache.CC: the highest count of the host's that a connection had.
    peer_count: Option<u32>,
    /// cache.CCsent: the count of our last opening that it has taken.
    sent_count: Option<u32>,
    cookie: Option<Cookie>,
    mss: Option<u16>,
    /// Openings with a cookie that were lost in a row, and until when there is none.
    vanished: u32,
    vanished_until: Option<Instant>,
}

impl Facts {
    /// TAO test: a count higher than all before is no old opening's [RFC 1644 3.1]. It is remembered.
    pub(crate) fn passes(&mut self, count: u32) -> bool {
        let is_new = self.peer_count.is_some_and(|last| is_earlier(last, count));
        if is_new {
            self.peer_count = Some(count);
        }
        is_new
    }

    /// An opening that counts `own` begins: true if the host can compare it with one before. If not, it is
    /// to forget what it has (CC.NEW).
    pub(crate) fn begin(&mut self, own: u32) -> bool {
        let is_comparable = self.sent_count.is_some_and(|last| is_earlier(last, own));
        self.sent_count = if is_comparable { Some(own) } else { None };
        is_comparable
    }

    /// Cookie for an opening now.
    pub(crate) fn cookie(&self) -> Option<Cookie> {
        self.cookie
    }

    /// True if openings with a cookie are lost on the way to the host, as far as is known now.
    pub(crate) fn has_vanished(&self, now: Instant) -> bool {
        self.vanished_until.is_some_and(|until| now < until)
    }

    /// Largest segment of the host.
    pub(crate) fn mss(&self) -> u16 {
        self.mss.unwrap_or(DEFAULT_MSS)
    }

    /// Takes what an opening has taught.
    pub(crate) fn learn(&mut self, lesson: Lesson, now: Instant) {
        match lesson {
            Lesson::PeerCount { count, is_new: true } => self.peer_count = Some(count),
            Lesson::PeerCount { count, is_new: false } => self.raise(count),
            Lesson::SpeaksTtcp { peer, own, mss } => {
                (self.sent_count, self.mss) = (Some(own), Some(mss));
                self.raise(peer);
            }
            Lesson::NoTtcp => self.sent_count = None,
            Lesson::Cookie { cookie, mss } => {
                (self.cookie, self.mss) = (Some(cookie), Some(mss));
                self.vanished = 0;
            }
            Lesson::CookieWorks => self.vanished = 0,
            Lesson::Vanished => {
                let for_ns = VANISHED_FOR_NS << self.vanished.min(MAX_DOUBLINGS);
                self.vanished_until = Some(now.after(for_ns));
                self.vanished = self.vanished.saturating_add(1);
            }
        }
    }

    /// An older connection's count changes nothing.
    fn raise(&mut self, count: u32) {
        if self.peer_count.is_none_or(|last| is_earlier(last, count)) {
            self.peer_count = Some(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_count_above_all_before_passes_also_where_counts_wrap() {
        let mut facts = Facts::default();
        assert!(!facts.passes(5), "nothing is known");
        facts.learn(Lesson::PeerCount { count: u32::MAX, is_new: true }, Instant::ZERO);
        assert!(!facts.passes(u32::MAX) && !facts.passes(u32::MAX - 9));
        assert!(facts.passes(3) && !facts.passes(3) && !facts.passes(u32::MAX) && facts.passes(4));
    }

    #[test]
    fn each_lost_opening_in_a_row_doubles_the_time_without_up_to_an_hour() {
        let mut facts = Facts::default();
        let mut now = Instant::from_ns(1);
        for minutes in [1, 2, 4, 8, 16, 32, 64, 64] {
            facts.learn(Lesson::Vanished, now);
            let end = now.after(minutes * VANISHED_FOR_NS);
            assert!(facts.has_vanished(end.before(1)) && !facts.has_vanished(end));
            now = end;
        }
        facts.learn(Lesson::CookieWorks, now);
        facts.learn(Lesson::Vanished, now);
        assert!(!facts.has_vanished(now.after(VANISHED_FOR_NS)));
    }
}

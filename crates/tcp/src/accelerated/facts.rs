//! Facts about a host that openings with data go by: the caches of T/TCP [RFC 1644 3.1], the cookie of Fast
//! Open [RFC 7413 4.1.3]. They are bounded where they are kept, by the number of ways.

use skyhaul_core::{Instant, SECOND};

use super::{Cookie, Lesson, RoundTrip};
use crate::sequence::is_earlier;

/// Time without Fast Open after an opening with its option was lost; doubled with each further one in a row.
const VANISHED_FOR_NS: u64 = 60 * SECOND;
/// Doublings at most: an hour.
const MAX_DOUBLINGS: u32 = 6;
/// Largest segment of a host that nothing is known of.
const DEFAULT_MSS: u16 = 536;

/// Facts about a server that Fast Open goes by [RFC 7413 4.1.3], for a program that keeps them from one run
/// to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FastOpenFacts {
    /// Its cookie.
    pub cookie: Option<Cookie>,
    /// Its largest segment: so much goes with an opening at most. `None`: 536 octets.
    pub mss_bytes: Option<u16>,
    /// Openings with a cookie, or with a question for one, that were lost in a row.
    pub lost_openings: u32,
    /// Time from now on in which openings go without cookie, question and data, as they were lost with them;
    /// at most 64 minutes.
    pub spared_ns: u64,
}

/// Facts about a host.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    /// cache.CC: the highest count of the host's that a connection had.
    peer_count: Option<u32>,
    /// Count of ours for the connection that told it: a later one has a higher one.
    told_by: u32,
    /// cache.CCsent: the count of our last opening that it has taken.
    sent_count: Option<u32>,
    /// Average over connections that are over.
    round_trip: Option<RoundTrip>,
    cookie: Option<Cookie>,
    mss: Option<u16>,
    /// Openings with the option that were lost in a row, and until when there is none.
    vanished: u32,
    vanished_until: Option<Instant>,
}

impl Facts {
    /// TAO test: a count higher than all before is no old opening's [RFC 1644 2.1]. It is remembered.
    /// `own`: our count for the opening.
    pub(crate) fn passes(&mut self, count: u32, own: u32) -> bool {
        let is_new = self.peer_count.is_some_and(|last| is_earlier(last, count));
        if is_new {
            self.set_count(count, own);
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

    /// True if openings with the option are lost on the way to the host, as far as is known now.
    pub(crate) fn has_vanished(&self, now: Instant) -> bool {
        self.vanished_until.is_some_and(|until| now < until)
    }

    /// Facts for a later run.
    pub(crate) fn fast_open(&self, now: Instant) -> FastOpenFacts {
        FastOpenFacts {
            cookie: self.cookie,
            mss_bytes: self.mss,
            lost_openings: self.vanished,
            spared_ns: self.vanished_until.map_or(0, |until| until.since(now)),
        }
    }

    /// Takes the facts of an earlier run.
    pub(crate) fn assume_fast_open(&mut self, facts: FastOpenFacts, now: Instant) {
        let spared_ns = facts.spared_ns.min(VANISHED_FOR_NS << MAX_DOUBLINGS);
        self.cookie = facts.cookie;
        self.mss = facts.mss_bytes;
        self.vanished = facts.lost_openings;
        self.vanished_until = (spared_ns > 0).then(|| now.after(spared_ns));
    }

    /// Largest segment of the host.
    pub(crate) fn mss(&self) -> u16 {
        self.mss.unwrap_or(DEFAULT_MSS)
    }

    /// Round trip to the host [RFC 1644 4.3].
    pub(crate) fn round_trip(&self) -> Option<RoundTrip> {
        self.round_trip
    }

    /// Takes the round trip of a connection that is over.
    pub(crate) fn learn_round_trip(&mut self, last: RoundTrip) {
        self.round_trip = Some(self.round_trip.map_or(last, |known| known.with(last)));
    }

    /// Takes what an opening has taught.
    pub(crate) fn learn(&mut self, lesson: Lesson, now: Instant) {
        match lesson {
            Lesson::PeerCount { count, is_new: true, own } => {
                // A handshake that came late undoes nothing that a connection behind it has told.
                if self.peer_count.is_none() || is_earlier(self.told_by, own) {
                    self.set_count(count, own);
                }
            }
            Lesson::PeerCount { count, is_new: false, own } => self.raise(count, own),
            Lesson::SpeaksTtcp { peer, own, mss } => {
                self.sent_count = Some(own);
                self.set_mss(mss);
                self.raise(peer, own);
            }
            Lesson::NoTtcp => self.sent_count = None,
            Lesson::NoCount => self.peer_count = None,
            Lesson::Cookie { cookie, mss } => {
                self.cookie = Some(cookie);
                self.set_mss(mss);
                self.vanished = 0;
            }
            Lesson::CookieWorks { mss } => {
                self.set_mss(mss);
                self.vanished = 0;
            }
            Lesson::Vanished => self.spare(now),
            // Of several under way at once the first counts, and once.
            Lesson::Unanswered { at } if self.has_vanished(at) => {}
            Lesson::Unanswered { at } => self.spare(at),
        }
    }

    /// No Fast Open for a while [RFC 7413 4.1.3.1].
    fn spare(&mut self, now: Instant) {
        let for_ns = VANISHED_FOR_NS << self.vanished.min(MAX_DOUBLINGS);
        self.vanished_until = Some(now.after(for_ns));
        self.vanished = self.vanished.saturating_add(1);
    }

    /// An older connection's count changes nothing.
    fn raise(&mut self, count: u32, own: u32) {
        if self.peer_count.is_none_or(|last| is_earlier(last, count)) {
            self.set_count(count, own);
        }
    }

    /// 0: it told none.
    fn set_mss(&mut self, mss: u16) {
        self.mss = Some(mss).filter(|&mss| mss > 0);
    }

    fn set_count(&mut self, count: u32, own: u32) {
        (self.peer_count, self.told_by) = (Some(count), own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_count_above_all_before_passes_also_where_counts_wrap() {
        let mut facts = Facts::default();
        assert!(!facts.passes(5, 1), "nothing is known");
        let anew = Lesson::PeerCount { count: u32::MAX, is_new: true, own: 2 };
        facts.learn(anew, Instant::ZERO);
        let mut passes = |count| facts.passes(count, 3);
        assert!(!passes(u32::MAX) && !passes(u32::MAX - 9));
        assert!(passes(3) && !passes(3) && !passes(u32::MAX) && passes(4));
    }

    #[test]
    fn a_peer_that_counts_anew_undoes_nothing_that_a_later_connection_has_told() {
        let mut facts = Facts::default();
        let mut learn = |count, is_new, own| {
            facts.learn(Lesson::PeerCount { count, is_new, own }, Instant::ZERO);
            facts
        };
        learn(9, false, 2);
        assert!(!learn(1, true, 1).passes(9, 3), "an old duplicate");
        assert!(learn(1, true, 4).passes(2, 5), "it has begun anew");
    }

    #[test]
    fn facts_of_an_earlier_run_go_on_where_it_ended() {
        let mut before = Facts::default();
        let cookie = Cookie::new(&[7; 8]).unwrap();
        before.learn(Lesson::Cookie { cookie, mss: 1460 }, Instant::ZERO);
        before.learn(Lesson::Vanished, Instant::ZERO);
        let kept = before.fast_open(Instant::from_ns(20 * SECOND));
        let spared_ns = 40 * SECOND;
        let expected =
            FastOpenFacts { cookie: Some(cookie), mss_bytes: Some(1460), lost_openings: 1, spared_ns };
        assert_eq!(kept, expected);
        let (mut after, now) = (Facts::default(), Instant::from_ns(5));
        after.assume_fast_open(kept, now);
        assert_eq!((after.cookie(), after.mss(), after.fast_open(now)), (Some(cookie), 1460, kept));
        assert!(after.has_vanished(now.after(spared_ns - 1)) && !after.has_vanished(now.after(spared_ns)));
        after.assume_fast_open(FastOpenFacts { spared_ns: u64::MAX, ..kept }, now);
        assert!(!after.has_vanished(now.after(64 * 60 * SECOND)), "what a file says has its bound");
        after.assume_fast_open(FastOpenFacts::default(), now);
        assert_eq!(after.fast_open(now), FastOpenFacts::default());
    }

    #[test]
    fn the_round_trip_of_a_host_is_an_average_over_its_connections() {
        let mut facts = Facts::default();
        assert_eq!(facts.round_trip(), None);
        facts.learn_round_trip(RoundTrip { smoothed_ns: 800, variance_ns: 400 });
        assert_eq!(facts.round_trip(), Some(RoundTrip { smoothed_ns: 800, variance_ns: 400 }));
        facts.learn_round_trip(RoundTrip { smoothed_ns: 1600, variance_ns: 800 });
        assert_eq!(facts.round_trip(), Some(RoundTrip { smoothed_ns: 900, variance_ns: 500 }));
        for _ in 0..100 {
            facts.learn_round_trip(RoundTrip { smoothed_ns: 1600, variance_ns: 800 });
        }
        let known = facts.round_trip().unwrap();
        assert!(known.smoothed_ns > 1590 && known.variance_ns < 20, "{known:?}");
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
        facts.learn(Lesson::CookieWorks { mss: 1460 }, now);
        facts.learn(Lesson::Vanished, now);
        assert!(!facts.has_vanished(now.after(VANISHED_FOR_NS)));
    }
}

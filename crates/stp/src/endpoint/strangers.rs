//! Answers to those who have proven nothing: how many leave in a second, and which openings have one where
//! there are more. A flood costs what its segments cost to read, and little more. `docs/spec/stp.md` 4.18.

use alloc::vec;
use alloc::vec::Vec;

use skyhaul_core::{Instant, MS, SECOND};

use crate::allowance::Allowance;

/// Time that an RST of no connection takes of what may be spent on them: 1000 a second.
const RESET_NS: u64 = MS;
/// Time that is saved for them: 64 leave at once.
const RESET_BURST_NS: u64 = 64 * RESET_NS;
/// Time that a cookie takes of what may be spent on those that anybody gets: 4000 a second.
const COOKIE_NS: u64 = SECOND / 4000;
/// Time that is saved for them: 256 leave at once.
const COOKIE_BURST_NS: u64 = 256 * COOKIE_NS;
/// Time for which an unanswered opening is remembered at least, and twice that at most: an opener repeats it
/// after 1 s, and 2 s later.
const MEMORY_NS: u64 = 2 * SECOND;
/// Bits of a half of that memory, 128 KiB each: 40,000 openings a second fill 8 % of one.
const MEMORY_BITS: u64 = 1 << 20;

/// Bounds of what strangers are answered.
#[derive(Clone, Debug, Default)]
pub(super) struct Strangers {
    resets: Allowance<RESET_BURST_NS>,
    cookies: Allowance<COOKIE_BURST_NS>,
    unanswered: Openings,
}

impl Strangers {
    /// True if a segment may be answered by RST now; it is counted as answered then.
    pub(super) fn may_reset(&mut self, now: Instant) -> bool {
        self.resets.take(now, RESET_NS)
    }

    /// True if the opening with this nonce may be answered by a cookie now: there are few, or it comes again.
    /// Whoever invents openings has one answer for two at most.
    pub(super) fn may_have_cookie(&mut self, now: Instant, nonce: u64) -> bool {
        self.cookies.take(now, COOKIE_NS) || self.unanswered.comes_again(now, nonce)
    }
}

/// Openings that were not answered, as a bit each at the place that the nonce tells: a stranger who cannot
/// see it meets it by chance alone. Nothing is allocated before there is one.
#[derive(Clone, Debug, Default)]
struct Openings {
    newer: Vec<u64>,
    older: Vec<u64>,
    /// Begin of the newer half.
    since: Instant,
}

impl Openings {
    /// True if this opening has come before: then it is answered, and forgotten. Else it is remembered.
    fn comes_again(&mut self, now: Instant, nonce: u64) -> bool {
        self.turn(now);
        let place = nonce % MEMORY_BITS;
        let (word, bit) = ((place / 64) as usize, 1 << (place % 64));
        let is_known = (self.newer[word] | self.older[word]) & bit != 0;
        self.older[word] &= !bit;
        self.newer[word] = if is_known { self.newer[word] & !bit } else { self.newer[word] | bit };
        is_known
    }

    /// Forgets what is too old.
    fn turn(&mut self, now: Instant) {
        let age_ns = now.since(self.since);
        if self.newer.is_empty() || age_ns >= 2 * MEMORY_NS {
            let blank = vec![0; (MEMORY_BITS / 64) as usize];
            *self = Self { newer: blank.clone(), older: blank, since: now };
        } else if age_ns >= MEMORY_NS {
            core::mem::swap(&mut self.newer, &mut self.older);
            self.newer.fill(0);
            self.since = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use skyhaul_core::Stream;

    use super::*;

    #[test]
    fn an_opening_that_comes_again_is_answered_once_for_two() {
        let mut openings = Openings::default();
        let at = |ms: u64| Instant::from_ns(SECOND + ms * MS);
        assert!(!openings.comes_again(at(0), 5));
        assert!(openings.comes_again(at(1000), 5) && !openings.comes_again(at(1000), 5));
        assert!(openings.comes_again(at(3000), 5), "2 s later, whenever the halves have turned");
        assert!(!openings.comes_again(at(3000), 5) && !openings.comes_again(at(3000 + 4000), 5), "too late");
    }

    #[test]
    fn beside_40_000_openings_a_second_nearly_every_one_that_comes_again_is_known_and_few_others_are() {
        let (mut openings, mut nonces) = (Openings::default(), Stream::new(3, "strangers"));
        let mut flood = |from: u64, count: u64, openings: &mut Openings| {
            let now = |i: u64| Instant::from_ns(SECOND + (from + i) * SECOND / 40_000);
            (0..count).filter(|&i| openings.comes_again(now(i), nonces.next_u64())).count()
        };
        let mut own = Stream::new(4, "newcomers");
        let newcomers: Vec<u64> = (0..1000).map(|_| own.next_u64()).collect();
        let known = |at_s: u64, openings: &mut Openings| {
            let now = Instant::from_ns(SECOND + at_s * SECOND);
            newcomers.iter().filter(|&&nonce| openings.comes_again(now, nonce)).count()
        };
        flood(0, 80_000, &mut openings);
        let early = known(2, &mut openings);
        let mistaken = flood(80_000, 40_000, &mut openings);
        let again = known(3, &mut openings);
        assert!(early < 150 && mistaken < 5000, "{early} and {mistaken} passed for known");
        assert!(again > 800, "{again} of 1000 were known");
    }
}

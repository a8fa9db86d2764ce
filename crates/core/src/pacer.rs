//! Exact integer pacing: a token bucket kept as the time at which the next packet may leave.

use crate::{Instant, SECOND};

/// Packets that leave unasked, one behind the other, and put others off.
const UNASKED_PACKETS: u64 = 4;

/// Budget that spaces packets at a rate. Credit of at most `burst_ns` worth of sending is saved while nothing
/// is sent, so that a late wake-up is caught up and a long silence is not.
#[derive(Clone, Debug)]
pub struct Pacer {
    rate_bps: u64,
    burst_ns: u64,
    next: Instant,
    /// Time up to which what leaves unasked may put the next packet off.
    latest: Instant,
    /// Part of a nanosecond not yet charged, in units of 1/`rate_bps` ns: no drift at any rate.
    remainder: u64,
}

impl Pacer {
    /// Pacer for `rate_bps` bits per second (at least 1) that saves `burst_ns` of credit.
    pub fn new(rate_bps: u64, burst_ns: u64) -> Self {
        Self { rate_bps: rate_bps.max(1), burst_ns, next: Instant::ZERO, latest: Instant::ZERO, remainder: 0 }
    }

    /// Pacer whose next packet may leave at `next`.
    pub fn starting_at(rate_bps: u64, burst_ns: u64, next: Instant) -> Self {
        Self { next, latest: next, ..Self::new(rate_bps, burst_ns) }
    }

    /// Rate in bit/s.
    pub fn rate_bps(&self) -> u64 {
        self.rate_bps
    }

    /// Changes the rate from now on. A debt is one of octets: what was charged and has not had its time yet
    /// takes the time of the new rate, or one moment at a low rate would stop everything for long after it.
    pub fn set_rate(&mut self, now: Instant, rate_bps: u64) {
        let rate_bps = rate_bps.max(1);
        if rate_bps == self.rate_bps {
            return;
        }
        let debt_ns = u128::from(self.next.since(now)) * u128::from(self.rate_bps) / u128::from(rate_bps);
        if debt_ns > 0 {
            let grace_ns = self.latest.since(self.next);
            self.next = now.after(u64::try_from(debt_ns).unwrap_or(u64::MAX));
            self.latest = self.next.after(grace_ns);
        }
        self.rate_bps = rate_bps;
        self.remainder = 0;
    }

    /// Time at which the next packet may leave (in the past: at once).
    pub fn ready_at(&self) -> Instant {
        self.next
    }

    /// True if a packet may leave now.
    pub fn is_ready(&self, now: Instant) -> bool {
        self.next <= now
    }

    /// Charges a packet of `bytes`.
    pub fn spend(&mut self, now: Instant, bytes: u32) {
        let start = self.next.max(now.before(self.burst_ns));
        self.next = self.end_of(start, bytes);
        self.latest = self.next.after(self.next.since(start));
        self.check_invariants();
    }

    /// Charges a packet of `bytes` that leaves whether the pacer is ready or not: a report, a question. All
    /// of them together put the next other one off by no more than the last of those took, or by
    /// four of their own: a rate that answers use up would let nothing else leave for ever.
    pub fn spend_unasked(&mut self, now: Instant, bytes: u32) {
        let start = self.next.max(now.before(self.burst_ns));
        let end = self.end_of(start, bytes);
        if self.next <= now {
            self.latest = self.latest.max(start.after(end.since(start).saturating_mul(UNASKED_PACKETS)));
        }
        self.next = end.min(self.latest);
        self.check_invariants();
    }

    /// Time at which a packet of `bytes` ends that begins at `start`.
    fn end_of(&mut self, start: Instant, bytes: u32) -> Instant {
        let cost = u64::from(bytes) * 8 * SECOND + self.remainder;
        self.remainder = cost % self.rate_bps;
        start.after(cost / self.rate_bps)
    }

    /// Checks, in debug builds, that less than a nanosecond is left uncharged, and that nothing is put off
    /// for longer than it may be.
    fn check_invariants(&self) {
        debug_assert!(self.remainder < self.rate_bps && self.next <= self.latest, "{self:?}");
    }

    /// Nanoseconds that `bytes` take at this rate.
    pub fn duration_ns(&self, bytes: u64) -> u64 {
        (u128::from(bytes) * 8 * u128::from(SECOND) / u128::from(self.rate_bps)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MS;

    #[test]
    fn the_rate_is_exact_over_many_packets() {
        let mut pacer = Pacer::new(7_000_003, 0);
        let mut now = Instant::ZERO;
        for _ in 0..10_000 {
            pacer.spend(now, 1499);
            now = pacer.ready_at();
        }
        let exact = 10_000u128 * 1499 * 8 * u128::from(SECOND) / 7_000_003;
        assert_eq!(u128::from(now.as_ns()), exact);
    }

    #[test]
    fn a_debt_takes_the_time_of_the_rate_that_is_there_when_it_is_due() {
        let now = Instant::from_ns(SECOND);
        let mut pacer = Pacer::new(1000, 0);
        pacer.spend(now, 1250); // 10 s
        pacer.set_rate(now.after(2 * SECOND), 8_000_000);
        assert_eq!(pacer.ready_at(), now.after(2 * SECOND + MS), "1000 octets are left");
        pacer.set_rate(now.after(3 * SECOND), 1000);
        assert_eq!(pacer.ready_at(), now.after(2 * SECOND + MS), "what was paid is paid");
    }

    #[test]
    fn what_leaves_unasked_never_keeps_all_else_from_leaving() {
        let (mut pacer, mut now) = (Pacer::new(1000, 0), Instant::from_ns(SECOND));
        let mut left = 0;
        for _ in 0..1000 {
            if pacer.is_ready(now) {
                pacer.spend(now, 250); // 2 s
                left += 1;
            }
            pacer.spend_unasked(now, 100); // 0.8 s, twice in that
            pacer.spend_unasked(now, 100);
            now = now.after(800 * MS);
        }
        assert!((195..=205).contains(&left), "{left} in 800 s, half of what the rate carries");
        let mut pacer = Pacer::new(1000, 0);
        pacer.spend_unasked(now, 100);
        assert_eq!(pacer.ready_at(), now.after(800 * MS), "one alone takes its time");
    }

    #[test]
    fn silence_saves_no_more_than_the_burst() {
        let mut pacer = Pacer::new(12_000_000, 2 * MS);
        let now = Instant::from_ns(SECOND);
        let mut sent = 0;
        while pacer.is_ready(now) {
            pacer.spend(now, 1500); // 1 ms each
            sent += 1;
        }
        assert_eq!(sent, 3, "two of credit and the one that is due");
    }
}

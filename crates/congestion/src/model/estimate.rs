//! Estimate of the rate that the path carries for us.

use skyhaul_core::{Instant, Interval};

use super::delays::Delays;
use super::pace::Pace;
use super::rates::{MAX_RATE_BPS, MIN_RATE_BPS, rate_bps, was_held_up};

/// Part of the estimate below which a path was not full: the lowest correction, less some packets.
pub(super) const FULL_PART: f64 = 0.45;
/// Part of the time of sending by which arriving took longer if a queue grows.
const GROWTH_PART: u64 = 16;
/// Factor by which more may seem to have arrived than was sent: the rounding of short times.
const MAX_EXCESS: f64 = 1.02;
/// Factor of a jump at most: should the trains be wrong, a round trip of it is what has to wait.
const MAX_JUMP: f64 = 2.0;

/// Rate that the path carries for us.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Estimate {
    /// In bit/s; 0: not known yet.
    bps: f64,
    /// What it was at the last report without a queue.
    calm_bps: f64,
    /// The most that it was at any of those.
    most_calm_bps: f64,
    /// Time at which it was known first.
    known_at: Option<Instant>,
}

impl Estimate {
    /// Rate in bit/s; 0: not known yet.
    pub(super) fn bps(&self) -> f64 {
        self.bps
    }

    /// Rate in bit/s that is due beside a newcomer. Who gave way for long has nothing left; with one
    /// newcomer a half was due, if trains show (`shown_bps`) that the path still carries that.
    pub(super) fn due_bps(&self, shown_bps: f64) -> f64 {
        self.bps.max(self.calm_bps.min(shown_bps) / 2.0)
    }

    pub(super) fn is_known(&self) -> bool {
        self.bps > 0.0
    }

    /// True if it was not known yet when something left.
    pub(super) fn was_unknown(&self, left_at: Instant) -> bool {
        self.known_at.is_some_and(|at| left_at < at)
    }

    /// Sets it to another rate in bit/s.
    pub(super) fn set(&mut self, bps: f64) {
        self.bps = bps.clamp(MIN_RATE_BPS, MAX_RATE_BPS);
    }

    /// Takes in that the first search for it may be over.
    pub(super) fn searched(&mut self, now: Instant) {
        self.known_at = self.is_known().then_some(now);
    }

    /// Takes in a report without a queue.
    pub(super) fn was_calm(&mut self) {
        self.calm_bps = self.bps;
        self.most_calm_bps = self.most_calm_bps.max(self.bps);
    }

    /// Takes the rate of what arrived: with a queue it is what the path carries, without one the least that
    /// it does.
    pub(super) fn take_delivered(
        &mut self,
        long: &Interval,
        delivered_bps: f64,
        pace: &Pace,
        delays: &Delays,
        target_ns: u64,
    ) {
        let delivered_bps = if was_held_up(long) { self.known_bps(long) } else { delivered_bps };
        // A link that was given too little has carried less than it can.
        let given_bps = self.bps.min(pace.proven_bps(delays));
        let was_full = rate_bps(long.sent_bytes, long.sent_ns) > given_bps * FULL_PART;
        let took_longer = long.arrived_ns > long.sent_ns + long.sent_ns / GROWTH_PART;
        let is_growing = took_longer && delays.waited_ns() > target_ns;
        let is_busy = delays.least_waited_ns() > target_ns;
        if was_full && (is_busy || is_growing) {
            self.set(delivered_bps);
        } else {
            // No more than is sent, which while a queue drains is less than the estimate: then it tells
            // nothing.
            self.set(self.bps.max(delivered_bps.min(pace.bps() * MAX_EXCESS)));
        }
    }

    /// Rate in bit/s that what may have been held up and read at once shows: at most what was sent, or what
    /// the path was known to carry without a queue, which it may carry again.
    fn known_bps(&self, long: &Interval) -> f64 {
        let most_bps = self.most_calm_bps.max(rate_bps(long.sent_bytes, long.sent_ns));
        rate_bps(long.arrived_bytes, long.arrived_ns.max(1)).min(most_bps)
    }

    /// Jumps towards what trains show, by this part of the way.
    pub(super) fn jump(&mut self, shown_bps: f64, part: f64) {
        let most_bps = self.bps + (shown_bps - self.bps) * part;
        self.set(most_bps.min(MAX_JUMP * self.bps));
    }
}

//! Pace: the rate at which is sent, out of the one that the path carries.

use skyhaul_core::{Instant, PathSample};

use super::aim::Aim;
use super::delays::Delays;
use super::proof::Proof;
use super::rates::{MAX_RATE_BPS, MIN_RATE_BPS};

/// Rate at which is sent, within what has shown that it fits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    proof: Proof,
    aim: Aim,
    /// In bit/s; 0: no rate is known yet.
    bps: f64,
}

impl Pace {
    /// Pace of a path that takes `first_window_bytes` at once.
    pub(super) fn new(first_window_bytes: u64) -> Self {
        Self { proof: Proof::new(first_window_bytes), aim: Aim::default(), bps: 0.0 }
    }

    /// Rate in bit/s.
    pub(super) fn bps(&self) -> f64 {
        self.bps
    }

    /// Highest rate at which to send, in bit/s, whatever rate was found.
    pub(super) fn proven_bps(&self, delays: &Delays) -> f64 {
        self.proof.max_bps(delays.rtt_min_ns())
    }

    /// Takes in what arrived, and whether it met no queue.
    pub(super) fn saw(&mut self, sample: &PathSample, is_calm: bool) {
        self.proof.saw(sample, is_calm);
    }

    /// Sends at what the path carries.
    pub(super) fn go(&mut self, estimate_bps: f64, delays: &Delays) {
        self.bps = estimate_bps.min(self.proven_bps(delays));
    }

    /// Sends at what the path carries, corrected by the queue. `window_ns`: time in which it is emptied once.
    pub(super) fn hold(
        &mut self,
        now: Instant,
        estimate_bps: f64,
        delays: &Delays,
        target_ns: u64,
        window_ns: u64,
    ) {
        let correction = self.aim.correction(now, delays, target_ns, window_ns);
        self.go(estimate_bps * correction, delays);
    }

    /// Sends at what is claimed beside others: a queue of theirs proves nothing.
    pub(super) fn claim(&mut self, claim_bps: f64) {
        self.bps = claim_bps.clamp(MIN_RATE_BPS, MAX_RATE_BPS);
    }

    /// Keeps below a policer, or a test for one.
    pub(super) fn stay_below(&mut self, max_bps: f64) {
        self.bps = self.bps.min(max_bps).max(MIN_RATE_BPS);
    }
}

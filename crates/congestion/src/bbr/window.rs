//! How much may be under way.

use super::gains::scaled;
use super::model::bytes_in;
use super::{Bbr, MIN_WINDOW_SEGMENTS, Mode, Repair};
use crate::Delivery;

impl Bbr {
    /// Room for segments that are handed down in batches of a millisecond, in an even number of segments; one
    /// pair more while probing for bandwidth.
    fn with_batches(&self, bytes: u64) -> u64 {
        let mss_bytes = self.config.mss_bytes.max(1);
        let fewest = if self.pacing_bytes_per_s < 150_000 { 1 } else { 2 };
        let batch = ((self.pacing_bytes_per_s / 1024).min(65_000) / mss_bytes).clamp(fewest, 127);
        let segments = (bytes.div_ceil(mss_bytes) + 3 * batch).next_multiple_of(2);
        let probes = matches!(self.mode, Mode::ProbeBandwidth { place: 0, .. });
        (segments + if probes { 2 } else { 0 }) * mss_bytes
    }

    pub(super) fn in_flight_goal_bytes(&self, gain: u64) -> u64 {
        self.with_batches(self.product_bytes(self.bandwidth.max_bytes_per_s(), gain))
    }

    pub(super) fn least_window_bytes(&self) -> u64 {
        MIN_WINDOW_SEGMENTS * self.config.mss_bytes
    }

    pub(super) fn save_window(&mut self) {
        let lowered = self.repair != Repair::None || matches!(self.mode, Mode::ProbeRtt { .. });
        self.prior_cwnd_bytes =
            if lowered { self.prior_cwnd_bytes.max(self.cwnd_bytes) } else { self.cwnd_bytes };
    }

    pub(super) fn restore_window(&mut self) {
        self.cwnd_bytes = self.cwnd_bytes.max(self.prior_cwnd_bytes);
    }

    pub(super) fn update_window(&mut self, gain: u64, delivery: &Delivery) {
        let mss_bytes = self.config.mss_bytes;
        let held_bytes = delivery.in_flight_bytes + delivery.newly_bytes;
        self.cwnd_bytes = self.cwnd_bytes.saturating_sub(self.lost_bytes).max(mss_bytes);
        if self.repair == Repair::Begins {
            self.repair = Repair::Conserves;
            self.rounds.restart(delivery.total_bytes);
            self.cwnd_bytes = held_bytes;
        }
        if self.repair == Repair::Conserves {
            self.cwnd_bytes = self.cwnd_bytes.max(held_bytes);
        } else {
            self.cwnd_bytes = self.grown(gain, delivery);
        }
        self.cwnd_bytes = self.cwnd_bytes.min(self.config.max_window_bytes);
        if matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.cwnd_bytes = self.cwnd_bytes.min(self.least_window_bytes());
        }
    }

    fn grown(&self, gain: u64, delivery: &Delivery) -> u64 {
        let bytes_per_s = self.bytes_per_s();
        let is_full = self.pipe.is_reached;
        let bunch_bytes = if is_full { self.bunching.allowance_bytes(bytes_per_s) } else { 0 };
        let goal_bytes = self.with_batches(self.product_bytes(bytes_per_s, gain) + bunch_bytes);
        let more_bytes = self.cwnd_bytes + delivery.newly_bytes;
        let is_young = delivery.total_bytes < self.config.initial_window_bytes;
        let bytes = if is_full {
            more_bytes.min(goal_bytes)
        } else if self.cwnd_bytes < goal_bytes || is_young {
            more_bytes
        } else {
            self.cwnd_bytes
        };
        bytes.max(self.least_window_bytes())
    }

    /// What `gain` bandwidth-delay products are; the first window before the path is known.
    fn product_bytes(&self, bytes_per_s: u64, gain: u64) -> u64 {
        match self.min_rtt_ns {
            Some(rtt_ns) => scaled(bytes_in(bytes_per_s, rtt_ns), gain),
            None => self.config.initial_window_bytes,
        }
    }
}

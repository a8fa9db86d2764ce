//! Window: bytes that may be under way.

use super::model::bytes_in;
use super::state::{Bbr, MIN_WINDOW_SEGMENTS, Mode, Repair, scaled};
use crate::Delivery;

impl Bbr {
    /// Budget with room for segments that are handed down in batches of a millisecond, in an even number of
    /// segments; one pair more while probing for bandwidth.
    fn quantized(&self, bytes: u64) -> u64 {
        let mss_bytes = self.config.mss_bytes.max(1);
        let fewest = if self.pacing_bytes_per_s < 150_000 { 1 } else { 2 };
        let batch = ((self.pacing_bytes_per_s / 1024).min(65_000) / mss_bytes).clamp(fewest, 127);
        let segments = (bytes.div_ceil(mss_bytes) + 3 * batch).next_multiple_of(2);
        let probes = matches!(self.mode, Mode::ProbeBandwidth { cycle_index: 0, .. });
        (segments + if probes { 2 } else { 0 }) * mss_bytes
    }

    pub(super) fn target_inflight(&self, gain: u64) -> u64 {
        self.quantized(self.bdp_bytes(self.bw_filter.max_bw(), gain))
    }

    pub(super) fn min_window_bytes(&self) -> u64 {
        MIN_WINDOW_SEGMENTS * self.config.mss_bytes
    }

    /// Begins a repair, unless one is under way other than that of a timeout.
    pub(super) fn begin_repair(&mut self) {
        if matches!(self.repair, Repair::None | Repair::TimedOut) {
            self.save_window();
            self.repair = Repair::Begins;
        }
    }

    /// Ends the packet conservation of a repair: its round trip is over.
    pub(super) fn end_conservation(&mut self) {
        if self.repair == Repair::Conserves {
            self.repair = Repair::Goes;
        }
    }

    /// Ends a repair: the window is what it was before.
    pub(super) fn end_repair(&mut self) {
        if self.repair != Repair::None {
            self.repair = Repair::None;
            self.restore_window();
        }
    }

    /// Takes the window down to one segment beyond what may still arrive, after a timeout; `first`: not a
    /// repeat of the same silence.
    pub(super) fn collapse_window(&mut self, left_bytes: u64, first: bool) {
        if first {
            self.save_window();
        }
        self.repair = Repair::TimedOut;
        self.cwnd_bytes = left_bytes + self.config.mss_bytes;
    }

    pub(super) fn save_window(&mut self) {
        let lowered = self.repair != Repair::None || matches!(self.mode, Mode::ProbeRtt { .. });
        self.prior_cwnd = if lowered { self.prior_cwnd.max(self.cwnd_bytes) } else { self.cwnd_bytes };
    }

    pub(super) fn restore_window(&mut self) {
        self.cwnd_bytes = self.cwnd_bytes.max(self.prior_cwnd);
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
            self.cwnd_bytes = self.cwnd_bytes.min(self.min_window_bytes());
        }
    }

    fn grown(&self, gain: u64, delivery: &Delivery) -> u64 {
        let bw = self.bw();
        let is_full = self.full_pipe.filled_pipe;
        let bunch_bytes = if is_full { self.extra_acked.allowance_bytes(bw) } else { 0 };
        let target_inflight = self.quantized(self.bdp_bytes(bw, gain) + bunch_bytes);
        let more_bytes = self.cwnd_bytes + delivery.newly_bytes;
        let is_young = delivery.total_bytes < self.config.initial_window_bytes;
        let bytes = if is_full {
            more_bytes.min(target_inflight)
        } else if self.cwnd_bytes < target_inflight || is_young {
            more_bytes
        } else {
            self.cwnd_bytes
        };
        bytes.max(self.min_window_bytes())
    }

    /// Bytes of `gain` bandwidth-delay products; the first window before the path is known.
    fn bdp_bytes(&self, bw: u64, gain: u64) -> u64 {
        match self.min_rtt_ns {
            Some(rtt_ns) => scaled(bytes_in(bw, rtt_ns), gain),
            None => self.config.initial_window_bytes,
        }
    }
}

//! Round trip, timeout and window of the end-to-end layer, UTL [PETRA IV-A, B].

use libm::{ceil, exp2, floor, log2};

use super::plan::within;
use super::{Plan, PlanError};

/// Length of the end-to-end layer's acknowledgement, bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acknowledgement(pub f64);

/// Batches of the end-to-end layer, and the threshold of the relay that they pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batches {
    segments: u64,
    threshold_segments: u64,
}

/// Largest batch, segments: what 24 bits count.
const LARGEST_BATCH: f64 = 16_777_216.0;

impl Batches {
    /// Batches of so many segments each, n, through a relay with this threshold.
    pub fn new(segments: u64, threshold_segments: u64) -> Result<Self, PlanError> {
        within("(9): segments of a batch", segments as f64, 1.0, LARGEST_BATCH)?;
        within("(16): threshold of a relay (segments)", threshold_segments as f64, 1.0, LARGEST_BATCH)?;
        Ok(Self { segments, threshold_segments })
    }

    /// Longest time until a batch is in the first relay's buffer, s: `t(n)` [PETRA (9)] as corrected.
    pub fn entering_s(&self, plan: &Plan) -> f64 {
        let (cycle, segment_s) = (plan.cycle(), 1.0 / plan.arrivals_per_s());
        let further = self.segments as f64 - 1.0;
        let cycles = floor(further / cycle.segments);
        let rest = further - cycles * cycle.segments;
        let first_s = segment_s + plan.path().wires[0].rtt_s / 2.0;
        first_s + cycle.silence_s + cycles * cycle.length_s + rest * segment_s
    }

    /// Longest time in the first relay's buffer, s: `t_buffer` [PETRA (12)].
    pub fn buffered_s(&self, plan: &Plan) -> f64 {
        plan.buffer_segments(self.threshold_segments) as f64 / plan.drain_per_s()
    }

    /// Bound of the time from a batch's first bit to its acknowledgement, s: `RTT_UTL` [PETRA (10)]. A
    /// timeout below it ends connections that nothing is wrong with.
    pub fn rtt_bound_s(&self, plan: &Plan, acknowledgement: Acknowledgement) -> f64 {
        let [sender, receiver] = plan.path().wires;
        plan.first_full_s(self.threshold_segments).unwrap_or(0.0)
            + self.entering_s(plan)
            + self.buffered_s(plan)
            + acknowledgement.time_s(plan)
            + plan.path().satellite.rtt_s
            + sender.rtt_s / 2.0
            + receiver.rtt_s
    }

    /// Timeout of the end-to-end layer that nothing usual exceeds, s. [`Batches::rtt_bound_s`] has neither
    /// the opening of the further hops, which the first batch waits for, nor what comes in faster than the
    /// window of the last wire opens, nor the round trips of [`Plan::repeats`]. Ours.
    pub fn timeout_s(&self, plan: &Plan, acknowledgement: Acknowledgement, status_interval_s: f64) -> f64 {
        let (satellite_s, receiver_s) = (plan.path().satellite.rtt_s, plan.path().wires[1].rtt_s);
        let opening_s = satellite_s + receiver_s + last_window_opening_s(plan);
        let pdu_s = plan.pdus().length_bits() / plan.path().satellite.rate_bps;
        let repeats_s = plan.repeats(status_interval_s) * (satellite_s + status_interval_s + pdu_s);
        self.rtt_bound_s(plan, acknowledgement) + opening_s + repeats_s
    }

    /// Least window of the end-to-end layer, batches: `W_UTL` [PETRA (14)].
    pub fn window_batches(&self, plan: &Plan, acknowledgement: Acknowledgement) -> u64 {
        self.in_flight_batches(plan, self.rtt_bound_s(plan, acknowledgement))
    }

    /// Window of the end-to-end layer, batches, that also lasts for [`Batches::timeout_s`] where PDUs are
    /// repeated, and one for the batch that is being filled. Ours.
    pub fn ample_window_batches(
        &self,
        plan: &Plan,
        acknowledgement: Acknowledgement,
        status_interval_s: f64,
    ) -> u64 {
        self.in_flight_batches(plan, self.timeout_s(plan, acknowledgement, status_interval_s)) + 1
    }

    /// Batches that the satellite link carries in this time.
    fn in_flight_batches(&self, plan: &Plan, time_s: f64) -> u64 {
        let batch_bits = self.segments as f64 * plan.carried_bits();
        ceil(plan.path().satellite.rate_bps * time_s / batch_bits) as u64
    }
}

/// Longest time for which segments wait before the last wire while its window doubles each round trip, s: by
/// the round in which it takes what comes in one, so many have come, and 1, 2, 4 ... of them have left.
fn last_window_opening_s(plan: &Plan) -> f64 {
    let in_a_round = plan.drain_per_s() * plan.path().wires[1].rtt_s;
    let rounds = ceil(log2(in_a_round)).max(0.0);
    (in_a_round * rounds - (exp2(rounds) - 1.0)).max(0.0) / plan.drain_per_s()
}

impl Acknowledgement {
    /// Time of its bits on all links, s: `t_ACK` [PETRA (13)].
    fn time_s(self, plan: &Plan) -> f64 {
        let on_wires: f64 = plan.path().wires.iter().map(|wire| self.0 / wire.rate_bps).sum();
        on_wires + plan.carry(self.0) / plan.equivalent_rate_bps()
    }
}

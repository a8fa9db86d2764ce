//! Beside others who fill the queue, a sender that keeps it short gets nothing. It then claims what one flow
//! of CUBIC would, until it is alone again.

use skyhaul_core::{Instant, Interval, PathSample, SECOND, Verdict};

use super::neighbours::Delivered;
use crate::{Acked, Controller, ControllerConfig, Counting, Cubic, IdleRestart, Lost, Signal};

/// Round trips (of the empty path) for which a queue does not go away though the sender gave way.
pub(super) const PATIENCE_RTTS: u64 = 6;
/// Factor of the queue aimed at above which a queue is somebody's.
pub(super) const CROWDED_TARGETS: u64 = 2;
/// Waiting that differs by less than this part of the queue aimed at is none: the way has become longer.
pub(super) const STEADY_PART: u64 = 2;
/// Packets lost beyond what is lost anyway before a loss counts: a single one may be chance.
const MIN_LOST_PACKETS: u64 = 2;
/// Factor of what is lost anyway that chance may take.
pub(super) const UNUSUAL_FACTOR: f64 = 1.5;
/// Trains in a row that find nobody else's packets between their own ...
const ALONE_TRAINS: u32 = 3;
/// ... when so much of what a train shows is what arrives anyway.
pub(super) const ALONE_PART: f64 = 0.85;
/// Noise that what arrives is made up for at most when it is compared with what trains show: more says that
/// others take it.
pub(super) const ALONE_NOISE: f64 = 0.2;
/// Round trips (of the empty path) without a queue after which nobody fills it any more: CUBIC's is back
/// within fewer, and BBR empties it for two.
const EMPTY_RTTS: u64 = 4;
/// Part of what trains show that is claimed whatever CUBIC's window says, since BBR leaves that little: with
/// one such rival, more than a third of what it gets ...
const CLAIM_PART: f64 = 0.3;
/// ... as long as no more than this is lost, and less with the square of what is: among many, everybody's
/// claim would be too much.
const CLAIM_LOSS: f64 = 0.05;
/// Samples over which that is averaged, some three a round trip: BBR's own probing overflows the queue for
/// one in eight.
const LOSS_SAMPLES: f64 = 24.0;

/// Watch over a queue that does not go away.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompetitionDetector {
    /// Receiver's clock when the first mark arrived that met it; `None`: there is no queue. What a machine
    /// that stood still reads at once arrives at one time, however long it took.
    since_ns: Option<u64>,
    /// Least and most waiting of the queue; the least is [`u64::MAX`] before it counts.
    min_wait_ns: u64,
    max_wait_ns: u64,
}

impl Default for CompetitionDetector {
    fn default() -> Self {
        Self { since_ns: None, min_wait_ns: u64::MAX, max_wait_ns: 0 }
    }
}

/// Cause of such a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueueCause {
    /// Not known yet, or no queue.
    Unknown,
    /// Longer path: the queue never changes, so it is none.
    LongerPath,
    /// Other flows: it changes, whatever the sender does.
    OtherFlows,
}

impl CompetitionDetector {
    /// True while a queue stands that is longer than one that the sender means to make.
    pub(super) fn is_filled(&self) -> bool {
        self.max_wait_ns > 0
    }

    /// True while a queue stands for longer than one would that the sender made itself.
    pub(super) fn is_crowded(&self) -> bool {
        self.min_wait_ns != u64::MAX
    }

    /// Takes in how long a packet waited that arrived at this time of the receiver's clock.
    pub(super) fn saw(
        &mut self,
        arrived_ns: u64,
        wait_ns: u64,
        target_ns: u64,
        rtt_min_ns: u64,
    ) -> QueueCause {
        if wait_ns <= CROWDED_TARGETS * target_ns {
            *self = Self::default();
            return QueueCause::Unknown;
        }
        self.max_wait_ns = self.max_wait_ns.max(wait_ns);
        let crowded_ns = arrived_ns.saturating_sub(*self.since_ns.get_or_insert(arrived_ns));
        // The first round trips show what the sender did itself.
        if crowded_ns > PATIENCE_RTTS / 2 * rtt_min_ns {
            self.min_wait_ns = self.min_wait_ns.min(wait_ns);
        }
        if crowded_ns
            <= PATIENCE_RTTS.saturating_mul(rtt_min_ns).saturating_add(2 * self.max_wait_ns.min(u64::MAX / 4))
        {
            return QueueCause::Unknown;
        }
        if wait_ns.abs_diff(self.min_wait_ns) < target_ns / STEADY_PART {
            *self = Self::default();
            return QueueCause::LongerPath;
        }
        // What has changed once is others' until it is gone, though it stand still for a moment.
        *self = Self { since_ns: Some(arrived_ns), min_wait_ns: 0, max_wait_ns: 0 };
        QueueCause::OtherFlows
    }
}

/// Claim of what a flow of CUBIC would get of the path.
#[derive(Clone, Debug)]
pub(super) struct CubicClaim {
    cubic: Cubic,
    /// Time before which what was sent belongs to the last loss event.
    event_at: Instant,
    arrived_ns: u64,
    alone: u32,
    /// Time of the last report with a queue.
    queued_at: Instant,
    claim_bps: f64,
    /// Part of what was sent of late that was lost beyond what is lost anyway.
    lost_part: f64,
    rtt_ns: u64,
}

impl CubicClaim {
    /// Claim that begins with the window that `rate_bps` fills.
    pub(super) fn new(now: Instant, sample: &PathSample, rate_bps: f64, mss_bytes: u64) -> Self {
        let window_bytes =
            ((rate_bps * sample.rtt_ns as f64 / (8.0 * SECOND as f64)) as u64).max(4 * mss_bytes);
        let config = ControllerConfig {
            mss_bytes,
            // The loss that ends slow start takes it down to what was asked for.
            initial_window_bytes: window_bytes * 10 / 7,
            max_window_bytes: u64::MAX / 4,
            start_until_bytes: u64::MAX,
            counting: Counting::Bytes,
            idle_restart: IdleRestart::Never,
            pacing_percent: None,
            hystart: false,
            vegas: crate::VegasConfig::default(),
            overhead_bytes: 0,
            rtt_ns: Some(sample.rtt_ns),
            seed: 0,
        };
        let mut cubic = Cubic::new(config);
        lose(&mut cubic, now, 10 * window_bytes / 7);
        Self {
            cubic,
            event_at: now,
            arrived_ns: sample.arrived_ns,
            alone: 0,
            queued_at: now,
            claim_bps: 0.0,
            lost_part: 0.0,
            rtt_ns: sample.rtt_ns,
        }
    }

    /// Takes in the queue that a report met; true while others fill it. Whoever claims a share of an empty
    /// path competes with nobody, and leaves the rest of it to nobody.
    pub(super) fn is_opposed(&mut self, now: Instant, is_calm: bool, rtt_min_ns: u64) -> bool {
        if !is_calm {
            self.queued_at = now;
        }
        now.since(self.queued_at) <= EMPTY_RTTS.saturating_mul(rtt_min_ns)
    }

    /// Takes in a report; true while others are still there.
    pub(super) fn on_sample(&mut self, now: Instant, sample: &PathSample, delivered: &Delivered) -> bool {
        let Delivered { delivered_bps, carried_bps, noise_part: calm_loss, .. } = *delivered;
        let window_bytes = self.cubic.window_bytes();
        let passed_ns = sample.arrived_ns.saturating_sub(self.arrived_ns);
        self.arrived_ns = sample.arrived_ns;
        let bytes = (delivered_bps * passed_ns as f64 / (8.0 * SECOND as f64)) as u64;
        self.cubic.on_acked(now, &acked(bytes.min(window_bytes), window_bytes, sample.rtt_ns));
        if sample.long.is_some_and(|long| has_lost(&long, calm_loss)) && sample.sent_at > self.event_at {
            self.event_at = now;
            lose(&mut self.cubic, now, window_bytes);
        }
        self.rtt_ns = sample.rtt_ns;
        if let Some(carried_bps) = carried_bps {
            self.claim_bps = carried_bps * CLAIM_PART;
            self.alone = if delivered_bps > carried_bps * ALONE_PART { self.alone + 1 } else { 0 };
        }
        if let Some(long) = sample.long {
            self.lost_part += (lost_part(&long) - calm_loss - self.lost_part) / LOSS_SAMPLES;
        }
        self.alone < ALONE_TRAINS
    }

    /// Payload bytes under way.
    pub(super) fn window_bytes(&self) -> u64 {
        let due_part = CLAIM_LOSS / self.lost_part.max(CLAIM_LOSS);
        let claim_bytes = due_part * due_part * self.claim_bps * self.rtt_ns as f64 / (8.0 * SECOND as f64);
        self.cubic.window_bytes().max(claim_bytes as u64)
    }

    /// Rate in bit/s that fills the window in a round trip. The pace decides, so that trains have room.
    pub(super) fn rate_bps(&self) -> f64 {
        self.window_bytes() as f64 * 8.0 * SECOND as f64 / self.rtt_ns.max(1) as f64
    }
}

fn lose(cubic: &mut Cubic, now: Instant, in_flight_bytes: u64) {
    let lost =
        Lost { bytes: 0, packets: 1, begins_event: true, in_flight_bytes, verdict: Verdict::Congestion };
    cubic.on_lost(now, &lost);
    cubic.on_signal(now, Signal::Recovered);
}

fn acked(bytes: u64, in_flight_before_bytes: u64, rtt_ns: u64) -> Acked {
    Acked {
        bytes,
        packets: 1,
        in_flight_before_bytes,
        rtt_ns: Some(rtt_ns),
        smoothed_rtt_ns: rtt_ns,
        app_limited: false,
        in_recovery: false,
        delivery: None,
    }
}

/// Part of what was sent that did not arrive.
pub(crate) fn lost_part(long: &Interval) -> f64 {
    long.sent_bytes.saturating_sub(long.arrived_bytes) as f64 / long.sent_bytes.max(1) as f64
}

/// True if more was lost than is lost without a queue.
fn has_lost(long: &Interval, calm_loss: f64) -> bool {
    unusual_bytes(long, calm_loss) > MIN_LOST_PACKETS * 1500
}

/// Bytes lost beyond what chance may take without a queue.
pub(super) fn unusual_bytes(long: &Interval, calm_loss: f64) -> u64 {
    let usual_bytes = UNUSUAL_FACTOR * calm_loss * long.sent_bytes as f64;
    long.sent_bytes.saturating_sub(long.arrived_bytes).saturating_sub(usual_bytes as u64)
}

#[cfg(test)]
mod tests {
    use skyhaul_core::MS;

    use super::*;

    /// Answers of one machine that stood still for a second: their marks left one behind the other, and were
    /// read at one time.
    #[test]
    fn what_is_read_at_once_is_no_queue_that_stays() {
        const RTT_NS: u64 = 20 * MS;
        let mut detector = CompetitionDetector::default();
        for waited_ms in (20..1000).rev().step_by(20) {
            let cause = detector.saw(7 * SECOND, waited_ms * MS, 4 * MS, RTT_NS);
            assert_eq!(cause, QueueCause::Unknown);
        }
        assert!(detector.is_filled() && !detector.is_crowded());
        let causes = (0..150).map(|mark| detector.saw(7 * SECOND + mark * RTT_NS, 40 * MS, 4 * MS, RTT_NS));
        assert!(causes.collect::<alloc::vec::Vec<_>>().iter().any(|cause| *cause != QueueCause::Unknown));
    }

    #[test]
    fn who_claims_a_share_of_an_empty_path_competes_with_nobody() {
        const RTT_NS: u64 = 500 * MS;
        let sample = PathSample {
            sent_at: Instant::ZERO,
            arrived_ns: 0,
            rtt_ns: RTT_NS,
            long: None,
            train: None,
            behind_train: false,
            since_bytes: 0,
        };
        let at = |rtts: u64| Instant::from_ns(rtts * RTT_NS);
        let mut claim = CubicClaim::new(at(0), &sample, 1e6, 1400);
        let calm = [false, true, true, true, true, false, true, true, true, true];
        let opposed = |(rtts, &is_calm): (usize, &bool)| claim.is_opposed(at(rtts as u64), is_calm, RTT_NS);
        assert!(calm.iter().enumerate().all(opposed), "a queue that comes back is somebody's");
        assert!(!claim.is_opposed(at(10), true, RTT_NS));
    }
}

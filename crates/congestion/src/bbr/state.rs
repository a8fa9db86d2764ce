//! State of BBR, and the gains that it goes by.

use skyhaul_core::Instant;

use super::model::{ExtraAcked, FullPipe, MaxBwFilter};
use super::policer::{Policer, Totals};
use crate::ControllerConfig;
use crate::rounds::Rounds;

/// One, as a gain: gains are multiples of 1/256.
pub(super) const BBR_UNIT: u64 = 256;
/// `high_gain`, 2/ln 2 = 2.885: the smallest gain that doubles the rate each round trip, rounded up.
pub(super) const HIGH_GAIN: u64 = BBR_UNIT * 2885 / 1000 + 1;
/// `drain_gain`, its inverse.
pub(super) const DRAIN_GAIN: u64 = BBR_UNIT * 1000 / 2885;
/// `cwnd_gain`, window in bandwidth-delay products: delayed and bunched acknowledgements do not stop the
/// sender.
pub(super) const CWND_GAIN: u64 = 2 * BBR_UNIT;
/// `pacing_gain_cycle`: probing for more bandwidth, draining what that queued, then cruising: a round trip
/// each.
pub(super) const PACING_GAIN_CYCLE: [u64; 8] =
    [BBR_UNIT * 5 / 4, BBR_UNIT * 3 / 4, BBR_UNIT, BBR_UNIT, BBR_UNIT, BBR_UNIT, BBR_UNIT, BBR_UNIT];

/// Product of `value` and `gain`.
pub(super) fn scaled(value: u64, gain: u64) -> u64 {
    u64::try_from(u128::from(value) * u128::from(gain) / u128::from(BBR_UNIT)).unwrap_or(u64::MAX)
}

/// Segments under way while the round trip is measured, and at least at any time.
pub(super) const MIN_WINDOW_SEGMENTS: u64 = 4;
/// Phase of BBR's cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Doubling each round trip, until the pipe is full.
    Startup,
    /// Emptying of the queue that this made.
    Drain,
    /// Cycle of gains: the index in it, and when that began (`cycle_stamp`).
    ProbeBandwidth { cycle_index: usize, since: Instant },
    /// Measuring of the shortest round trip. The end, once little enough is under way, and whether a round
    /// trip has passed since.
    ProbeRtt { until: Option<Instant>, had_round: bool },
}

/// Progress of the repair of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    None,
    /// Losses noticed, and not yet answered.
    Begins,
    /// Packet conservation: for a round trip, as much leaves as arrives.
    Conserves,
    Goes,
    /// After a timeout. A loss of what went again begins anew.
    TimedOut,
}

/// Controller by bandwidth and shortest round trip.
#[derive(Clone, Debug)]
pub struct Bbr {
    pub(super) config: ControllerConfig,
    pub(super) mode: Mode,
    pub(super) rounds: Rounds,
    pub(super) bw_filter: MaxBwFilter,
    pub(super) full_pipe: FullPipe,
    pub(super) extra_acked: ExtraAcked,
    pub(super) policer: Policer,
    /// Shortest round trip, and when it was measured.
    pub(super) min_rtt_ns: Option<u64>,
    pub(super) min_rtt_stamp: Instant,
    pub(super) repair: Repair,
    /// Bytes lost since the last acknowledgement.
    pub(super) lost_bytes: u64,
    pub(super) totals: Totals,
    /// True when sending starts again after a silence, and nothing of it is acknowledged.
    pub(super) idle_restart: bool,
    pub(super) has_seen_rtt: bool,
    pub(super) pacing_bytes_per_s: u64,
    pub(super) cwnd_bytes: u64,
    /// Window before losses or the measuring of the round trip lowered it.
    pub(super) prior_cwnd: u64,
    /// Cycles begun.
    pub(super) cycles: u64,
}

impl Bbr {
    /// `bw`, the bandwidth to go by: the policer's, else the highest.
    pub(super) fn bw(&self) -> u64 {
        self.policer.bw().unwrap_or_else(|| self.bw_filter.max_bw())
    }

    /// `pacing_gain` and `cwnd_gain`.
    pub(super) fn gains(&self) -> (u64, u64) {
        match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBandwidth { .. } if self.policer.bw().is_some() => (BBR_UNIT, CWND_GAIN),
            Mode::ProbeBandwidth { cycle_index, .. } => {
                (PACING_GAIN_CYCLE[cycle_index % PACING_GAIN_CYCLE.len()], CWND_GAIN)
            }
            Mode::ProbeRtt { .. } => (BBR_UNIT, BBR_UNIT),
        }
    }
}

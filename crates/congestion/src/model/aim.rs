//! Queue that is aimed at, and the correction of the rate towards it.

use skyhaul_core::{Instant, MS};

use super::delays::Delays;

/// Queue that is aimed at, as a part of the round trip, within these bounds: long enough to be told from
/// jitter, shorter than anybody minds.
const TARGET_PART: u64 = 50;
const MIN_TARGET_NS: u64 = 2 * MS;
pub(super) const MAX_TARGET_NS: u64 = 10 * MS;
/// Packets that it holds beside that.
const TARGET_PACKETS: f64 = 2.0;
/// Part of a queue that a round trip's worth of correction takes away: the answer comes a round trip later,
/// and a loop with such a delay is stable below 1.57.
const GAIN: f64 = 0.5;
/// Bounds of a correction of the rate.
pub(super) const MIN_CORRECTION: f64 = 0.5;
const MAX_CORRECTION: f64 = 1.05;

/// Time of the queue aimed at, in ns: some of the round trip, but no more than half of what the path has room
/// for, if that is known, and the time of two packets, `packet_ns` each.
pub(super) fn target_ns(rtt_min_ns: u64, room_ns: Option<u64>, packet_ns: f64) -> u64 {
    let room_ns = room_ns.unwrap_or(u64::MAX);
    let part_ns = (rtt_min_ns / TARGET_PART).min(room_ns / 2).clamp(MIN_TARGET_NS, MAX_TARGET_NS);
    part_ns + (TARGET_PACKETS * packet_ns) as u64
}

/// Correction of the rate by the queue: towards the one aimed at, or, once in a window, to none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aim {
    /// Time at which the rate was last lowered for a round trip, so that the path shows its shortest delay.
    drained_at: Option<Instant>,
}

impl Aim {
    /// Factor by which what the path carries is sent. `window_ns`: time in which the queue is emptied once.
    pub(super) fn correction(
        &mut self,
        now: Instant,
        delays: &Delays,
        target_ns: u64,
        window_ns: u64,
    ) -> f64 {
        let drained_at = *self.drained_at.get_or_insert(now);
        if now.since(drained_at) >= window_ns {
            self.drained_at = Some(now);
        }
        let rtt_min_ns = delays.rtt_min_ns();
        let drains = self.drained_at.is_some_and(|at| now.since(at) < rtt_min_ns) && now > drained_at;
        let (aim_ns, gain) = if drains { (0, 1.0) } else { (target_ns, GAIN) };
        let excess_ns = aim_ns as f64 - delays.waited_ns() as f64;
        let correction = 1.0 + gain * excess_ns / rtt_min_ns.max(1) as f64;
        correction.clamp(MIN_CORRECTION, MAX_CORRECTION)
    }
}

//! Evidence of a queue behind the last router: it waits, or takes much of what is sent, and no router makes
//! the rate any smaller.

use skyhaul_core::{Instant, PathSample};

use super::bytes_per_s;
use crate::model::Delays;

/// Loops for which that must hold: the transients of a router are over.
const LOOPS: u64 = 4;
/// Packets that wait at a router that rules, with room to spare: P-XCP has 7 to 10 with limited flows.
const PACKETS: u64 = 16;
/// Part of what is sent that a queue takes: noise takes less.
const LOST_PART: u64 = 3;
/// Part by which the rate of a router that sees the queue falls in that time.
const FALL_PART: u64 = 32;

/// Since when a queue is seen, and the rate at that time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Behind {
    delays: Delays,
    seen: Option<(Instant, u64)>,
}

impl Behind {
    /// Delays that the path has shown.
    pub(super) fn delays(&self) -> Delays {
        self.delays
    }

    /// Waiting on the way there that the last two marks have met, both of them, in ns.
    pub(super) fn waited_ns(&self) -> u64 {
        self.delays.least_waited_ns()
    }

    /// Takes in a report at `rate` octets a second, `packet_ns` a packet. Result: what the path carries, in
    /// octets a second, if there is such a queue.
    pub(super) fn saw(
        &mut self,
        now: Instant,
        sample: &PathSample,
        rate: u64,
        packet_ns: u64,
        loop_ns: u64,
    ) -> Option<u64> {
        self.delays.saw(now, sample, packet_ns as f64);
        let long = sample.long.filter(|long| long.sent_ns > 0 && long.arrived_ns > 0)?;
        let waits = self.delays.least_waited_ns() > PACKETS.saturating_mul(packet_ns);
        let lost_bytes = long.sent_bytes.saturating_sub(long.arrived_bytes);
        let is_lost = lost_bytes > long.sent_bytes / LOST_PART;
        if !(waits || is_lost) {
            self.seen = None;
            return None;
        }
        let (since, rate_then) = *self.seen.get_or_insert((now, rate));
        if rate < rate_then - rate_then / FALL_PART {
            self.seen = Some((now, rate)); // a router sees it
            return None;
        }
        let is_long = now.since(since) >= LOOPS.saturating_mul(loop_ns);
        is_long.then(|| bytes_per_s(long.arrived_bytes, long.arrived_ns))
    }
}

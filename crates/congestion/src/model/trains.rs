//! Trains: packets that leave back to back, so that the path spreads them to the rate that it has, whatever
//! the rate at which the rest is sent. They show that there is more to be had without filling a queue to find
//! out.

use skyhaul_core::{Instant, MS, SECOND};

/// Queue that a train makes at most.
const QUEUE_NS: u64 = 20 * MS;
/// Packets with fewer of which a train shows the jitter of the path, but for low rates, at which a single
/// packet takes longer than any jitter: so many leave if they make a queue of no more than this part of a
/// round trip, and two in any case. A pair is no longer than the queue that is aimed at.
const USUAL_PACKETS: u64 = 4;
const USUAL_PART: u64 = 8;
const MIN_PACKETS: u64 = 2;
/// Packets above which a train shows nothing new.
pub(super) const MAX_PACKETS: u64 = 64;
/// Trains that have to agree.
const AGREEING: usize = 2;

/// Departures of trains, and the rates that the last ones showed.
#[derive(Clone, Debug, Default)]
pub(super) struct Trains {
    shown_bps: [f64; AGREEING],
    sent_at: Option<Instant>,
}

impl Trains {
    /// Takes in the rate that a train showed.
    pub(super) fn measured(&mut self, bps: f64) {
        self.shown_bps.rotate_right(1);
        self.shown_bps[0] = bps;
    }

    /// Rate that the last trains agree on; `None` while there were too few.
    pub(super) fn shown_bps(&self) -> Option<f64> {
        let least = self.shown_bps.iter().copied().fold(f64::INFINITY, f64::min);
        (least > 0.0).then_some(least)
    }

    /// Forgets what was shown: it is acted upon, or holds no longer.
    pub(super) fn forget(&mut self) {
        self.shown_bps = [0.0; AGREEING];
    }

    /// Packets of a train that leaves now; 0: none, as there was one within a round trip.
    pub(super) fn take(&mut self, now: Instant, rtt_ns: u64, rate_bps: f64, mss_bytes: u64) -> u32 {
        if self.sent_at.is_some_and(|at| now.since(at) < rtt_ns) {
            return 0;
        }
        self.sent_at = Some(now);
        let packets_in = |ns: u64| (rate_bps * ns as f64 / (8 * SECOND * mss_bytes.max(1)) as f64) as u64;
        let least = packets_in(rtt_ns / USUAL_PART).clamp(MIN_PACKETS, USUAL_PACKETS);
        packets_in(QUEUE_NS).clamp(least, MAX_PACKETS) as u32
    }
}

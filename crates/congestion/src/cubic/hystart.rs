//! `HyStart`, as the Linux kernel runs it: slow start ends before the queue overflows, when the round trip
//! grows, or when acknowledgements that follow each other closely take half a round trip [Ha, Rhee: "Taming
//! the elephants", 2011, 4]. The successor [RFC 9406] has no trains; a kernel of today has.

use skyhaul_core::{Instant, MS};

use crate::Delivery;

/// Segments of window below which nothing is looked for.
const LOW_WINDOW_SEGMENTS: u64 = 16;
/// Gap between acknowledgements of a train at most.
const TRAIN_GAP_NS: u64 = 2 * MS;
/// Samples of which the shortest is compared.
const SAMPLES: u32 = 8;
/// Growth of the round trip that counts: an eighth, within these bounds.
const GROWTH_NS: (u64, u64) = (4 * MS, 16 * MS);

/// Watch over the running round trip.
#[derive(Clone, Copy, Debug)]
pub(super) struct HyStart {
    /// Total of deliveries with which the round trip ends.
    ends_at_bytes: u64,
    began_at: Instant,
    /// Last acknowledgement of the train.
    train_at: Instant,
    shortest_ns: u64,
    samples: u32,
    /// Shortest round trip of all.
    min_rtt_ns: u64,
}

impl HyStart {
    pub(super) const fn new() -> Self {
        Self {
            ends_at_bytes: 0,
            began_at: Instant::ZERO,
            train_at: Instant::ZERO,
            shortest_ns: u64::MAX,
            samples: 0,
            min_rtt_ns: u64::MAX,
        }
    }

    /// True if slow start ends with this acknowledgement. `is_paced`: segments leave spread, so that a train
    /// is as long as a round trip by itself.
    pub(super) fn ends(&mut self, now: Instant, delivery: &Delivery, segments: u64, is_paced: bool) -> bool {
        let Some(rtt_ns) = delivery.rtt_ns else { return false };
        self.min_rtt_ns = self.min_rtt_ns.min(rtt_ns);
        if delivery.total_bytes > self.ends_at_bytes {
            self.begin_round(now, delivery);
        }
        segments >= LOW_WINDOW_SEGMENTS && (self.is_long_train(now, is_paced) | self.has_grown(rtt_ns))
    }

    fn begin_round(&mut self, now: Instant, delivery: &Delivery) {
        self.ends_at_bytes = delivery.total_bytes + delivery.in_flight_bytes;
        (self.began_at, self.train_at) = (now, now);
        (self.shortest_ns, self.samples) = (u64::MAX, 0);
    }

    fn is_long_train(&mut self, now: Instant, is_paced: bool) -> bool {
        if now.since(self.train_at) > TRAIN_GAP_NS {
            return false;
        }
        self.train_at = now;
        let limit_ns = if is_paced { self.min_rtt_ns } else { self.min_rtt_ns / 2 };
        now.since(self.began_at) > limit_ns
    }

    fn has_grown(&mut self, rtt_ns: u64) -> bool {
        self.shortest_ns = self.shortest_ns.min(rtt_ns);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        let growth_ns = (self.min_rtt_ns / 8).clamp(GROWTH_NS.0, GROWTH_NS.1);
        self.shortest_ns > self.min_rtt_ns + growth_ns
    }
}

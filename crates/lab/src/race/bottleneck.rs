//! Fate of packets at the narrowest link of the way there.

use serde::Serialize;
use skyhaul_link::LinkCounters;
use skyhaul_scenario::{Protocol, payload_per_packet};
use skyhaul_sim::PACKET_BYTES;

/// Fate of a run's packets at the narrowest link of the way there. What is not known is `None`: nothing was
/// sent.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bottleneck {
    /// Mean wait of packets in its queue.
    pub waiting_ms: Option<f64>,
    /// Wait that 95 % of them did not exceed.
    pub waiting_p95_ms: Option<f64>,
    /// Share of the packets that it damaged or lost by chance, of those that met a link at all.
    pub loss: Option<f64>,
    /// IP bytes that packets as large as may be need for each byte of payload, if what is lost by chance is
    /// repeated, and that only.
    pub needed_per_byte: Option<f64>,
}

impl Bottleneck {
    /// Fate by what the link counted until the end, of packets with so much payload at most.
    pub(super) fn new(counters: &LinkCounters, protocol: &dyn Protocol, max_payload_bytes: u16) -> Self {
        let dropped = counters.dropped;
        let served = counters.entered_packets - dropped.unserved();
        let met = served - dropped.outage;
        let loss = (met > 0).then(|| (dropped.random_loss + dropped.bit_error) as f64 / met as f64);
        let most_bytes = payload_per_packet(protocol);
        let headers_bytes = u64::from(PACKET_BYTES) - most_bytes;
        let per_byte = 1.0 + headers_bytes as f64 / most_bytes.min(max_payload_bytes.into()).max(1) as f64;
        Self {
            waiting_ms: (served > 0).then(|| counters.waited_ns as f64 / served as f64 / 1e6),
            waiting_p95_ms: counters.waits.percentile_ns(95).map(|ns| ns as f64 / 1e6),
            loss,
            needed_per_byte: loss.filter(|&loss| loss < 1.0).map(|loss| per_byte / (1.0 - loss)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_queue_dropped_or_no_link_met_needs_no_repeat() {
        let mut counters =
            LinkCounters { entered_packets: 1000, waited_ns: 900_000_000, ..LinkCounters::default() };
        (counters.dropped.queue_full, counters.dropped.outage, counters.dropped.bit_error) = (100, 400, 50);
        let link = Bottleneck::new(&counters, &skyhaul_sim::TCP, 500);
        assert_eq!((link.waiting_ms, link.loss), (Some(1.0), Some(0.1)));
        let needed = 540.0 / 500.0 / 0.9;
        assert!((link.needed_per_byte.unwrap() - needed).abs() < 1e-12, "{link:?}");
    }

    #[test]
    fn nothing_is_known_of_a_link_that_nothing_met() {
        let link = Bottleneck::new(&LinkCounters::default(), &skyhaul_sim::STP, u16::MAX);
        assert!(link.waiting_ms.is_none() && link.waiting_p95_ms.is_none() && link.needed_per_byte.is_none());
    }
}

//! Counters of a connection.

use skyhaul_core::event::Refusal;
use skyhaul_core::{Instant, Verdict};

/// What a connection counted. Bytes are IP bytes on the wire unless a name says payload.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    /// Segments sent.
    pub sent_packets: u64,
    /// Their size.
    pub sent_bytes: u64,
    /// Segments received and decoded.
    pub received_packets: u64,
    /// Their size.
    pub received_bytes: u64,
    /// Data packets sent again, for any reason.
    pub retransmitted_packets: u64,
    /// Their size.
    pub retransmitted_bytes: u64,
    /// Size of the segments sent without data.
    pub control_bytes: u64,
    /// Data packets sent again while the link would have idled.
    pub idle_repeats: u64,
    /// Data packets sent for the first time.
    pub data_packets: u64,
    /// Payload acknowledged by the peer.
    pub acknowledged_bytes: u64,
    /// Packets judged lost, by verdict: congestion, corruption, outage, unknown.
    pub lost_packets: [u64; 4],
    /// Probing cycles begun.
    pub probe_cycles: u64,
    /// Cycles that found congestion.
    pub probe_congestion: u64,
    /// Cycles that found the link at fault (corruption or outage).
    pub probe_link: u64,
    /// Cycles that were false alarms.
    pub probe_aborted: u64,
    /// POLLs sent as probes.
    pub probes: u64,
    /// POLLs sent.
    pub polls: u64,
    /// STAT segments sent.
    pub stats: u64,
    /// USTAT segments sent.
    pub ustats: u64,
    /// Data packets received that were there already.
    pub duplicates: u64,
    /// Segments refused for other reasons.
    pub refused: u64,
    /// Payload bytes received in sequence.
    pub delivered_bytes: u64,
    /// Payload sent, not acknowledged and not judged lost.
    pub in_flight_bytes: u64,
    /// Congestion window.
    pub cwnd_bytes: u64,
    /// Name of the controller.
    pub controller: &'static str,
    /// Smallest round-trip time.
    pub rtt_min_ns: Option<u64>,
    /// Smoothed round-trip time.
    pub rtt_smoothed_ns: Option<u64>,
    /// When a valid segment last arrived.
    pub last_heard: Instant,
}

impl Stats {
    /// Adds the counters of another connection. What is a state, not a count, is that of the other.
    pub fn add(&mut self, other: &Self) {
        let rtt_min_ns = self.rtt_min_ns.into_iter().chain(other.rtt_min_ns).min();
        let lost = self.lost_packets;
        *self = Self {
            sent_packets: self.sent_packets + other.sent_packets,
            sent_bytes: self.sent_bytes + other.sent_bytes,
            received_packets: self.received_packets + other.received_packets,
            received_bytes: self.received_bytes + other.received_bytes,
            retransmitted_packets: self.retransmitted_packets + other.retransmitted_packets,
            retransmitted_bytes: self.retransmitted_bytes + other.retransmitted_bytes,
            control_bytes: self.control_bytes + other.control_bytes,
            idle_repeats: self.idle_repeats + other.idle_repeats,
            data_packets: self.data_packets + other.data_packets,
            acknowledged_bytes: self.acknowledged_bytes + other.acknowledged_bytes,
            lost_packets: core::array::from_fn(|verdict| lost[verdict] + other.lost_packets[verdict]),
            probe_cycles: self.probe_cycles + other.probe_cycles,
            probe_congestion: self.probe_congestion + other.probe_congestion,
            probe_link: self.probe_link + other.probe_link,
            probe_aborted: self.probe_aborted + other.probe_aborted,
            probes: self.probes + other.probes,
            polls: self.polls + other.polls,
            stats: self.stats + other.stats,
            ustats: self.ustats + other.ustats,
            duplicates: self.duplicates + other.duplicates,
            refused: self.refused + other.refused,
            delivered_bytes: self.delivered_bytes + other.delivered_bytes,
            in_flight_bytes: self.in_flight_bytes + other.in_flight_bytes,
            rtt_min_ns,
            rtt_smoothed_ns: other.rtt_smoothed_ns.or(self.rtt_smoothed_ns),
            ..*other
        };
    }

    pub(super) fn count_refusal(&mut self, why: Refusal) {
        match why {
            Refusal::Duplicate => self.duplicates += 1,
            _ => self.refused += 1,
        }
    }

    pub(super) fn count_lost(&mut self, verdict: Verdict, packets: u32) {
        self.lost_packets[verdict as usize] += u64::from(packets);
    }
}

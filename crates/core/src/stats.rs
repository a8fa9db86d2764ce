//! Counters of a connection, of whatever protocol.

use crate::event::{Refusal, ResumePhase, RuledBy};
use crate::{Instant, LimitTimes, PathEstimate, Verdict};

/// Counters of a connection. Bytes are IP bytes on the wire unless a name says payload. What a protocol does
/// not have is 0.
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
    /// Data packets sent for the first time.
    pub data_packets: u64,
    /// Data packets sent again, for any reason; of one that leaves in pieces, each of them.
    pub retransmitted_packets: u64,
    /// Their size.
    pub retransmitted_bytes: u64,
    /// Size of the segments sent without data.
    pub control_bytes: u64,
    /// TCP: size of those of them that acknowledge data, and nothing else.
    pub data_ack_bytes: u64,
    /// Payload acknowledged by the peer.
    pub acknowledged_bytes: u64,
    /// Packets judged lost, by verdict: congestion, corruption, outage, unknown.
    pub lost_packets: [u64; 4],
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
    /// Estimate of the path by its controller, if that measures it.
    pub path_estimate: Option<PathEstimate>,
    /// Largest IP packet that the path has shown to take, if that is being found out.
    pub path_mtu_bytes: Option<u32>,
    /// Rate that the declared one was lowered to, in bit/s, now or last, if most of what left was lost.
    pub lowered_rate_bps: Option<u64>,
    /// Ground of the path's rate, where routers were asked and that is known.
    pub ruled_by: Option<RuledBy>,
    /// Step in the use of a remembered path, if the connection began with one.
    pub resume: Option<ResumePhase>,
    /// Time at which a valid segment last arrived.
    pub last_heard: Instant,
    /// STP: what held the sending half back, by time.
    pub limits: Option<LimitTimes>,

    /// STP: data packets sent again while the link would have idled.
    pub idle_repeats: u64,
    /// STP: repair symbols sent over packets without confirmation, while the link would have idled.
    pub repair_packets: u64,
    /// STP: size of those segments.
    pub repair_bytes: u64,
    /// STP: probing cycles begun.
    pub probe_cycles: u64,
    /// STP: cycles that found congestion.
    pub probe_congestion: u64,
    /// STP: cycles that found the link at fault (corruption or outage).
    pub probe_link: u64,
    /// STP: cycles that were false alarms.
    pub probe_aborted: u64,
    /// STP: POLLs sent as probes.
    pub probes: u64,
    /// STP: POLLs sent.
    pub polls: u64,
    /// STP: STAT segments sent.
    pub stats: u64,
    /// STP: USTAT segments sent.
    pub ustats: u64,

    /// TCP: times that the retransmission timer ran out.
    pub timeouts: u64,
    /// TCP: loss events answered by fast recovery.
    pub recoveries: u64,
    /// TCP: probes of a closed window, and questions whether a link is back, sent.
    pub window_probes: u64,
    /// TCP: challenge acknowledgements sent.
    pub challenges: u64,
    /// TCP: times that large packets vanished while smaller ones arrived.
    pub black_holes: u64,
    /// TCP: holes in what the peer sent that were given up.
    pub gaps: u64,
    /// TCP: octets that are missing there.
    pub missing_bytes: u64,
    /// TCP: octets that went as often as they may, and were taken for acknowledged.
    pub abandoned_bytes: u64,
    /// TCP: segments with data that a router had marked.
    pub ce_packets: u64,
    /// TCP: answers to marks that the peer reported, and to source quench.
    pub ecn_reductions: u64,
    /// Repairs, and TCP's timeouts, that turned out to be needless: what they repaired came later. STP does
    /// not count such packets among those lost.
    pub spurious_repairs: u64,
    /// TCP: retransmission timeout.
    pub rto_ns: u64,
    /// TCP: payload that our SYN carried.
    pub opening_sent_bytes: u64,
    /// TCP: payload that went with the opening, whoever sent that, and was taken before the handshake was
    /// over.
    pub opening_taken_bytes: u64,
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
            data_packets: self.data_packets + other.data_packets,
            retransmitted_packets: self.retransmitted_packets + other.retransmitted_packets,
            retransmitted_bytes: self.retransmitted_bytes + other.retransmitted_bytes,
            control_bytes: self.control_bytes + other.control_bytes,
            data_ack_bytes: self.data_ack_bytes + other.data_ack_bytes,
            acknowledged_bytes: self.acknowledged_bytes + other.acknowledged_bytes,
            lost_packets: core::array::from_fn(|verdict| lost[verdict] + other.lost_packets[verdict]),
            duplicates: self.duplicates + other.duplicates,
            refused: self.refused + other.refused,
            delivered_bytes: self.delivered_bytes + other.delivered_bytes,
            in_flight_bytes: self.in_flight_bytes + other.in_flight_bytes,
            rtt_min_ns,
            rtt_smoothed_ns: other.rtt_smoothed_ns.or(self.rtt_smoothed_ns),
            path_estimate: other.path_estimate.or(self.path_estimate),
            path_mtu_bytes: other.path_mtu_bytes.or(self.path_mtu_bytes),
            lowered_rate_bps: other.lowered_rate_bps.or(self.lowered_rate_bps),
            ruled_by: other.ruled_by.or(self.ruled_by),
            resume: other.resume.or(self.resume),
            limits: other.limits.or(self.limits),
            idle_repeats: self.idle_repeats + other.idle_repeats,
            repair_packets: self.repair_packets + other.repair_packets,
            repair_bytes: self.repair_bytes + other.repair_bytes,
            probe_cycles: self.probe_cycles + other.probe_cycles,
            probe_congestion: self.probe_congestion + other.probe_congestion,
            probe_link: self.probe_link + other.probe_link,
            probe_aborted: self.probe_aborted + other.probe_aborted,
            probes: self.probes + other.probes,
            polls: self.polls + other.polls,
            stats: self.stats + other.stats,
            ustats: self.ustats + other.ustats,
            timeouts: self.timeouts + other.timeouts,
            recoveries: self.recoveries + other.recoveries,
            window_probes: self.window_probes + other.window_probes,
            challenges: self.challenges + other.challenges,
            black_holes: self.black_holes + other.black_holes,
            gaps: self.gaps + other.gaps,
            missing_bytes: self.missing_bytes + other.missing_bytes,
            abandoned_bytes: self.abandoned_bytes + other.abandoned_bytes,
            ce_packets: self.ce_packets + other.ce_packets,
            ecn_reductions: self.ecn_reductions + other.ecn_reductions,
            spurious_repairs: self.spurious_repairs + other.spurious_repairs,
            opening_sent_bytes: self.opening_sent_bytes + other.opening_sent_bytes,
            opening_taken_bytes: self.opening_taken_bytes + other.opening_taken_bytes,
            ..*other
        };
    }

    /// A segment was refused.
    pub fn count_refusal(&mut self, why: Refusal) {
        match why {
            Refusal::Duplicate => self.duplicates += 1,
            _ => self.refused += 1,
        }
    }

    /// Packets were judged lost.
    pub fn count_lost(&mut self, verdict: Verdict, packets: u32) {
        self.lost_packets[verdict as usize] += u64::from(packets);
    }
}

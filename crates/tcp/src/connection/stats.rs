//! Counters of a connection.

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
    /// Segments with data, sent for the first time.
    pub data_packets: u64,
    /// Segments with data, sent again.
    pub retransmitted_packets: u64,
    /// Their size.
    pub retransmitted_bytes: u64,
    /// Payload acknowledged by the peer.
    pub acknowledged_bytes: u64,
    /// Payload bytes received in sequence.
    pub delivered_bytes: u64,
    /// Times that the retransmission timer ran out.
    pub timeouts: u64,
    /// Loss events answered by fast recovery.
    pub recoveries: u64,
    /// Window probes sent.
    pub probes: u64,
    /// Segments that were refused: outside of the window, too old, absurd.
    pub refused: u64,
    /// Times that large packets vanished while smaller ones arrived.
    pub black_holes: u64,
    /// Segments with data that a router had marked.
    pub ce_packets: u64,
    /// Answers to marks that the peer reported.
    pub ecn_reductions: u64,
    /// Challenge acknowledgements sent.
    pub challenges: u64,
    /// Payload sent and not known to have arrived.
    pub in_flight_bytes: u64,
    /// Congestion window.
    pub cwnd_bytes: u64,
    /// Name of the controller.
    pub controller: &'static str,
    /// Smallest round-trip time.
    pub rtt_min_ns: Option<u64>,
    /// Smoothed round-trip time.
    pub rtt_smoothed_ns: Option<u64>,
    /// Retransmission timeout.
    pub rto_ns: u64,
}

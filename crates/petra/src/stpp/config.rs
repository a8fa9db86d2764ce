//! Parameters of a connection.

use skyhaul_core::{DeclaredRate, MS, SECOND};

use super::pdu::{
    HEADER_BYTES, MAX_PAYLOAD_BYTES, MAX_SDU_HEADER_BYTES, MAX_WINDOW_PDUS, MIN_SDU_HEADER_BYTES, MaskCoding,
};

/// Credit of the declared rate for a sender that wakes up late.
const BURST_NS: u64 = 10 * MS;
/// Periods of statuses in a round trip where nobody says otherwise, as in [PETRA V].
const STATUSES_PER_RTT: u64 = 8;

/// Parameters of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Largest payload of a PDU: P of [PETRA IV-E]. The path's largest packet may lower it.
    pub payload_bytes: u16,
    /// PDUs under way and not confirmed in order, at most: `W_STPP`. The peer's, if that is less.
    pub window_pdus: u16,
    /// Octets of the stream in a full SDU.
    pub sdu_bytes: u16,
    /// Header of an SDU, with that of the relay: 40 octets and more of LTL in the paper. At least 4.
    pub sdu_header_bytes: u16,
    /// Declared rate of the path, bit/s; `None`: what the window lets leave leaves at once.
    pub rate_bps: Option<u64>,
    /// Round trip of the hop: `RTT_sat`. No PDU goes again within it, and POLLs are repeated after it.
    pub rtt_ns: u64,
    /// Time between two statuses: `T_stat`; `None`: an eighth of the round trip.
    pub status_interval_ns: Option<u64>,
    /// Time after which a PDU goes again of which no status has spoken: `T_o(STPP)`; `None`: twice the round
    /// trip and the time between two statuses.
    pub timeout_ns: Option<u64>,
    /// Coding of masks that are sent.
    pub mask: MaskCoding,
    /// Part of the window in use from which on the receiver is polled, percent; `None`: never.
    pub poll_percent: Option<u8>,
    /// Octets written and not confirmed, at most.
    pub send_limit_bytes: u64,
    /// Octets that wait for the reader, from which on the peer is to stop: `B_th`.
    pub threshold_bytes: u64,
    /// Octets kept of what arrived, at most: `B_size`. A PDU beyond is not taken, as if it was lost.
    pub receive_limit_bytes: u64,
    /// Openings sent before the connection fails.
    pub max_tries: u32,
    /// Silence of the peer after which a connection ends that waits for it; `None`: it waits for ever.
    pub give_up_ns: Option<u64>,
}

impl Config {
    /// Parameters of the paper's satellite hop [PETRA V-A], with a window that is ample at 384 kbit/s.
    pub fn standard() -> Self {
        Self {
            payload_bytes: 600,
            window_pdus: 512,
            sdu_bytes: 1000,
            sdu_header_bytes: 40,
            rate_bps: None,
            rtt_ns: 500 * MS,
            status_interval_ns: None,
            timeout_ns: None,
            mask: MaskCoding::Shorter,
            poll_percent: Some(90),
            send_limit_bytes: 1 << 20,
            threshold_bytes: 1 << 18,
            receive_limit_bytes: 1 << 20,
            max_tries: 10,
            give_up_ns: Some(120 * SECOND),
        }
    }

    /// Rate for a path.
    pub fn declared_rate(&self) -> Option<DeclaredRate> {
        self.rate_bps.map(|rate_bps| DeclaredRate { rate_bps, burst_ns: BURST_NS, peak: None })
    }

    /// Time between two statuses, at least 1 ns.
    pub fn status_interval_ns(&self) -> u64 {
        self.status_interval_ns.unwrap_or(self.rtt_ns / STATUSES_PER_RTT).max(1)
    }

    /// Time after which a PDU goes again of which no status has spoken, at least 1 ms.
    pub fn timeout_ns(&self) -> u64 {
        let ample_ns = self.rtt_ns.saturating_add(self.status_interval_ns()).saturating_mul(2);
        self.timeout_ns.unwrap_or(ample_ns).max(MS)
    }

    /// Longest PDU.
    pub fn pdu_bytes(&self) -> u32 {
        HEADER_BYTES as u32 + u32::from(self.payload_bytes)
    }

    /// The parameters within what a connection can keep to.
    #[must_use]
    pub fn checked(mut self) -> Self {
        self.payload_bytes = self.payload_bytes.clamp(1, MAX_PAYLOAD_BYTES);
        self.window_pdus = self.window_pdus.clamp(1, MAX_WINDOW_PDUS);
        self.sdu_bytes = self.sdu_bytes.max(1);
        self.sdu_header_bytes = self.sdu_header_bytes.clamp(MIN_SDU_HEADER_BYTES, MAX_SDU_HEADER_BYTES);
        self.rtt_ns = self.rtt_ns.max(1);
        self.send_limit_bytes = self.send_limit_bytes.max(1);
        // Two PDUs: one that is in order, and what waits behind a missing one.
        self.receive_limit_bytes =
            self.receive_limit_bytes.max(2 * u64::from(MAX_PAYLOAD_BYTES.min(self.payload_bytes)));
        self.threshold_bytes = self.threshold_bytes.clamp(1, self.receive_limit_bytes);
        self.max_tries = self.max_tries.max(1);
        self
    }
}

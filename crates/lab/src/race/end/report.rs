//! Reports of ends.

use serde::{Deserialize, Serialize};
use skyhaul_core::Stats;
use skyhaul_net::Clock;

/// Report of an end. Times are by the machine's monotonic clock, which both ends share.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct EndReport {
    /// Time at which it asked for the connection.
    pub started_at_ns: Option<u64>,
    /// Time of the latest byte.
    pub last_byte_at_ns: Option<u64>,
    /// Time at which it knew that everything had arrived.
    pub confirmed_at_ns: Option<u64>,
    /// Time at which it ended its work.
    pub ended_at_ns: u64,
    /// Payload that arrived.
    pub received_bytes: u64,
    /// Bytes of it that are not what was sent.
    pub wrong_bytes: u64,
    /// Durations of the exchanges.
    pub exchanges_ms: Vec<f64>,
    /// Counters of the sending connection.
    pub counted: Option<EndCounters>,
    /// Reason why it came to nothing.
    pub error: Option<String>,
}

impl EndReport {
    /// Takes note that the end asks for the connection now.
    pub(super) fn start(&mut self) {
        self.started_at_ns = Some(now_ns());
    }

    /// Takes note of so many more bytes that are not what was sent.
    pub(super) fn add_wrong(&mut self, bytes: u64) {
        self.wrong_bytes += bytes;
    }
}

/// Counters of a sending connection; the kernel's TCP has the first two.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct EndCounters {
    /// Name of the controller.
    pub controller: String,
    /// Data packets that were sent again.
    pub retransmitted_packets: u64,
    /// Counters that only our own engines have.
    pub own: Option<Own>,
}

/// Losses and probing cycles by verdict, round trips.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Own {
    lost_packets: [u64; 4],
    probe_cycles: u64,
    probe_congestion: u64,
    probe_link: u64,
    probe_aborted: u64,
    rtt_min_ns: Option<u64>,
    rtt_smoothed_ns: Option<u64>,
}

impl From<&Stats> for EndCounters {
    fn from(stats: &Stats) -> Self {
        let own = Own {
            lost_packets: stats.lost_packets,
            probe_cycles: stats.probe_cycles,
            probe_congestion: stats.probe_congestion,
            probe_link: stats.probe_link,
            probe_aborted: stats.probe_aborted,
            rtt_min_ns: stats.rtt_min_ns,
            rtt_smoothed_ns: stats.rtt_smoothed_ns,
        };
        Self {
            controller: stats.controller.to_string(),
            retransmitted_packets: stats.retransmitted_packets,
            own: Some(own),
        }
    }
}

impl Own {
    /// Counters of a connection, where what is not known is 0.
    pub(in crate::race) fn stats(&self) -> Stats {
        Stats {
            lost_packets: self.lost_packets,
            probe_cycles: self.probe_cycles,
            probe_congestion: self.probe_congestion,
            probe_link: self.probe_link,
            probe_aborted: self.probe_aborted,
            rtt_min_ns: self.rtt_min_ns,
            rtt_smoothed_ns: self.rtt_smoothed_ns,
            ..Stats::default()
        }
    }
}

/// Present, by the machine's monotonic clock.
pub(super) fn now_ns() -> u64 {
    Clock::of_machine().now().as_ns()
}

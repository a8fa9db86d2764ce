//! What an end tells.

use serde::{Deserialize, Serialize};
use skyhaul_core::Stats;

/// What an end did, by the machine's monotonic clock.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::race) struct EndReport {
    /// When it asked for the connection.
    pub(in crate::race) started_at_ns: Option<u64>,
    /// When the latest byte was there.
    pub(in crate::race) last_byte_at_ns: Option<u64>,
    /// When it knew that everything had arrived.
    pub(in crate::race) confirmed_at_ns: Option<u64>,
    /// When it ended its work.
    pub(in crate::race) ended_at_ns: u64,
    pub(in crate::race) received_bytes: u64,
    /// Those of them that are not what was sent.
    pub(in crate::race) wrong_bytes: u64,
    /// How long each exchange took.
    pub(in crate::race) exchanges_ms: Vec<f64>,
    pub(in crate::race) counted: Option<Counted>,
    /// Why it came to nothing.
    pub(in crate::race) error: Option<String>,
}

/// What a sending connection counted; of the kernel's TCP the first two.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::race) struct Counted {
    pub(in crate::race) controller: String,
    pub(in crate::race) retransmitted_packets: u64,
    /// What only our own engines tell.
    pub(in crate::race) own: Option<Own>,
}

/// Losses and probing cycles by verdict, round trips.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(in crate::race) struct Own {
    lost_packets: [u64; 4],
    probe_cycles: u64,
    probe_congestion: u64,
    probe_link: u64,
    probe_aborted: u64,
    rtt_min_ns: Option<u64>,
    rtt_smoothed_ns: Option<u64>,
}

impl From<&Stats> for Counted {
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
    /// As counters of a connection, where what is not known is 0.
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

//! The queue that does not drain in a propagation delay [XCP 4.2.5].

use skyhaul_core::{Instant, SECOND};

use crate::RouterConfig;

/// Octets that wait, the least of them after any departure of a while, and that of the last while.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StandingQueue {
    waiting_bytes: u64,
    min_bytes: u64,
    standing_bytes: u64,
    due: Instant,
}

impl StandingQueue {
    pub(crate) fn starting_at(now: Instant) -> Self {
        let due = now.after(RouterConfig::ALLOWED_QUEUE_NS);
        Self { waiting_bytes: 0, min_bytes: 0, standing_bytes: 0, due }
    }

    pub(crate) fn enter(&mut self, bytes: u32) {
        self.waiting_bytes = self.waiting_bytes.saturating_add(bytes.into());
    }

    pub(crate) fn leave(&mut self, bytes: u32) {
        self.waiting_bytes = self.waiting_bytes.saturating_sub(bytes.into());
        self.min_bytes = self.min_bytes.min(self.waiting_bytes);
    }

    /// Octets that stood for all of the last while.
    pub(crate) fn standing_bytes(&self) -> u64 {
        self.standing_bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting_bytes == 0 && self.min_bytes == 0 && self.standing_bytes == 0
    }

    /// End of the while.
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// The while is over: another begins, of half of what the mean RTT has beyond the queue.
    pub(crate) fn turn(&mut self, mean_rtt_ns: u64, capacity_bps: u64) {
        self.standing_bytes = self.min_bytes;
        self.min_bytes = self.waiting_bytes;
        self.due = self.due.after(self.while_ns(mean_rtt_ns, capacity_bps));
    }

    /// Whiles of an empty queue that end before `now` are passed over.
    pub(crate) fn pass_over(&mut self, mean_rtt_ns: u64, now: Instant) {
        let length_ns = self.while_ns(mean_rtt_ns, 1);
        self.due = self.due.after(now.since(self.due) / length_ns * length_ns);
    }

    fn while_ns(&self, mean_rtt_ns: u64, capacity_bps: u64) -> u64 {
        let drain_ns =
            u128::from(self.waiting_bytes) * u128::from(8 * SECOND) / u128::from(capacity_bps.max(1));
        let drain_ns = u64::try_from(drain_ns).unwrap_or(u64::MAX);
        RouterConfig::ALLOWED_QUEUE_NS.max(mean_rtt_ns.saturating_sub(drain_ns) / 2)
    }
}

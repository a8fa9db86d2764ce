//! P-XCP: positive feedback is raised in proportion to the flows that take less than their share
//! [P-XCP IV, Fig. 6].

use crate::load::UNITS_PER_S;

/// Part of the rise that is handed out, k: keeps the queue short while flows come and go.
const K: f64 = 0.9;

/// Departures of packets that asked for less than their share. RTT / cwnd is X, so the paper's counts of
/// flows are sums of X, and the length of the interval cancels out of their ratio.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PXcp {
    limited_x: u64,
}

impl PXcp {
    pub(super) fn departed(&mut self, x_units: u32, is_limited: bool) {
        if is_limited {
            self.limited_x = self.limited_x.saturating_add(x_units.into());
        }
    }

    /// max(k / (1 - r), 1), where r is the limited part of all flows; 1 where r is 1 or there are none, which
    /// the paper leaves open.
    pub(super) fn turn(&mut self, sum_x_s: f64) -> f64 {
        let limited_x_s = core::mem::take(&mut self.limited_x) as f64 / UNITS_PER_S;
        let others_x_s = sum_x_s - limited_x_s;
        if others_x_s <= 0.0 {
            return 1.0;
        }
        (K * sum_x_s / others_x_s).max(1.0)
    }
}

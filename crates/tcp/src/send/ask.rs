//! Explicit rate control, as the sender takes part in it: where its controller follows routers, its segments
//! with data ask them for a rate.

use skyhaul_core::{Instant, PathHeader, SECOND};

use super::Sender;
use crate::explicit::Use;

impl Sender {
    /// True if segments with data ask routers for a rate.
    pub(crate) fn asks(&self) -> bool {
        self.asks
    }

    /// Header of a segment with data that leaves now; `None`: the controller follows no routers.
    pub(crate) fn ask(&mut self) -> Option<PathHeader> {
        if !self.asks() {
            return None;
        }
        let rtt = self.timer.rtt();
        let rtt_ns = rtt.is_known().then(|| rtt.smoothed_ns());
        let peer_bytes = self.space.window_bytes();
        let data_bytes = self.space.data_end().saturating_sub(self.space.una());
        let rate_bytes = self.config.rate_bps.map_or(u64::MAX, |rate_bps| {
            let bytes = u128::from(rate_bps) * u128::from(rtt_ns.unwrap_or(0)) / u128::from(8 * SECOND);
            u64::try_from(bytes).unwrap_or(u64::MAX)
        });
        let at = Use {
            rtt_ns,
            mss_bytes: self.mss_bytes,
            window_bytes: self.controller.window_bytes().min(peer_bytes),
            wanted_bytes: peer_bytes.min(data_bytes).min(rate_bytes),
        };
        Some(self.asking.ask(self.config.explicit, at))
    }

    /// A header of the peer's arrived: the controller takes in what routers granted.
    pub(crate) fn on_feedback(&mut self, header: &PathHeader, now: Instant) {
        if self.asks() {
            let feedback = self.asking.told(header, self.timer.rtt().smoothed_ns());
            self.controller.on_feedback(now, &feedback);
        }
    }

    /// Octets of a full packet that are a path header's.
    pub(super) fn path_header_bytes(&self) -> u64 {
        if self.asks() { self.config.explicit.header_bytes.into() } else { 0 }
    }
}

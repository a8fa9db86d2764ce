//! Feedback of routers as it arrives with the peer's data: a running sum, so that no lost STAT loses any of
//! it (`docs/spec/xcp.md`, 6).

use skyhaul_core::PathHeader;

use crate::segment::Feedback;

/// Sum of what arrived, for a peer that wants to be told.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FeedbackSum {
    is_wanted: bool,
    /// `None`: no header arrived yet.
    told: Option<Feedback>,
}

impl FeedbackSum {
    /// Sum for a peer that wants it (`is_wanted`), or not.
    pub(super) fn new(is_wanted: bool) -> Self {
        Self { is_wanted, told: None }
    }

    /// A packet with data arrived, with a header or without one.
    pub(super) fn take(&mut self, header: &PathHeader) {
        if self.is_wanted && header.is_for_routers() {
            let Feedback { sum_bytes_per_s, .. } = self.told.unwrap_or_default();
            let sum_bytes_per_s = sum_bytes_per_s.wrapping_add_signed(header.delta_bytes_per_s);
            self.told = Some(Feedback { sum_bytes_per_s, routers: header.routers });
        }
    }

    /// Sum to tell.
    pub(super) fn told(self) -> Option<Feedback> {
        self.told
    }
}

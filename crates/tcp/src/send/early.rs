//! Data that leaves before the handshake is over, with our SYN and, at the end that accepts, behind it.

use skyhaul_core::event::Repeat;
use skyhaul_core::{Instant, Path};

use super::Sender;

/// Terms of early data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Early {
    /// Octets that may go with our SYN; 0: none.
    syn_bytes: u64,
    /// FIN may go with our SYN, too.
    may_end: bool,
    /// The SYN waits for the application's first word.
    waits: bool,
    /// Data goes on behind the SYN, since the peer is known.
    goes_on: bool,
}

impl Sender {
    /// Our SYN waits for the application's first word, and takes at most so much of it along. `may_end`: FIN,
    /// too.
    pub(crate) fn open_with_data(&mut self, syn_bytes: u64, may_end: bool) {
        self.early = Early { syn_bytes, may_end, waits: syn_bytes > 0, goes_on: false };
    }

    /// The peer's data is taken, and it may be answered at once. `may_end`: FIN may go with our SYN.
    pub(crate) fn answer_with_data(&mut self, may_end: bool) {
        self.early = Early { syn_bytes: u64::MAX, may_end, waits: false, goes_on: true };
    }

    /// Every segment bears a count.
    pub(crate) fn make_room_for_counts(&mut self, now: Instant, path: &Path) {
        self.agreed.counts = true;
        self.update_mss(now, path);
    }

    /// Octets that the window counts as acknowledged with our SYN: what went with it was a segment, of which
    /// options had a part.
    pub(super) fn counted_with_syn(&self, bytes: u64) -> u64 {
        bytes.next_multiple_of(self.mss_bytes)
    }

    /// True if data may follow our SYN before that is acknowledged.
    pub(super) fn goes_on_early(&self) -> bool {
        self.early.goes_on
    }

    /// Octets, FIN counted, that go with our SYN; `None`: it waits for the application.
    pub(super) fn early_bytes(&self) -> Option<u64> {
        let Early { syn_bytes, may_end, waits, .. } = self.early;
        let held = self.space.data_end() - self.space.initial() - 1;
        let is_finished = self.space.is_finished();
        if waits && held == 0 && !is_finished {
            return None;
        }
        if syn_bytes == 0 {
            return Some(0);
        }
        // Before the peer has told a window, what it takes of an opening is its own matter.
        let window_bytes = if self.early.goes_on {
            self.space.edge().saturating_sub(self.space.initial() + 1).min(self.congestion_room())
        } else {
            u64::MAX
        };
        let bytes = held.min(syn_bytes).min(self.mss_bytes).min(window_bytes);
        Some(bytes + u64::from(may_end && is_finished && bytes == held))
    }

    /// Our SYN was acknowledged, and not all that went with it: that goes again at once. It is no sign of
    /// congestion [RFC 7413 4.2.1].
    pub(crate) fn resend_refused(&mut self, now: Instant) {
        if self.space.una() < self.space.nxt() {
            self.go_back(Repeat::Refused, now);
        }
    }

    /// True if our FIN has left.
    pub(crate) fn has_sent_fin(&self) -> bool {
        self.space.is_finished() && self.space.max() == self.space.end()
    }

    /// True if all but our FIN is acknowledged, and that was sent.
    pub(crate) fn has_fin_alone_under_way(&self) -> bool {
        self.has_sent_fin() && self.space.una() + 1 == self.space.max()
    }

    /// True if our FIN is acknowledged.
    pub(crate) fn fin_is_acknowledged(&self) -> bool {
        self.space.fin_is_acknowledged()
    }

    /// Retransmission timeout.
    pub(crate) fn rto_ns(&self) -> u64 {
        self.timer.timeout_ns()
    }
}

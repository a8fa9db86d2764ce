//! Declared rate in doubt: what becomes of packets is told to the path, whose circuit breaker lowers a rate
//! of which most is lost (`docs/spec/stp.md`, section 7.2).

use skyhaul_core::{Event, Instant, Path, Verdict};

use super::Sender;
use super::cache::SentPacket;
use super::count::Recent;
use crate::call::Call;
use crate::segment::HEADER_BYTES;

impl Sender {
    /// True if losses are judged under a declared rate, so that it can be in doubt.
    fn doubts_declared(&self) -> bool {
        self.config.rate_bps.is_some() && self.config.probing.is_some_and(|probing| probing.judges_in_passing)
    }

    /// When the packets left, at the earliest, whose fate the path wants to know.
    pub(super) fn fates_since(&self, path: &Path) -> Option<Instant> {
        path.fates_since().filter(|_| self.doubts_declared())
    }

    /// Count of those that a report acknowledges: none yet.
    pub(super) fn recent(&self, path: &Path) -> Recent {
        self.fates_since(path).map_or_else(Recent::default, |since| Recent { since, ..Recent::default() })
    }

    /// Those that it acknowledges have arrived.
    pub(super) fn note_recent(recent: Recent, path: &mut Path) {
        let heads_bytes = recent.packets * u64::from(path.data_wire_bytes(HEADER_BYTES));
        path.count_arrived(recent.packets, recent.bytes + heads_bytes);
    }

    /// Packets of those that are found lost by now with this verdict: one that the link took, or its size,
    /// says nothing of the rate.
    pub(super) fn lost_to_rate(&self, packet: &SentPacket, verdict: Verdict, path: &Path) -> u64 {
        let is_recent = self.fates_since(path).is_some_and(|since| packet.last_sent >= since);
        u64::from(is_recent && verdict != Verdict::Outage && !Self::was_too_large(packet, path))
    }

    /// A report was read: goes on at the rate that the path lets hold.
    pub(super) fn doubt_declared(&mut self, call: &mut Call<'_>) {
        if self.doubts_declared()
            && self.rtt.is_known()
            && let Some(rate_bps) =
                call.path.doubt_declared(call.now, self.rtt.min_ns(), self.cache.unsent_bytes() == 0)
        {
            call.emit(Event::Rate { rate_bps });
        }
    }
}

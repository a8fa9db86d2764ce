//! Limit of a sender while nothing leaves: what [`skyhaul_core::LimitTimes`] books the time to.

use skyhaul_core::event::Phase;
use skyhaul_core::{Limit, Path, Verdict};

use super::{Sender, Situation};

impl Sender {
    /// Limit that holds while nothing may leave. Pure.
    pub(crate) fn limit(&self, situation: &Situation, path: &Path) -> Limit {
        let has_unsent = self.cache.unsent_bytes() > 0;
        let has_repairs = self.cache.queued_packets() > 0;
        let has_pieces = self.has_pieces();
        let is_drained = !has_unsent && !has_repairs && !has_pieces;
        if !situation.is_opened || !situation.is_proven {
            return Limit::Opening;
        }
        if is_drained && self.cache.is_empty() {
            return Limit::Settled;
        }
        if situation.probe_at.is_some() {
            return Limit::Asking;
        }
        if is_drained {
            // A writer who waits although nothing is left to send waits for what is confirmed.
            return if self.writer_waits { Limit::SendBuffer } else { Limit::Drained };
        }
        let repairs_fit = has_pieces || has_repairs && self.queued_packet(situation).is_some();
        let fits = repairs_fit || self.new_data_bytes(path) > 0;
        if fits { self.pace_limit(path) } else { self.window_limit(situation, path) }
    }

    /// Time that a confirmation takes on the empty path.
    pub(crate) fn confirmation_ns(&self) -> u64 {
        if self.rtt.is_known() { self.rtt.min_ns() } else { u64::MAX }
    }

    /// Limit of packets that go again.
    pub(crate) fn repeat_limit(&self) -> Limit {
        self.activity.lost.limit()
    }

    /// Limit of data that the pace alone holds.
    pub(crate) fn rate_limit(&self, path: &Path) -> Limit {
        match self.regulator.pace_phase(path).map_or(Limit::DeclaredRate, rate_limit) {
            // It was found to carry no more.
            Limit::DeclaredRate if path.is_lowered() => Limit::PathRate,
            limit => limit,
        }
    }

    /// Limit of data that waits for its moment alone.
    fn pace_limit(&self, path: &Path) -> Limit {
        if self.activity.was_repair {
            // A peer whose window is closed takes no repeats either.
            let is_closed = self.peer.window_bytes < self.mss_bytes(path) as u64;
            return if is_closed { self.peer_limit() } else { self.repeat_limit() };
        }
        self.rate_limit(path)
    }

    /// Limit of data that a window holds: the path's, the peer's, or one of ours.
    fn window_limit(&self, situation: &Situation, path: &Path) -> Limit {
        let has_repairs = self.cache.queued_packets() > 0;
        let bytes = self.cache.unsent_bytes().min(self.mss_bytes(path)) as u64;
        let flight = self.cache.in_flight_bytes();
        if has_repairs && self.cache.queued_outside(self.coded_packets(situation)).is_none() {
            return self.repeat_limit(); // repair symbols go in their place
        }
        if has_repairs || flight > 0 && flight + bytes > self.regulator.window_bytes() {
            return rate_limit(self.regulator.snapshot().phase);
        }
        if self.is_ahead() {
            return Limit::SendBuffer;
        }
        if self.waits_for_more(bytes as usize, path) {
            return Limit::Drained;
        }
        self.peer_limit()
    }

    /// Limit of data that the peer's window holds. A reader that keeps up leaves most of it open.
    fn peer_limit(&self) -> Limit {
        let has_backlog = self.peer.window_bytes < self.peer.widest_window_bytes / 2;
        if has_backlog { Limit::PeerReader } else { Limit::PeerWindow }
    }
}

/// Packets found lost since none waited to be sent again, by verdict.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LostOfLate([u64; 4]);

impl LostOfLate {
    /// Takes in a packet that is lost.
    pub(super) fn count(&mut self, verdict: Verdict) {
        self.0[verdict as usize] += 1;
    }

    /// Takes in that so many packets were not lost, by verdict.
    pub(super) fn take_back(&mut self, packets: [u64; 4]) {
        self.0.iter_mut().zip(packets).for_each(|(lost, late)| *lost = lost.saturating_sub(late));
    }

    /// Limit of packets that go again: the cause for which most of them were lost.
    fn limit(self) -> Limit {
        let [congestion, corruption, outage, unknown] = self.0;
        match congestion.max(outage) {
            most if most <= corruption + unknown => Limit::Losses,
            most if most == outage => Limit::Outage,
            _ => Limit::Overflow,
        }
    }
}

/// Limit of what a controller in this phase lets leave.
fn rate_limit(phase: Phase) -> Limit {
    match phase {
        Phase::FixedRate => Limit::DeclaredRate,
        Phase::SlowStart | Phase::Startup | Phase::Measuring => Limit::Opening,
        // Whose time that is depends on what is known of others.
        Phase::Avoidance
        | Phase::Drain
        | Phase::Explicit
        | Phase::ProbeBandwidth
        | Phase::ProbeRtt
        | Phase::Holding
        | Phase::Competing
        | Phase::Sharing => Limit::PathRate,
    }
}

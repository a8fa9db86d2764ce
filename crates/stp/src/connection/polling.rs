//! When the receiver is asked: POLL a few times a round trip while data is outstanding, on the last
//! packet of each burst while the window is small, and rarely otherwise [STP 5.1.1, 5.3; XSTP 3].

use skyhaul_core::{Instant, Path, SECOND};

use super::Connection;

/// A last round trip longer than 3/2 of the shortest means queues on the way.
const SLOW_RTT: (u64, u64) = (3, 2);
/// A POLL that is due waits for the next data packet for this part of an interval ...
const RIDE_PART: u64 = 8;
/// ... or this, where the rate is measured: at a low one every packet of its own takes a share.
const FOLLOWING_RIDE_PART: u64 = 2;
/// Bytes that the path carries for each POLL: the 80 or so of its STAT are then half a percent of them.
const BYTES_PER_POLL: u64 = 16_000;
/// POLLs under way that may be lost before the others are waited for: a policer takes the ends of trains.
const SPARE_POLLS: u64 = 3;

impl Connection {
    /// When a POLL is due, if data, an unproven peer, a closed window or an idle connection ask for one.
    pub(super) fn poll_due(&self, path: &Path) -> Option<Instant> {
        if !self.is_polling() {
            return None;
        }
        if self.linger_until.is_some() {
            return None;
        }
        if let Some(due) = self.probe_due(path) {
            return Some(due);
        }
        if self.poll_owed {
            return Some(Instant::ZERO);
        }
        if !self.cache.is_empty() {
            return Some(self.poll_due_for_data(path));
        }
        if !self.proven {
            return Some(self.poll_due_again());
        }
        if self.is_persisting(path) {
            return Some(self.persist.due().unwrap_or_else(|| self.poll_due_again()));
        }
        let quiet_since = self.last_heard.max(self.poll.last_sent_at().unwrap_or(Instant::ZERO));
        self.keepalive_ns().map(|ns| quiet_since.after(ns))
    }

    /// An opener asks even if nobody told it to, and soon, until the acceptor has shown that it may
    /// speak: if the proof was lost, an acceptor at its 3x limit can only wait to be spoken to, and has
    /// little patience with an unproven peer.
    fn keepalive_ns(&self) -> Option<u64> {
        if !self.is_opener || self.peer_is_free {
            return self.config.keepalive_ns;
        }
        let doubled = self.config.bgn_timer_ns.saturating_mul(1 << (self.quiet_polls / 2).min(20));
        Some(doubled.min(self.config.keepalive_ns.unwrap_or(self.config.max_timer_ns)))
    }

    /// POLLs are for connections whose opening was sent.
    fn is_polling(&self) -> bool {
        self.opened || self.first_data_at.is_some()
    }

    fn poll_due_for_data(&self, path: &Path) -> Instant {
        let Some(last) = self.poll.last_sent_at() else {
            let first = self.first_data_at.unwrap_or(self.last_data_at);
            return first.after(self.poll_interval_ns());
        };
        let nothing_new = self.poll.last_order() == Some(self.order);
        if nothing_new || self.window_is_small(path) || self.awaits_answers() {
            return self.poll_due_again();
        }
        last.after(self.backed_off(self.poll_interval_ns()))
    }

    /// When the answer to the last POLL is overdue.
    fn poll_due_again(&self) -> Instant {
        let overdue = self.rtt.overdue_ns(self.config.min_poll_interval_ns);
        self.poll.last_sent_at().map_or(Instant::ZERO, |at| at.after(self.backed_off(overdue)))
    }

    /// As many answers are under way as fit into a round trip, and some more, as a few may be lost: the way back is slower
    /// than the questions are. Before the first answer nobody knows how slow it is.
    fn awaits_answers(&self) -> bool {
        let per_rtt = self.rtt.smoothed_ns().div_ceil(self.poll_interval_ns().max(1));
        let spare = if self.rtt.is_known() { SPARE_POLLS } else { 0 };
        let most = per_rtt.max(self.config.polls_per_rtt) + spare;
        self.config.spares_stats && self.is_rate_paced() && u64::from(self.poll.unanswered()) >= most
    }

    /// A silent peer is asked once per round trip, and after a long silence less and less often.
    fn backed_off(&self, interval_ns: u64) -> u64 {
        let patient = 3 * self.config.polls_per_rtt as u32;
        let over = self.poll.unanswered().saturating_sub(patient);
        if over == 0 {
            return interval_ns;
        }
        let slow = interval_ns.max(self.rtt.smoothed_ns());
        slow.saturating_mul(1 << (over / 32).min(8)).min(self.config.max_timer_ns.max(slow))
    }

    pub(super) fn poll_interval_ns(&self) -> u64 {
        if !self.is_slow() && self.cache.unsent_bytes() == 0 {
            return self.interval_ns(self.config.polls_per_rtt_tail).max(self.queued_ns());
        }
        self.usual_poll_interval_ns()
    }

    /// What the last round trip was longer than the shortest: on a thin way back, answers wait for each other.
    fn queued_ns(&self) -> u64 {
        let is_known = self.config.spares_stats && self.rtt.is_known();
        if is_known { self.rtt.latest_ns().saturating_sub(self.rtt.min_ns()) } else { 0 }
    }

    /// The same before everything was sent.
    pub(super) fn usual_poll_interval_ns(&self) -> u64 {
        let slow = self.is_slow();
        let interval_ns =
            self.interval_ns(if slow { self.config.polls_per_slow_rtt } else { self.config.polls_per_rtt });
        interval_ns.max(self.worthwhile_ns().min(self.rtt.smoothed_ns()))
    }

    /// Time in which the path carries enough to ask about, where its rate is known and answers are to be spared.
    fn worthwhile_ns(&self) -> u64 {
        let rate_bps = self.path_rate_bps().filter(|_| self.config.spares_stats);
        rate_bps.map_or(0, |rate_bps| BYTES_PER_POLL * 8 * SECOND / rate_bps.max(1))
    }

    fn is_slow(&self) -> bool {
        let (numerator, denominator) = SLOW_RTT;
        self.rtt.latest_ns() / numerator > self.rtt.min_ns() / denominator
    }

    fn interval_ns(&self, polls_per_rtt: u64) -> u64 {
        // When a long queue has gone, the last round trip says so, and the average only after many.
        let gone_ns = if self.config.spares_stats { 2 * self.rtt.latest_ns() } else { u64::MAX };
        (self.rtt.smoothed_ns().min(gone_ns) / polls_per_rtt.max(1)).max(self.config.min_poll_interval_ns)
    }

    /// Below about ten segments of window timer POLLs are off [STP 5.3].
    pub(super) fn window_is_small(&self, path: &Path) -> bool {
        let small = self.config.small_window_packets * self.mss_bytes(path) as u64;
        !self.is_rate_paced() && self.controller.window_bytes() < small
    }

    /// Data waits, nothing is under way, and the peer's window is closed.
    pub(super) fn is_persisting(&self, path: &Path) -> bool {
        self.opened
            && self.cache.is_empty()
            && self.cache.unsent_bytes() > 0
            && self.new_data_bytes(path) == 0
    }

    /// When a POLL that is due really leaves: with the next data packet if that is soon. If nothing was
    /// sent since the last one, with the next data packet in any case: asking again and again would
    /// use up a low declared rate, so that the data never gets its turn.
    pub(super) fn poll_sent_at(&self, due: Instant, path: &Path) -> Instant {
        let nothing_new = self.poll.last_order() == Some(self.order);
        let part = if self.following.is_some() { FOLLOWING_RIDE_PART } else { RIDE_PART };
        match self.data_due(path) {
            Some(data)
                if data > due && (nothing_new || data <= due.after(self.poll_interval_ns() / part)) =>
            {
                data
            }
            _ => due,
        }
    }

    /// Whether a POLL goes with a data packet now: due, almost due, forced, or the end of a burst.
    pub(super) fn poll_rides(&self, now: Instant, path: &Path, ends_burst: bool) -> bool {
        let never = self.poll.last_sent_at().is_none();
        if self.train_polls(now, ends_burst) {
            return true;
        }
        if never && self.config.poll_first_burst && (self.is_rate_paced() || ends_burst) {
            return true;
        }
        let forced = self.send_limit_bytes() / 100 * self.config.forced_poll_percent;
        if self.bytes_since_poll >= forced.max(1) {
            return true;
        }
        if self.window_is_small(path) {
            return ends_burst;
        }
        self.poll.last_sent_at().is_some() && self.poll_due_for_data(path) <= now
    }
}

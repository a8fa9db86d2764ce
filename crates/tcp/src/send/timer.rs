//! Retransmission timer, and the round trips that it is made of [RFC 6298].

use skyhaul_core::{Instant, RttEstimator};

use super::rto::Rto;
use crate::accelerated::RoundTrip;
use crate::ack_policy::AckPolicy;
use crate::config::Config;

/// Timer of what is under way.
#[derive(Clone, Debug)]
pub(super) struct RetransmissionTimer {
    rto: Rto,
    /// Moment at which it runs out, if it runs.
    at: Option<Instant>,
    /// Moment since which something is under way, if something is.
    since: Option<Instant>,
    /// Timeouts since something new was acknowledged.
    timeouts: u32,
    /// Moment of the first of them, or of those before.
    first_timeout_at: Option<Instant>,
    /// End of a segment sent once, and when: a round trip being measured.
    timing: Option<(u64, Instant)>,
    /// Timestamps measure the next round trip from this number on: one a window [RFC 6298 3].
    echo_mark: u64,
    /// Moment at which data last left.
    last_data_at: Instant,
    /// Moment of the last timeout, until a round trip is measured that began after it.
    timed_out_at: Option<Instant>,
    /// Oldest number whose repeat got time for its answer.
    repeat_of: Option<u64>,
}

impl RetransmissionTimer {
    pub(super) fn new(config: &Config, initial: u64, now: Instant) -> Self {
        Self {
            rto: Rto::new(config),
            at: None,
            since: None,
            timeouts: 0,
            first_timeout_at: None,
            timing: None,
            echo_mark: initial,
            last_data_at: now,
            timed_out_at: None,
            repeat_of: None,
        }
    }

    /// The peer acknowledges in this way.
    pub(super) fn expect_acks(&mut self, policy: AckPolicy) {
        self.rto.expect_acks(policy);
    }

    /// Time that passes between acknowledgements of a stream of data at most, by the peer's policy.
    pub(super) fn ack_wait_ns(&self) -> u64 {
        self.rto.ack_wait_ns()
    }

    pub(super) fn at(&self) -> Option<Instant> {
        self.at
    }

    /// Moment since which something is under way, if something is.
    pub(super) fn since(&self) -> Option<Instant> {
        self.since
    }

    pub(super) fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// Moment of the last timeout, if no round trip was measured since that began after it.
    pub(super) fn timed_out_at(&self) -> Option<Instant> {
        self.timed_out_at
    }

    /// True if as much time has passed since the first timeout as `repeats` further ones take of a timer that
    /// backs off from what it is now.
    pub(super) fn has_lasted(&self, repeats: u32, now: Instant) -> bool {
        let lasted_ns = self.first_timeout_at.map_or(0, |first| now.since(first));
        lasted_ns >= self.backed_off_ns(repeats)
    }

    /// Time that so many further timeouts take, each of which backs off.
    pub(super) fn backed_off_ns(&self, timeouts: u32) -> u64 {
        self.rto.backed_off_ns(timeouts)
    }

    /// Retransmission timeout.
    pub(super) fn timeout_ns(&self) -> u64 {
        self.rto.timeout_ns()
    }

    /// Moment at which a timer that is started now runs out.
    pub(super) fn due(&self, now: Instant) -> Instant {
        self.rto.due(now)
    }

    /// Takes the round trip of earlier connections, until there is a sample.
    pub(super) fn assume(&mut self, known: RoundTrip) {
        self.rto.assume(known);
    }

    pub(super) fn rtt(&self) -> &RttEstimator {
        self.rto.rtt()
    }

    /// Smoothed round trip; before the first one, how long the segment being timed is under way.
    pub(super) fn rtt_so_far_ns(&self, now: Instant) -> Option<u64> {
        let rtt = self.rto.rtt();
        if rtt.is_known() {
            return Some(rtt.smoothed_ns());
        }
        self.timing.map(|(_, sent_at)| now.since(sent_at))
    }

    /// Time since data last left.
    pub(super) fn idle_ns(&self, now: Instant) -> u64 {
        now.since(self.last_data_at)
    }

    /// A segment that ends before `end` left. The timer starts if it does not run [RFC 6298 5.1]. `is_timed`:
    /// it may measure a round trip, as it was never sent before [RFC 6298 3].
    pub(super) fn on_sent(&mut self, end: u64, is_timed: bool, now: Instant) {
        if is_timed && self.timing.is_none() {
            self.timing = Some((end, now));
        }
        self.last_data_at = now;
    }

    /// Starts anew if something is under way, else stops [RFC 6298 5.2, 5.3].
    pub(super) fn restart(&mut self, is_needed: bool, now: Instant) {
        self.at = is_needed.then(|| self.rto.due(now));
        self.since = is_needed.then(|| self.since.unwrap_or(now));
    }

    /// Starts anew for the first repeat of the oldest number, `una`, that is asked for: whoever goes on
    /// asking
    /// puts the timeout off no further, which tells that no packet of this size arrives.
    pub(super) fn restart_once_for(&mut self, una: u64, now: Instant) {
        if self.repeat_of != Some(una) {
            self.repeat_of = Some(una);
            self.restart(true, now);
        }
    }

    /// Stops until the next segment leaves: everything goes again.
    pub(super) fn stop(&mut self) {
        self.at = None;
        self.timing = None;
    }

    /// Measures no round trip with what was sent so far: it goes again [RFC 6298 3].
    pub(super) fn forget_timing(&mut self) {
        self.timing = None;
    }

    /// It ran out [RFC 6298 5.5]. `backs_off`: the next one waits twice as long.
    pub(super) fn on_timeout(&mut self, backs_off: bool, now: Instant) {
        self.timed_out_at = Some(now);
        if self.timeouts == 0 {
            self.first_timeout_at = Some(now);
        }
        if backs_off {
            self.rto.back_off();
        }
        self.timeouts += 1;
    }

    /// True if it waits longer than the round trips that are known say.
    pub(super) fn is_backed_off(&self) -> bool {
        self.rto.is_backed_off()
    }

    /// A link is back: what left before measures no round trip, as its answer may have waited.
    pub(super) fn on_link_restored(&mut self, now: Instant) {
        self.timed_out_at = Some(now);
        self.timeouts = 0;
    }

    /// The path works again: something new was acknowledged.
    pub(super) fn on_answer(&mut self) {
        self.timeouts = 0;
    }

    /// Our SYN is acknowledged; true if it had to be repeated [RFC 6298 5.7].
    pub(super) fn on_established(&mut self) -> bool {
        let syn_was_lost = self.timeouts > 0;
        if syn_was_lost {
            self.rto.syn_was_lost();
        }
        self.timeouts = 0;
        syn_was_lost
    }

    /// Round trip, if this acknowledgement measures one: of a segment sent once [RFC 6298 3], else by the
    /// timestamp that comes back after `echoed_ns` [RFC 7323 4.1], one sample a round trip.
    pub(super) fn measure(
        &mut self,
        una: u64,
        nxt: u64,
        echoed_ns: Option<u64>,
        now: Instant,
    ) -> Option<u64> {
        let timed = self.timing.filter(|&(end, _)| una >= end).map(|(_, sent_at)| now.since(sent_at));
        if let Some(echoed_ns) = echoed_ns {
            self.rto.glimpse(echoed_ns);
        }
        let may_echo = self.timing.is_none() && una >= self.echo_mark;
        let sample_ns = timed.or(echoed_ns.filter(|_| may_echo))?;
        self.timing = self.timing.filter(|&(end, _)| una < end);
        self.echo_mark = nxt.max(una + 1);
        self.rto.sample(sample_ns);
        self.timed_out_at = None;
        Some(sample_ns)
    }
}

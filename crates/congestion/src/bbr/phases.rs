//! Which mode comes next: startup, drain, the cycle of gains, and the measuring of the round trip.

use skyhaul_core::{Instant, MS, SECOND, Stream};

use super::gains::{CYCLE, UNIT};
use super::{Bbr, MIN_WINDOW_SEGMENTS, Mode};
use crate::{Acked, Delivery};

/// The shortest round trip is remembered so long; then it is measured anew with an all but empty pipe.
const MIN_RTT_WINDOW_NS: u64 = 10 * SECOND;
/// How long that takes, and at least a round trip.
const PROBE_RTT_NS: u64 = 200 * MS;

impl Bbr {
    /// At a random place but that of the low gain, so that flows do not probe together.
    pub(super) fn begin_cycle(&mut self, now: Instant) {
        let mut random = Stream::new(self.config.seed.wrapping_add(self.cycles), "bbr/cycle");
        self.cycles += 1;
        let place = (CYCLE.len() - random.below(CYCLE.len() as u64 - 1) as usize) % CYCLE.len();
        self.mode = Mode::ProbeBandwidth { place, since: now };
    }

    pub(super) fn update_mode(&mut self, now: Instant, acked: &Acked, delivery: &Delivery) {
        if let Mode::ProbeBandwidth { place, since } = self.mode
            && self.is_phase_over(now.since(since), acked.in_flight_before_bytes)
        {
            self.mode = Mode::ProbeBandwidth { place: (place + 1) % CYCLE.len(), since: now };
        }
        if self.mode == Mode::Startup && self.pipe.is_reached {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && delivery.in_flight_bytes <= self.in_flight_goal_bytes(UNIT) {
            self.begin_cycle(now);
        }
    }

    /// A round trip each; more until the pipe is overfull when probing, less once the queue is gone after that.
    fn is_phase_over(&self, lasted_ns: u64, in_flight_bytes: u64) -> bool {
        let is_long = lasted_ns > self.min_rtt_ns.unwrap_or(0);
        let (gain, _) = self.gains();
        let goal_bytes = self.in_flight_goal_bytes(gain.max(UNIT));
        match gain {
            UNIT => is_long,
            low if low < UNIT => is_long || in_flight_bytes <= goal_bytes,
            _ => is_long && (self.lost_bytes > 0 || in_flight_bytes >= goal_bytes),
        }
    }

    pub(super) fn update_min_rtt(&mut self, now: Instant, acked: &Acked, delivery: &Delivery) {
        let is_old = now.since(self.min_rtt_at) > MIN_RTT_WINDOW_NS;
        // A small segment alone waits for a delayed acknowledgement.
        let is_alone = delivery.rate.is_some_and(|rate| rate.bytes == delivery.newly_bytes);
        let is_delayed = is_alone && delivery.newly_bytes < self.config.mss_bytes;
        if let Some(rtt_ns) = delivery.rtt_ns.or(acked.rtt_ns)
            && (self.min_rtt_ns.is_none_or(|min_ns| rtt_ns < min_ns) || (is_old && !is_delayed))
        {
            (self.min_rtt_ns, self.min_rtt_at) = (Some(rtt_ns), now);
        }
        if is_old && !self.restarts && !matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.save_window();
            self.mode = Mode::ProbeRtt { until: None, had_round: false };
        }
        self.probe_rtt(now, delivery);
        self.restarts = false;
    }

    fn probe_rtt(&mut self, now: Instant, delivery: &Delivery) {
        let Mode::ProbeRtt { until, had_round } = &mut self.mode else { return };
        if until.is_some() {
            *had_round |= self.rounds.is_start;
            self.end_probe_rtt(now);
        } else if delivery.in_flight_bytes <= MIN_WINDOW_SEGMENTS * self.config.mss_bytes {
            *until = Some(now.after(PROBE_RTT_NS));
            self.rounds.restart(delivery.total_bytes);
        }
    }

    pub(super) fn end_probe_rtt(&mut self, now: Instant) {
        if let Mode::ProbeRtt { until: Some(until), had_round: true } = self.mode
            && now > until
        {
            self.min_rtt_at = now;
            self.restore_window();
            self.mode = Mode::Startup;
            if self.pipe.is_reached {
                self.begin_cycle(now);
            }
        }
    }
}

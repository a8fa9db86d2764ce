//! Order of the modes: startup, drain, the cycle of gains, and the measuring of the round trip.

use skyhaul_core::{Instant, MS, SECOND, Stream};

use super::state::{BBR_UNIT, Bbr, MIN_WINDOW_SEGMENTS, Mode, PACING_GAIN_CYCLE};
use crate::{Acked, Delivery};

/// Time for which the shortest round trip is remembered; then it is measured anew with an all but empty pipe.
const MIN_RTT_WINDOW_NS: u64 = 10 * SECOND;
/// Duration of that, and at least a round trip.
const PROBE_RTT_NS: u64 = 200 * MS;

impl Bbr {
    /// Begins the cycle at a random index but that of the low gain, so that flows do not probe together.
    pub(super) fn begin_cycle(&mut self, now: Instant) {
        let mut random = Stream::new(self.config.seed.wrapping_add(self.cycles), "bbr/cycle");
        self.cycles += 1;
        let cycle_index = (PACING_GAIN_CYCLE.len()
            - random.below(PACING_GAIN_CYCLE.len() as u64 - 1) as usize)
            % PACING_GAIN_CYCLE.len();
        self.mode = Mode::ProbeBandwidth { cycle_index, since: now };
    }

    pub(super) fn update_mode(&mut self, now: Instant, acked: &Acked, delivery: &Delivery) {
        if let Mode::ProbeBandwidth { cycle_index, since } = self.mode
            && self.is_phase_over(now.since(since), acked.in_flight_before_bytes)
        {
            self.mode =
                Mode::ProbeBandwidth { cycle_index: (cycle_index + 1) % PACING_GAIN_CYCLE.len(), since: now };
        }
        if self.mode == Mode::Startup && self.full_pipe.filled_pipe {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && delivery.in_flight_bytes <= self.target_inflight(BBR_UNIT) {
            self.begin_cycle(now);
        }
    }

    /// True if a phase of the cycle is over: a round trip each; more until the pipe is overfull when probing,
    /// less once the queue is gone after that.
    fn is_phase_over(&self, lasted_ns: u64, in_flight_bytes: u64) -> bool {
        let is_long = lasted_ns > self.min_rtt_ns.unwrap_or(0);
        let (gain, _) = self.gains();
        let target_inflight = self.target_inflight(gain.max(BBR_UNIT));
        match gain {
            BBR_UNIT => is_long,
            low if low < BBR_UNIT => is_long || in_flight_bytes <= target_inflight,
            _ => is_long && (self.lost_bytes > 0 || in_flight_bytes >= target_inflight),
        }
    }

    /// Starts the time of the shortest round trip, before one is known.
    pub(super) fn begin_min_rtt(&mut self, now: Instant) {
        if self.min_rtt_ns.is_none() {
            self.min_rtt_stamp = now;
        }
    }

    /// Takes in that sending starts again after a silence.
    pub(super) fn restart_mode(&mut self, now: Instant) {
        self.idle_restart = true;
        self.end_probe_rtt(now);
    }

    pub(super) fn update_min_rtt(&mut self, now: Instant, acked: &Acked, delivery: &Delivery) {
        let is_old = now.since(self.min_rtt_stamp) > MIN_RTT_WINDOW_NS;
        // A small segment alone waits for a delayed acknowledgement.
        let is_alone = delivery.rate.is_some_and(|rate| rate.bytes == delivery.newly_bytes);
        let is_delayed = is_alone && delivery.newly_bytes < self.config.mss_bytes;
        if let Some(rtt_ns) = delivery.rtt_ns.or(acked.rtt_ns)
            && (self.min_rtt_ns.is_none_or(|min_ns| rtt_ns < min_ns) || (is_old && !is_delayed))
        {
            (self.min_rtt_ns, self.min_rtt_stamp) = (Some(rtt_ns), now);
        }
        if is_old && !self.idle_restart && !matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.save_window();
            self.mode = Mode::ProbeRtt { until: None, had_round: false };
        }
        self.probe_rtt(now, delivery);
        self.idle_restart = false;
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
            self.min_rtt_stamp = now;
            self.restore_window();
            self.mode = Mode::Startup;
            if self.full_pipe.filled_pipe {
                self.begin_cycle(now);
            }
        }
    }
}

//! How long TCP's timer waits on a new connection over the first wire.

use skyhaul_tcp::Config;

/// Timer of TCP: its clock and its bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    /// Time between two ticks, s; 0: it tells any time.
    tick_s: f64,
    /// Shortest timeout, s.
    min_s: f64,
    /// Least distance from the round trip, s.
    margin_s: f64,
}

impl Timer {
    pub(super) fn of(config: &Config) -> Self {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let tick_s = seconds(config.timer_granularity_ns);
        Self {
            tick_s,
            min_s: seconds(config.min_rto_ns),
            margin_s: seconds(config.rto_margin_ns).max(tick_s),
        }
    }

    /// Least time that it waits with nothing measured but this round trip, s: SRTT + max(G, 4 RTTVAR)
    /// [RFC 6298 2.3], once RTTVAR is 0.
    pub(super) fn least_s(self, rtt_s: f64) -> f64 {
        (self.in_ticks(rtt_s) + self.margin_s).max(self.min_s)
    }

    /// Longest time, s: of one round trip RTTVAR is half, and the timer ends at a tick.
    fn most_s(self, rtt_s: f64) -> f64 {
        let measured_s = self.in_ticks(rtt_s);
        self.tick_s + (measured_s + self.margin_s.max(2.0 * measured_s)).max(self.min_s)
    }

    /// What it does in a pause of acknowledgements of this length; `None`: it does not end.
    pub(super) fn told(self, pause_s: f64, rtt_s: f64) -> Option<String> {
        let (least_s, most_s) = (self.least_s(rtt_s), self.most_s(rtt_s));
        let waits = format!("TCP's timer waits for {least_s:.2} to {most_s:.2} s");
        let repeats = "repeat what is not lost";
        if pause_s <= least_s {
            None
        } else if pause_s <= most_s {
            Some(format!("{waits}, by where its ticks fall: the sender may {repeats}"))
        } else {
            Some(format!("{waits}: the sender will {repeats}"))
        }
    }

    fn in_ticks(self, time_s: f64) -> f64 {
        if self.tick_s > 0.0 { (time_s / self.tick_s).ceil() * self.tick_s } else { time_s }
    }
}

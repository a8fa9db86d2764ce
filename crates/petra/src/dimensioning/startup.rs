//! Beginning of a connection over the first wire: slow start until the relay's threshold [PETRA IV-A,
//! appendix].

use libm::{ceil, floor};

use super::Plan;

/// Round trip in whose course segments leave: its number, from 1, and how many segments fit into it.
#[derive(Clone, Copy, Debug)]
struct Round {
    number: f64,
    /// Segments sent in the rounds before: `TX(t_1)` [PETRA (30)].
    before: f64,
    /// Segments of the window that can leave in it.
    sent: f64,
}

/// A relay's buffer that has its threshold for the first time.
#[derive(Clone, Copy, Debug)]
struct Full {
    /// Segments that have arrived, all rounds together.
    arrived: f64,
    /// When the last of them arrived, s from the first bit, half a round trip of the wire left out.
    arrived_s: f64,
}

impl Plan {
    /// Segments that the sender has sent after `time_s`, in slow start: `TX(t)` [PETRA (29) to (31)]. The
    /// window ends at the largest one, which (30) leaves out.
    pub fn sent_segments(&self, time_s: f64) -> f64 {
        let round_s = self.round_s();
        let number = floor(time_s / round_s) + 1.0;
        let round = self.rounds().take_while(|round| round.number <= number).last();
        let Some(round) = round else { return 0.0 };
        // Beyond the last round that grows, all rounds send as many.
        let more = (number - round.number).max(0.0) * round.sent;
        let in_this = floor((time_s - (number - 1.0) * round_s) * self.arrivals_per_s());
        round.before + more + in_this.min(self.window_in(number))
    }

    /// When a relay's buffer first has the threshold, s after the first bit left: `t_init` [PETRA (11)], with
    /// the rate of the satellite link in segments, which is printed upside down. `None` if it never has.
    pub fn first_full_s(&self, threshold_segments: u64) -> Option<f64> {
        Some(self.first_full(threshold_segments, 0.0)?.arrived_s + self.path().wires[0].rtt_s / 2.0)
    }

    /// Time for which the acknowledgements of a new connection stop, s: what the sender's window still brings
    /// then leaves over the satellite link, which it does once the hop is open, a round trip of it after the
    /// first bit. The sender knows nothing but the wire's round trip by then. `None` if they never stop.
    pub fn first_pause_s(&self, threshold_segments: u64) -> Option<f64> {
        let opening_s = self.path().satellite.rtt_s;
        let full = self.first_full(threshold_segments, opening_s)?;
        // In slow start each acknowledged segment has opened the window by one, which began with one. The
        // last one to arrive is not acknowledged, and counts in the threshold.
        let window = full.arrived.min(self.window());
        Some((opening_s - full.arrived_s).max(0.0) + (window - 1.0).max(1.0) / self.drain_per_s())
    }

    /// `closed_s`: time from the first bit on in which nothing leaves over the satellite link.
    fn first_full(&self, threshold_segments: u64, closed_s: f64) -> Option<Full> {
        let threshold_segments = threshold_segments as f64;
        let growing = self.rounds().find_map(|round| self.full_in(round, threshold_segments, closed_s));
        growing.or_else(|| self.full_later(threshold_segments, closed_s))
    }

    /// The arrival, in this round, by which the threshold is reached.
    fn full_in(&self, round: Round, threshold_segments: f64, closed_s: f64) -> Option<Full> {
        let begin_s = (round.number - 1.0) * self.round_s();
        let (arrivals, drain) = (self.arrivals_per_s(), self.drain_per_s());
        // Before the hop is open nothing leaves; then it does, in the course of this round or before it.
        let kept = threshold_segments - round.before;
        let is_closed = begin_s + kept / arrivals <= closed_s;
        let left_at_begin = drain * (begin_s - closed_s);
        let needed = if is_closed { kept } else { (kept + left_at_begin) / (1.0 - drain / arrivals) };
        // A hair less than a whole segment is a whole one: no result may hang on the last digit.
        let arrived = ceil(needed - 1e-9).max(0.0);
        let full = Full { arrived: round.before + arrived, arrived_s: begin_s + arrived / arrivals };
        (arrived <= round.sent).then_some(full)
    }

    /// What `full_in` says of the first round after slow start in which the threshold is reached.
    fn full_later(&self, threshold_segments: f64, closed_s: f64) -> Option<Full> {
        let last = self.rounds().last()?;
        let round_s = self.round_s();
        let drained = self.drain_per_s() * round_s;
        let round = |further: f64| Round {
            number: last.number + further,
            before: last.before + further * last.sent,
            sent: last.sent,
        };
        let full = |skipped: f64| {
            // One more, should the last digit of `skipped` be wrong.
            let nearby = [0.0, 1.0].into_iter().map(|more| round(skipped + more));
            nearby.into_iter().find_map(|round| self.full_in(round, threshold_segments, closed_s))
        };
        // While the hop opens, all that comes stays.
        let kept = ceil((threshold_segments - last.before - last.sent) / last.sent).max(0.0);
        if (last.number + kept) * round_s <= closed_s {
            return full(kept);
        }
        let growth = last.sent - drained;
        let held = last.before - drained * (last.number - 1.0) + self.drain_per_s() * closed_s;
        let added = last.sent * (1.0 - self.drain_per_s() / self.arrivals_per_s());
        let skipped = ceil((threshold_segments - held - added) / growth).max(0.0);
        // Where the link takes all that comes, what came while the hop opened is the most that there is.
        if growth > 0.0 { full(skipped) } else { full((kept - 1.0).max(0.0)) }
    }

    /// Rounds of slow start, and one in which the window does not grow any more.
    fn rounds(&self) -> impl Iterator<Item = Round> + '_ {
        let first = Round { number: 1.0, before: 0.0, sent: self.window_in(1.0) };
        core::iter::successors(Some(first), move |last| {
            let number = last.number + 1.0;
            let grew = self.largest_in(last.number) < self.window();
            let before = last.before + last.sent;
            grew.then(|| Round { number, before, sent: self.window_in(number) })
        })
    }

    /// Length of a round, s: a round trip of the wire, or the time of a segment where that is longer, as it
    /// is in a local network. The appendix has `n_rtt` = 0 there, with which nothing would ever arrive.
    fn round_s(&self) -> f64 {
        self.path().wires[0].rtt_s.max(1.0 / self.arrivals_per_s())
    }

    /// Segments of round `number` that leave in it.
    fn window_in(&self, number: f64) -> f64 {
        let fit = floor(self.path().wires[0].rtt_s * self.arrivals_per_s()).max(1.0);
        self.largest_in(number).min(fit)
    }

    /// Window in round `number`: `W(i)` [PETRA appendix].
    fn largest_in(&self, number: f64) -> f64 {
        // Above 2^24 the bound of a window holds in any case.
        libm::exp2((number - 1.0).min(24.0)).min(self.window())
    }
}

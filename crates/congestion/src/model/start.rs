//! Search for the first rate of a path. Packets that leave at once tell it, unless a queue is too short for
//! them, or others have filled it.

use skyhaul_core::{Instant, PathSample, SECOND, UNMEASURED_RATE_BPS};

use super::POLL_NS;
use super::competition::lost_part;
use super::rates::MIN_RATE_BPS;

/// Part of what left at once that has to be missing before it leaves at a pace: noise takes less.
const TELLING_LOSS: f64 = 0.3;
/// Packets that have to be missing before that tells anything.
const TELLING_PACKETS: u64 = 3;
/// Factor of what arrived that is sent next.
const GROWTH: f64 = 2.0;
/// Factor by which more has to arrive when so much more was sent, ...
const USEFUL_GROWTH: f64 = 1.25;
/// ... or the path is full, after so many round trips.
const FULL_ROUNDS: u32 = 3;

/// Window, and rate if there is one, while the rate of the path is not known.
#[derive(Clone, Debug)]
pub(super) struct Start {
    window_bytes: u64,
    /// Rate in bit/s; `None`: what may leave leaves at once.
    rate_bps: Option<f64>,
    /// Most that arrived of what left at a pace, in bit/s.
    best_bps: f64,
    /// Round trips in which no more arrived than that.
    full_rounds: u32,
    /// Time at which the pace was last raised.
    raised_at: Instant,
}

impl Start {
    /// Search that begins with `window_bytes` at once.
    pub(super) fn new(window_bytes: u64) -> Self {
        Self { window_bytes, rate_bps: None, best_bps: 0.0, full_rounds: 0, raised_at: Instant::ZERO }
    }

    pub(super) fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    /// Rate at which to send, in bit/s.
    pub(super) fn rate_bps(&self) -> f64 {
        self.rate_bps.unwrap_or(UNMEASURED_RATE_BPS as f64)
    }

    /// Forgets what was tried: it may be another path now.
    pub(super) fn forget(&mut self) {
        (self.best_bps, self.full_rounds) = (0.0, 0);
    }

    /// Takes in a report that told no rate, with `delivered_bps` arriving: twice as much may be under way.
    /// What leaves at once and is lost for the most part leaves at a pace from then on, twice as fast each
    /// round trip, until no more arrives. Returns the rate that then is the path's.
    pub(super) fn search(
        &mut self,
        now: Instant,
        sample: &PathSample,
        delivered_bps: f64,
        mss_bytes: u64,
    ) -> Option<f64> {
        let under_way_bytes = GROWTH * delivered_bps * sample.rtt_ns as f64 / (8.0 * SECOND as f64);
        self.window_bytes = self.window_bytes.max(under_way_bytes as u64);
        let long = sample.long?;
        let missing_bytes = long.sent_bytes.saturating_sub(long.arrived_bytes);
        let is_telling = missing_bytes >= TELLING_PACKETS * mss_bytes && lost_part(&long) > TELLING_LOSS;
        let Some(rate_bps) = self.rate_bps else {
            if is_telling {
                self.pace(now, sample, delivered_bps);
            }
            return None;
        };
        if sample.sent_at.before(long.sent_ns) < self.raised_at {
            return None;
        }
        let is_more = delivered_bps > self.best_bps * USEFUL_GROWTH;
        self.best_bps = self.best_bps.max(delivered_bps);
        let was_used = long.sent_bytes as f64 * 8.0 * SECOND as f64 > rate_bps * long.sent_ns as f64 / GROWTH;
        if is_more {
            self.full_rounds = 0;
        } else if was_used {
            self.full_rounds += 1;
        }
        if self.full_rounds >= FULL_ROUNDS {
            return Some(self.best_bps);
        }
        // Bursts of what may be under way were shorter than the pace says, and lost for the most part.
        if was_used || is_telling {
            self.pace(now, sample, self.best_bps);
        }
        None
    }

    /// Spreads what leaves over the time to the next answer: the pace decides, not the window.
    fn pace(&mut self, now: Instant, sample: &PathSample, delivered_bps: f64) {
        // Across an outage next to nothing arrives: such a rate would let no packet leave for minutes.
        let rate_bps = (GROWTH * delivered_bps).max(MIN_RATE_BPS);
        let answer_ns = sample.rtt_ns.saturating_add(POLL_NS);
        let under_way_bytes = GROWTH * rate_bps * answer_ns as f64 / (8.0 * SECOND as f64);
        self.window_bytes = self.window_bytes.max(under_way_bytes as u64);
        self.rate_bps = Some(rate_bps);
        self.raised_at = now;
    }
}

#[cfg(test)]
mod tests {
    use std::vec;

    use skyhaul_core::{Interval, MS};

    use super::*;

    const MSS: u64 = 1400;
    const RTT_NS: u64 = 500 * MS;

    /// Report at a path of `path_bps` that got what `sent_bps` sent in a round trip, the `round`-th.
    fn report(round: u64, sent_bps: f64, path_bps: f64) -> (Instant, PathSample, f64) {
        let arrived_bps = sent_bps.min(path_bps);
        let bytes = |bps: f64| (bps * RTT_NS as f64 / (8.0 * SECOND as f64)) as u64;
        let long = Interval {
            sent_ns: RTT_NS,
            sent_bytes: bytes(sent_bps),
            arrived_ns: RTT_NS,
            arrived_bytes: bytes(arrived_bps),
        };
        let sent_at = Instant::from_ns((2 * round + 1) * RTT_NS);
        let sample = PathSample {
            sent_at,
            arrived_ns: sent_at.as_ns(),
            rtt_ns: RTT_NS,
            long: Some(long),
            train: None,
            behind_train: false,
            since_bytes: 0,
        };
        (sent_at.after(RTT_NS), sample, arrived_bps)
    }

    #[test]
    fn what_arrives_whole_goes_on_leaving_at_once() {
        let mut start = Start::new(10 * MSS);
        for round in 0..5 {
            let (now, sample, delivered_bps) = report(round, 1e6, 2e6);
            assert_eq!(start.search(now, &sample, delivered_bps, MSS), None);
        }
        assert_eq!(start.rate_bps() as u64, UNMEASURED_RATE_BPS);
        assert_eq!(start.window_bytes(), 2 * 62_500);
    }

    #[test]
    fn what_is_lost_leaves_at_a_pace_that_grows_until_no_more_arrives() {
        let mut start = Start::new(10 * MSS);
        let (now, sample, _) = report(0, 1e6, 2e5);
        assert_eq!(start.search(now, &sample, 2e5, MSS), None);
        let mut rates_bps = vec![start.rate_bps()];
        let found_bps = (1..30).find_map(|round| {
            let (now, sample, delivered_bps) = report(round, start.rate_bps(), 3e6);
            let found = start.search(now, &sample, delivered_bps, MSS);
            rates_bps.push(start.rate_bps());
            found
        });
        assert_eq!(found_bps, Some(3e6));
        assert_eq!(&rates_bps[..7], [4e5, 8e5, 1.6e6, 3.2e6, 6e6, 6e6, 6e6]);
    }

    #[test]
    fn what_arrived_across_an_outage_stops_nothing() {
        let mut start = Start::new(10 * MSS);
        let (now, sample, _) = report(0, 1e6, 8.0);
        assert_eq!(start.search(now, &sample, 8.0, MSS), None);
        assert_eq!(start.rate_bps() as u64, MIN_RATE_BPS as u64, "the lowest that a path is taken for");
    }

    #[test]
    fn an_application_that_sends_little_does_not_fill_the_path() {
        let mut start = Start::new(10 * MSS);
        let (now, sample, _) = report(0, 1e6, 2e5);
        start.search(now, &sample, 2e5, MSS);
        for round in 1..30 {
            let (now, sample, delivered_bps) = report(round, 1e5, 3e6);
            assert_eq!(start.search(now, &sample, delivered_bps, MSS), None);
        }
    }
}

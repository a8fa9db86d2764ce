//! The rate on the progress line: of the last seconds, so that an outage shows as what it is. What counts has
//! arrived in order: when a gap is filled, all behind it arrives at once, and for these seconds the rate may
//! be more than the link carries.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use skyhaul_core::units::show_rate;

/// Time that counts as recent: longer than a round trip, in which nothing may be reported.
const RECENT: Duration = Duration::from_secs(3);

/// Rate of the recent time. Holds one entry for each drawing of the line in the recent time.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecentRate {
    positions: VecDeque<(Instant, u64)>,
}

impl RecentRate {
    /// So much is there now.
    pub(crate) fn note(&mut self, position: u64, now: Instant) {
        self.positions.push_back((now, position));
        // The newest that is no longer recent stays: the time since it is covered in full.
        while self.positions.get(1).is_some_and(|&(at, _)| now.saturating_duration_since(at) >= RECENT) {
            self.positions.pop_front();
        }
    }

    /// Payload bits a second, in the unit of links.
    pub(crate) fn bps(&self) -> f64 {
        let (Some(&(start, from)), Some(&(end, to))) = (self.positions.front(), self.positions.back()) else {
            return 0.0;
        };
        let seconds = end.saturating_duration_since(start).as_secs_f64();
        if seconds > 0.0 { to.saturating_sub(from) as f64 * 8.0 / seconds } else { 0.0 }
    }
}

/// A rate in words. When everything is there, nothing moves any more and a rate would only decay.
pub(crate) fn rate_words(bps: f64, is_full: bool) -> String {
    if is_full { "all there".into() } else { show_rate(bps) }
}

/// Time, in words, that so many bytes more take at this rate; `None` while nothing moves.
pub(crate) fn time_left(bytes: u64, bps: f64) -> Option<String> {
    let seconds = (bps >= 1.0).then(|| (bytes as f64 * 8.0 / bps).ceil() as u64)?; // saturates
    Some(match seconds {
        0..100 => format!("{seconds} s left"),
        100..6000 => format!("{} min left", seconds.div_ceil(60)),
        6000..360_000 => format!("{} h left", seconds.div_ceil(3600)),
        _ => format!("{} days left", seconds.div_ceil(86_400)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_is_left_has_one_unit() {
        assert_eq!(time_left(1, 0.0), None, "nothing has moved");
        let left = [1, 99_000, 99_001, 360_000, 6_000_000, 400_000_000].map(|bytes| time_left(bytes, 8000.0));
        let words = ["1 s left", "99 s left", "2 min left", "6 min left", "2 h left", "5 days left"];
        assert_eq!(left.map(Option::unwrap_or_default), words);
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "any moment will do")]
    fn only_the_last_seconds_count() {
        let start = Instant::now();
        let mut rate = RecentRate::default();
        assert!(rate.bps().abs() < 1.0);
        for step in 0..50u64 {
            rate.note(step * 1000, start + Duration::from_millis(step * 200));
        }
        assert!((rate.bps() - 40_000.0).abs() < 1.0, "{}", rate.bps());
        assert!(rate.positions.len() < 20);
        for step in 50..70u64 {
            rate.note(49_000, start + Duration::from_millis(step * 200));
        }
        assert!(rate.bps().abs() < 1.0, "an outage: {}", rate.bps());
    }
}

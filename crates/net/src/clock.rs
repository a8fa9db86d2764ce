//! The machine's monotonic clock as [`skyhaul_core::Instant`].

use rustix::time::{ClockId, Timespec, clock_gettime};
use skyhaul_core::{Instant, SECOND};

/// Tells time in nanoseconds since the moment at which it was started (`CLOCK_MONOTONIC`). Copies
/// tell the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    origin_ns: u64,
}

impl Clock {
    /// A clock that starts at zero now.
    pub fn start() -> Self {
        Self { origin_ns: monotonic_ns() }
    }

    /// The clock of the machine itself: what it shows can be told to another process.
    pub fn of_machine() -> Self {
        Self { origin_ns: 0 }
    }

    /// The present.
    pub fn now(self) -> Instant {
        Instant::from_ns(monotonic_ns().saturating_sub(self.origin_ns))
    }

    /// Time on clock `to` when this one shows `at` (zero, if that was before it started).
    #[must_use]
    pub fn translate(self, at: Instant, to: Self) -> Instant {
        Instant::from_ns(self.monotonic_at(at).saturating_sub(to.origin_ns))
    }

    /// Time of the world when this clock showed zero, in ns since 1970: what the machine takes it for now.
    pub fn unix_origin_ns(self) -> u64 {
        wall_ns().saturating_sub(self.now().as_ns())
    }

    /// `at` in the kernel's absolute terms.
    pub(crate) fn timespec(self, at: Instant) -> Timespec {
        timespec(self.monotonic_at(at))
    }

    fn monotonic_at(self, at: Instant) -> u64 {
        at.as_ns().saturating_add(self.origin_ns)
    }
}

/// A duration as the kernel wants it.
pub(crate) fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / SECOND) as i64, tv_nsec: (ns % SECOND) as i64 }
}

/// Wall time, in ns since 1970.
pub(crate) fn wall_ns() -> u64 {
    ns_of(ClockId::Realtime)
}

fn monotonic_ns() -> u64 {
    ns_of(ClockId::Monotonic)
}

fn ns_of(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * SECOND + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes_and_two_clocks_agree_on_a_moment() {
        let early = Clock::start();
        while early.now() == Instant::ZERO {}
        let late = Clock::start();
        let moment = late.now().after(SECOND);
        let seen_early = late.translate(moment, early);
        assert!(seen_early > moment);
        assert_eq!(early.translate(seen_early, late), moment);
        assert_eq!(early.translate(Instant::ZERO, late), Instant::ZERO, "before the late clock started");
    }
}

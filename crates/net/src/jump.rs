//! Jumps of wall time against monotonic time. A machine that was suspended shows one, and so does a memory
//! image that was restored, once its wall clock is set: it may run somewhere else, too.

use skyhaul_core::{Instant, SECOND};

use crate::Clock;

/// Least jump, in ns. Clocks that are slewed part by 30 ms a minute, so that half an hour without a look
/// may pass for one: that costs a handshake.
const MIN_JUMP_NS: u64 = SECOND;

/// Watch over both clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JumpWatch {
    /// Wall time when monotonic time was zero, as it was at the last look, in ns since 1970.
    origin_ns: u64,
}

impl JumpWatch {
    /// Watch that begins now.
    pub(crate) fn new(clock: Clock) -> Self {
        Self { origin_ns: origin_ns(clock.now()) }
    }

    /// True if wall time has jumped since the last look.
    pub(crate) fn has_jumped(&mut self, clock: Clock) -> bool {
        self.look(origin_ns(clock.now()))
    }

    fn look(&mut self, origin_ns: u64) -> bool {
        let last_ns = core::mem::replace(&mut self.origin_ns, origin_ns);
        last_ns.abs_diff(origin_ns) >= MIN_JUMP_NS
    }
}

#[cfg(not(test))]
fn origin_ns(now: Instant) -> u64 {
    crate::clock::wall_ns().saturating_sub(now.as_ns())
}

#[cfg(test)]
std::thread_local! {
    /// Time by which this thread's wall clock is ahead, in ns.
    pub(crate) static AHEAD_NS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
fn origin_ns(now: Instant) -> u64 {
    (crate::clock::wall_ns() + AHEAD_NS.get()).saturating_sub(now.as_ns())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_either_way_is_told_once_and_a_slewed_clock_is_none() {
        let mut watch = JumpWatch { origin_ns: 100 * SECOND };
        let looks = [100, 101, 102, 50, 50, 51].map(|s| watch.look(s * SECOND));
        assert_eq!(looks, [false, true, true, true, false, true]);
        let mut watch = JumpWatch { origin_ns: 100 * SECOND };
        assert!((0..1000).all(|look| !watch.look(100 * SECOND + look * SECOND / 2)), "slewed between looks");
    }

    #[test]
    fn time_that_passes_is_no_jump() {
        let clock = Clock::start();
        let mut watch = JumpWatch::new(clock);
        assert!((0..1000).all(|_| !watch.has_jumped(clock)));
    }
}

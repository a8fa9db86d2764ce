//! Waking before it is time: a sleeper wakes late, by how much depends on the machine and on what it does.

use skyhaul_core::{Instant, US};

/// It is never more: what is awake early looks again and again until it is time.
const MAX_EARLY_NS: u64 = 200 * US;
/// Each new observation counts for one in so many.
const WEIGHT: u64 = 16;

/// How much earlier than needed to wake: about what a sleep takes too long.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Early {
    early_ns: u64,
}

impl Early {
    /// When to wake for what is due at `due`. In the past: not to sleep at all.
    pub(super) fn wake_at(self, due: Instant) -> Instant {
        due.before(self.early_ns)
    }

    /// A sleep until `wanted` ended at `now`.
    pub(super) fn woke(&mut self, wanted: Option<Instant>, now: Instant) {
        let Some(wanted) = wanted else { return };
        let late_ns = now.since(wanted);
        // What other work delayed by milliseconds is no matter of waking early.
        if late_ns > 0 && late_ns < 4 * MAX_EARLY_NS {
            let kept = self.early_ns * (WEIGHT - 1);
            self.early_ns = ((kept + late_ns) / WEIGHT).min(MAX_EARLY_NS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_wakes_as_early_as_sleeps_are_late() {
        let mut early = Early::default();
        let at = Instant::from_ns(1_000_000);
        assert_eq!(early.wake_at(at), at);
        (0..200).for_each(|_| early.woke(Some(at), at.after(50 * US)));
        let ahead = at.since(early.wake_at(at));
        assert!((45 * US..=50 * US).contains(&ahead), "{ahead}");
    }

    #[test]
    fn it_is_bounded_and_deaf_to_stalls() {
        let mut early = Early::default();
        let at = Instant::from_ns(1_000_000_000);
        (0..200).for_each(|_| early.woke(Some(at), at.after(10_000 * US)));
        assert_eq!(early.wake_at(at), at, "a machine that stood still");
        (0..200).for_each(|_| early.woke(Some(at), at.after(700 * US)));
        assert_eq!(at.since(early.wake_at(at)), MAX_EARLY_NS);
    }
}

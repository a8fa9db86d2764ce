//! Waking before it is time: a sleeper wakes late, by how much depends on the machine and on what it does.

use skyhaul_core::{Instant, US};

/// It is never more.
const MAX_EARLY_NS: u64 = 200 * US;
/// Each new observation counts for one in so many.
const WEIGHT: u64 = 16;

/// How much earlier than needed to wake: about what a sleep takes too long. Who is awake early looks again
/// and again until it is time. It sleeps for at least as long before: on a busy link it only sleeps, since a
/// thread of high priority that never does keeps others from the processor until the kernel takes it away for
/// tens of milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Early {
    early_ns: u64,
    /// Time that it is awake early for.
    awake_for: Option<Instant>,
}

impl Early {
    /// Time until which to sleep now for what is due at `due`; not later than `now`: not at all.
    pub(super) fn wake_at(&mut self, now: Instant, due: Instant) -> Instant {
        if self.awake_for == Some(due) {
            // Not later than `now` once that time has come; an arrival may have ended the sleep long before.
            return due.before(self.early_ns);
        }
        let is_worth_it = due.since(now) >= 2 * self.early_ns;
        self.awake_for = is_worth_it.then_some(due);
        if is_worth_it { due.before(self.early_ns) } else { due }
    }

    /// A sleep until `wanted` ended at `now`.
    pub(super) fn woke(&mut self, wanted: Instant, now: Instant) {
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

    /// One that has seen sleeps that were so much too long.
    fn taught(late_us: u64) -> Early {
        let mut early = Early::default();
        (0..200).for_each(|_| early.woke(at(1000), at(1000 + late_us)));
        early
    }

    fn at(us: u64) -> Instant {
        Instant::from_ns(us * US)
    }

    #[test]
    fn it_wakes_as_early_as_sleeps_are_late_and_then_stays_awake() {
        let (mut early, due) = (taught(50), at(10_000));
        let ahead = due.since(early.wake_at(at(5000), due));
        assert!((45 * US..=50 * US).contains(&ahead), "{ahead}");
        assert!(early.wake_at(at(9960), due) <= at(9960), "awake until it is time");
    }

    /// An arrival ends a sleep long before its time. To stay awake from then on takes a processor away from
    /// the programs under test.
    #[test]
    fn an_arrival_during_the_sleep_does_not_keep_it_awake_until_the_packet_is_due() {
        let (mut early, due) = (taught(50), at(275_000));
        let first = early.wake_at(at(0), due);
        let again = early.wake_at(at(1000), due);
        assert_eq!(again, first, "it sleeps on until the time that it wanted");
    }

    #[test]
    fn it_sleeps_for_at_least_as_long_as_it_is_awake() {
        let mut early = taught(50);
        for due in (0..100).map(|packet| at(10_000 + 60 * packet)) {
            assert_eq!(
                early.wake_at(due.before(60 * US), due),
                due,
                "packets every 60 us leave no time to be early"
            );
        }
    }

    #[test]
    fn it_is_bounded_and_deaf_to_stalls() {
        let due = at(1_000_000);
        assert_eq!(taught(10_000).wake_at(at(0), due), due, "a machine that stood still");
        assert_eq!(due.since(taught(700).wake_at(at(0), due)), MAX_EARLY_NS);
    }
}

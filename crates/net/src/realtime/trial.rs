//! Trial of a machine before something runs on it in real time: short sleeps, and how late they end.

use std::thread;
use std::time::Duration;

use skyhaul_core::MS;

use super::priority;
use crate::Clock;

/// Sleeps of a trial on each of its two threads, and the length of each: some 0.3 s.
const SLEEPS: u32 = 250;
const NAP_NS: u64 = MS;
/// Time after which a trial is over, however few sleeps there were: that is told, too.
const LONGEST_NS: u64 = 2000 * MS;
/// One late sleep in so many is an accident.
const TOLERATED: u32 = 100;
/// A link later than this is not emulated properly; an end that stands still for so long is no end of a good
/// machine.
const LINK_LATE_NS: u64 = MS;
const END_LATE_NS: u64 = 10 * MS;

/// Sleeps of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sleeps {
    /// Sleeps.
    pub count: u32,
    /// Sleeps that ended later than what counts as late.
    pub late: u32,
    /// Delay of the latest, in ns.
    pub latest_ns: u64,
}

/// Punctuality of this machine at the moment: of a thread preferred as that of links is, and of an ordinary
/// one, as programs at their ends are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineTrial {
    /// Those of the preferred thread; late is what ends more than 1 ms late.
    pub link: Sleeps,
    /// Those of the ordinary thread; late is what ends more than 10 ms late.
    pub end: Sleeps,
}

impl MachineTrial {
    /// Trial now, which takes 0.3 s, on a machine that stands still 2 s. Where no thread can be had, nothing
    /// is known, and nothing is said.
    pub fn run() -> Self {
        let link = thread::Builder::new().spawn(|| {
            priority::raise();
            sleeps(LINK_LATE_NS)
        });
        let end = sleeps(END_LATE_NS);
        let link = link.ok().and_then(|thread| thread.join().ok()).unwrap_or_default();
        Self { link, end }
    }

    /// Warning if what is measured here in real time would be this machine's doing.
    pub fn warning(&self) -> Option<String> {
        let (who, sleeps, late_ns) = match (self.link.is_busy(), self.end.is_busy()) {
            (true, _) => ("the links'", self.link, LINK_LATE_NS),
            (_, true) => ("an ordinary", self.end, END_LATE_NS),
            _ => return None,
        };
        Some(format!(
            "this machine is too busy for real time: {} of {} short sleeps of {who} thread ended more than {} ms \
             late, up to {:.1} ms. What runs now is measured on a worse path than the one asked for; wait until \
             the machine is idle",
            sleeps.late,
            sleeps.count,
            late_ns / MS,
            sleeps.latest_ns as f64 / MS as f64
        ))
    }
}

impl Sleeps {
    fn is_busy(&self) -> bool {
        self.late > self.count / TOLERATED
    }

    fn book(&mut self, late_ns: u64, limit_ns: u64) {
        self.count += 1;
        self.late += u32::from(late_ns > limit_ns);
        self.latest_ns = self.latest_ns.max(late_ns);
    }
}

/// Sleeps of this thread.
#[expect(clippy::disallowed_methods, reason = "it is the machine's own sleep that is tried")]
fn sleeps(limit_ns: u64) -> Sleeps {
    let (clock, mut booked) = (Clock::start(), Sleeps::default());
    while booked.count < SLEEPS && clock.now().as_ns() < LONGEST_NS {
        let wanted = clock.now().after(NAP_NS);
        thread::sleep(Duration::from_nanos(NAP_NS));
        booked.book(clock.now().since(wanted), limit_ns);
    }
    booked
}

#[cfg(test)]
mod tests {
    use skyhaul_core::US;

    use super::*;

    /// Outcome of a thread that was so late at one in `each` sleeps.
    fn seen(each: u32, late_ns: u64, limit_ns: u64) -> Sleeps {
        let mut booked = Sleeps::default();
        (1..=SLEEPS).for_each(|n| booked.book(if n % each == 0 { late_ns } else { 60 * US }, limit_ns));
        booked
    }

    fn trial(link: Sleeps, end: Sleeps) -> Option<String> {
        MachineTrial { link, end }.warning()
    }

    #[test]
    fn a_machine_too_busy_for_links_is_told() {
        let idle = seen(SLEEPS + 1, 0, END_LATE_NS);
        let told = trial(seen(20, 3 * MS, LINK_LATE_NS), idle).expect("12 of 250 are late");
        assert!(told.contains("12 of 250 short sleeps of the links' thread"), "{told}");
        assert!(told.contains("up to 3.0 ms"), "{told}");
    }

    #[test]
    fn a_machine_too_busy_for_programs_is_told() {
        let punctual = seen(SLEEPS + 1, 0, LINK_LATE_NS);
        let told = trial(punctual, seen(10, 30 * MS, END_LATE_NS)).expect("25 of 250 are late");
        assert!(told.contains("25 of 250 short sleeps of an ordinary thread"), "{told}");
        assert_eq!(
            trial(punctual, seen(10, 9 * MS, END_LATE_NS)),
            None,
            "a program waits so long now and then"
        );
    }

    #[test]
    fn an_accident_is_none() {
        let once = seen(SLEEPS, 20 * MS, LINK_LATE_NS);
        assert_eq!((once.late, once.latest_ns), (1, 20 * MS));
        assert_eq!(trial(once, seen(SLEEPS, 20 * MS, END_LATE_NS)), None);
        assert_eq!(trial(Sleeps::default(), Sleeps::default()), None, "nothing is known");
    }

    #[test]
    fn a_machine_that_stands_still_for_long_is_told_after_few_sleeps() {
        let mut few = Sleeps::default();
        few.book(900 * MS, LINK_LATE_NS);
        assert!(trial(few, Sleeps::default()).is_some_and(|told| told.contains("1 of 1 ")));
    }

    #[test]
    fn a_trial_sleeps_on_both_threads() {
        let MachineTrial { link, end } = MachineTrial::run();
        assert!((1..=SLEEPS).contains(&link.count), "{link:?}");
        assert!((1..=SLEEPS).contains(&end.count), "{end:?}");
    }
}

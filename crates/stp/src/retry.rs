//! Timer of something that is said again until it is answered.

use skyhaul_core::Instant;

/// Timer that doubles with each try, up to a limit.
#[derive(Clone, Debug)]
pub(crate) struct Retry {
    first_ns: u64,
    max_ns: u64,
    tries: u32,
    due: Option<Instant>,
    /// When the last try was made (or the timer armed).
    since: Instant,
}

impl Retry {
    /// Timer at rest, with its first interval and its longest.
    pub(crate) fn new(first_ns: u64, max_ns: u64) -> Self {
        Self { first_ns, max_ns: max_ns.max(first_ns), tries: 0, due: None, since: Instant::ZERO }
    }

    /// Start: due at once, with the first interval to come.
    pub(crate) fn start(&mut self, now: Instant) {
        self.tries = 0;
        self.due = Some(now);
    }

    /// Start, unless it runs already: due after the first interval (at least `floor_ns`).
    pub(crate) fn arm(&mut self, now: Instant, floor_ns: u64) {
        if self.due.is_none() {
            self.first_ns = self.first_ns.max(floor_ns).min(self.max_ns);
            self.tries = 0;
            self.since = now;
            self.due = Some(now.after(self.first_ns));
        }
    }

    /// Before the first try, the first interval turns out to be shorter.
    pub(crate) fn shorten(&mut self, first_ns: u64) {
        if self.tries == 0 && first_ns < self.first_ns && self.due.is_some() {
            self.first_ns = first_ns;
            self.due = Some(self.since.after(first_ns));
        }
    }

    /// Rest: no further try.
    pub(crate) fn stop(&mut self) {
        self.due = None;
        self.tries = 0;
    }

    /// When the next try is due.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// True if a try is due.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    /// When the last of `max_tries` has stayed without an answer.
    pub(crate) fn tired_at(&self, max_tries: u32) -> Option<Instant> {
        self.due.filter(|_| self.tries >= max_tries)
    }

    /// A try was made: twice as long to the next one.
    pub(crate) fn tried(&mut self, now: Instant) {
        let wait_ns = self.first_ns.saturating_mul(1 << self.tries.min(20)).min(self.max_ns);
        self.tries = self.tries.saturating_add(1);
        self.due = Some(now.after(wait_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skyhaul_core::SECOND;

    #[test]
    fn tries_are_twice_as_far_apart_each_time_up_to_the_limit() {
        let mut retry = Retry::new(SECOND, 4 * SECOND);
        retry.start(Instant::ZERO);
        let mut now = Instant::ZERO;
        let mut waits = std::vec::Vec::new();
        for _ in 0..5 {
            assert!(retry.is_due(now));
            retry.tried(now);
            waits.push(retry.due().unwrap().since(now) / SECOND);
            now = retry.due().unwrap();
        }
        assert_eq!(waits, [1, 2, 4, 4, 4]);
    }
}

//! Deadlines and what happens at them.

use skyhaul_core::{CloseReason, Instant, Path};

use super::{Connection, Context};

/// A timer that doubles with each try.
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
    pub(crate) fn new(first_ns: u64, max_ns: u64) -> Self {
        Self { first_ns, max_ns: max_ns.max(first_ns), tries: 0, due: None, since: Instant::ZERO }
    }

    /// Due at once, with the first interval to come.
    pub(crate) fn start(&mut self, now: Instant) {
        self.tries = 0;
        self.due = Some(now);
    }

    /// Due after the first interval (at least `floor_ns`), unless it runs already.
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

    pub(crate) fn stop(&mut self) {
        self.due = None;
        self.tries = 0;
    }

    pub(crate) fn due(&self) -> Option<Instant> {
        self.due
    }

    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    pub(crate) fn tries(&self) -> u32 {
        self.tries
    }

    /// A try was made: twice as long to the next one.
    pub(crate) fn tried(&mut self, now: Instant) {
        let wait_ns = self.first_ns.saturating_mul(1 << self.tries.min(20)).min(self.max_ns);
        self.tries = self.tries.saturating_add(1);
        self.due = Some(now.after(wait_ns));
    }
}

impl Connection {
    /// When something is to be done next without further input. Pure.
    pub(crate) fn deadline(&self, path: &Path) -> Option<Instant> {
        if self.is_closed {
            return None;
        }
        if let Some(until) = self.linger_until {
            return Some(until);
        }
        if !self.has_allowance(path) {
            return self.give_up_at();
        }
        let candidates = [
            self.begin_due(),
            self.end_due(),
            self.poll_due(path).map(|due| self.poll_sent_at(due, path)),
            self.data_due(path),
            self.repair_due(path),
            self.silence_due(path),
            self.give_up_at(),
        ];
        candidates.into_iter().flatten().min()
    }

    pub(super) fn begin_due(&self) -> Option<Instant> {
        if self.opened || self.held { None } else { self.begin.due() }
    }

    fn end_due(&self) -> Option<Instant> {
        if self.end_acknowledged { None } else { self.end.due() }
    }

    /// When patience ends.
    fn give_up_at(&self) -> Option<Instant> {
        if self.held {
            return None;
        }
        if !self.opened || !self.proven {
            // The proof may stand in a long queue behind early data, which goes on coming then.
            let since = if self.opened { self.last_heard } else { self.opened_at };
            return self.config.connect_give_up_ns.map(|ns| since.after(ns));
        }
        self.config.give_up_ns.map(|ns| self.last_heard.after(ns))
    }

    /// Does what is due other than sending: sending is decided by `poll_transmit`.
    pub(crate) fn handle_timeout(&mut self, context: &mut Context<'_>) {
        let now = context.now;
        if self.is_closed {
            return;
        }
        if self.linger_until.is_some_and(|until| until <= now) {
            self.close(None);
        } else if self.linger_until.is_none() && self.patience_is_over(now) {
            let reason = if self.opened { CloseReason::Silence } else { CloseReason::ConnectTimeout };
            self.close(Some(reason));
        }
        self.tell_state(context);
    }

    fn patience_is_over(&self, now: Instant) -> bool {
        let tired = |retry: &Retry| retry.is_due(now) && retry.tries() >= self.config.max_tries;
        self.give_up_at().is_some_and(|at| at <= now)
            || (!self.opened && !self.held && tired(&self.begin))
            || (!self.end_acknowledged && tired(&self.end))
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

//! Schedule of who is to act next.

use skyhaul_core::{Instant, Tournament};

/// When each of a fixed number of components wants to act: asking for the first costs nothing. Equal times go
/// by number.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// `Instant::MAX`: the component does not want to.
    times: Tournament<Instant>,
}

impl Schedule {
    /// For components none of which wants to act.
    pub(crate) fn new() -> Self {
        Self { times: Tournament::new(Instant::MAX) }
    }

    /// The first to act, and when; `None` if nobody wants to.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Instant, usize)> {
        Some(self.times.first()).filter(|&(at, _)| at < Instant::MAX)
    }

    /// `component` wants to act at `at`.
    #[inline]
    pub(crate) fn set(&mut self, component: usize, at: Option<Instant>) {
        self.times.set(component, at.unwrap_or(Instant::MAX));
    }

    /// Brings the time of `component` forward to `at` if it is later.
    #[inline]
    pub(crate) fn hasten(&mut self, component: usize, at: Instant) {
        if at < self.times.key(component) {
            self.times.set(component, at);
        }
    }
}

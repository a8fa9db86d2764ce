//! Timers of the connections of an endpoint.

use alloc::collections::BTreeSet;

use crate::{ConnectionId, Instant};

/// Timer that runs: when it fires, and its place among those that fire at the same moment.
pub type Timer = (Instant, u64);

/// Timers of all connections, at most one each. Those of one moment fire in the order in which they were set.
#[derive(Clone, Debug, Default)]
pub struct TimerQueue {
    running: BTreeSet<(Instant, u64, ConnectionId)>,
    sequence: u64,
}

impl TimerQueue {
    /// Sets the timer of a connection, or stops it.
    pub fn set(&mut self, timer: &mut Option<Timer>, id: ConnectionId, deadline: Option<Instant>) {
        if timer.map(|(at, _)| at) == deadline {
            return; // keeps its place among those that wait for the same moment
        }
        if let Some((at, sequence)) = timer.take() {
            self.running.remove(&(at, sequence, id));
        }
        if let Some(at) = deadline {
            self.sequence += 1;
            *timer = Some((at, self.sequence));
            self.running.insert((at, self.sequence, id));
        }
    }

    /// Time at which the first one fires.
    pub fn first(&self) -> Option<Instant> {
        self.running.first().map(|&(at, _, _)| at)
    }

    /// Next connection whose timer fires by `now`. Its timer no longer runs.
    pub fn pop_due(&mut self, now: Instant) -> Option<ConnectionId> {
        self.first().filter(|&at| at <= now)?;
        self.running.pop_first().map(|(_, _, id)| id)
    }
}

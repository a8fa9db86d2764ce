//! Timers of the connections of an endpoint.

use alloc::vec::Vec;

use crate::{ConnectionId, Instant, Tournament};

/// Timer that runs, as its connection keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    at: Instant,
    /// Its place in the queue.
    place: usize,
}

/// Timers of all connections, at most one each. Those of one moment fire in the order in which they were set.
#[derive(Clone, Debug)]
pub struct TimerQueue {
    /// When each place fires, and how many timers were set before.
    running: Tournament<(Instant, u64)>,
    /// Connection of each place.
    ids: Vec<ConnectionId>,
    /// Places without a timer.
    free: Vec<usize>,
    sequence: u64,
}

/// Key of a place without a timer.
const STOPPED: (Instant, u64) = (Instant::MAX, u64::MAX);

impl Timer {
    /// Time at which it fires.
    pub fn at(self) -> Instant {
        self.at
    }
}

impl Default for TimerQueue {
    fn default() -> Self {
        Self { running: Tournament::new(STOPPED), ids: Vec::new(), free: Vec::new(), sequence: 0 }
    }
}

impl TimerQueue {
    /// Sets the timer of a connection, or stops it.
    pub fn set(&mut self, timer: &mut Option<Timer>, id: ConnectionId, deadline: Option<Instant>) {
        if timer.map(Timer::at) == deadline {
            return; // keeps its place among those that wait for the same moment
        }
        let place = timer.take().map(|timer| timer.place);
        match (place, deadline) {
            (_, Some(at)) => {
                let place = place.unwrap_or_else(|| self.take_place(id));
                self.sequence += 1;
                self.running.set(place, (at, self.sequence));
                *timer = Some(Timer { at, place });
            }
            (Some(place), None) => self.stop(place),
            (None, None) => {}
        }
    }

    fn take_place(&mut self, id: ConnectionId) -> usize {
        if let Some(place) = self.free.pop() {
            self.ids[place] = id;
            return place;
        }
        self.ids.push(id);
        self.ids.len() - 1
    }

    fn stop(&mut self, place: usize) {
        self.running.set(place, STOPPED);
        self.free.push(place);
    }

    /// Time at which the first one fires.
    pub fn first(&self) -> Option<Instant> {
        let (first, _) = self.running.first();
        (first != STOPPED).then_some(first.0)
    }

    /// Next connection whose timer fires by `now`. Its timer no longer runs.
    pub fn pop_due(&mut self, now: Instant) -> Option<ConnectionId> {
        self.first().filter(|&at| at <= now)?;
        let (_, place) = self.running.first();
        self.stop(place);
        Some(self.ids[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn timers_of_one_moment_fire_in_the_order_in_which_they_were_set(
            steps in proptest::collection::vec((0usize..12, 0u64..12), 1..200),
        ) {
            let (mut queue, mut timers) = (TimerQueue::default(), vec![None; 12]);
            let (mut model, mut set) = (BTreeSet::new(), [None; 12]);
            for (turn, (id, at)) in steps.into_iter().enumerate() {
                let deadline = (at > 2).then(|| Instant::from_ns(at));
                if id == 0 {
                    let fired = queue.pop_due(Instant::from_ns(at));
                    let first = model.first().copied().filter(|&(due, _, _)| due <= Instant::from_ns(at));
                    prop_assert_eq!(fired, first.map(|(_, _, id)| id));
                    if let Some((_, _, id)) = first {
                        model.pop_first();
                        (timers[id as usize], set[id as usize]) = (None, None);
                    }
                } else if set[id].map(|(at, _, _)| at) != deadline {
                    queue.set(&mut timers[id], id as u64, deadline);
                    set[id].take().map(|entry| model.remove(&entry));
                    set[id] = deadline.map(|at| (at, turn, id as u64));
                    model.extend(set[id]);
                } else {
                    queue.set(&mut timers[id], id as u64, deadline);
                }
                prop_assert_eq!(queue.first(), model.first().map(|&(at, _, _)| at));
                prop_assert!(queue.ids.len() <= 12, "places are used again");
            }
        }
    }
}

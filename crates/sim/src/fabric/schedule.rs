//! Schedule of who is to act next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use skyhaul_core::Instant;

/// Entry of a component in line: its time and its number, as one number, which is compared without a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn(u128);

impl Turn {
    fn new(at: Instant, component: usize) -> Self {
        Self(u128::from(at.as_ns()) << 32 | component as u128)
    }

    fn at(self) -> Instant {
        Instant::from_ns((self.0 >> 32) as u64)
    }

    fn component(self) -> usize {
        self.0 as u32 as usize
    }
}

/// Times of one component (`Instant::MAX`: none).
#[derive(Clone, Copy, Debug)]
struct Times {
    /// Time at which it wants to act.
    wanted: Instant,
    /// Time of its entry in line that counts, never later than `wanted`.
    in_line: Instant,
}

/// When each of a fixed number of components wants to act: asking for the first costs nothing. Equal times go
/// by number.
///
/// A component that waits longer than it wanted keeps its place in line, and gets its new one when it is
/// first: most timers are put off all the time, and never run out. One that wants to act sooner gets a second
/// entry; the first one is thrown away when its turn comes, or once the line is twice as long as there are
/// components.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    times: Vec<Times>,
    line: BinaryHeap<Reverse<Turn>>,
}

impl Schedule {
    /// For `components` components, none of which wants to act.
    pub(crate) fn new(components: usize) -> Self {
        let idle = Times { wanted: Instant::MAX, in_line: Instant::MAX };
        Self { times: vec![idle; components], line: BinaryHeap::new() }
    }

    /// The first to act, and when; `None` if nobody wants to.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Instant, usize)> {
        self.line.peek().map(|Reverse(turn)| (turn.at(), turn.component()))
    }

    /// `component` wants to act at `at`.
    #[inline]
    pub(crate) fn set(&mut self, component: usize, at: Option<Instant>) {
        let at = at.unwrap_or(Instant::MAX);
        self.times[component].wanted = at;
        if at < self.times[component].in_line {
            self.line_up(at, component);
        } else if self.line.peek().is_some_and(|first| first.0.component() == component) {
            self.settle();
        }
    }

    /// Brings the time of `component` forward to `at` if it is later.
    #[inline]
    pub(crate) fn hasten(&mut self, component: usize, at: Instant) {
        if at < self.times[component].wanted {
            self.times[component].wanted = at;
            self.line_up(at, component);
        }
    }

    /// Puts a component in line again, unless it has an entry for that time or an earlier one. The first in
    /// line wants to act then before and after.
    #[inline]
    fn line_up(&mut self, at: Instant, component: usize) {
        if self.times[component].in_line <= at {
            return;
        }
        self.times[component].in_line = at;
        if self.line.len() < 2 * self.times.len() {
            self.line.push(Reverse(Turn::new(at, component)));
        } else {
            self.sweep();
        }
    }

    /// Leaves the entries in line that count, one a component.
    #[cold]
    fn sweep(&mut self) {
        let waiting = self.times.iter().enumerate().filter(|(_, times)| times.in_line < Instant::MAX);
        self.line = waiting.map(|(component, times)| Reverse(Turn::new(times.in_line, component))).collect();
    }

    /// Makes the first in line one that wants to act then.
    fn settle(&mut self) {
        while let Some(mut first) = self.line.peek_mut() {
            let (at, component) = (first.0.at(), first.0.component());
            let times = &mut self.times[component];
            if times.wanted == at {
                return;
            }
            let counts = times.in_line == at;
            if counts {
                times.in_line = times.wanted;
            }
            if counts && times.wanted < Instant::MAX {
                first.0 = Turn::new(times.wanted, component);
            } else {
                PeekMut::pop(first);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_the_earliest_and_of_equals_the_lowest(
            size in 1usize..40, changes in proptest::collection::vec((0usize..40, 0u64..20), 1..200),
        ) {
            let mut schedule = Schedule::new(size);
            let mut model = vec![None; size];
            for (component, at) in changes {
                let component = component % size;
                model[component] = (at > 2).then(|| Instant::from_ns(at));
                schedule.set(component, model[component]);
                let expected = model.iter().enumerate().filter_map(|(i, at)| at.map(|at| (at, i))).min();
                prop_assert_eq!(schedule.first(), expected);
                prop_assert!(schedule.line.len() <= 2 * size, "the line is bounded");
            }
        }
    }
}

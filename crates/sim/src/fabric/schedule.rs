//! Schedule of who is to act next.

use skyhaul_core::Instant;

/// When a component wants to act (`Instant::MAX`: not at all), and its number, as one number: matches
/// are decided without a branch, which nobody could predict.
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

/// When each of a fixed number of components wants to act, as a tournament: asking for the first
/// costs nothing, a change costs the logarithm of their number at most. Equal times go by number.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// The winner of each match: match m is between the winners of 2m and 2m + 1, match 1 is the
    /// final. The last row is the components themselves; there is no match 0.
    winners: Vec<Turn>,
}

impl Schedule {
    /// For `components` components, none of which wants to act.
    pub(crate) fn new(components: usize) -> Self {
        let width = components.next_power_of_two().max(1);
        let idle = |component| Turn::new(Instant::MAX, component);
        let mut winners = vec![idle(0); 2 * width];
        for place in (1..2 * width).rev() {
            winners[place] = if place < width { winners[2 * place] } else { idle(place - width) };
        }
        Self { winners }
    }

    fn place(&self, component: usize) -> usize {
        self.winners.len() / 2 + component
    }

    /// The first to act, and when; `None` if nobody wants to.
    pub(crate) fn first(&self) -> Option<(Instant, usize)> {
        let winner = self.winners[1];
        (winner.at() < Instant::MAX).then(|| (winner.at(), winner.component()))
    }

    /// `component` wants to act at `at`.
    pub(crate) fn set(&mut self, component: usize, at: Option<Instant>) {
        let mut place = self.place(component);
        let mut winner = Turn::new(at.unwrap_or(Instant::MAX), component);
        // Once a match ends as it did before, so do all further ones.
        while self.winners[place] != winner {
            self.winners[place] = winner;
            if place == 1 {
                return;
            }
            winner = winner.min(self.winners[place ^ 1]);
            place /= 2;
        }
    }

    /// Brings the time of `component` forward to `at` if it is later.
    pub(crate) fn hasten(&mut self, component: usize, at: Instant) {
        if at < self.winners[self.place(component)].at() {
            self.set(component, Some(at));
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
            }
        }
    }
}

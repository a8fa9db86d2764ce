//! Who is to act next.

use skyhaul_core::Instant;

/// When each of a fixed number of components wants to act, as a tournament: asking for the first
/// costs nothing, a change costs the logarithm of their number. Equal times go by number.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// `Instant::MAX`: not at all.
    times: Vec<Instant>,
    /// Winners of the matches: the children of match m are matches 2m and 2m + 1; those of the last
    /// row are components. Match 1 is the final.
    winners: Vec<u32>,
}

impl Schedule {
    /// For `components` components, none of which wants to act.
    pub(crate) fn new(components: usize) -> Self {
        let width = components.next_power_of_two().max(2);
        let mut winners: Vec<u32> = vec![0; width];
        for place in (1..width).rev() {
            let left = 2 * place;
            winners[place] = if left < width { winners[left] } else { (left - width) as u32 };
        }
        Self { times: vec![Instant::MAX; width], winners }
    }

    /// The first to act, and when; `None` if nobody wants to.
    pub(crate) fn first(&self) -> Option<(Instant, usize)> {
        let winner = self.winners[1] as usize;
        let at = self.times[winner];
        (at < Instant::MAX).then_some((at, winner))
    }

    /// `component` wants to act at `at`.
    pub(crate) fn set(&mut self, component: usize, at: Option<Instant>) {
        let at = at.unwrap_or(Instant::MAX);
        if self.times[component] == at {
            return;
        }
        self.times[component] = at;
        let width = self.times.len();
        let mut place = usize::midpoint(width, component);
        while place > 0 {
            let child = |side: usize| {
                let below = 2 * place + side;
                if below < width { self.winners[below] } else { (below - width) as u32 }
            };
            let (left, right) = (child(0), child(1));
            let right_wins = self.times[right as usize] < self.times[left as usize];
            self.winners[place] = if right_wins { right } else { left };
            place /= 2;
        }
    }

    /// Brings the time of `component` forward to `at` if it is later.
    pub(crate) fn hasten(&mut self, component: usize, at: Instant) {
        if at < self.times[component] {
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

//! Schedule of who is to act next.

use skyhaul_core::{Instant, Tournament};

/// When each of a fixed number of components wants to act: asking for the first costs nothing. Equal times go
/// by number. Links and nodes, which come behind them, are two lines: each is half as long.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// Number of links.
    links: usize,
    /// Lines of links and of nodes; `Instant::MAX`: the component does not want to act.
    lines: [Tournament<Instant>; 2],
}

impl Schedule {
    /// For so many links, and nodes, none of which wants to act.
    pub(crate) fn new(links: usize) -> Self {
        Self { links, lines: [0, 1].map(|_| Tournament::new(Instant::MAX)) }
    }

    /// The first to act, and when; `None` if nobody wants to.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Instant, usize)> {
        let [(link_at, link), (node_at, node)] = self.lines.each_ref().map(Tournament::first);
        let first = if node_at < link_at { (node_at, self.links + node) } else { (link_at, link) };
        (first.0 < Instant::MAX).then_some(first)
    }

    /// `component` wants to act at `at`.
    #[inline]
    pub(crate) fn set(&mut self, component: usize, at: Option<Instant>) {
        let (line, number) = self.place(component);
        self.lines[line].set(number, at.unwrap_or(Instant::MAX));
    }

    /// Brings the time of `component` forward to `at` if it is later.
    #[inline]
    pub(crate) fn hasten(&mut self, component: usize, at: Instant) {
        let (line, number) = self.place(component);
        if at < self.lines[line].key(number) {
            self.lines[line].set(number, at);
        }
    }

    /// Line of a component, and its number there.
    #[inline]
    fn place(&self, component: usize) -> (usize, usize) {
        component.checked_sub(self.links).map_or((0, component), |node| (1, node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_the_earliest_and_of_equals_the_lowest(
            links in 0usize..20, changes in proptest::collection::vec((0usize..40, 0u64..20), 1..200),
        ) {
            let (mut schedule, mut model) = (Schedule::new(links), [None; 40]);
            for (component, at) in changes {
                let is_hastened = at % 4 == 0 && model[component].is_some();
                let wanted = (at > 2).then(|| Instant::from_ns(at));
                if let (true, Some(at)) = (is_hastened, wanted) {
                    schedule.hasten(component, at);
                    model[component] = model[component].min(wanted);
                } else {
                    schedule.set(component, wanted);
                    model[component] = wanted;
                }
                let expected = model.iter().enumerate().filter_map(|(i, at)| at.map(|at| (at, i))).min();
                prop_assert_eq!(schedule.first(), expected);
            }
        }
    }
}

//! Static routes: the fewest links, unless the scenario says otherwise.

use std::collections::VecDeque;

use crate::scenario::Route;

/// Which link a packet takes from each node to each other.
#[derive(Clone, Debug)]
pub(crate) struct Routes {
    nodes: usize,
    /// By node and destination: link and port at which it enters.
    next: Vec<Option<(u32, u32)>>,
}

impl Routes {
    /// Shortest routes over links with these ends (of equal ones, the first link by number at each
    /// node), and `special` ones instead.
    pub(crate) fn new(nodes: usize, links: &[[usize; 2]], special: &[Route]) -> Self {
        let mut routes = Self { nodes, next: vec![None; nodes * nodes] };
        for to in 0..nodes {
            routes.spread(to, links);
        }
        for &Route { at, to, link } in special {
            let port = u32::from(links[link][1] == at);
            routes.next[at * nodes + to] = Some((link as u32, port));
        }
        routes
    }

    /// Breadth first from the destination on.
    fn spread(&mut self, to: usize, links: &[[usize; 2]]) {
        let mut line = VecDeque::from([to]);
        while let Some(at) = line.pop_front() {
            for (link, ends) in links.iter().enumerate() {
                for port in [0, 1] {
                    let (from, reached) = (ends[port], ends[1 - port]);
                    let place = from * self.nodes + to;
                    if reached == at && from != to && self.next[place].is_none() {
                        self.next[place] = Some((link as u32, port as u32));
                        line.push_back(from);
                    }
                }
            }
        }
    }

    /// Link and port for a packet at `at` to `to`; `None`: there is no way.
    pub(crate) fn next(&self, at: u32, to: u32) -> Option<(u32, u32)> {
        *self.next.get(at as usize * self.nodes + to as usize)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_take_the_fewest_links_and_special_routes_where_there_are_some() {
        // 0 - 1 - 2 - 3 in a row (links 0, 1, 2), and 0 - 3 by the way of 4 (links 3, 4).
        let links = [[0, 1], [1, 2], [2, 3], [0, 4], [4, 3]];
        let routes = Routes::new(6, &links, &[]);
        assert_eq!(routes.next(0, 3), Some((3, 0)));
        assert_eq!(routes.next(3, 0), Some((4, 1)));
        assert_eq!(routes.next(0, 2), Some((0, 0)));
        assert_eq!(routes.next(2, 0), Some((1, 1)));
        assert_eq!(routes.next(0, 5), None);
        let routes = Routes::new(6, &links, &[Route { at: 0, to: 3, link: 0 }]);
        assert_eq!(routes.next(0, 3), Some((0, 0)));
    }
}

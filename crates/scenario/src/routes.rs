//! Static routes: the fewest links, through routers alone, unless the scenario says otherwise.

use std::collections::VecDeque;

use crate::{NodeKind, Route, Scenario};

/// Which link a packet takes from each node to each other.
#[derive(Clone, Debug)]
pub struct Routes {
    nodes: usize,
    /// By node and destination: link and port at which it enters.
    next: Vec<Option<(u32, u32)>>,
}

/// A node at the other end of a link.
#[derive(Clone, Copy, Debug)]
struct Neighbour {
    node: usize,
    link: u32,
    /// At which it sends into the link.
    port: u32,
}

impl Routes {
    /// Shortest routes (of equal ones, the first link by number at each node), and the scenario's own
    /// instead.
    pub fn new(scenario: &Scenario) -> Self {
        let nodes = scenario.nodes.len();
        let mut neighbours = vec![Vec::new(); nodes];
        for (link, between) in scenario.links.iter().enumerate() {
            for (port, node) in between.ends.into_iter().enumerate() {
                let neighbour = Neighbour { node, link: link as u32, port: port as u32 };
                neighbours[between.ends[1 - port]].push(neighbour);
            }
        }
        let mut routes = Self { nodes, next: vec![None; nodes * nodes] };
        for to in 0..nodes {
            routes.spread(scenario, to, &neighbours);
        }
        for &Route { at, to, link } in &scenario.routes {
            let port = u32::from(scenario.links[link].ends[1] == at);
            routes.next[at * nodes + to] = Some((link as u32, port));
        }
        routes
    }

    /// Breadth first from the destination on.
    fn spread(&mut self, scenario: &Scenario, to: usize, neighbours: &[Vec<Neighbour>]) {
        let mut line = VecDeque::from([to]);
        while let Some(at) = line.pop_front() {
            for &Neighbour { node, link, port } in &neighbours[at] {
                let place = node * self.nodes + to;
                if node != to && self.next[place].is_none() {
                    self.next[place] = Some((link, port));
                    if scenario.nodes[node].kind == NodeKind::Router {
                        line.push_back(node);
                    }
                }
            }
        }
    }

    /// Link and port for a packet at `at` to `to`; `None`: there is no way.
    pub fn next(&self, at: u32, to: u32) -> Option<(u32, u32)> {
        *self.next.get(at as usize * self.nodes + to as usize)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LinkBetween, Node};

    /// Nodes, of which these are hosts, and links with these ends.
    fn routes(nodes: usize, hosts: &[usize], links: &[[usize; 2]], routes: Vec<Route>) -> Routes {
        let kind = |node| if hosts.contains(&node) { NodeKind::Host } else { NodeKind::Router };
        let nodes =
            (0..nodes).map(|node| Node { name: node.to_string(), kind: kind(node), signals: None }).collect();
        let link = |&ends| LinkBetween { config: skyhaul_link::LinkConfig::default(), ends, arq: None };
        let links = links.iter().map(link).collect();
        Routes::new(&Scenario { nodes, links, routes, ..Scenario::default() })
    }

    /// 0 - 1 - 2 - 3 in a row (links 0, 1, 2), and 0 - 3 by the way of 4 (links 3, 4).
    const LINKS: [[usize; 2]; 5] = [[0, 1], [1, 2], [2, 3], [0, 4], [4, 3]];

    #[test]
    fn packets_take_the_fewest_links_and_special_routes_where_there_are_some() {
        let found = routes(6, &[], &LINKS, Vec::new());
        assert_eq!(found.next(0, 3), Some((3, 0)));
        assert_eq!(found.next(3, 0), Some((4, 1)));
        assert_eq!(found.next(0, 2), Some((0, 0)));
        assert_eq!(found.next(2, 0), Some((1, 1)));
        assert_eq!(found.next(0, 5), None);
        let found = routes(6, &[], &LINKS, vec![Route { at: 0, to: 3, link: 0 }]);
        assert_eq!(found.next(0, 3), Some((0, 0)));
    }

    #[test]
    fn hosts_forward_nothing() {
        let found = routes(6, &[0, 3, 4], &LINKS, Vec::new());
        assert_eq!(found.next(0, 3), Some((0, 0)), "the longer way, through routers");
        assert_eq!(found.next(0, 4), Some((3, 0)));
        assert_eq!(routes(6, &[1, 4], &LINKS, Vec::new()).next(0, 3), None);
    }
}

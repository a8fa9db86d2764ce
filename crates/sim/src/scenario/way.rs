//! The ways that packets take: the fewest links, through routers alone, unless a route says otherwise.

use std::collections::VecDeque;

use super::model::{NodeKind, Scenario};

/// Links and ports between the nodes of a scenario.
pub(super) struct Ways<'a> {
    scenario: &'a Scenario,
    /// By node: neighbour, link, and the neighbour's port of it.
    neighbours: Vec<Vec<(usize, usize, u32)>>,
}

/// Why there is no way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// Nothing leads on from this node.
    At(usize),
    /// Routes lead back to this node.
    RoundTo(usize),
}

impl<'a> Ways<'a> {
    pub(super) fn new(scenario: &'a Scenario) -> Self {
        let mut neighbours = vec![Vec::new(); scenario.nodes.len()];
        for (number, link) in scenario.links.iter().enumerate() {
            let [a, b] = link.ends;
            neighbours[a].push((b, number, 1));
            neighbours[b].push((a, number, 0));
        }
        Self { scenario, neighbours }
    }

    /// Whether no link ends here.
    pub(super) fn is_alone(&self, node: usize) -> bool {
        self.neighbours[node].is_empty()
    }

    /// Links that a packet takes, each with the port at which it enters.
    pub(super) fn walk(&self, from: usize, to: usize) -> Result<Vec<(usize, u32)>, Lost> {
        let next = self.towards(to);
        let mut seen = vec![false; next.len()];
        let (mut at, mut way) = (from, Vec::new());
        while at != to {
            if std::mem::replace(&mut seen[at], true) {
                return Err(Lost::RoundTo(at));
            }
            let forwards = at == from || self.scenario.nodes[at].kind == NodeKind::Router;
            let (link, port) = next[at].filter(|_| forwards).ok_or(Lost::At(at))?;
            way.push((link, port));
            at = self.scenario.links[link].ends[1 - port as usize];
        }
        Ok(way)
    }

    /// By node: the link for packets to `to`, and the port at which they enter it.
    fn towards(&self, to: usize) -> Vec<Option<(usize, u32)>> {
        let mut next = vec![None; self.neighbours.len()];
        let mut line = VecDeque::from([to]);
        while let Some(at) = line.pop_front() {
            for &(node, link, port) in &self.neighbours[at] {
                if node != to && next[node].is_none() {
                    next[node] = Some((link, port));
                    if self.scenario.nodes[node].kind == NodeKind::Router {
                        line.push_back(node);
                    }
                }
            }
        }
        for route in self.scenario.routes.iter().filter(|route| route.to == to) {
            let port = u32::from(self.scenario.links[route.link].ends[1] == route.at);
            next[route.at] = Some((route.link, port));
        }
        next
    }
}

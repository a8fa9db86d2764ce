//! The ways that packets will take.

use super::model::{NodeKind, Scenario};
use crate::Routes;

/// Ways between the nodes of a scenario.
pub(super) struct Ways<'a> {
    scenario: &'a Scenario,
    routes: Routes,
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
        Self { scenario, routes: Routes::new(scenario) }
    }

    /// Links that a packet takes, each with the port at which it enters.
    pub(super) fn walk(&self, from: usize, to: usize) -> Result<Vec<(usize, u32)>, Lost> {
        let mut seen = vec![false; self.scenario.nodes.len()];
        let (mut at, mut way) = (from, Vec::new());
        while at != to {
            if std::mem::replace(&mut seen[at], true) {
                return Err(Lost::RoundTo(at));
            }
            let forwards = at == from || self.scenario.nodes[at].kind == NodeKind::Router;
            let next = self.routes.next(at as u32, to as u32).filter(|_| forwards);
            let (link, port) = next.ok_or(Lost::At(at))?;
            way.push((link as usize, port));
            at = self.scenario.links[link as usize].ends[1 - port as usize];
        }
        Ok(way)
    }
}

impl Scenario {
    /// Links that a packet takes from one node to another, each with the port at which it enters; `None`: no
    /// way leads there.
    pub fn way(&self, from: usize, to: usize) -> Option<Vec<(usize, u32)>> {
        Ways::new(self).walk(from, to).ok()
    }
}

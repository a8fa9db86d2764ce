//! A run under way, as measurements see it: network, scenario, and what links had counted at certain times.

use skyhaul_core::Instant;
use skyhaul_link::LinkCounters;
use skyhaul_scenario::Scenario;

use crate::fabric::{Edge, RunError};
use crate::network::{Network, build};

/// Run under way with one seed.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) seed: u64,
    pub(crate) network: Network,
    /// Counters of the links at the end of the warm-up.
    warmed_up: Option<Vec<[LinkCounters; 2]>>,
    /// Time at which everything was delivered, and the counters of the links then.
    served: Option<(Instant, Vec<[LinkCounters; 2]>)>,
}

impl<'a> Run<'a> {
    /// Run at time zero.
    pub(crate) fn new(scenario: &'a Scenario, seed: u64) -> Result<Self, RunError> {
        Ok(Self { scenario, seed, network: build(scenario, seed)?, warmed_up: None, served: None })
    }

    /// End of the warm-up, if that is still to come.
    pub(crate) fn warm_up_ahead(&self) -> Option<Instant> {
        let is_ahead = self.scenario.warm_up_ns > 0 && self.warmed_up.is_none();
        is_ahead.then(|| Instant::from_ns(self.scenario.warm_up_ns))
    }

    /// Keeps what the links have counted, once the warm-up is over.
    pub(crate) fn mark_warmed_up(&mut self) {
        if self.warmed_up.is_none() && self.network.now() >= Instant::from_ns(self.scenario.warm_up_ns) {
            self.warmed_up = Some(self.counters());
        }
    }

    /// Keeps what the links have counted now that everything is delivered.
    pub(crate) fn mark_served(&mut self) {
        self.served = Some((self.network.now(), self.counters()));
    }

    /// Counters of all links so far.
    fn counters(&self) -> Vec<[LinkCounters; 2]> {
        self.network.edges().iter().map(|edge| self.counters_of(edge)).collect()
    }

    fn counters_of(&self, edge: &Edge) -> [LinkCounters; 2] {
        [0, 1].map(|port| edge.counters(port, self.network.now()))
    }

    /// Counters of a link at the end of the warm-up: forward, reverse.
    pub(crate) fn counters_before(&self, link: usize) -> [LinkCounters; 2] {
        self.warmed_up.as_ref().map_or_else(Default::default, |counters| counters[link])
    }

    /// End of the time that links are measured in, and what link `index` had counted by then.
    pub(crate) fn counters_at_end(&self, index: usize) -> (Instant, [LinkCounters; 2]) {
        match &self.served {
            Some((at, counters)) => (*at, counters[index]),
            None => (self.network.now(), self.counters_of(&self.network.edges()[index])),
        }
    }
}

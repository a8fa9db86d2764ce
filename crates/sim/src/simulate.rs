//! One run of a scenario.

use std::collections::BTreeMap;
use std::fmt;

use skyhaul_core::{Event, EventSink, Instant, NullSink};
use skyhaul_link::Counters;

use crate::build::build;
use crate::measure::{Ladder, LadderLine, Sample, Series, Truth, measure};
use crate::network::{Ended, Network, Until, Wire};
use crate::scenario::Scenario;

/// Why a run could not begin or cannot be believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError(pub String);

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RunError {}

impl RunError {
    pub(crate) fn too_many_flows(scenario: &Scenario, node: usize) -> Self {
        let name = &scenario.nodes[node].name;
        Self(format!("more than {} flows end at host {name}", crate::flows::MAX_FLOWS_PER_HOST))
    }
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Measured {
    /// How it ended.
    pub ended: Ended,
    /// Metrics by name (`docs/guide/metrics.md`). One that does not apply is absent.
    pub metrics: BTreeMap<String, f64>,
    /// Samples over time, if the scenario wants them.
    pub series: Vec<Sample>,
    /// Packets for a ladder diagram, if the scenario wants them.
    pub ladder: Vec<LadderLine>,
}

/// A scenario under way with one seed.
#[derive(Debug)]
pub struct Simulation<'a> {
    scenario: &'a Scenario,
    seed: u64,
    network: Network,
    truth: Option<Truth>,
    series: Option<Series>,
    ladder: Option<Ladder>,
    /// Counters of the links at the end of the warm-up.
    warmed_up: Option<Vec<[Counters; 2]>>,
    /// When everything was delivered, and the counters of the links then.
    served: Option<(Instant, Vec<[Counters; 2]>)>,
}

/// What a part of a run waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Served,
    Done,
    TimeIsOver,
}

impl<'a> Simulation<'a> {
    /// At time zero.
    pub fn new(scenario: &'a Scenario, seed: u64) -> Result<Self, RunError> {
        Ok(Self {
            network: build(scenario, seed)?,
            scenario,
            seed,
            truth: scenario.metrics.verdicts.then(Truth::default),
            series: scenario.metrics.series_ns.map(Series::every),
            ladder: scenario.metrics.ladder.then(Ladder::default),
            warmed_up: None,
            served: None,
        })
    }

    /// The network, to be driven by hand.
    pub fn into_network(self) -> Network {
        self.network
    }

    /// The network as it is now.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The network, to be changed between two runs.
    pub fn network_mut(&mut self) -> &mut Network {
        &mut self.network
    }

    /// What is simulated.
    pub fn scenario(&self) -> &Scenario {
        self.scenario
    }

    /// The seed of everything random.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Counters of a link, from the end of the warm-up on those before it: forward, reverse.
    pub(crate) fn counters_before(&self, link: usize) -> [Counters; 2] {
        self.warmed_up.as_ref().map_or_else(Default::default, |counters| counters[link])
    }

    /// Runs to the end. If that is when all flows are done, it first runs until everything is delivered, and
    /// keeps what the links counted by then: the exchange of ends belongs to no rate.
    pub fn run(&mut self, sink: &mut dyn EventSink) -> Ended {
        if !self.scenario.stop.when_done {
            return self.run_until(When::TimeIsOver, sink);
        }
        let ended = self.run_until(When::Served, sink);
        if ended != Ended::Done {
            return ended;
        }
        self.served = Some((self.network.now(), self.counters()));
        self.run_until(When::Done, sink)
    }

    fn run_until(&mut self, when: When, sink: &mut dyn EventSink) -> Ended {
        let stop = self.scenario.stop;
        let end = stop.duration_ns.map_or(Instant::MAX.before(1), Instant::from_ns);
        loop {
            let pause = self.next_pause().filter(|&at| at < end);
            let until = Until {
                at: pause.unwrap_or(end),
                when_done: when == When::Done,
                when_served: when == When::Served,
                max_events: stop.max_events,
                max_memory_bytes: stop.max_memory_bytes,
            };
            let watching = self.truth.is_some() || self.ladder.is_some();
            let mut all = All { truth: self.truth.as_mut(), ladder: self.ladder.as_mut(), sink: &mut *sink };
            let ended = if watching {
                self.network.run(until, &mut all)
            } else {
                self.network.run(until, sink) // which may want nothing
            };
            if ended != Ended::OutOfTime || pause.is_none() {
                return ended;
            }
            self.look();
        }
    }

    /// What every link counted so far.
    fn counters(&self) -> Vec<[Counters; 2]> {
        let now = self.network.now();
        let both = |wire: &Wire| [0, 1].map(|port| wire.link.counters(port, now));
        self.network.wires().iter().map(both).collect()
    }

    /// When the time that links are measured in ends, and what link `index` had counted by then.
    pub(crate) fn counters_at_end(&self, index: usize) -> (Instant, [Counters; 2]) {
        match &self.served {
            Some((at, counters)) => (*at, counters[index]),
            None => (self.network.now(), self.counters()[index]),
        }
    }

    /// When the run is to be looked at next.
    fn next_pause(&self) -> Option<Instant> {
        let warm_up = (self.scenario.warm_up_ns > 0 && self.warmed_up.is_none())
            .then(|| Instant::from_ns(self.scenario.warm_up_ns));
        warm_up.into_iter().chain(self.series.as_ref().map(Series::next)).min()
    }

    fn look(&mut self) {
        let now = self.network.now();
        if self.warmed_up.is_none() && now >= Instant::from_ns(self.scenario.warm_up_ns) {
            self.warmed_up = Some(self.counters());
        }
        if let Some(series) = &mut self.series {
            series.look(self.scenario, &self.network);
        }
    }

    /// What came of it so far.
    pub fn measured(&self, ended: Ended) -> Result<Measured, RunError> {
        let metrics = measure(self, self.truth.as_ref())?;
        let series = self.series.as_ref().map_or_else(Vec::new, Series::samples);
        let ladder =
            self.ladder.as_ref().map_or_else(Vec::new, |ladder| ladder.lines(&self.network, self.scenario));
        Ok(Measured { ended, metrics, series, ladder })
    }
}

/// Runs `scenario` once with `seed`.
pub fn simulate(scenario: &Scenario, seed: u64) -> Result<Measured, RunError> {
    let mut simulation = Simulation::new(scenario, seed)?;
    let ended = simulation.run(&mut NullSink);
    simulation.measured(ended)
}

/// Events go to all that are there.
struct All<'a> {
    truth: Option<&'a mut Truth>,
    ladder: Option<&'a mut Ladder>,
    sink: &'a mut dyn EventSink,
}

impl EventSink for All<'_> {
    fn emit(&mut self, now: Instant, source: u64, event: Event) {
        if let Some(truth) = &mut self.truth {
            truth.emit(now, source, event);
        }
        if let Some(ladder) = &mut self.ladder {
            ladder.emit(now, source, event);
        }
        if self.sink.wants() {
            self.sink.emit(now, source, event);
        }
    }
}

//! One run of a scenario.

use std::collections::BTreeMap;

use skyhaul_core::{Event, EventSink, Instant, NullSink};

use crate::capture::RunCapture;
use crate::fabric::RunError;
use crate::measure::{Ladder, LadderLine, LossOracle, Sample, Series, measure, trouble};
use crate::network::{Ended, Network, Until};
use crate::run::Run;
use crate::source::Source;
use skyhaul_scenario::Scenario;

/// Results of a run.
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
    /// Why the first flow that failed did so, or of which nothing arrived, and what its links took for too
    /// large; in words.
    pub trouble: Option<String>,
}

/// A scenario under way with one seed.
#[derive(Debug)]
pub struct Simulation<'a> {
    run: Run<'a>,
    oracle: Option<LossOracle>,
    series: Option<Series>,
    ladder: Option<Ladder>,
    capture: Option<RunCapture>,
}

/// Time or event that a part of a run waits for.
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
            run: Run::new(scenario, seed)?,
            oracle: scenario.metrics.verdicts.then(LossOracle::default),
            series: scenario.metrics.series_ns.map(Series::every),
            ladder: scenario.metrics.ladder.then(Ladder::default),
            capture: None,
        })
    }

    /// Has every packet of the run, and what engines say of it, captured.
    pub fn set_capture(&mut self, capture: RunCapture) {
        self.run.network.set_tap(Box::new(capture.clone()));
        self.capture = Some(capture);
    }

    /// The network, to be driven by hand.
    pub fn into_network(self) -> Network {
        self.run.network
    }

    /// The network as it is now.
    pub fn network(&self) -> &Network {
        &self.run.network
    }

    /// The network, to be changed between two runs.
    pub fn network_mut(&mut self) -> &mut Network {
        &mut self.run.network
    }

    /// Scenario of the run.
    pub fn scenario(&self) -> &Scenario {
        self.run.scenario
    }

    /// The seed of everything random.
    pub fn seed(&self) -> u64 {
        self.run.seed
    }

    /// Runs to the end. If that is when all flows are done, it first runs until everything is delivered, and
    /// keeps what the links counted by then: the exchange of ends belongs to no rate.
    pub fn run(&mut self, sink: &mut dyn EventSink<Source>) -> Ended {
        let ended = self.run_to_end(sink);
        self.capture.iter().for_each(RunCapture::finish);
        ended
    }

    fn run_to_end(&mut self, sink: &mut dyn EventSink<Source>) -> Ended {
        if !self.run.scenario.stop.when_done {
            return self.run_until(When::TimeIsOver, sink);
        }
        let ended = self.run_until(When::Served, sink);
        if ended != Ended::Done {
            return ended;
        }
        self.run.mark_served();
        self.run_until(When::Done, sink)
    }

    fn run_until(&mut self, when: When, sink: &mut dyn EventSink<Source>) -> Ended {
        let stop = self.run.scenario.stop;
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
            let watching = self.oracle.is_some() || self.ladder.is_some() || self.capture.is_some();
            let mut all = All {
                oracle: self.oracle.as_mut(),
                ladder: self.ladder.as_mut(),
                capture: self.capture.as_mut(),
                sink: &mut *sink,
            };
            let ended = if watching {
                self.run.network.run(until, &mut all)
            } else {
                self.run.network.run(until, sink) // which may want nothing
            };
            if ended != Ended::OutOfTime || pause.is_none() {
                return ended;
            }
            self.look();
        }
    }

    /// When the run is to be looked at next.
    fn next_pause(&self) -> Option<Instant> {
        self.run.warm_up_ahead().into_iter().chain(self.series.as_ref().map(Series::next)).min()
    }

    fn look(&mut self) {
        self.run.mark_warmed_up();
        if let Some(series) = &mut self.series {
            series.look(self.run.scenario, &self.run.network);
        }
    }

    /// Results so far.
    pub fn measured(&self, ended: Ended) -> Result<Measured, RunError> {
        let metrics = measure(&self.run, self.oracle.as_ref())?;
        let trouble = trouble(&self.run);
        let series = self.series.as_ref().map_or_else(Vec::new, Series::samples);
        let ladder = self
            .ladder
            .as_ref()
            .map_or_else(Vec::new, |ladder| ladder.lines(&self.run.network, self.run.scenario));
        Ok(Measured { ended, metrics, series, ladder, trouble })
    }
}

/// Runs `scenario` once with `seed`.
pub fn simulate(scenario: &Scenario, seed: u64) -> Result<Measured, RunError> {
    simulate_prepared(scenario, seed, |_| {})
}

/// Runs `scenario` once with `seed`, after `prepare` was at it.
pub(crate) fn simulate_prepared(
    scenario: &Scenario,
    seed: u64,
    prepare: impl FnOnce(&mut Simulation<'_>),
) -> Result<Measured, RunError> {
    let mut simulation = Simulation::new(scenario, seed)?;
    prepare(&mut simulation);
    let ended = simulation.run(&mut NullSink);
    simulation.measured(ended)
}

/// Events go to all that are there.
struct All<'a> {
    oracle: Option<&'a mut LossOracle>,
    ladder: Option<&'a mut Ladder>,
    capture: Option<&'a mut RunCapture>,
    sink: &'a mut dyn EventSink<Source>,
}

impl EventSink<Source> for All<'_> {
    fn emit(&mut self, now: Instant, source: Source, event: Event) {
        if let Some(oracle) = &mut self.oracle {
            oracle.emit(now, source, event);
        }
        if let Some(ladder) = &mut self.ladder {
            ladder.emit(now, source, event);
        }
        if let Some(capture) = &mut self.capture {
            capture.emit(now, source, event);
        }
        if self.sink.wants() {
            self.sink.emit(now, source, event);
        }
    }
}

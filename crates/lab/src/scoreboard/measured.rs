//! Runs of the board in virtual time, and their metrics.

use skyhaul_sim::sweep::{Finished, Header, RunId, caught};
use skyhaul_sim::{Ended, Measured, RunError, simulate};

use super::board::{Board, Trial};
use super::contestants::Contestant;
use crate::race::{RaceRun, run_simulated};

/// Outcome of one run in virtual time.
pub(super) fn in_virtual_time(board: &Board, id: RunId) -> Finished {
    let (trial, contestant) = board.at(id);
    let seed = board.header.seed_of(id);
    match trial.flows_with(contestant.racer) {
        None => {
            let run = caught(|| Ok(run_simulated(&trial.plan, contestant.racer, seed)));
            let failed = |error: RunError| RaceRun { error: Some(error.0), ..RaceRun::default() };
            transfer(&board.header, id, &run.unwrap_or_else(failed))
        }
        Some(scenario) => match caught(|| simulate(&scenario, seed)) {
            Ok(measured) => company(&board.header, id, (trial, contestant), &measured),
            Err(error) => Finished::told(&board.header, id, None, Some(error.to_string()), Vec::new()),
        },
    }
}

/// Outcome of a transfer that had the path to itself.
pub(super) fn transfer(header: &Header, id: RunId, run: &RaceRun) -> Finished {
    let ended = if run.complete { Ended::Done } else { Ended::OutOfTime };
    Finished::told(header, id, Some(ended), run.error.clone(), run.metrics())
}

/// Outcome of several flows.
fn company(
    header: &Header,
    id: RunId,
    (trial, contestant): (&Trial, Contestant),
    measured: &Measured,
) -> Finished {
    let problem = match measured.ended {
        Ended::OutOfTime => None,
        other => Some(format!("the run could not go on: {other:?}")),
    };
    let failed = measured.metrics.get("failed").is_some_and(|&flows| flows > 0.0);
    let problem = problem.or_else(|| failed.then(|| "a flow ended with an error".to_string()));
    let metrics = metrics_of_flows(trial, contestant, measured);
    Finished::told(header, id, Some(measured.ended), problem, metrics)
}

fn metrics_of_flows(trial: &Trial, contestant: Contestant, measured: &Measured) -> Vec<(&'static str, f64)> {
    let Some(scenario) = trial.flows_with(contestant.racer) else { return Vec::new() };
    let is_single = scenario.flows.len() == 1;
    let (mut own, mut others) = (Mean::default(), Mean::default());
    for flow in &scenario.flows {
        let name = if is_single { "goodput_bps".into() } else { format!("flows.{}.goodput_bps", flow.name) };
        let goodput_bps = measured.metrics.get(&name).copied().unwrap_or(0.0);
        let mean = if trial.is_of_contestant(&flow.name) { &mut own } else { &mut others };
        mean.add(goodput_bps, flow.count);
    }
    let (link, port) = trial.plan.bottleneck();
    let direction = if port == 0 { "forward" } else { "reverse" };
    let link = format!("links.{}.{direction}", scenario.links[link].config.name);
    let of_run = [
        ("jain", "jain".to_string()),
        ("utilisation", format!("{link}.utilisation")),
        ("waiting_ms", format!("{link}.wait_ms.mean")),
        ("waiting_p95_ms", format!("{link}.wait_ms.p95")),
    ];
    let of_run =
        of_run.into_iter().filter_map(|(name, metric)| Some((name, *measured.metrics.get(&metric)?)));
    let own_bps = own.of_each();
    let quotient = own_bps.zip(others.of_each()).filter(|&(_, others)| others > 0.0);
    let quotient = quotient.map(|(own, others)| ("times_others", own / others));
    let goodput = own_bps.map(|bps| ("flow_goodput_bps", bps));
    goodput.into_iter().chain(quotient).chain(of_run).collect()
}

/// Mean goodput of flows.
#[derive(Default)]
struct Mean {
    sum_bps: f64,
    flows: u32,
}

impl Mean {
    /// Adds a group of flows that had so much together.
    fn add(&mut self, goodput_bps: f64, flows: u32) {
        self.sum_bps += goodput_bps;
        self.flows += flows;
    }

    fn of_each(&self) -> Option<f64> {
        (self.flows > 0).then(|| self.sum_bps / f64::from(self.flows))
    }
}

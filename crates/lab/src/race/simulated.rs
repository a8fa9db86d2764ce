//! Runs in virtual time, with skyhaul's own engines.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use skyhaul_core::{Instant, NullSink, Stats};
use skyhaul_sim::{Ended, Flows, Record, Simulation, damaged_packets, wrong_bytes_in_words};

use super::bottleneck::Bottleneck;
use super::limit::{path_limit_bytes, time_limit_ns};
use super::outcome::{RaceRun, RacerRuns};
use super::plan::{RacePlan, Work};
use super::racer::Racer;
use crate::Progress;
use crate::transfer::Traffic;

/// Runs everybody, on all processors: what comes out does not depend on how many there are. Begins no more
/// runs once `stop` is set: what there is by then.
pub fn race(plan: &RacePlan, stop: &AtomicBool, progress: &dyn Progress) -> Vec<RacerRuns> {
    let jobs: Vec<(Racer, u64)> =
        plan.racers.iter().flat_map(|&racer| plan.seeds().map(move |seed| (racer, seed))).collect();
    let (next, runs) = (AtomicUsize::new(0), Mutex::new(vec![None; jobs.len()]));
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(&(racer, seed)) = jobs.get(index) else { return };
            let run = run(plan, racer, seed);
            runs.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(run);
            progress.finished(1);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let runs = runs.into_inner().unwrap_or_else(PoisonError::into_inner);
    let of_each = runs.chunks(plan.runs as usize); // which is at least 1
    let row = |(&racer, runs): (&Racer, &[Option<RaceRun>])| RacerRuns {
        racer,
        runs: runs.iter().flatten().cloned().collect(),
    };
    plan.racers.iter().zip(of_each).map(row).collect()
}

/// Outcome of one racer with one seed.
pub(crate) fn run(plan: &RacePlan, racer: Racer, seed: u64) -> RaceRun {
    let mut run =
        bulk(plan, racer, seed).unwrap_or_else(|error| RaceRun { error: Some(error), ..RaceRun::default() });
    run.seed = seed;
    run.transport = racer.transport_name();
    run.declared_rate_bps = plan.rate_bps.filter(|_| racer.is_declared());
    if plan.requests > 0 {
        for keep in [false, true] {
            match exchanges(plan, racer, seed, keep) {
                Ok(ms) if keep => run.kept_ms = ms,
                Ok(ms) => run.fresh_ms = ms,
                Err(error) => run.exchange_error = run.exchange_error.or(Some(error)),
            }
        }
    }
    run
}

fn bulk(plan: &RacePlan, racer: Racer, seed: u64) -> Result<RaceRun, String> {
    let limit_ns = time_limit_ns(plan, Work::Bulk, seed);
    let scenario = plan.scenario(racer, Work::Bulk, limit_ns);
    let mut simulation = Simulation::new(&scenario, seed).map_err(|error| error.to_string())?;
    let ended = simulation.run(&mut NullSink);
    let [sender, receiver] = ends(&simulation);
    checked(&simulation, ended, &[&sender, &receiver])?;
    let start = sender.0.started_at.unwrap_or(Instant::ZERO);
    let payload_bytes = receiver.0.received_bytes;
    let complete = payload_bytes >= plan.payload_bytes;
    let end = receiver.0.last_byte_at.filter(|_| complete).unwrap_or(simulation.network().now());
    let limit = path_limit_bytes(plan, racer.protocol(), seed, (start, end));
    let [forward, reverse] = traffic(plan, &simulation);
    let confirmed_s = sender.0.confirmed_at.map(|at| at.since(start) as f64 / 1e9);
    let bottleneck = Some(bottleneck(plan, &simulation, racer));
    let run =
        RaceRun { complete, payload_bytes, confirmed_s, forward, reverse, bottleneck, ..RaceRun::default() };
    Ok(run.with_stats(&sender.1).with_time(end.since(start), limit))
}

fn exchanges(plan: &RacePlan, racer: Racer, seed: u64, keep: bool) -> Result<Vec<f64>, String> {
    let work = Work::Exchanges { keep };
    let scenario = plan.scenario(racer, work, time_limit_ns(plan, work, seed));
    let mut simulation = Simulation::new(&scenario, seed).map_err(|error| error.to_string())?;
    let ended = simulation.run(&mut NullSink);
    let [client, server] = ends(&simulation);
    checked(&simulation, ended, &[&client, &server])?;
    Ok(client.0.completion_ns.iter().map(|&ns| ns as f64 / 1e6).collect())
}

type FlowEnd = (Record, Stats);

/// The end that opened, and the one that accepted.
fn ends(simulation: &Simulation<'_>) -> [FlowEnd; 2] {
    let mut ends = [FlowEnd::default(), FlowEnd::default()];
    for (_, host) in simulation.network().hosts() {
        let Some(app) = host.app.as_any().downcast_ref::<Flows>() else { continue };
        for (_, opens, record, stats) in app.records(&host.engines) {
            ends[usize::from(!opens)] = (record.clone(), stats);
        }
    }
    ends
}

/// Check that what arrived was sent, and that the run ended as runs do.
fn checked(simulation: &Simulation<'_>, ended: Ended, ends: &[&FlowEnd]) -> Result<(), String> {
    let wrong: u64 = ends.iter().map(|end| end.0.wrong_bytes).sum();
    if wrong > 0 {
        return Err(wrong_bytes_in_words(wrong, damaged_packets(simulation.network())));
    }
    if let Some(why) = ends.iter().find_map(|end| end.0.failure.clone()) {
        return Err(why);
    }
    match ended {
        Ended::Done | Ended::OutOfTime => Ok(()),
        other => Err(format!("the run could not go on: {other:?}")),
    }
}

/// Packets that both ends handed to their links.
fn traffic(plan: &RacePlan, simulation: &Simulation<'_>) -> [Traffic; 2] {
    let network = simulation.network();
    plan.gates().map(|(link, port)| {
        let counters = network.edges()[link].counters(port, network.now());
        Traffic { packets: counters.entered_packets, bytes: counters.entered_bytes }
    })
}

fn bottleneck(plan: &RacePlan, simulation: &Simulation<'_>, racer: Racer) -> Bottleneck {
    let ((link, port), network) = (plan.bottleneck(), simulation.network());
    let counters = network.edges()[link].counters(port, network.now());
    Bottleneck::new(&counters, racer.protocol(), plan.max_payload_bytes())
}

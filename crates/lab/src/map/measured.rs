//! Runs of the map: a cell with our connections, then with TCPs in their place, both with the same seed.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use skyhaul_scenario::File;
use skyhaul_sim::sweep::{Finished, RunId, SweepError, caught};
use skyhaul_sim::{Ended, RunError, simulate};

use super::cell::Cell;
use super::plan::Map;
use crate::Progress;
use crate::sweep::SweepBacklog;

/// Metrics of a simulation by their names.
type Metrics = BTreeMap<String, f64>;

/// Does what is to do, `jobs` runs at the same time, until all is done or `stop` is set. Results do not
/// depend on the number of jobs.
///
/// # Errors
/// Finished runs cannot be kept.
pub fn run_map(
    map: &Map,
    backlog: &mut SweepBacklog,
    jobs: NonZeroUsize,
    stop: &AtomicBool,
    progress: &dyn Progress,
) -> Result<(), SweepError> {
    backlog.run_by(|id| one(map, id), jobs, stop, progress)
}

fn one(map: &Map, id: RunId) -> Finished {
    let (cell, file) = map.at(id);
    let both = caught(|| {
        let ours = side(file, 0, map.header.seed_of(id))?;
        Ok((ours, side(file, 1, map.header.seed_of(id))?))
    });
    match both {
        Ok((ours, tcps)) => {
            let metrics = metrics_of(cell, &ours, &tcps);
            Finished::told(&map.header, id, Some(Ended::OutOfTime), None, metrics)
        }
        Err(error) => Finished::told(&map.header, id, None, Some(error.to_string()), Vec::new()),
    }
}

/// Simulates a point of the cell's file: 0 has our connections, 1 has TCPs in their place.
fn side(file: &File, point: usize, seed: u64) -> Result<Metrics, RunError> {
    let points: Vec<_> = file.points().collect();
    let scenario = file.scenario_at(&points[point]).map_err(|error| RunError(error.to_string()))?;
    let measured = simulate(&scenario, seed)?;
    match measured.ended {
        Ended::OutOfTime => Ok(measured.metrics.into_iter().collect()),
        other => Err(RunError(format!("the run could not go on: {other:?}"))),
    }
}

/// What the two runs of a cell say.
///
/// - `use`, `use_tcps`: share of the bottleneck's rate that carried packets, with us and with TCPs alone;
/// - `goodput`, `goodput_tcps`: the same of payload that arrived;
/// - `own_bps`, `tcp_bps`: goodput of one of our connections, of one of the TCPs beside them;
/// - `ratio`: the quotient of these;
/// - `kept`: goodput of the TCPs beside us over that beside TCPs in our place;
/// - `jain_own`: evenness among our own;
/// - `wait_ms`, `wait_tcps_ms`, `queue_fill`: mean wait at the bottleneck, and as a share of a full queue's;
/// - `repeated`: packets of ours sent again, of all that we sent.
fn metrics_of(cell: &Cell, ours: &Metrics, tcps: &Metrics) -> Vec<(&'static str, f64)> {
    let mut all = vec![
        ("use", metric(ours, BOTTLENECK, "utilisation")),
        ("use_tcps", metric(tcps, BOTTLENECK, "utilisation")),
        ("goodput", ours.get("goodput_bps").map_or(0.0, |bps| bps / cell.rate_bps as f64)),
        ("goodput_tcps", tcps.get("goodput_bps").map_or(0.0, |bps| bps / cell.rate_bps as f64)),
        ("wait_ms", metric(ours, BOTTLENECK, "wait_ms.mean")),
        ("wait_tcps_ms", metric(tcps, BOTTLENECK, "wait_ms.mean")),
        ("queue_fill", metric(ours, BOTTLENECK, "wait_ms.mean") / cell.full_queue_ms()),
    ];
    let own: Vec<f64> = cell.own_flows().map(|flow| of_flow(cell, ours, &flow, "goodput_bps")).collect();
    let own_bps = own.iter().sum::<f64>() / own.len() as f64;
    all.push(("own_bps", own_bps));
    if own.len() > 1 && own_bps > 0.0 {
        let squares: f64 = own.iter().map(|bps| bps * bps).sum();
        all.push(("jain_own", own_bps * own_bps * own.len() as f64 / squares));
    }
    let count = |name: &str| cell.own_flows().map(|flow| of_flow(cell, ours, &flow, name)).sum::<f64>();
    all.push(("repeated", count("retransmitted_packets") / count("forward.packets").max(1.0)));
    if cell.tcps > 0 {
        let of_tcps = |metrics: &Metrics| {
            let flows = (1..=cell.tcps).map(|number| format!("tcp{number}"));
            flows.map(|flow| of_flow(cell, metrics, &flow, "goodput_bps")).sum::<f64>() / f64::from(cell.tcps)
        };
        let tcp_bps = of_tcps(ours);
        // A TCP that gets nothing at all has got a bit a second, so that there is a quotient.
        all.push(("tcp_bps", tcp_bps));
        all.push(("ratio", own_bps.max(1.0) / tcp_bps.max(1.0)));
        all.push(("kept", tcp_bps / of_tcps(tcps).max(1.0)));
    }
    all
}

/// What the metrics of the bottleneck begin with.
const BOTTLENECK: &str = "links.bottleneck.forward";

fn metric(metrics: &Metrics, of: &str, name: &str) -> f64 {
    metrics.get(&format!("{of}.{name}")).copied().unwrap_or(0.0)
}

/// Metric of a flow; of the only one it has no name in front.
fn of_flow(cell: &Cell, metrics: &Metrics, flow: &str, name: &str) -> f64 {
    if cell.own + cell.tcps == 1 {
        return metrics.get(name).copied().unwrap_or(0.0);
    }
    metric(metrics, &format!("flows.{flow}"), name)
}

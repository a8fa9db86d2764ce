//! What is measured in a run. `docs/guide/metrics.md` lists every metric.

mod flows;
mod ladder;
#[cfg(test)]
mod ladder_tests;
mod links;
#[cfg(test)]
mod measure_tests;
#[cfg(test)]
mod metrics_doc_tests;
mod series;
mod truth;
mod words;

use std::collections::BTreeMap;

use skyhaul_core::Instant;

pub(crate) use flows::flows_at;
pub(crate) use ladder::Ladder;
pub use ladder::{LadderLine, MAX_LADDER_PACKETS};
pub(crate) use series::Series;
pub use series::{MAX_SAMPLES, Sample};
pub use truth::{Confusion, TRUTHS, Truth, VERDICTS};

use crate::simulate::{RunError, Simulation};

/// Metrics by name.
pub(crate) type Metrics = BTreeMap<String, f64>;

/// All metrics of a run as it is now.
pub(crate) fn measure(simulation: &Simulation<'_>, truth: Option<&Truth>) -> Result<Metrics, RunError> {
    let (now, warm_up) = (simulation.network().now(), Instant::from_ns(simulation.scenario().warm_up_ns));
    if simulation.scenario().warm_up_ns > 0 && now <= warm_up {
        return Err(RunError(format!(
            "the run ended at {now:?}, before its warm-up was over at {warm_up:?}"
        )));
    }
    let mut metrics = Metrics::new();
    flows::add(simulation, &mut metrics)?;
    links::add(simulation, &mut metrics);
    metrics.insert("events".into(), simulation.network().events() as f64);
    if let Some(truth) = truth {
        add_verdicts(truth.confusion(), &mut metrics);
        add_alarms(simulation, truth.alarm_rtts(), &mut metrics);
    }
    Ok(metrics)
}

/// With several flows, a loss is not known to be that of the flow that noticed.
fn add_alarms(simulation: &Simulation<'_>, rtts: &[f64], metrics: &mut Metrics) {
    let flows: u32 = simulation.scenario().flows.iter().map(|flow| flow.count).sum();
    if flows != 1 || rtts.is_empty() {
        return;
    }
    metrics.insert("probing.alarm_rtts.mean".into(), rtts.iter().sum::<f64>() / rtts.len() as f64);
    metrics.insert("probing.alarm_rtts.min".into(), rtts.iter().copied().fold(f64::INFINITY, f64::min));
    metrics.insert("probing.alarm_rtts.max".into(), rtts.iter().copied().fold(0.0, f64::max));
}

fn add_verdicts(confusion: &Confusion, metrics: &mut Metrics) {
    for (index, (truth, row)) in TRUTHS.iter().zip(confusion).enumerate() {
        for (verdict, &packets) in VERDICTS.iter().zip(row) {
            metrics.insert(format!("verdicts.{truth}.{verdict}"), packets as f64);
        }
        let total: u64 = row.iter().sum();
        if index < 3 && total > 0 {
            metrics.insert(format!("verdicts.right.{truth}"), row[index] as f64 / total as f64);
        }
    }
}

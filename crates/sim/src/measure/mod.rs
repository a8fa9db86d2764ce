//! Metrics of a run. `docs/guide/metrics.md` lists every one.

mod flows;
mod ladder;
#[cfg(test)]
mod ladder_tests;
mod links;
mod loss_oracle;
#[cfg(test)]
mod measure_tests;
#[cfg(test)]
mod metrics_doc_tests;
mod names;
mod relays;
mod series;
mod wrong;

use skyhaul_core::Instant;

use flows::Metrics;
pub(crate) use flows::flows_at;
pub(crate) use ladder::Ladder;
pub use ladder::{LadderLine, MAX_LADDER_PACKETS};
pub use loss_oracle::{CAUSES, Confusion, LossOracle, VERDICTS};
pub use names::is_metric;
pub(crate) use series::Series;
pub use series::{MAX_SAMPLES, Sample};
pub(crate) use wrong::trouble;
pub use wrong::{damaged_packets, wrong_bytes_in_words};

use crate::fabric::RunError;
use crate::run::Run;

/// All metrics of a run as it is now.
pub(crate) fn measure(run: &Run<'_>, oracle: Option<&LossOracle>) -> Result<Metrics, RunError> {
    let (now, warm_up) = (run.network.now(), Instant::from_ns(run.scenario.warm_up_ns));
    if run.scenario.warm_up_ns > 0 && now <= warm_up {
        return Err(RunError(format!(
            "the run ended at {now:?}, before its warm-up was over at {warm_up:?}"
        )));
    }
    let mut metrics = Metrics::new();
    flows::add(run, &mut metrics)?;
    links::add(run, &mut metrics);
    relays::add(run, &mut metrics);
    metrics.insert("events".into(), run.network.events() as f64);
    if let Some(oracle) = oracle {
        add_verdicts(oracle.confusion(), &mut metrics);
        add_alarms(run, oracle.alarm_rtts(), &mut metrics);
    }
    Ok(metrics)
}

/// With several flows, a loss is not known to be that of the flow that noticed.
fn add_alarms(run: &Run<'_>, rtts: &[f64], metrics: &mut Metrics) {
    let flows: u32 = run.scenario.flows.iter().map(|flow| flow.count).sum();
    if flows != 1 || rtts.is_empty() {
        return;
    }
    metrics.insert("probing.alarm_rtts.mean".into(), rtts.iter().sum::<f64>() / rtts.len() as f64);
    metrics.insert("probing.alarm_rtts.min".into(), rtts.iter().copied().fold(f64::INFINITY, f64::min));
    metrics.insert("probing.alarm_rtts.max".into(), rtts.iter().copied().fold(0.0, f64::max));
}

fn add_verdicts(confusion: &Confusion, metrics: &mut Metrics) {
    for (index, (cause, row)) in CAUSES.iter().zip(confusion).enumerate() {
        for (verdict, &packets) in VERDICTS.iter().zip(row) {
            metrics.insert(format!("verdicts.{cause}.{verdict}"), packets as f64);
        }
        let total: u64 = row.iter().sum();
        if index < 3 && total > 0 {
            metrics.insert(format!("verdicts.right.{cause}"), row[index] as f64 / total as f64);
        }
    }
}

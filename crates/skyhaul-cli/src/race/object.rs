//! Object that `--json` prints (`docs/guide/json.md`).

use std::collections::BTreeMap;

use serde::Serialize;
use skyhaul_lab::race::{
    First, MedianRange, Quantity, REQUEST_BYTES, RESPONSE_BYTES, RaceMode, RacePlan, RaceRun, RacerRuns,
    judge,
};

#[derive(Serialize)]
struct RaceObject<'a> {
    scenario: &'a str,
    title: &'a str,
    point: &'a str,
    mode: &'static str,
    kernel: Option<&'a str>,
    version: &'static str,
    from: &'a str,
    to: &'a str,
    payload_bytes: u64,
    declared_rate_bps: Option<u64>,
    seed: u64,
    runs: u32,
    requests: u32,
    request_bytes: u64,
    response_bytes: u64,
    racers: Vec<RacerObject<'a>>,
    first: Vec<First>,
}

#[derive(Serialize)]
struct RacerObject<'a> {
    name: &'static str,
    incomplete_runs: usize,
    #[serde(flatten)]
    spreads: BTreeMap<&'static str, Option<MedianRange>>,
    runs: &'a [RaceRun],
}

/// One line.
pub(super) fn object(plan: &RacePlan, rows: &[RacerRuns], mode: &RaceMode) -> String {
    let object = RaceObject {
        scenario: &plan.name,
        title: &plan.title,
        point: &plan.point,
        mode: mode.name(),
        kernel: mode.kernel(),
        version: env!("CARGO_PKG_VERSION"),
        from: plan.host(plan.from),
        to: plan.host(plan.to),
        payload_bytes: plan.payload_bytes,
        declared_rate_bps: plan.rate_bps,
        seed: plan.seed,
        runs: plan.runs,
        requests: plan.requests,
        request_bytes: REQUEST_BYTES,
        response_bytes: RESPONSE_BYTES,
        racers: rows.iter().map(racer).collect(),
        first: judge(rows),
    };
    serde_json::to_string(&object).unwrap_or_default() + "\n"
}

fn racer(row: &RacerRuns) -> RacerObject<'_> {
    let spreads = Quantity::ALL.iter().map(|&quantity| (quantity.name(), row.spread(quantity)));
    RacerObject {
        name: row.racer.name(),
        incomplete_runs: row.incomplete(),
        spreads: spreads.collect(),
        runs: &row.runs,
    }
}

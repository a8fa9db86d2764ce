//! The object that `--json` prints (`docs/guide/json.md`).

use std::collections::BTreeMap;

use serde::Serialize;

use super::judge::{First, judge};
use super::mode::Mode;
use super::outcome::{Quantity, Row, Run, Spread};
use super::plan::{Plan, REQUEST_BYTES, RESPONSE_BYTES};

#[derive(Serialize)]
struct Object<'a> {
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
    racers: Vec<Racer<'a>>,
    first: Vec<First>,
}

#[derive(Serialize)]
struct Racer<'a> {
    name: &'static str,
    incomplete_runs: usize,
    #[serde(flatten)]
    spreads: BTreeMap<&'static str, Option<Spread>>,
    runs: &'a [Run],
}

/// One line.
pub(super) fn object(plan: &Plan, rows: &[Row], mode: &Mode) -> String {
    let object = Object {
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

fn racer(row: &Row) -> Racer<'_> {
    let spreads = Quantity::ALL.iter().map(|&quantity| (quantity.name(), row.spread(quantity)));
    Racer {
        name: row.racer.name(),
        incomplete_runs: row.incomplete(),
        spreads: spreads.collect(),
        runs: &row.runs,
    }
}

//! A family that nothing ships, registered by a test: scenario files speak it beside STP.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use skyhaul_lab::race::{
    Quantity, RaceOrder, RacePlan, Racer, RacerName, check_real_time, judge, race_simulated,
};
use skyhaul_lab::standard;
use skyhaul_scenario::{File, Register, reference};
use skyhaul_sim::{STP, TCP, simulate};
use skyhaul_stop_and_wait::family::STOP_AND_WAIT;

const SCENARIO: &str = r#"
[run]
goal = "done"
duration = "1h"
[nodes]
a = { kind = "host" }
b = { kind = "host" }
[links.space]
preset = "leo-handoff"
between = ["a", "b"]
forward = { loss = 0.05 }
reverse = { loss = 0.05 }
[transports.stp]
[transports.simple]
protocol = "stop-and-wait"
timeout = "500ms"
payload = "1kB"
[flows.old]
from = "a"
to = "b"
transport = "simple"
workload = { kind = "bulk", size = "50kB" }
[flows.new]
from = "a"
to = "b"
transport = "stp"
workload = { kind = "bulk", size = "1MB" }
[flows.questions]
from = "b"
to = "a"
transport = "simple"
workload = { kind = "requests", request = "100B", response = "3kB", requests = 5 }
"#;

fn register() -> Register {
    Register::new(&[&STP, &TCP, &STOP_AND_WAIT])
}

#[test]
fn it_carries_flows_beside_stp_over_a_link_that_loses_packets() {
    let file = File::parse(&register(), "simple.toml", SCENARIO).expect("it is a scenario");
    let scenario = file.first_scenario().expect("it has one point");
    for seed in 1..=5 {
        let measured = simulate(&scenario, seed).expect("every byte is as it was sent");
        let metric = |name: &str| measured.metrics.get(name).copied().unwrap_or_default();
        assert_eq!(metric("flows.old.payload_bytes").to_bits(), 50_000f64.to_bits(), "seed {seed}");
        assert_eq!(metric("flows.old.completed").to_bits(), 1f64.to_bits(), "seed {seed}");
        assert_eq!(metric("flows.new.completed").to_bits(), 1f64.to_bits(), "seed {seed}");
        assert_eq!(metric("flows.questions.completed").to_bits(), 1f64.to_bits(), "seed {seed}");
        assert!(metric("flows.old.retransmitted_packets") > 0.0, "seed {seed}: a link that loses nothing");
        assert!(metric("flows.old.goodput_bps") < metric("flows.new.goodput_bps"), "seed {seed}");
    }
}

#[test]
fn the_reference_and_messages_know_it_and_its_keys_once_it_is_registered() {
    let page = reference(&register());
    assert!(page.contains("## [transports.NAME], protocol = \"stop-and-wait\""));
    assert!(page.contains("| `timeout` |") && page.contains("\"stp\" or \"tcp\" or \"stop-and-wait\""));
    let foreign = SCENARIO.replace("payload = \"1kB\"", "controller = \"bbr\"");
    let error = File::parse(&register(), "simple.toml", &foreign).expect_err("that key is STP's");
    assert!(error.problem.contains("a key of protocol \"stp\""), "{error}");
}

/// Plan of a race over the lossy link.
fn plan(racers: Vec<Racer>) -> RacePlan {
    let order = RaceOrder {
        file: PathBuf::from("simple.toml"),
        set: Vec::new(),
        racers,
        runs: 2,
        size_bytes: Some(50_000),
        rate_bps: None,
        requests: 2,
        time_limit_ns: None,
    };
    let file = File::parse(&register(), "simple.toml", SCENARIO).expect("it is a scenario");
    RacePlan::new(&order, &file).expect("there is a bulk flow")
}

#[test]
fn it_races_against_what_ships_by_its_name() {
    let named = |name| RacerName::find(&register(), name).expect("it is registered").0;
    let plan = plan(["skyhaul", "stop-and-wait"].into_iter().flat_map(named).collect());
    let rows = race_simulated(&plan, &AtomicBool::new(false), &());
    assert_eq!(rows.iter().map(|row| row.racer.name()).collect::<Vec<_>>(), ["skyhaul", "stop-and-wait"]);
    for run in rows.iter().flat_map(|row| &row.runs) {
        assert!(run.complete && run.error.is_none() && run.exchange_error.is_none(), "{run:?}");
        assert_eq!((run.payload_bytes, run.fresh_ms.len(), run.kept_ms.len()), (50_000, 2, 2), "{run:?}");
    }
    let [ours, simple] =
        [0, 1].map(|row: usize| rows[row].spread(Quantity::Goodput).expect("all is there").max);
    assert!(simple < ours, "{simple} of {ours}");
    assert!(
        rows[1].runs.iter().all(|run| run.transport == "stop-and-wait" && run.controller == "stop-and-wait")
    );
    let goodput = &judge(&rows)[0];
    assert_eq!((goodput.first.name(), goodput.skyhaul_wins), ("skyhaul", Some(true)), "{goodput:?}");
}

#[test]
fn a_racer_without_a_real_endpoint_cannot_race_in_real_time() {
    let plan = plan(Racer::all(&register()).collect());
    for &racer in &plan.racers {
        let checked = check_real_time(&plan, racer).map_err(|error| error.to_string());
        let is_refused =
            checked.is_err_and(|error| error.starts_with("stop-and-wait cannot race in real time"));
        assert_eq!(is_refused, racer.name() == "stop-and-wait", "{}", racer.name());
    }
}

#[test]
fn what_ships_does_not_know_it() {
    let error = RacerName::find(&standard(), "stop-and-wait").expect_err("nobody is called that");
    assert!(error.to_string().starts_with("nobody is called that; there are skyhaul, "), "{error}");
    let error = File::parse(&standard(), "simple.toml", SCENARIO).expect_err("unknown");
    assert_eq!(
        error.to_string(),
        "simple.toml:15:12: transports.simple.protocol: found \"stop-and-wait\"; allowed \"stp\" or \"tcp\" or \"stpp\" or \"scps-tp\" or \"sealed-stp\""
    );
}

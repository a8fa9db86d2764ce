//! A family that nothing ships, registered by a test: scenario files speak it beside STP.

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

#[test]
fn what_ships_does_not_know_it() {
    let error = File::parse(&skyhaul_sim::standard(), "simple.toml", SCENARIO).expect_err("unknown");
    assert_eq!(
        error.to_string(),
        "simple.toml:15:12: transports.simple.protocol: found \"stop-and-wait\"; allowed \"stp\" or \"tcp\""
    );
}

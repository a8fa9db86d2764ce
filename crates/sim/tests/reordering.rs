//! Packets that others overtake, and none that is lost.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

mod common;

use common::files::scenario;
use skyhaul_scenario::Register;
use skyhaul_sim::{STP, simulate};

/// What came of 10 MB over 10 Mbit/s of which this part of the packets is 15 ms late.
struct Outcome {
    lost_packets: u64,
    repeated_packets: u64,
    elapsed_s: f64,
}

fn run(late: f64, delay_ms: u32, rate: &str, more: &str) -> Outcome {
    let text = format!(
        r#"
[run]
goal = "done"
duration = "100s"
[nodes]
near = {{ kind = "host" }}
far = {{ kind = "host" }}
[links.middle]
between = ["near", "far"]
reverse = {{ rate = "10Mbit/s", delay = "{delay_ms}ms" }}
[links.middle.forward]
rate = "10Mbit/s"
delay = "{delay_ms}ms"
reordering = {{ probability = {late}, extra_delay = "15ms" }}
{more}
[transports.own]
protocol = "stp"
{rate}
[flows.own]
from = "near"
to = "far"
transport = "own"
workload = {{ kind = "bulk", size = "10MB" }}
"#
    );
    let metrics = simulate(&scenario(&Register::new(&[&STP]), &text), 1).unwrap().metrics;
    let lost = ["congestion", "corruption", "outage", "unknown"].map(|verdict| format!("losses.{verdict}"));
    Outcome {
        lost_packets: lost.iter().map(|name| metrics[name] as u64).sum(),
        repeated_packets: metrics["retransmitted_packets"] as u64,
        elapsed_s: metrics["elapsed_s"],
    }
}

/// Of 6900 packets and more, 140, 700 and 2100 are late, and each is called missing at first.
#[test]
fn what_is_overtaken_is_not_called_lost_and_seldom_goes_again() {
    for rate in ["", "rate = \"10Mbit/s\""] {
        for (late, delay_ms) in [(0.02, 50), (0.1, 50), (0.3, 50), (0.02, 275), (0.3, 275)] {
            let Outcome { lost_packets, repeated_packets, elapsed_s } = run(late, delay_ms, rate, "");
            let told =
                format!("{lost_packets} lost, {repeated_packets} again, {elapsed_s} s: {late} {delay_ms}");
            println!("{rate} {told}");
            assert!(lost_packets <= 5, "{rate} {told}");
            assert!(repeated_packets <= 70, "{rate} {told}");
            assert!(elapsed_s < 9.5, "{rate} {told}");
        }
    }
}

/// What is lost is found all the same, and is called so.
#[test]
fn what_is_lost_beside_goes_again_and_is_called_lost() {
    let Outcome { lost_packets, repeated_packets, elapsed_s } = run(0.1, 50, "", "loss = 0.01");
    assert!((40..120).contains(&lost_packets), "{lost_packets} of 70");
    assert!(repeated_packets < lost_packets + 100, "{repeated_packets} again, {lost_packets} lost");
    assert!(elapsed_s < 10.0, "{elapsed_s} s");
}

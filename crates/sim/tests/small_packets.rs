//! Packets that are little else than headers, at a rate that is measured.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

mod common;

use std::collections::BTreeMap;

use common::files::scenario;
use skyhaul_scenario::Register;
use skyhaul_sim::{STP, simulate};

/// Figures of a transfer of this size over a link of this rate and delay both ways, whose transport has these
/// keys beside its protocol.
fn transfer(size: &str, rate: &str, delay: &str, keys: &str) -> BTreeMap<String, f64> {
    let text = format!(
        r#"
[run]
goal = "done"
duration = "600s"
[nodes]
near = {{ kind = "host" }}
far = {{ kind = "host" }}
[links.middle]
between = ["near", "far"]
forward = {{ rate = "{rate}", delay = "{delay}", queue = "13750B" }}
reverse = {{ rate = "{rate}", delay = "{delay}", queue = "13750B" }}
[transports.own]
protocol = "stp"
{keys}
[flows.own]
from = "near"
to = "far"
transport = "own"
workload = {{ kind = "bulk", size = "{size}" }}
"#
    );
    simulate(&scenario(&Register::new(&[&STP]), &text), 1).unwrap().metrics
}

/// Time that 100 kB in packets of so many octets take over 200 kbit/s and 275 ms, and the time that the link
/// takes for the IP bytes of those packets alone, in seconds.
fn elapsed_and_least_s(payload_bytes: u32) -> (f64, f64) {
    let metrics = transfer("100kB", "200kbit/s", "275ms", &format!("max_payload = \"{payload_bytes}B\""));
    (metrics["elapsed_s"], metrics["bytes.data"] * 8.0 / 200_000.0)
}

/// While octets became IP bytes by the ratio of a full segment, packets of 20 octets had 0.6 of the link.
#[test]
fn small_packets_have_the_rate_of_the_path_with_their_headers() {
    for payload_bytes in [20, 64, 256, 1400] {
        let (elapsed_s, least_s) = elapsed_and_least_s(payload_bytes);
        println!("{payload_bytes} octets: {elapsed_s:.2} s, {least_s:.2} s of them the packets themselves");
        assert!(elapsed_s < least_s + 1.1, "{payload_bytes} octets: {elapsed_s} s, {least_s} s");
    }
}

/// 3 kB over 1 kbit/s at a declared rate of 300 bit/s, to a receiver that asks an idle sender after a second,
/// as `receive --once` does: answers took all of the rate, and no data had its turn.
#[test]
fn questions_to_an_idle_sender_leave_a_low_declared_rate_to_its_data() {
    let keys = "rate = \"300bit/s\"\nmax_payload = \"560B\"\nkeepalive = \"1s\"";
    let metrics = transfer("3kB", "1kbit/s", "300ms", keys);
    let (elapsed_s, least_s) = (metrics["elapsed_s"], metrics["bytes.data"] * 8.0 / 300.0);
    println!("{elapsed_s:.0} s, {least_s:.0} s of them the data itself");
    assert!(elapsed_s < 2.0 * least_s, "{elapsed_s} s");
}

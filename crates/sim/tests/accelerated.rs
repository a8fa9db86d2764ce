//! Openings with data save a round trip of each exchange, and only where both ends take part and know each
//! other.

use skyhaul_scenario::{File, Register};
use skyhaul_sim::{TCP, simulate};

/// Latency of an exchange over a round trip of 600 ms, in ms, between hosts that had one before it.
fn latency(transport: &str, response: &str) -> f64 {
    latency_of(transport, response, (300, 1))
}

/// Longest latency of so many exchanges, in ms, with this delay one way.
fn latency_of(transport: &str, response: &str, (delay_ms, exchanges): (u32, u32)) -> f64 {
    let requests = exchanges + 1;
    let text = format!(
        r#"
[run]
goal = "done"
duration = "60min"
warm_up = "20s"
seed = 5
carrier = "ip"
[nodes]
reader = {{ kind = "host" }}
server = {{ kind = "host" }}
[links.path]
between = ["reader", "server"]
forward = {{ rate = "10Mbit/s", delay = "{delay_ms}ms", queue = "unlimited" }}
reverse = {{ rate = "10Mbit/s", delay = "{delay_ms}ms", queue = "unlimited" }}
[transports.tcp]
protocol = "tcp"
mss = "1460B"
window_scale = true
{transport}
[flows.page]
from = "reader"
to = "server"
transport = "tcp"
[flows.page.workload]
kind = "requests"
request = "320B"
response = "{response}"
requests = {requests}
think = "20s"
closes = "after-response"
"#
    );
    let file = File::parse(&Register::new(&[&TCP]), "accelerated.toml", &text)
        .unwrap_or_else(|error| panic!("{error}"));
    let scenario = file.first_scenario().expect("the file is a scenario");
    let measured = simulate(&scenario, 5).expect("it can run");
    measured.metrics["completion_ms.max"]
}

const PAPER: &str = "profile = \"paper\"\nrecovery = \"sack\"\nsend_limit = \"2MB\"\nreceive_limit = \"2MB\"";

/// Sizes that take equally many segments with the eight octets less that T/TCP leaves in each.
const RESPONSES: [&str; 7] = ["1kB", "3kB", "6kB", "10kB", "20kB", "50kB", "100kB"];

#[test]
fn a_warm_opening_with_data_saves_a_round_trip_of_each_exchange() {
    for (profile, response) in RESPONSES.iter().flat_map(|size| [(PAPER, size), ("", size)]) {
        let plain = latency(profile, response);
        for kind in ["ttcp", "tfo"] {
            let with_data = latency(&format!("{profile}\naccelerated_open = \"{kind}\""), response);
            let saved_ms = plain - with_data;
            assert!((595.0..605.0).contains(&saved_ms), "{kind}, {response}: {plain} {with_data}");
        }
    }
}

/// The answer comes behind the first timeout, which is no sign of a path that drops openings with data.
#[test]
fn each_exchange_over_a_round_trip_longer_than_the_first_timeout_is_accelerated() {
    let plain = latency_of("", "1kB", (600, 4));
    let fast = latency_of("accelerated_open = \"tfo\"", "1kB", (600, 4));
    assert!((2400.0..2410.0).contains(&plain) && (1200.0..1210.0).contains(&fast), "{plain} {fast}");
}

#[test]
fn nothing_is_saved_where_the_server_takes_no_part() {
    for kind in ["ttcp", "tfo"] {
        let alone =
            format!("{PAPER}\naccelerated_open = \"{kind}\"\nacceptor = {{ accelerated_open = \"none\" }}");
        let more_ms = latency(&alone, "10kB") - latency(PAPER, "10kB");
        assert!((0.0..0.1).contains(&more_ms), "{kind}: {more_ms}, octets of the option alone");
    }
}

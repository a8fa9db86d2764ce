//! Paths without a router: nobody grants anything, and both are Reno.

use super::run;

const PLAIN: &str = r#"
[run]
goal = "done"
duration = "300s"
[nodes]
a = { kind = "host" }
b = { kind = "host" }
[links.hop]
between = ["a", "b"]
forward = { rate = "10Mbit/s", delay = "40ms", queue = "50packets" }
reverse = { rate = "10Mbit/s", delay = "40ms", queue = "50packets" }
[transports.tcp]
protocol = "tcp"
controller = "reno"
explicit = { header = "included" }
[flows.file]
from = "a"
to = "b"
transport = "tcp"
workload = { kind = "bulk", size = "20MB" }
"#;

#[test]
fn without_a_router_both_are_reno_to_the_byte() {
    let reno = run(PLAIN, &[]);
    for controller in ["xcp", "p-xcp"] {
        assert_eq!(run(PLAIN, &[("transports.tcp.controller", controller)]), reno, "{controller}");
    }
}

/// The header's octets are paid for: 20 of 1500 a packet.
#[test]
fn a_header_that_counts_takes_its_part_of_each_packet() {
    let bytes = |header: &str| {
        let of =
            run(PLAIN, &[("transports.tcp.controller", "xcp"), ("transports.tcp.explicit.header", header)]);
        of["links.hop.forward.delivered_bytes"]
    };
    let (counted, included) = (bytes("counted"), bytes("included"));
    let packets = 20e6 / 1428.0;
    let more = (counted - included) / packets / 20.0;
    assert!((0.8..1.6).contains(&more), "{counted} and {included} octets: {more} headers more a packet");
}

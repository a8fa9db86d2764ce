//! Three groups of flows over two links, the second of which a group cannot use that the first one limits
//! [P-XCP Fig. 7, 8]. The rates are lost: 10 Mbit/s each, round trip 80 ms.

use super::{assert_within, hop, run};

const GROUPS: &str = r#"
[run]
duration = "60s"
warm_up = "20s"
[nodes]
sg1 = { kind = "host" }
sg2 = { kind = "host" }
sg3 = { kind = "host" }
r0 = { kind = "router" }
r1 = { kind = "router" }
r2 = { kind = "router" }
re1 = { kind = "host" }
re2 = { kind = "host" }
[links]
sg1 = { between = ["sg1", "r0"] }
sg2 = { between = ["sg2", "r0"] }
sg3 = { between = ["sg3", "r1"], forward = { delay = "20ms" }, reverse = { delay = "20ms" } }
re1 = { between = ["r1", "re1"], forward = { delay = "20ms" }, reverse = { delay = "20ms" } }
re2 = { between = ["r2", "re2"] }
[links.first]
between = ["r0", "r1"]
forward = { rate = "10Mbit/s", delay = "20ms", queue = "200packets", explicit = {} }
reverse = { rate = "10Mbit/s", delay = "20ms", queue = "200packets" }
[links.second]
between = ["r1", "r2"]
forward = { rate = "10Mbit/s", delay = "20ms", queue = "200packets", explicit = {} }
reverse = { rate = "10Mbit/s", delay = "20ms", queue = "200packets" }
[transports.tcp]
protocol = "tcp"
controller = "xcp"
explicit = { header = "included" }
mss = "960B"
timestamps = false
ecn = false
ack_policy = { kind = "immediate" }
receive_limit = "192000B"
[flows.one]
from = "sg1"
to = "re1"
transport = "tcp"
count = 30
stagger = "11ms"
workload = { kind = "bulk" }
[flows.two]
from = "sg2"
to = "re2"
transport = "tcp"
count = 10
stagger = "13ms"
workload = { kind = "bulk" }
[flows.three]
from = "sg3"
to = "re2"
transport = "tcp"
count = 10
stagger = "17ms"
workload = { kind = "bulk" }
"#;

/// Use of the second link and packets that wait there.
fn found(discipline: &str, set_off: &str) -> (f64, f64) {
    let of = run(
        GROUPS,
        &[
            ("links.first.forward.explicit.discipline", discipline),
            ("links.first.forward.explicit.set_off", set_off),
            ("links.second.forward.explicit.discipline", discipline),
            ("links.second.forward.explicit.set_off", set_off),
        ],
    );
    let ((first, _), (second, waiting)) = (hop(&of, "first"), hop(&of, "second"));
    println!(
        "{discipline} set_off={set_off}: second {second:.3}, {waiting:.1} packets wait; first {first:.3}"
    );
    (second, waiting)
}

#[test]
fn a_group_that_is_limited_upstream_costs_xcp_a_part_of_the_link_and_the_others_none() {
    let (used, _) = found("xcp", "false");
    assert_within(used, (0.915, 0.945), "xcp");
    let (used, _) = found("p-xcp", "false");
    assert_within(used, (0.985, 1.0), "p-xcp");
    let (used, waiting) = found("untaken", "true");
    assert_within(used, (0.985, 1.0), "untaken");
    assert_within(waiting, (0.0, 6.0), "untaken: queue");
}

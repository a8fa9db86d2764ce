//! STP whose rate routers rule: a file, flows of several hosts, and what is left to the model.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{assert_within, run, seeded, watched};

const GEO: &str = include_str!("../../../../scenarios/geo.toml");
const GEO_NOISY: &str = include_str!("../../../../scenarios/geo-noisy.toml");
const FAIRNESS_RTT: &str = include_str!("../../../../scenarios/fairness-rtt.toml");

/// Share of a file of so many octets in what the link could carry, over a link with a router by P-XCP.
fn share(text: &str, link: &str, size: &str, controller: &str) -> f64 {
    // The sweep of the noisy one is over rates that are declared.
    let text = text.split("[sweep]").next().unwrap();
    let of = run(
        text,
        &[
            ("transports.stp.rate", "none"),
            ("transports.stp.controller", controller),
            (&format!("links.{link}.forward.explicit.discipline"), "p-xcp"),
            ("flows.file.workload.size", size),
        ],
    );
    println!("{link}, {size}, {controller}: {:.4}", of["share"]);
    of["share"]
}

/// The first round trip grants nothing, and the rate passes that of the link before it settles. What it then
/// has in the queue lowers the pace by itself, with or without losses.
#[test]
fn a_file_alone_is_behind_the_model() {
    assert_within(share(GEO, "geo", "20MB", "p-xcp"), (0.855, 0.875), "geo, 20 MB");
    assert_within(share(GEO, "geo", "100MB", "p-xcp"), (0.955, 0.965), "geo, 100 MB");
    assert_within(share(GEO_NOISY, "geo-noisy", "20MB", "p-xcp"), (0.85, 0.885), "geo-noisy, 20 MB");
    assert_within(share(GEO_NOISY, "geo-noisy", "100MB", "p-xcp"), (0.95, 0.97), "geo-noisy, 100 MB");
    assert_within(share(GEO, "geo", "20MB", "model"), (0.96, 0.98), "the model");
}

/// As above, and STP's XCP takes each loss for congestion.
#[test]
fn xcp_halves_for_noise() {
    assert_within(share(GEO_NOISY, "geo-noisy", "20MB", "xcp"), (0.28, 0.38), "geo-noisy, 20 MB");
}

/// So many hosts with a transfer each, over 10 Mbit/s and 275 ms with a router by P-XCP, from 40 s on.
fn hosts(count: usize, bit_error_rate: &str) -> BTreeMap<String, f64> {
    let line = format!(
        "rate = \"10Mbit/s\", delay = \"275ms\", queue = \"687500B\", bit_error_rate = {bit_error_rate}"
    );
    let mut text = format!(
        "[run]\nduration = \"160s\"\nwarm_up = \"40s\"\nmax_memory = \"4GiB\"\n\
         [transports.stp]\nprotocol = \"stp\"\ncontroller = \"p-xcp\"\n\
         [nodes]\ngateway = {{ kind = \"router\" }}\nreceiver = {{ kind = \"host\" }}\n\
         [links.hop]\nbetween = [\"gateway\", \"receiver\"]\n\
         forward = {{ {line}, explicit = {{ discipline = \"p-xcp\" }} }}\nreverse = {{ {line} }}\n"
    );
    let access = "{ rate = \"100Mbit/s\", delay = \"1ms\" }";
    for number in 0..count {
        write!(
            text,
            "[nodes.hub{number}]\nkind = \"host\"\n\
             [links.hub{number}]\nbetween = [\"hub{number}\", \"gateway\"]\nforward = {access}\nreverse = {access}\n\
             [flows.file{number}]\nfrom = \"hub{number}\"\nto = \"receiver\"\ntransport = \"stp\"\n\
             start = \"{}ms\"\nworkload = {{ kind = \"bulk\" }}\n",
            137 * number
        )
        .unwrap();
    }
    run(&text, &[])
}

#[test]
fn hosts_fill_the_link_in_equal_parts_with_a_short_queue() {
    for count in [1, 4, 20] {
        for bit_error_rate in ["0.0", "1e-5"] {
            let of = hosts(count, bit_error_rate);
            let what = format!("{count} hosts at {bit_error_rate}");
            let [used, wait_ms] =
                ["utilisation", "wait_ms.mean"].map(|name| of[&format!("links.hop.forward.{name}")]);
            println!(
                "{what}: {used:.4} of the link, jain {:.4}, {:.1} packets wait",
                of["jain"],
                wait_ms / 1.2
            );
            assert_within(used, (0.98, 1.0), &what);
            assert_within(of["jain"], (0.98, 1.0), &what);
            assert_within(wait_ms / 1.2, (0.0, 6.0), &what);
        }
    }
}

#[test]
fn round_trips_that_differ_share_equally() {
    let of = run(
        FAIRNESS_RTT,
        &[
            ("transports.window.controller", "p-xcp"),
            ("links.bottleneck.forward.explicit.discipline", "p-xcp"),
        ],
    );
    let wait_ms = of["links.bottleneck.forward.wait_ms.mean"];
    println!("jain {:.4}, {wait_ms:.2} ms of waiting", of["jain"]);
    assert_within(of["jain"], (0.99, 1.0), "jain");
    assert_within(wait_ms, (0.0, 10.0), "waiting");
}

/// The paper's twenty flows at a packet error rate of 0.1, with buffers of 1 MB each. They are of one host,
/// so that the router sees one sender. One run of eight had 0.83, all others 0.86 to 0.88.
#[test]
fn losses_take_no_more_than_they_are_from_p_xcp() {
    let text = r#"
[run]
duration = "165s"
warm_up = "55s"
[nodes]
left = { kind = "host" }
right = { kind = "host" }
[links.hop]
between = ["left", "right"]
forward = { rate = "10.4Mbit/s", delay = "275ms", queue = "200packets", explicit = { discipline = "p-xcp" }, bit_error_rate = 1.317e-5 }
reverse = { rate = "520kbit/s", delay = "275ms", queue = "200packets", bit_error_rate = 1.317e-5 }
[transports.stp]
protocol = "stp"
controller = "p-xcp"
max_payload = "960B"
send_limit = "1MB"
receive_limit = "1MB"
[flows.pair]
from = "left"
to = "right"
transport = "stp"
count = 20
stagger = "37ms"
workload = { kind = "bulk" }
"#;
    let share = |seed| seeded(text, &[], seed)["goodput_bps"] / (1300.0 * 960.0 * 8.0);
    let shares = [1, 2, 3, 4].map(share);
    println!("{shares:.3?} of P's packets");
    assert_within(shares.iter().sum::<f64>() / 4.0, (0.85, 0.89), "at 0.1");
}

/// A link of 4 Mbit/s behind the router of one of 10, whose queue nobody tells of.
const SLOW_BEHIND: &str = r#"
[run]
duration = "60s"
warm_up = "20s"
[nodes]
sender = { kind = "host" }
middle = { kind = "router" }
receiver = { kind = "host" }
[links.hub]
between = ["sender", "middle"]
forward = { rate = "10Mbit/s", delay = "20ms", queue = "100packets", explicit = { discipline = "p-xcp" } }
reverse = { rate = "10Mbit/s", delay = "20ms", queue = "100packets" }
[links.hop]
between = ["middle", "receiver"]
forward = { rate = "4Mbit/s", delay = "40ms", queue = "100packets" }
reverse = { rate = "4Mbit/s", delay = "40ms", queue = "100packets" }
[transports.stp]
protocol = "stp"
controller = "p-xcp"
[flows.file]
from = "sender"
to = "receiver"
transport = "stp"
workload = { kind = "bulk" }
"#;

#[test]
fn a_slow_link_behind_the_last_router_is_measured() {
    for queue in ["100packets", "20packets", "5packets"] {
        let of = |controller: &str| {
            let changes = [("links.hop.forward.queue", queue), ("transports.stp.controller", controller)];
            let of = run(SLOW_BEHIND, &changes);
            (of["goodput_bps"], of["links.hop.forward.wait_ms.mean"])
        };
        let ((p_xcp, wait_ms), (model, _)) = (of("p-xcp"), of("model"));
        println!("{queue}: {p_xcp:.0} bit/s and {wait_ms:.1} ms of waiting, the model has {model:.0}");
        assert_within(p_xcp / model, (0.95, 1.05), queue);
        assert_within(wait_ms, (0.0, 20.0), queue);
    }
}

/// As above from the begin: the fallback, and what waits on average in 60 s. A loop of what stands in the
/// queue is longer than the time for which it stands.
#[test]
fn a_deep_queue_behind_the_last_router_is_found_within_some_loops_of_the_empty_path() {
    for (controller, queue) in
        [("p-xcp", 20), ("p-xcp", 100), ("p-xcp", 400), ("p-xcp", 1000), ("p-xcp", 4000), ("xcp", 400)]
    {
        let changes = [
            ("links.hop.forward.queue", &*format!("{queue}packets")),
            ("transports.stp.controller", controller),
            ("run.warm_up", "0s"),
        ];
        let (of, found) = watched(SLOW_BEHIND, &changes, 1);
        let [bps, wait_ms] = ["goodput_bps", "links.hop.forward.wait_ms.mean"].map(|name| of[name]);
        println!("{controller}, {queue}: after {found:?} s, {bps:.0} bit/s and {wait_ms:.1} ms of waiting");
        let what = format!("{controller}, {queue} packets");
        assert_within(found.unwrap(), (0.0, if queue < 100 { 8.0 } else { 3.0 }), &what);
        assert_within(wait_ms, (0.0, 100.0), &what);
        assert_within(bps, (3.8e6, 4e6), &what);
    }
}

/// At the fallback half of the file's last packets is lost, and symbols bring them across. A train of data
/// that began with a POLL then never ended: every mark stood behind it, so that the wait of before, and half
/// the rate for it, stayed.
#[test]
fn repairs_by_symbols_behind_a_fallback_leave_at_the_rate_of_the_path() {
    let changes = [
        ("run.goal", "done"),
        ("run.warm_up", "0s"),
        ("flows.file.workload.size", "1MB"),
        ("links.hop.forward.rate", "2Mbit/s"),
        ("links.hop.forward.delay", "20ms"),
        ("links.hop.reverse.delay", "20ms"),
    ];
    let (of, found) = watched(SLOW_BEHIND, &changes, 1);
    let done_s = of["completion_ms.mean"] / 1e3;
    println!("fallback after {found:?} s, the file is there after {done_s:.2}");
    assert!(found.is_some());
    assert_within(done_s, (4.0, 5.5), "a file of 1 MB by 2 Mbit/s");
}

/// What a loss takes of the rate, again and again, is nobody's feedback.
#[test]
fn xcp_finds_a_short_queue_behind_the_last_router_whose_losses_halve_its_rate() {
    let changes = [
        ("links.hop.forward.queue", "20packets"),
        ("transports.stp.controller", "xcp"),
        ("run.warm_up", "0s"),
    ];
    let (of, found) = watched(SLOW_BEHIND, &changes, 1);
    let [bps, wait_ms] = ["goodput_bps", "links.hop.forward.wait_ms.mean"].map(|name| of[name]);
    println!("after {found:?} s, {bps:.0} bit/s and {wait_ms:.1} ms of waiting");
    assert_within(found.unwrap(), (0.0, 8.0), "the fallback");
    assert_within(bps, (3.8e6, 4e6), "goodput");
    assert_within(wait_ms, (0.0, 20.0), "waiting");
}

/// Fewer packets than a router's swing leaves: what tells of them are halvings, each beside packets that
/// wait, of which no router takes anything.
#[test]
fn xcp_finds_a_queue_of_few_packets_behind_the_last_router_by_its_halvings() {
    for queue in [5, 10, 15, 20] {
        let changes = [
            ("links.hop.forward.queue", &*format!("{queue}packets")),
            ("links.hop.forward.delay", "20ms"),
            ("transports.stp.controller", "xcp"),
            ("run.warm_up", "0s"),
        ];
        let (of, found) = watched(SLOW_BEHIND, &changes, 1);
        let [bps, wait_ms] = ["goodput_bps", "links.hop.forward.wait_ms.mean"].map(|name| of[name]);
        println!("{queue}: after {found:?} s, {bps:.0} bit/s and {wait_ms:.1} ms of waiting");
        let what = format!("{queue} packets");
        assert_within(found.unwrap(), (0.0, 4.0), &what);
        assert_within(bps, (3.8e6, 4e6), &what);
    }
}

/// The queue of the only router, too short for the swing of its rates: what it drops halves the rate, too.
#[test]
fn a_short_queue_that_the_only_router_sees_is_not_behind_it() {
    for (discipline, bit_error_rate) in [("xcp", "0.0"), ("p-xcp", "0.0"), ("xcp", "1e-5")] {
        for (queue, delay, seed) in
            [(3, "5ms", 1), (5, "20ms", 2), (10, "20ms", 3), (10, "275ms", 4), (20, "100ms", 5)]
        {
            let changes = [
                ("links.hub.forward.explicit.discipline", discipline),
                ("links.hub.forward.queue", &*format!("{queue}packets")),
                ("links.hub.forward.delay", delay),
                ("links.hub.forward.bit_error_rate", bit_error_rate),
                ("links.hop.forward.rate", "100Mbit/s"),
                ("transports.stp.controller", "xcp"),
                ("run.warm_up", "0s"),
            ];
            let (of, found) = watched(SLOW_BEHIND, &changes, seed);
            let what = format!("{discipline}, {queue} packets, {delay}, {bit_error_rate}");
            println!("{what}: {:.0} bit/s", of["goodput_bps"]);
            assert_eq!(found, None, "{what}");
        }
    }
}

/// A handover makes the only link longer, whose router sees no queue, or a pass does, bit by bit.
#[test]
fn a_path_that_becomes_longer_stays_with_its_router() {
    let drift = (0..=20).map(|second| (3.0 + f64::from(second), 15 + second)).collect();
    let folder = tempfile::tempdir().unwrap();
    for (name, mbps, first_ms, delays) in [
        ("10 Mbit/s, 40 to 60 ms", 10, 40, vec![(3.0, 60)]),
        ("10 Mbit/s, 275 to 300 ms", 10, 275, vec![(8.0, 300)]),
        ("100 Mbit/s, 20 to 23 ms", 100, 20, vec![(1.5, 23)]),
        ("100 Mbit/s, 20 to 30 ms", 100, 20, vec![(1.5, 30)]),
        ("20 Mbit/s, 15 to 35 ms", 20, 15, drift),
    ] {
        let trace = folder.path().join("delays.csv");
        let rows = core::iter::once((0.0, first_ms)).chain(delays);
        let rows: Vec<_> = rows.map(|(at_s, delay_ms)| format!("{at_s},{mbps}000000,{delay_ms}\n")).collect();
        let rows = rows.concat();
        std::fs::write(&trace, format!("time_s,rate_bps,delay_ms\n{rows}")).unwrap();
        for (controller, bit_error_rate) in [("p-xcp", "0.0"), ("p-xcp", "1e-6"), ("xcp", "0.0")] {
            let text = format!(
                "[run]\nduration = \"30s\"\nwarm_up = \"10s\"\nmax_memory = \"4GiB\"\n\
                 [transports.stp]\nprotocol = \"stp\"\ncontroller = \"{controller}\"\n\
                 [nodes]\nsender = {{ kind = \"host\" }}\nreceiver = {{ kind = \"host\" }}\n\
                 [links.hop]\nbetween = [\"sender\", \"receiver\"]\ntrace = {trace:?}\n\
                 forward = {{ queue = \"2MB\", bit_error_rate = {bit_error_rate}, \
                 explicit = {{ discipline = \"p-xcp\" }} }}\nreverse = {{ queue = \"2MB\" }}\n\
                 [flows.file]\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"stp\"\n\
                 workload = {{ kind = \"bulk\" }}\n"
            );
            let (of, found) = watched(&text, &[], 1);
            let used = of["links.hop.forward.utilisation"];
            let what = format!("{controller}, {name}, {bit_error_rate}");
            println!("{what}: {used:.3} of the link from 10 s on");
            assert_eq!(found, None, "{what}");
            assert_within(used, (0.9, 1.001), &what);
        }
    }
}

/// Transfers of one host over the only link, whose queue its router sees: the swing of the begin, and of the
/// rates that it shares out, stands there for seconds. 10 Mbit/s and 275 ms, from 40 s on.
#[test]
fn a_queue_that_the_only_router_sees_is_not_behind_it() {
    let text = |count: usize, bit_error_rate: &str| {
        let line = format!(
            "rate = \"10Mbit/s\", delay = \"275ms\", queue = \"687500B\", bit_error_rate = {bit_error_rate}"
        );
        format!(
            "[run]\nduration = \"80s\"\nwarm_up = \"40s\"\nmax_memory = \"4GiB\"\n\
             [transports.stp]\nprotocol = \"stp\"\ncontroller = \"p-xcp\"\n\
             [nodes]\nsender = {{ kind = \"host\" }}\nreceiver = {{ kind = \"host\" }}\n\
             [links.hop]\nbetween = [\"sender\", \"receiver\"]\n\
             forward = {{ {line}, explicit = {{ discipline = \"p-xcp\" }} }}\nreverse = {{ {line} }}\n\
             [flows.pair]\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"stp\"\n\
             count = {count}\nstagger = \"137ms\"\nworkload = {{ kind = \"bulk\" }}\n"
        )
    };
    for (count, bit_error_rate, seed) in [(20, "0.0", 1), (20, "1e-5", 1), (1, "1e-5", 36)] {
        let (of, found) = watched(&text(count, bit_error_rate), &[], seed);
        let what = format!("{count} transfers at {bit_error_rate}");
        let [used, wait_ms] =
            ["utilisation", "wait_ms.mean"].map(|name| of[&format!("links.hop.forward.{name}")]);
        println!("{what}: {used:.4} of the link, {:.1} packets wait; {found:?}", wait_ms / 1.2);
        assert_eq!(found, None, "{what}");
        assert_within(used, (0.98, 1.001), &what);
        assert_within(wait_ms / 1.2, (0.0, 6.0), &what);
    }
}

#[test]
fn a_path_without_a_router_is_within_a_few_percent_of_the_model() {
    let of = |controller: &str| {
        run(GEO, &[("transports.stp.rate", "none"), ("transports.stp.controller", controller)])["share"]
    };
    assert_within(of("p-xcp") / of("model"), (0.99, 1.0), "geo");
}

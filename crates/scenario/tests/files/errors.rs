//! Every kind of mistake, and the message that it gets.

use std::fmt::Write;

use skyhaul_scenario::{File, ScenarioError};

use super::{load, parse};

const BASE: &str = r#"
[run]
duration = "60s"
seed = 1
[nodes]
a = { kind = "host" }
r = { kind = "router" }
b = { kind = "host" }
[links.up]
between = ["a", "r"]
[links.up.forward]
rate = "10Mbit/s"
delay = "10ms"
queue = "100packets"
loss = 0.1
[links.down]
between = ["r", "b"]
[transports.stp]
profile = "paper"
[flows.file]
from = "a"
to = "b"
transport = "stp"
[flows.file.workload]
kind = "bulk"
size = "1MB"
"#;

/// The message for [`BASE`] with `old` replaced by `new`; an empty `old` means: `new` comes at the end.
fn message(old: &str, new: &str) -> String {
    assert!(BASE.contains(old), "{old}");
    let text = if old.is_empty() { format!("{BASE}{new}\n") } else { BASE.replacen(old, new, 1) };
    refusal(parse("f.toml", &text))
}

/// The workload of [`BASE`].
const WORKLOAD: &str = "kind = \"bulk\"\nsize = \"1MB\"";

fn distribution(kind: &str, keys: &str) -> String {
    let table = format!("{{ distribution = \"{kind}\", max = \"1MB\", {keys} }}");
    format!("kind = \"requests\"\nrequest = \"1B\"\nresponse = {table}")
}

fn pareto(keys: &str) -> String {
    distribution("pareto", keys)
}

fn log_normal(keys: &str) -> String {
    distribution("log-normal", keys)
}

fn refusal(file: Result<File, ScenarioError>) -> String {
    file.map_or_else(|error| error.to_string(), |_| "NO ERROR".to_string())
}

fn messages(cases: &[(&str, &str)]) -> String {
    let mut all = String::new();
    for (old, new) in cases {
        writeln!(all, "{}\n    {}", new.trim().replace('\n', " | "), message(old, new)).unwrap();
    }
    assert!(!all.contains("NO ERROR"), "{all}");
    all
}

/// As one who gives `--set`.
fn overridden(text: &str, overrides: &[(&str, &str)]) -> Result<File, ScenarioError> {
    let owned: Vec<_> = overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    load("f.toml", text, &owned)
}

#[test]
fn the_base_of_these_tests_is_fine() {
    assert_eq!(refusal(parse("f.toml", BASE)), "NO ERROR");
}

#[test]
fn what_is_no_toml() {
    insta::assert_snapshot!(messages(&[
        ("[run]", "[run"),
        ("seed = 1", "seed = "),
        ("seed = 1", "seed = 1\nseed = 2"),
        ("delay = \"10ms\"", "delay = 10ms"),
        ("[links.down]", "[links.up]"),
        ("", "[nodes.a]\nkind = \"host\""),
    ]));
}

#[test]
fn keys_that_there_are_not_or_that_are_missing() {
    insta::assert_snapshot!(messages(&[
        ("delay = \"10ms\"", "dealy = \"10ms\""),
        ("delay = \"10ms\"", "delay_ns = 10"),
        ("profile = \"paper\"", "poll_per_rtt = 1"),
        ("profile = \"paper\"", "colour = \"red\""),
        ("seed = 1", "colour = \"red\""),
        ("[run]", "[runs]"),
        ("between = [\"a\", \"r\"]\n", "\n"),
        ("transport = \"stp\"\n", "\n"),
        ("kind = \"bulk\"", "\n"),
        ("kind = \"bulk\"", "kind = \"requests\""),
        ("kind = \"bulk\"", "kind = \"bulks\""),
        ("size = \"1MB\"", "think = \"1s\""),
        ("kind = \"bulk\"\nsize = \"1MB\"", "kind = \"web\"\nevery = \"1s\"\nparallel = 4"),
        ("kind = \"bulk\"\nsize = \"1MB\"", "kind = \"web\"\nevery = \"0s\""),
        (
            WORKLOAD,
            "kind = \"requests\"\nrequest = \"1B\"\nresponse = \"1B\"\nkeep = true\ncloses = \"with-request\""
        ),
        (WORKLOAD, "kind = \"requests\"\nrequest = { size = \"1B\" }\nresponse = \"1B\""),
        (WORKLOAD, &pareto("mean = \"8kB\", shape = 1.0")),
        (WORKLOAD, &pareto("mean = \"8kB\", shape = 0")),
        (WORKLOAD, &pareto("mean = \"8kB\"")),
        (WORKLOAD, &pareto("mean = \"2MB\", shape = 1.2")),
        (WORKLOAD, &pareto("mean = \"8kB\", shape = 1.2, median = \"2kB\"")),
        (WORKLOAD, &log_normal("mean = \"8kB\", median = \"8kB\"")),
        (WORKLOAD, &log_normal("mean = \"8kB\"")),
        (WORKLOAD, &log_normal("mean = \"8kB\", median = \"2kB\", shape = 2.0")),
        (WORKLOAD, &log_normal("median = \"2kB\"")),
        ("", "[links.down.channel]\nbad = { mean_stay = \"1s\" }"),
        ("", "[links.down.channel.good]\nloss = 0.1"),
        ("", "[[links.down.outages]]\nfrom = \"1s\""),
        ("", "[links.down.outages_every]\nperiod = \"1s\""),
    ]));
}

#[test]
fn keys_of_the_other_protocol() {
    insta::assert_snapshot!(messages(&[
        ("profile = \"paper\"", "recovery = \"sack\""),
        ("profile = \"paper\"", "protocol = \"udp\""),
        ("profile = \"paper\"", "protocol = \"tcp\"\nprobing = false"),
        ("profile = \"paper\"", "protocol = \"tcp\"\nprofile = \"default\""),
        ("profile = \"paper\"", "protocol = \"tcp\"\nack_policy = \"delayed\""),
        ("profile = \"paper\"", "protocol = \"tcp\"\nack_policy = { kind = \"immediate\", delay = \"1s\" }"),
        ("profile = \"paper\"", "protocol = \"tcp\"\npacing_percent = [200]"),
        ("profile = \"paper\"", "protocol = \"tcp\"\nacceptor = { polls_per_rtt = 1 }"),
    ]));
}

#[test]
fn values_of_the_wrong_type_or_without_a_unit() {
    insta::assert_snapshot!(messages(&[
        ("delay = \"10ms\"", "delay = 10"),
        ("delay = \"10ms\"", "delay = \"10\""),
        ("delay = \"10ms\"", "delay = \"10 parsecs\""),
        ("delay = \"10ms\"", "delay = []"),
        ("rate = \"10Mbit/s\"", "rate = 10_000_000"),
        ("rate = \"10Mbit/s\"", "rate = \"10000000\""),
        ("rate = \"10Mbit/s\"", "rate = \"none\""),
        ("size = \"1MB\"", "size = 1000000"),
        ("size = \"1MB\"", "size = \"1000000\""),
        ("queue = \"100packets\"", "queue = 100"),
        ("queue = \"100packets\"", "queue = \"100\""),
        ("loss = 0.1", "loss = \"10%\""),
        ("loss = 0.1", "loss = \"0.1\""),
        ("seed = 1", "seed = \"1\""),
        ("seed = 1", "seed = 1.5"),
        ("seed = 1", "seed = 2026-01-01"),
        ("seed = 1", "goal = \"don\""),
        ("[run]", "title = 5\n[run]"),
        ("[links.up.forward]", "[links.up.reverse]\norder = \"preserved\"\n[links.up.forward]"),
        ("profile = \"paper\"", "nagle = \"yes\""),
        ("profile = \"paper\"", "probing = 1"),
        ("profile = \"paper\"", "profile = \"papers\""),
        ("between = [\"a\", \"r\"]", "between = [\"a\"]"),
        ("between = [\"a\", \"r\"]", "between = \"a\""),
        ("between = [\"a\", \"r\"]", "between = [\"a\", \"r\"]\npreset = \"goe\""),
        ("between = [\"a\", \"r\"]", "between = [\"a\", \"r\"]\noutages = 1"),
        ("a = { kind = \"host\" }", "a = \"host\""),
        ("a = { kind = \"host\" }", "\"a b\" = { kind = \"host\" }"),
        ("", "[metrics]\nwanted = \"jain\""),
        ("", "[metrics]\nwanted = [1]"),
    ]));
}

#[test]
fn what_cannot_be() {
    insta::assert_snapshot!(messages(&[
        ("profile = \"paper\"", "protocol = \"tcp\"\nmin_rto = \"100s\""),
        ("profile = \"paper\"", "protocol = \"tcp\"\nacceptor = { max_rto = \"1ms\" }"),
        ("delay = \"10ms\"", "delay = \"-10ms\""),
        ("delay = \"10ms\"", "delay = \"9000h\""),
        ("rate = \"10Mbit/s\"", "rate = \"0bit/s\""),
        ("rate = \"10Mbit/s\"", "rate = \"2000Gbit/s\""),
        ("loss = 0.1", "loss = 1.5"),
        ("loss = 0.1", "loss = -0.1"),
        ("loss = 0.1", "loss = nan"),
        ("queue = \"100packets\"", "queue = \"0packets\""),
        ("queue = \"100packets\"", "queue = \"0B\""),
        ("queue = \"100packets\"", "queue = \"1000B\""),
        ("queue = \"100packets\"", "red = { min = \"100packets\", max = \"50packets\" }"),
        ("queue = \"100packets\"", "red = { min = \"100packets\", max = \"50kB\" }"),
        ("queue = \"100packets\"", "red = { weight = 0 }"),
        ("queue = \"100packets\"", "red = true"),
        ("queue = \"100packets\"", "policer = {}"),
        ("queue = \"100packets\"", "policer = { rate = \"1Mbit/s\" }"),
        ("queue = \"100packets\"", "policer = { rate = \"0bit/s\", depth = \"64kB\" }"),
        ("queue = \"100packets\"", "policer = { rate = \"unlimited\", depth = \"64kB\" }"),
        ("queue = \"100packets\"", "policer = { rate = \"1Mbit/s\", depth = \"1000B\" }"),
        ("queue = \"100packets\"", "policer = { rate = \"1Mbit/s\", depth = \"10packets\" }"),
        ("queue = \"100packets\"", "policer = { rate = \"1Mbit/s\", depth = \"2GB\" }"),
        ("queue = \"100packets\"", "explicit = {}\npolicer = { rate = \"1Mbit/s\", depth = \"64kB\" }",),
        ("queue = \"100packets\"", "low_limit = -1"),
        ("queue = \"100packets\"", "explicit = { discipline = \"pxcp\" }"),
        ("rate = \"10Mbit/s\"", "explicit = {}"),
        ("", "[links.down.forward.explicit]\nset_off = false"),
        ("size = \"1MB\"", "size = \"0B\""),
        ("seed = 1", "seed = -1"),
        ("seed = 1", "replications = 0"),
        ("seed = 1", "warm_up = \"60s\""),
        ("profile = \"paper\"", "polls_per_rtt = 0"),
        ("transport = \"stp\"", "transport = \"stp\"\ncount = 0"),
        ("transport = \"stp\"", "transport = \"stp\"\nstart = \"50s\"\nstagger = \"10s\"\ncount = 2"),
        (
            "",
            "[links.down.channel]\ngood = { mean_stay = \"1s\", min_delay = \"2ms\", max_delay = \"1ms\" }\nbad = { mean_stay = \"1s\" }"
        ),
        ("", "[[links.down.outages]]\nfrom = \"2s\"\nto = \"1s\""),
        (
            "",
            "[[links.down.outages]]\nfrom = \"1s\"\nto = \"3s\"\n[[links.down.outages]]\nfrom = \"2s\"\nto = \"4s\""
        ),
        ("", "[links.down.outages_every]\nperiod = \"1s\"\nlength = \"1s\""),
        ("", "[links.down.outages_every]\nperiod = \"1us\"\nlength = \"1ns\""),
    ]));
}

#[test]
fn routes_of_transports_that_make_no_sense() {
    let with = |routes: &str| message("profile = \"paper\"", &format!("protocol = \"scps-tp\"\n{routes}"));
    let mut all = String::new();
    for routes in [
        "routes = 1",
        "routes = [{ rate = \"1Mbit/s\" }]",
        "routes = [{ prefix = 10 }]",
        "routes = [{ prefix = \"10.0.0.1/24\" }]",
        "routes = [{ prefix = \"10.0.0.0/33\" }]",
        "routes = [{ prefix = \"ground\" }]",
        "routes = [{ prefix = \"10.0.0.0/24\" }, { prefix = \"10.0.0.0/8\" }, { prefix = \"10.0.0.0/24\" }]",
        "routes = [{ prefix = \"10.0.0.0/24\", depth = \"9kB\" }]",
        "routes = [{ prefix = \"10.0.0.0/24\", rate = \"1Mbit/s\", obey_ecn = 1 }]",
    ] {
        writeln!(all, "{routes}\n    {}", with(routes)).unwrap();
    }
    assert!(!all.contains("NO ERROR"), "{all}");
    insta::assert_snapshot!(all);
}

#[test]
fn names_of_nothing_and_ways_to_nowhere() {
    insta::assert_snapshot!(messages(&[
        ("between = [\"a\", \"r\"]", "between = [\"a\", \"s\"]"),
        ("between = [\"a\", \"r\"]", "between = [\"a\", \"a\"]"),
        ("transport = \"stp\"", "transport = \"spt\""),
        ("from = \"a\"", "from = \"c\""),
        ("from = \"a\"", "from = \"b\""),
        ("from = \"a\"", "from = \"r\""),
        ("a = { kind = \"host\" }", "a = { kind = \"host\" }\nc = { kind = \"host\" }"),
        ("r = { kind = \"router\" }", "r = { kind = \"host\" }"),
        (
            "between = [\"r\", \"b\"]",
            "between = [\"c\", \"b\"]\n[nodes.c]\nkind = \"router\"\n[links.more]\nbetween = [\"c\", \"b\"]"
        ),
        ("between = [\"r\", \"b\"]", "between = [\"c\", \"b\"]\n[nodes.c]\nkind = \"router\""),
        ("", "[links.more]\nbetween = [\"b\", \"r\"]"),
        ("", "[[routes]]\nat = \"a\"\nto = \"b\"\nlink = \"down\""),
        ("", "[[routes]]\nat = \"a\"\nto = \"b\"\nlink = \"side\""),
        ("", "[[routes]]\nat = \"r\"\nto = \"b\"\nlink = \"up\""),
        (
            "",
            "[[routes]]\nat = \"a\"\nto = \"b\"\nlink = \"up\"\n[[routes]]\nat = \"a\"\nto = \"b\"\nlink = \"up\""
        ),
        (
            "",
            "[flows.more]\nfrom = \"a\"\nto = \"b\"\ntransport = \"stp\"\nworkload = { kind = \"bulk\" }\ncount = 49148"
        ),
        (
            "",
            "[transports.other]\n[flows.other]\nfrom = \"a\"\nto = \"b\"\ntransport = \"other\"\nworkload = { kind = \"bulk\" }"
        ),
    ]));
}

#[test]
fn signals_are_a_router_s_and_have_values_that_can_be() {
    let said = message("a = { kind = \"host\" }", "a = { kind = \"host\", signals = {} }");
    assert!(
        said.contains(":6:") && said.contains("nodes.a.signals") && said.contains("kind = \"router\""),
        "{said}"
    );
    for (keys, expected) in [
        ("damage_threshold = 2", "a number from 0 to 1"),
        ("interval = \"0s\"", "a time"),
        ("max_destinations = 0", "from 1 to 65536"),
        ("treshold = 0.1", "damage_threshold"),
    ] {
        let said = message(
            "r = { kind = \"router\" }",
            &format!("r = {{ kind = \"router\", signals = {{ {keys} }} }}"),
        );
        assert!(said.contains("nodes.r.signals") && said.contains(expected), "{said}");
    }
}

#[test]
fn what_never_ends_or_never_begins() {
    insta::assert_snapshot!(messages(&[
        ("duration = \"60s\"", "\n"),
        ("[run]\nduration = \"60s\"\nseed = 1", "\n"),
        ("size = \"1MB\"", "[run.goal]"),
        (
            "duration = \"60s\"",
            "goal = \"done\"\n[links.down.outages_every]\nperiod = \"15s\"\nlength = \"1s\"\n[run2]"
        ),
        (
            "seed = 1",
            "goal = \"done\"\n[links.down.outages_every]\nperiod = \"15s\"\nlength = \"20s\"\n[metrics]"
        ),
    ]));
    let endless = BASE.replace("duration = \"60s\"", "goal = \"done\"");
    let returning = format!("{endless}[links.down.outages_every]\nperiod = \"15s\"\nlength = \"1s\"\n");
    insta::assert_snapshot!("outages_without_an_end", refusal(parse("f.toml", &returning)));
    let unsized_flow = endless.replace("size = \"1MB\"", "");
    insta::assert_snapshot!("done_without_an_end", refusal(parse("f.toml", &unsized_flow)));
    let idle = BASE.split("[flows.file]").next().unwrap();
    insta::assert_snapshot!("nothing_to_do", refusal(parse("f.toml", &format!("{idle}[flows]\n"))));
    insta::assert_snapshot!("nothing_at_all", refusal(parse("f.toml", "")));
}

#[test]
fn axes_that_make_no_sense() {
    insta::assert_snapshot!(messages(&[
        ("", "[sweep]\n\"links.up.forward.loss\" = 0.1"),
        ("", "[sweep]\n\"links.up.forward.loss\" = []"),
        ("", "[sweep]\n\"links.up.forward.loss\" = [0, 1.5]"),
        ("", "[sweep]\nlinks.up.forward.loss = [0, 1.5]"),
        ("", "[sweep]\n\"links.upp.forward.loss\" = [0]"),
        ("", "[sweep]\n\"links.up.forward.los\" = [0]"),
        ("", "[sweep]\n\"links.up.forward..loss\" = [0]"),
        ("", "[sweep]\n\"links.up.forward\" = [0]"),
        ("", "[sweep]\n\"run.seed\" = [1, 2]"),
        ("", "[sweep]\n\"title\" = [1, 2]"),
        ("", "[sweep]\n\"links.up.forward\" = [{}]\n\"links.up.forward.loss\" = [0, 1]"),
        ("", "[sweep.together.x]\n\"links.up.forward.loss\" = [0, 1]\n\"links.down.forward.loss\" = [0]"),
        ("", "[sweep.together.x]\nlabels = [1, 2]"),
        ("", "[sweep.together.x]\nlabels = [1]\n\"links.up.forward.loss\" = [0, 1]"),
        ("", "[sweep]\n\"links.up.forward.queue\" = [\"5kB\", \"1kB\"]\n\"transports.stp.profile\" = [\"paper\", \"default\"]"),
        ("", &format!("[sweep]\nlinks.up.forward.loss = [{0}]\nlinks.down.forward.loss = [{0}]", "0, ".repeat(400))),
    ].map(|(old, new): (&str, &str)| (old, new))));
}

#[test]
fn overrides_that_make_no_sense() {
    let swept = format!("{BASE}[sweep]\n\"links.up.forward.loss\" = [0, 0.5]\n");
    let mut all = String::new();
    for overrides in [
        &[("links.up.forward.rate", "10000000")][..],
        &[("links.up.forward.rate", "0bit/s")],
        &[("links.up.forward.delay", "[1")],
        &[("links.up.forward.rat", "10Mbit/s")],
        &[("links.pu.forward.rate", "10Mbit/s")],
        &[("links.up.forward", "10Mbit/s")],
        &[("links.up.forward.rate.x", "1")],
        &[("links up", "1")],
        &[("", "1")],
        &[("a\nb", "1")],
        &[("links.up.forward.loss", "0.1")],
        &[("sweep.\"links.up.forward.loss\"", "[2]")],
        &[("sweep.together", "1")],
        &[("transports.stp.max_payload", "1400B"), ("links.up.forward.queue", "1200B")],
        &[("transports.stp.max_payload", "1400B"), ("links.up.forward.delay", "-1s")],
    ] {
        let shown: Vec<_> = overrides.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let message = refusal(overridden(&swept, overrides));
        writeln!(all, "{}\n    {message}", shown.join(" ").escape_debug()).unwrap();
    }
    assert!(!all.contains("NO ERROR"), "{all}");
    insta::assert_snapshot!(all);
}

#[test]
fn a_file_beyond_all_bounds() {
    let text = "#".repeat(skyhaul_scenario::MAX_FILE_BYTES + 1);
    insta::assert_snapshot!(refusal(parse("f.toml", &text)));
    let mut nodes = BASE.replace("[links.up]", "\n[links.up]");
    let more: Vec<_> = (0..1100).map(|number| format!("n{number} = {{ kind = \"router\" }}")).collect();
    nodes.insert_str(nodes.find("\n[links.up]").unwrap(), &format!("\n{}", more.join("\n")));
    insta::assert_snapshot!("too_many_nodes", refusal(parse("f.toml", &nodes)));
}

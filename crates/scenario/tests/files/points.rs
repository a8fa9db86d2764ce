//! Points, overrides and digests of files that make sense.

use skyhaul_core::{MS, SECOND};
use skyhaul_stp::{Config, ProbingConfig, SavedPath};
use skyhaul_tcp::Config as TcpConfig;

use super::{load, parse};
use skyhaul_scenario::{File, Label, Point, Scenario, Workload};

const BASE: &str = r#"
title = "Two axes"
[run]
goal = "done"
seed = 7
replications = 3
[nodes]
a = { kind = "host" }
b = { kind = "host" }
[links.space]
preset = "leo-handoff"
between = ["a", "b"]
forward = { delay = "5ms" }
[transports.on]
rate = "10Mbit/s"
[transports.off]
profile = "paper"
probing = false
[flows.file]
from = "a"
to = "b"
transport = "on"
workload = { kind = "bulk", size = "1MB" }
[metrics]
wanted = ["share"]
"#;
const AXES: &str = r#"
[sweep]
"flows.file.transport" = ["on", "off"]
links.space.forward.delay = ["10ms", "20ms", "30ms"]
[sweep.together.gone]
labels = [10, 50]
"links.space.channel.good.mean_stay" = ["9s", "1s"]
"links.space.channel.bad.mean_stay" = ["1s", "1s"]
"#;

fn swept() -> File {
    parse("dir/two-axes.toml", &format!("{BASE}{AXES}")).unwrap()
}

fn with(file: &File, key: &str, value: &str) -> File {
    file.with(&[(key.to_string(), value.to_string())]).unwrap_or_else(|error| panic!("{error}"))
}

fn first(file: &File) -> Scenario {
    let point = file.points().next().unwrap();
    file.scenario_at(&point).unwrap()
}

#[test]
fn the_last_axis_varies_fastest() {
    let file = swept();
    let names: Vec<_> = file.axes().iter().map(skyhaul_scenario::Axis::name).collect();
    assert_eq!(names, ["flows.file.transport", "links.space.forward.delay", "gone"]);
    let points: Vec<Point> = file.points().collect();
    assert_eq!(points.len(), 12);
    assert_eq!(points[0], Point { number: 0, choices: vec![0, 0, 0] });
    assert_eq!(points[1].choices, [0, 0, 1]);
    assert_eq!(points[2].choices, [0, 1, 0]);
    assert_eq!(points[11].choices, [1, 2, 1]);
    let labels = file.labels(&points[3]);
    assert_eq!(labels[0], ("flows.file.transport", &Label::Text("on".to_string())));
    assert_eq!(labels[1], ("links.space.forward.delay", &Label::Text("20ms".to_string())));
    assert_eq!(labels[2], ("gone", &Label::Integer(50)));
    assert_eq!(file.axes()[2].keys().len(), 2);
}

#[test]
fn a_point_has_the_values_of_its_axes() {
    let file = swept();
    let scenario = file.scenario_at(&file.points().last().unwrap()).unwrap();
    let link = &scenario.links[0].config;
    let preset = skyhaul_link::preset("leo-handoff").unwrap();
    assert_eq!((link.name.as_str(), link.forward.delay_ns), ("space", 30 * MS));
    assert_eq!(link.reverse, preset.reverse, "of the preset");
    assert_eq!(link.channel.as_ref().unwrap().good.mean_stay_ns, 1000 * MS);
    assert_eq!(link.channel.as_ref().unwrap().bad, preset.channel.unwrap().bad);
    assert_eq!(scenario.flows[0].transport.name, "off");
    assert!(scenario.flows[0].transport.opener.get::<Config>().unwrap().probing.is_none());
    assert_eq!(scenario.name, "two-axes");
    assert!(scenario.stop.when_done);
}

#[test]
fn what_holds_for_all_points() {
    let settings = swept().settings().clone();
    assert_eq!((settings.title.as_str(), settings.seed, settings.replications), ("Two axes", 7, 3));
    assert!(settings.wanted.matches("share") && !settings.wanted.matches("jain"));
    let plain = BASE.replace("title = \"Two axes\"", "");
    assert_eq!(parse("x/plain.toml", &plain).unwrap().settings().title, "plain");
}

#[test]
fn an_override_comes_before_everything() {
    let file = parse("f.toml", BASE).unwrap();
    assert_eq!(
        first(&with(&file, "links.space.forward.delay", "7ms")).links[0].config.forward.delay_ns,
        7 * MS
    );
    let window = first(&with(&file, "transports.on.rate", "none"));
    assert_eq!(window.flows[0].transport.opener.get::<Config>().unwrap().rate_bps, None);
    let typed =
        first(&with(&file, "flows.file.workload", "{ kind = \"bulk\", size = \"2MB\", chunk = \"1kB\" }"));
    let bulk = Workload::Bulk { bytes: Some(2_000_000), chunk_bytes: 1000, rate_bps: None };
    assert_eq!(typed.flows[0].workload, bulk);
    assert_eq!(with(&file, "run.seed", "99").settings().seed, 99);
    let twice = with(&with(&file, "run.seed", "99"), "run.replications", "2");
    assert_eq!((twice.settings().seed, twice.settings().replications), (99, 2), "the first one still holds");
    assert_eq!(with(&file, "title", "A new name").settings().title, "A new name");
}

#[test]
fn an_override_completes_what_the_file_leaves_open() {
    let open = BASE.replace("goal = \"done\"", "");
    assert!(parse("f.toml", &open).is_err());
    let overrides = [("run.duration".to_string(), "10s".to_string())];
    assert_eq!(first(&load("f.toml", &open, &overrides).unwrap()).stop.duration_ns, Some(10_000 * MS));
}

#[test]
fn overrides_change_axes_add_them_and_take_them_away() {
    let file = swept();
    let fewer = with(&file, "sweep.\"flows.file.transport\"", "[\"off\"]");
    assert_eq!((fewer.axes().len(), fewer.points().count()), (3, 6));
    assert_eq!(with(&file, "sweep.flows.file.transport", "[\"off\"]").points().count(), 6, "the same key");
    let more = with(&file, "sweep.\"transports.on.nagle\"", "[true, false]");
    assert_eq!((more.axes().len(), more.axes()[3].name()), (4, "transports.on.nagle"));
    assert_eq!(with(&file, "sweep", "{}").points().count(), 1);
    assert_eq!(
        with(&file, "sweep.together.gone", "{ \"links.space.forward.loss\" = [0] }").points().count(),
        6
    );
}

#[test]
fn equal_content_has_an_equal_digest_and_other_content_another() {
    let digest = |text: &str| parse("f.toml", text).unwrap().digest().unwrap();
    let base = digest(BASE);
    assert_eq!(base, digest(&format!("# a comment\n{BASE}")), "comments do not count");
    assert_eq!(base, digest(&BASE.replace("\"5ms\"", "\"5000us\"")), "nor does how a value is written");
    assert_eq!(
        base,
        digest(&BASE.replace("replications = 3", "replications = 30")),
        "nor how often it is run"
    );
    assert_eq!(base, digest(&BASE.replace("Two axes", "No axes")));
    assert_ne!(base, digest(&BASE.replace("\"5ms\"", "\"6ms\"")));
    assert_ne!(base, digest(&BASE.replace("seed = 7", "seed = 8")));
    assert_ne!(base, digest(&format!("{BASE}{AXES}")));
    let file = parse("other.toml", BASE).unwrap();
    assert_eq!(base, file.digest().unwrap(), "nor what the file is called");
    assert_eq!(
        with(&file, "links.space.forward.delay", "6ms").digest().unwrap(),
        digest(&BASE.replace("\"5ms\"", "\"6ms\""))
    );
}

/// As text, since a configuration cannot be compared.
fn same(a: &Config, b: &Config) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

#[test]
fn both_ends_are_alike_but_for_the_rate_unless_the_file_says_otherwise() {
    let file = parse("f.toml", BASE).unwrap();
    let transport = first(&file).flows[0].transport.clone();
    assert!(same(
        transport.opener.get::<Config>().unwrap(),
        &Config { rate_bps: Some(10_000_000), ..Config::standard() }
    ));
    assert!(same(transport.acceptor.get::<Config>().unwrap(), &Config::standard()));
    let other = first(&with(&file, "transports.on.acceptor", "{ rate = \"10kbit/s\", nagle = true }"));
    let transport = &other.flows[0].transport;
    assert!(same(
        transport.acceptor.get::<Config>().unwrap(),
        &Config { rate_bps: Some(10_000), nagle: true, ..Config::standard() }
    ));
    assert!(!transport.opener.get::<Config>().unwrap().nagle);
}

#[test]
fn probing_is_switched_and_changed() {
    let file = parse("f.toml", BASE).unwrap();
    let probing = |file: &File| first(file).flows[0].transport.opener.get::<Config>().unwrap().probing;
    assert_eq!(probing(&file), Some(ProbingConfig::standard()));
    let changed = with(&file, "transports.on.probing.max_probes", "4");
    assert_eq!(probing(&changed), Some(ProbingConfig { max_probes: 4, ..ProbingConfig::standard() }));
    assert_eq!(probing(&with(&changed, "transports.on.probing.on", "false")), None);
    assert_eq!(probing(&with(&file, "transports.on.probing", "false")), None);
    let paper = with(&with(&file, "flows.file.transport", "off"), "transports.off.probing", "true");
    assert_eq!(probing(&paper), Some(ProbingConfig::paper()), "of the profile");
}

#[test]
fn routes_tell_links_between_the_same_nodes_apart() {
    let two = format!(
        "{BASE}[links.back]\nbetween = [\"b\", \"a\"]\n{}{}",
        "[[routes]]\nat = \"a\"\nto = \"b\"\nlink = \"space\"\n",
        "[[routes]]\nat = \"b\"\nto = \"a\"\nlink = \"back\"\n"
    );
    let scenario = first(&parse("f.toml", &two).unwrap());
    assert_eq!((scenario.links.len(), scenario.routes.len()), (2, 2));
    assert_eq!(scenario.links[1].ends, [1, 0]);
}

#[test]
fn returning_outages_join_those_that_are_listed() {
    let text = BASE.replace("goal = \"done\"", "duration = \"40s\"");
    let outages = "[[links.space.outages]]\nfrom = \"12s\"\nto = \"13s\"\n\
                   [links.space.outages_every]\nperiod = \"10s\"\nlength = \"1s\"\nfirst = \"5s\"\n";
    let scenario = first(&parse("f.toml", &format!("{text}{outages}")).unwrap());
    let from: Vec<u64> =
        scenario.links[0].config.outages.iter().map(|o| o.from.as_ns() / (1000 * MS)).collect();
    assert_eq!(from, [5, 12, 15, 25, 35]);
}

#[test]
fn what_is_remembered_of_a_path_is_for_the_end_that_opens() {
    let file = parse("f.toml", BASE).unwrap();
    let value = "{ rate = \"8Mbit/s\", rtt = \"550ms\", age = \"1h\" }";
    let scenario = first(&with(&file, "transports.on.remembered", value));
    let transport = &scenario.flows[0].transport;
    let saved = SavedPath { rate_bps: 8_000_000, rtt_min_ns: 550 * MS, age_ns: 3600 * SECOND };
    assert_eq!(transport.opener.get::<Config>().unwrap().remembered, Some(saved));
    assert_eq!(transport.acceptor.get::<Config>().unwrap().remembered, None);
}

/// Two flows between the same hosts by TCP with these controllers, the second with this workload.
fn two_controllers(workload: &str, more: &str) -> Result<File, skyhaul_scenario::ScenarioError> {
    let transports = ["cubic", "bbr"]
        .map(|name| format!("[transports.{name}]\nprotocol = \"tcp\"\ncontroller = \"{name}\"\n"))
        .concat();
    let flow = |name: &str, workload: &str| {
        format!("[flows.{name}]\nfrom = \"a\"\nto = \"b\"\ntransport = \"{name}\"\nworkload = {workload}\n")
    };
    let bulk = "{ kind = \"bulk\", size = \"1MB\" }";
    let transports = transports.replace("\"bbr\"\n", &format!("\"bbr\"\n{more}"));
    parse("f.toml", &format!("{BASE}{transports}{}{}", flow("cubic", bulk), flow("bbr", workload)))
}

#[test]
fn flows_with_other_controllers_may_end_at_one_host_as_the_controller_is_the_senders() {
    let bulk = "{ kind = \"bulk\", size = \"1MB\" }";
    let scenario = first(&two_controllers(bulk, "pacing_percent = [200, 120]\n").unwrap());
    let openers = scenario.flows[1..].iter().map(|flow| flow.transport.opener.get::<TcpConfig>().unwrap());
    assert_eq!(openers.map(|opener| opener.controller.name()).collect::<Vec<_>>(), ["cubic", "bbr"]);
    // What counts where data is received must be one thing still.
    let error = two_controllers(bulk, "receive_limit = \"1MB\"\n").unwrap_err().to_string();
    assert!(error.contains("other parameters for accepting at `b` than flow `cubic` has"), "{error}");
}

#[test]
fn where_the_acceptor_answers_it_has_the_controller_of_that_flow() {
    let web = "{ kind = \"requests\", request = \"1kB\", response = \"9kB\", requests = 3 }";
    let scenario = first(&two_controllers(web, "").unwrap());
    let accepted = scenario.acceptor_at(1, &skyhaul_sim::TCP).and_then(|end| end.get::<TcpConfig>()).unwrap();
    assert_eq!(accepted.controller.name(), "bbr", "nothing else is sent from there");
    let both =
        format!("{web}\n[flows.more]\nfrom = \"a\"\nto = \"b\"\ntransport = \"cubic\"\nworkload = {web}");
    let error = two_controllers(&both, "").unwrap_err().to_string();
    assert!(error.contains("other parameters for accepting at `b` than flow `bbr` has"), "{error}");
}

#[test]
fn a_link_has_a_largest_packet_if_the_file_says_so() {
    let file = parse("f.toml", BASE).unwrap();
    assert_eq!(first(&file).links[0].config.forward.mtu_bytes, None);
    for (value, bytes) in [("68B", Some(68)), ("65535B", Some(65_535)), ("1.5kB", Some(1500)), ("none", None)]
    {
        let link = first(&with(&file, "links.space.forward.mtu", value)).links.remove(0).config;
        assert_eq!((link.forward.mtu_bytes, link.reverse.mtu_bytes), (bytes, None), "{value}");
    }
    let digests = ["none", "1500B"].map(|mtu| with(&file, "links.space.forward.mtu", mtu).digest().unwrap());
    assert_eq!(digests[0], file.digest().unwrap(), "results of files without one go on");
    assert_ne!(digests[0], digests[1]);
    for (value, why) in [
        ("67B", "at least \"68B\""),
        ("65536B", "at most \"65535B\""),
        ("1500", "write the unit, as in \"1500B\""),
        ("wide", "\"68B\" to \"65535B\""),
    ] {
        let change = [("links.space.forward.mtu".to_string(), value.to_string())];
        let error = file.with(&change).unwrap_err().to_string();
        assert!(error.contains("links.space.forward.mtu") && error.contains(why), "{value}: {error}");
    }
}

#[test]
fn a_number_leads_into_a_list() {
    let text = format!("{BASE}\n[[links.space.outages]]\nfrom = \"1s\"\nto = \"2s\"\n");
    let set = |key: &str| load("f.toml", &text, &[(key.to_string(), "\"3s\"".to_string())]);
    let outages = |key: &str| first(&set(key).unwrap()).links[0].config.outages.clone();
    assert_eq!(outages("links.space.outages.0.to")[0].to.as_ns(), 3000 * MS);
    for wrong in ["links.space.outages.1.to", "links.space.outages.to", "links.space.outages.-1.to"] {
        let refusal = set(wrong).unwrap_err().to_string();
        assert!(refusal.contains("the number of one of its 1 items, from 0"), "{wrong}: {refusal}");
    }
}

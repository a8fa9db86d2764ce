//! SCPS-TP and routers that send signals: what their word of damage is worth, and how an outage ends.

mod common;

use std::collections::BTreeMap;

use skyhaul_core::event::DropCause;
use skyhaul_core::{Event, Instant, MS, SECOND, Verdict};
use skyhaul_scenario::{File, Register, Scenario};
use skyhaul_sim::{LadderLine, SCPS_TP, Simulation, Source, TCP, simulate};

fn scenario(text: &str) -> Scenario {
    common::files::scenario(&Register::new(&[&TCP, &SCPS_TP]), text)
}

/// A craft, a station that forwards, and a host behind it. Options of the link of space and of the station.
fn network(size: &str, space: &str, lan: &str, station: &str, transport: &str) -> String {
    format!(
        r#"
[run]
goal = "done"
duration = "1h"
[nodes]
craft = {{ kind = "host" }}
station = {{ kind = "router", {station} }}
centre = {{ kind = "host" }}
[links.space]
between = ["craft", "station"]
{space}
[links.lan]
between = ["station", "centre"]
{lan}
[transports.own]
{transport}
[flows.file]
from = "FROM"
to = "TO"
transport = "own"
workload = {{ kind = "bulk", size = "{size}" }}
"#
    )
}

/// Table 2 of the paper, but for control of congestion.
const VEGAS: &str = r#"
protocol = "scps-tp"
controller = "vegas"
rate = "1.425Mbit/s"
ack_policy = { kind = "reduced", every_packets = 1000000, delay = "69ms" }
snack = "short"
timestamps = false
mss = "512B"
send_limit = "300kB"
receive_limit = "300kB"
"#;

/// The link of [SCPS-TP Fig. 4], without noise or as bad as at a bit error rate of 1e-5 for 10 s on average.
const STAYS: &str = r#"
forward = { delay = "50ms", rate = "1.5Mbit/s", queue = "18750B" }
reverse = { delay = "50ms", rate = "1.5Mbit/s", queue = "18750B" }
channel = { good = { mean_stay = "10s" }, bad = { mean_stay = "10s", loss = 0.0432 } }
"#;

fn goodput_bps(station: &str, more: &str) -> f64 {
    let text = network("20MB", STAYS, "", station, &format!("{VEGAS}{more}"));
    let scenario = scenario(&text.replace("FROM", "craft").replace("TO", "centre"));
    let seeds = 5;
    let run = |seed| {
        let metrics: BTreeMap<String, f64> = simulate(&scenario, seed).expect("it runs").metrics;
        assert!(metrics["completed"] > 0.5, "{metrics:?}");
        metrics["goodput_bps"]
    };
    (1..=seeds).map(run).sum::<f64>() / seeds as f64
}

/// What a declared cause gets, the router's word gets nearly, too.
#[test]
fn word_of_damage_spares_the_window() {
    let declared = goodput_bps("", "loss_cause = \"corruption\"\n");
    let told = goodput_bps("signals = {}", "");
    let late = goodput_bps("signals = { damage_weight = 0.005 }", "");
    let untold = goodput_bps("", "");
    let share = |bps: f64| bps / declared;
    println!(
        "of what a declared cause gets: {:.3} by signals, {:.3} where three damaged packets make the average, \
         {:.3} without",
        share(told),
        share(late),
        share(untold)
    );
    assert!(told / declared > 0.95 && untold < told, "{untold} {told} {declared}");
}

/// [SCPS-TP 3.1.2]: the first acknowledgement after the router's word tells the sender, and those of two
/// round trips after the last one.
#[test]
fn a_ladder_shows_which_acknowledgements_tell_of_corruption() {
    let text = include_str!("../../../papers/scps-tp/damage-end.toml");
    let run = simulate(&scenario(text), 3).expect("it runs");
    let of = |from: &str, part: &str| -> Vec<(f64, f64)> {
        let is_of = |line: &LadderLine| match line {
            LadderLine::Packet { t_s, from: own, label, arrived_s: Some(arrived_s), .. } => {
                (own == from && label.split(" + ").any(|own| own == part)).then_some((*t_s, *arrived_s))
            }
            _ => None,
        };
        run.ladder.iter().filter_map(is_of).collect()
    };
    let (words, told) = (of("station", "corruption-experienced"), of("destination", "corruption"));
    let (first_s, last_s) = (words[0].1, words[words.len() - 1].1);
    let during = |(at_s, _): &&(f64, f64)| first_s <= *at_s && *at_s < last_s + 0.48;
    let acknowledgements = of("destination", "ACK");
    let owed: Vec<(f64, f64)> = acknowledgements.iter().filter(during).copied().collect();
    assert!(owed.len() > 20 && acknowledgements.len() > owed.len() + 20, "{owed:?}");
    assert_eq!(told, owed);
    assert_eq!(of("craft", "corruption"), []);
}

/// Events of the transfer from behind the station: when the sender was told, when it sent what, and how many
/// of its packets the outage took.
#[derive(Debug, Default)]
struct Told {
    down_at: Option<Instant>,
    /// New data, no repeat, that left after the link was back.
    first_new_at: Option<Instant>,
    during: u64,
    taken: u64,
    repeats: u64,
    completed_at: Option<Instant>,
    /// Moment from the outage on at which a loss was taken for congestion.
    congested_at: Option<Instant>,
}

const DOWN_MS: u64 = 10_000;
const UP_MS: u64 = 70_000;
/// Time between two questions, at last.
const PROBE_MS: f64 = 10_000.0;

fn outage(up_ms: u64, lan_outages: &str, transport: &str) -> Told {
    let text = outage_text(up_ms, lan_outages, transport);
    let told = told(up_ms, &text);
    assert!(told.down_at.is_some_and(|at| at >= Instant::from_ns(DOWN_MS * MS)), "{told:?}");
    assert_eq!(told.congested_at, None, "{told:?}");
    told
}

/// Scenario of an outage.
fn outage_text(up_ms: u64, lan_outages: &str, transport: &str) -> String {
    let way = |delay: &str, rate: &str| {
        let way = format!("{{ delay = \"{delay}\", rate = \"{rate}\", queue = \"18750B\" }}");
        format!("forward = {way}\nreverse = {way}\n")
    };
    let outage = format!("outages = [{{ from = \"{DOWN_MS}ms\", to = \"{up_ms}ms\" }}]");
    let space = way("50ms", "1.5Mbit/s") + &outage;
    let lan = way("10ms", "100Mbit/s") + lan_outages;
    let text = network("5MB", &space, &lan, "signals = {}", transport);
    text.replace("FROM", "centre").replace("TO", "craft")
}

fn told(up_ms: u64, text: &str) -> Told {
    let scenario = scenario(text);
    let mut simulation = Simulation::new(&scenario, 1).expect("it can begin");
    let mut events: Vec<(Instant, Source, Event)> = Vec::new();
    simulation.run(&mut events);
    let (down, up) = (Instant::from_ns(DOWN_MS * MS), Instant::from_ns(up_ms * MS));
    let mut told = Told::default();
    // Node 2 sends.
    for (at, source, event) in &events {
        match *event {
            Event::LinkOutage { down: true } => told.down_at = told.down_at.or(Some(*at)),
            Event::Sent { payload_bytes, repeat, .. } if source.host() == Some(2) => {
                told.during += u64::from(told.down_at.is_some_and(|down| down < *at) && *at < up);
                if payload_bytes > 0 && *at >= up {
                    told.repeats += u64::from(repeat.is_some());
                    told.first_new_at = told.first_new_at.or(Some(*at).filter(|_| repeat.is_none()));
                }
            }
            Event::LinkDrop { cause: DropCause::Outage, port: 1, wire_bytes, .. } => {
                told.taken += u64::from(wire_bytes > 100);
            }
            Event::Acknowledged { .. } => told.completed_at = Some(*at),
            _ => {}
        }
        let is_congestion = matches!(event, Event::Lost { verdict: Verdict::Congestion, .. });
        told.congested_at = told.congested_at.or(Some(*at).filter(|at| is_congestion && *at >= down));
    }
    told
}

fn after_ms(up_ms: u64, at: Option<Instant>) -> f64 {
    at.map_or(f64::INFINITY, |at| at.since(Instant::from_ns(up_ms * MS)) as f64 / MS as f64)
}

/// 60 s, and the station 10 ms away.
#[test]
fn an_outage_ends_with_the_router_s_word() {
    for transport in [VEGAS, "protocol = \"scps-tp\"\n", "protocol = \"scps-tp\"\ncompression = true\n"] {
        let told = outage(UP_MS, "", transport);
        let (taken, repeats) = (told.taken as f64, told.repeats as f64);
        println!(
            "new data {:.1} ms after the link was back; {} packets after the first word; {repeats} repeats for {taken} packets",
            after_ms(UP_MS, told.first_new_at),
            told.during
        );
        assert!(after_ms(UP_MS, told.first_new_at) <= 50.0 && told.during <= 10, "{told:?}");
        assert!(repeats <= 1.02 * taken && repeats >= taken, "{told:?}");
    }
}

#[test]
fn an_outage_ends_without_the_router_s_word_by_an_answer_to_a_question() {
    let rtt_ms = 120.0;
    for up_ms in [UP_MS, UP_MS + 2500, UP_MS + 5000, UP_MS + 7500] {
        // The message is lost: that link is down as it is sent.
        let lost = format!("outages = [{{ from = \"{}ms\", to = \"{}ms\" }}]", up_ms - 1, up_ms + 1);
        let told = outage(up_ms, &lost, VEGAS);
        let new_ms = after_ms(up_ms, told.first_new_at);
        println!("new data {new_ms:.1} ms after the link was back, at {up_ms} ms");
        assert!(new_ms <= PROBE_MS + rtt_ms, "{told:?}");
        assert!(told.completed_at.is_some_and(|at| at.as_ns() < 120 * SECOND), "{told:?}");
    }
}

/// A mission whose routers say link-outage by type 3, code 77, as its hosts know.
#[test]
fn signals_have_the_numbers_that_routers_and_ends_were_given() {
    let text = outage_text(UP_MS, "", VEGAS);
    let numbers = "signals = { link_outage = [3, 77], link_restored = [200, 1] }";
    let sends = |text: &str| text.replace("signals = {}", numbers);
    let hears = |text: &str| {
        text.replace("centre = { kind = \"host\" }", &format!("centre = {{ kind = \"host\", {numbers} }}"))
    };
    let new_ms = |text: &str| {
        let told = told(UP_MS, text);
        (told.down_at.is_some(), after_ms(UP_MS, told.first_new_at))
    };
    let (is_told, ms) = new_ms(&hears(&sends(&text)));
    assert!(is_told && ms <= 50.0, "{is_told}, {ms} ms");
    for text in [sends(&text), hears(&text)] {
        let (is_told, ms) = new_ms(&text);
        assert!(!is_told && ms > 50.0, "only one of them knows: {is_told}, {ms} ms");
    }
}

#[test]
fn numbers_that_mean_something_else_are_refused_where_they_stand() {
    let text = outage_text(UP_MS, "", VEGAS);
    let refused = |from: &str, to: &str| {
        let text = text.replace(from, to);
        let file = File::parse(&Register::new(&[&TCP, &SCPS_TP]), "numbers.toml", &text);
        file.and_then(|file| file.first_scenario()).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let line = 1 + text.lines().position(|line| line.starts_with("station")).expect("it has one");
    for (numbers, key, words) in [
        ("link_outage = [8, 0]", "signals.link_outage", "a number of ICMP that means something else"),
        ("link_outage = [3, 1]", "signals.link_outage", "a number of ICMP that means something else"),
        ("link_outage = [5, 4]", "signals.link_restored", "the number of `link_outage`"),
        ("link_restored_v6 = [135, 0]", "signals.link_restored_v6", "means something else"),
        ("link_restored_v6 = [100, 1]", "signals.link_restored_v6", "the number of `link_outage_v6`"),
        ("corruption_experienced = [256, 0]", "signals.corruption_experienced", "from 0 to 255"),
        ("corruption_experienced = [19]", "signals.corruption_experienced", "allowed"),
    ] {
        let error = refused("signals = {}", &format!("signals = {{ {numbers} }}"));
        let is_there = error.starts_with(&format!("numbers.toml:{line}:"));
        assert!(is_there && error.contains(key) && error.contains(words), "{numbers}: {error}");
    }
    let host = "centre = { kind = \"host\"";
    for signals in ["{}", "{ interval = \"1s\" }", "{ link_outage = [3, 77], interval = \"1s\" }"] {
        let error = refused(host, &format!("{host}, signals = {signals}"));
        assert!(error.contains("signals of a node that forwards nothing"), "{signals}: {error}");
    }
}

//! Equal seeds give equal bytes, also in another process: whatever differs between processes - layout
//! of memory, hash seeds, the clock - must not reach an engine or a link.

mod common;

use std::fmt::Write as _;
use std::process::Command;

use common::trace::TraceSum;
use skyhaul_core::{EventSink, Instant, MS, NullSink};
use skyhaul_link::{
    ChannelConfig, ChannelState, DirectionConfig, LinkConfig, QueueLimit, Reordering, StateConfig,
};
use skyhaul_scenario::{File, Flow, Register, Scenario, Transport, Workload};
use skyhaul_sim::{Ended, Host, Network, Node, STPP, Simulation, Source, TCP, Transfer};

/// Tells the child which seed to run.
const SEED: &str = "SKYHAUL_DETERMINISM_SEED";
/// Begins the lines of the child's report.
const MARK: &str = "trace: ";

/// Lossy, reordering, and one of the channel's states loses half of everything.
fn link() -> LinkConfig {
    let direction = |rate_bps, loss| DirectionConfig {
        rate_bps: Some(rate_bps),
        delay_ns: 30 * MS,
        queue: QueueLimit::Packets(60),
        loss,
        reordering: Reordering { probability: 0.05, extra_delay_ns: 20 * MS },
        ..DirectionConfig::default()
    };
    let state =
        |mean_stay_ns, loss| StateConfig { mean_stay_ns, loss, min_delay_ns: 10 * MS, max_delay_ns: 40 * MS };
    LinkConfig {
        name: "determinism".into(),
        forward: direction(4_000_000, 0.03),
        reverse: direction(100_000, 0.02),
        channel: Some(ChannelConfig {
            good: state(400 * MS, 0.01),
            bad: state(80 * MS, 0.5),
            start: ChannelState::Good,
        }),
        ..LinkConfig::default()
    }
}

/// STP by its window, at a declared rate, and STP between the same hosts as TCP, with each of TCP's
/// controllers.
fn scenarios(seed: u64) -> [(&'static str, Scenario); 3] {
    let window = Transfer::new(link(), seed, 300_000);
    let declared = window.clone().with_rate(4_000_000);
    let mut both = window.scenario();
    for (name, controller) in skyhaul_tcp::ControllerKind::WINDOWS {
        let config = skyhaul_tcp::Config { controller, ..skyhaul_tcp::Config::standard() };
        let (opener, acceptor) = (TCP.end(config.clone()), TCP.end(config));
        let transport = Transport { name: name.into(), opener, acceptor };
        both.flows.push(Flow { name: name.into(), transport, ..both.flows[0].clone() });
    }
    [("window", window.scenario()), ("declared", declared.scenario()), ("both", both)]
}

/// Every event of both hosts and every packet that arrives, as a sum.
fn trace(seed: u64) -> String {
    let mut report = String::new();
    for (name, scenario) in scenarios(seed) {
        let mut sum = TraceSum::new();
        let mut simulation = Simulation::new(&scenario, seed).expect("the link is valid");
        let ended = simulation.run(&mut sum);
        let now = simulation.network().now();
        assert_eq!(ended, Ended::Done, "at {now:?}");
        add_counters(&mut sum, simulation.network());
        // The packets themselves: events do not show what is in them.
        let packets = packets(&scenario, seed);
        assert!(sum.events > 500 && packets.events > 200, "too little happened to say anything");
        let _ = writeln!(report, "{MARK}{name} events {} {:016x} at {now:?}", sum.events, sum.sum);
        let _ = writeln!(report, "{MARK}{name} packets {} {:016x}", packets.events, packets.sum);
    }
    report + &relayed(seed)
}

/// A file through two relays, TCP, STPP and TCP, over a noisy satellite link: `scenarios/petra.toml`.
fn relayed(seed: u64) -> String {
    let text = include_str!("../../../scenarios/petra.toml");
    let set = |(key, value): (&str, &str)| (key.to_string(), value.to_string());
    let overrides = [
        ("flows.file.workload.size", "300kB"),
        ("sweep", "{}"),
        ("links.satellite.forward.bit_error_rate", "1e-4"),
    ]
    .map(set);
    let register = Register::new(&[&TCP, &STPP]);
    let file = File::load(&register, "petra.toml", text, &overrides).expect("a scenario that ships");
    let point = file.points().next().expect("one without a sweep");
    let scenario = file.scenario_at(&point).expect("a scenario that ships");
    let mut sum = TraceSum::new();
    let mut simulation = Simulation::new(&scenario, seed).expect("its links are valid");
    assert_eq!(simulation.run(&mut sum), Ended::Done);
    add_counters(&mut sum, simulation.network());
    assert!(sum.events > 500, "too little happened to say anything");
    let now = simulation.network().now();
    format!("{MARK}relayed events {} {:016x} at {now:?}\n", sum.events, sum.sum)
}

fn add_counters(sum: &mut TraceSum, network: &Network) {
    for (edge, port) in network.edges().iter().flat_map(|edge| [(edge, 0), (edge, 1)]) {
        sum.add(&format!("{:?}", edge.link.counters(port, network.now())));
    }
}

/// Sums of a run with the hosts driven by hand, so that every octet passes by here.
fn packets(scenario: &Scenario, seed: u64) -> TraceSum {
    let mut sum = TraceSum::new();
    let simulation = Simulation::new(scenario, seed).expect("the link is valid");
    let mut network = simulation.into_network();
    network.show_octets();
    let (nodes, mut wires) = network.into_parts();
    let host = |node| if let Node::Host(host) = node { Some(*host) } else { None };
    let mut hosts: Vec<Host> = nodes.into_iter().filter_map(host).collect();
    let link = &mut wires[0].link;
    let mut now = Instant::ZERO;
    loop {
        while let Some((port, packet)) = link.poll_transmit(now) {
            let from = hosts[1 - port as usize].address;
            hosts[port as usize].receive(now, from, &packet, &mut NullSink);
        }
        for (port, host) in hosts.iter_mut().enumerate() {
            host.work(now, &mut NullSink, |packet, sink| {
                sum.events += 1;
                sum.add(&format!("{now:?} {port} {:02x?}\n", &packet.bytes[..]));
                let _ = sink;
                link.handle(now, port as u32, packet, &mut NullSink);
            });
        }
        let next = hosts.iter().filter_map(Host::deadline).chain(link.deadline()).min();
        match next {
            Some(at) if !hosts.iter().all(|host| host.app.is_done()) => now = now.max(at),
            _ => return sum,
        }
    }
}

/// Runs this very program again, for this test alone.
fn in_another_process(seed: u64) -> String {
    let output = Command::new(std::env::current_exe().expect("tests have a path"))
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(SEED, seed.to_string())
        .output()
        .expect("it can be run again");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = text.lines().filter_map(|line| line.find(MARK).map(|at| &line[at..])).collect();
    lines.join("\n") + "\n"
}

/// Does nothing unless it is the child of the tests below.
#[test]
fn child() {
    let Some(seed) = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()) else { return };
    println!("\n{}", trace(seed));
}

#[test]
fn two_processes_with_one_seed_give_one_trace() {
    let [first, second] = [1, 1].map(in_another_process);
    assert_eq!(first.lines().count(), 7, "{first}");
    assert_eq!(first, second);
    assert_eq!(first, trace(1), "a third process, this one");
}

#[test]
fn another_seed_gives_another_trace() {
    let (one, two) = (trace(1), trace(2));
    for (a, b) in one.lines().zip(two.lines()) {
        assert_ne!(a, b);
    }
}

/// A listening sink must not change what happens.
#[test]
fn listening_changes_nothing() {
    struct Deaf;
    impl EventSink<Source> for Deaf {
        fn wants(&self) -> bool {
            false
        }
        fn emit(&mut self, _: Instant, _: Source, _: skyhaul_core::Event) {
            unreachable!("nothing is wanted");
        }
    }
    let run = |sink: &mut dyn EventSink<Source>| {
        let scenario = Transfer::new(link(), 3, 100_000).scenario();
        let mut simulation = Simulation::new(&scenario, 3).expect("the link is valid");
        simulation.run(sink);
        let mut sum = TraceSum::new();
        add_counters(&mut sum, simulation.network());
        (simulation.network().now(), sum.sum)
    };
    assert_eq!(run(&mut TraceSum::new()), run(&mut Deaf));
}

/// Octets that nobody looks at are not made: no event, no counter and no metric shows it.
#[test]
fn streams_by_description_run_as_those_octet_by_octet() {
    let [.., (_, mut scenario)] = scenarios(5);
    let direction = &mut scenario.links[0].config.forward;
    (direction.duplication, direction.bit_error_rate) = (0.02, 1e-6);
    // A source that pauses, so that segments are of all sizes.
    let mut pausing = scenario.flows[1].clone();
    pausing.name = "pausing".into();
    pausing.workload = Workload::Bulk { bytes: Some(100_000), chunk_bytes: 700, rate_bps: Some(400_000) };
    scenario.flows.push(pausing);
    let run = |shows_octets: bool| {
        let mut simulation = Simulation::new(&scenario, 5).expect("the link is valid");
        if shows_octets {
            simulation.network_mut().show_octets();
        }
        let mut sum = TraceSum::new();
        let ended = simulation.run(&mut sum);
        add_counters(&mut sum, simulation.network());
        let measured = simulation.measured(ended).expect("every octet was right");
        (sum, ended, format!("{:?}", measured.metrics))
    };
    let (described, octets) = (run(false), run(true));
    assert!(described.0.events > 5000, "too little happened to say anything");
    assert_eq!(described, octets);
}

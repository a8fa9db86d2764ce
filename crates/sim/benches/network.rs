//! How fast networks are simulated: packet-hops and delivered data packets per CPU-second.
//! `cargo bench -p skyhaul-sim --bench network [-- --quick] [-- --repeats N] [-- --only NAME]`, of `a`, `b`,
//! `tcp-a`, `tcp-b`, `rack-a`, `rack-b`, `xcp-a`, `xcp-none-a`.
//!
//! `--octets`: streams are written octet by octet, as by real applications, not by description.
//! `contrib/sim-speed.sh` counts instructions a hop, and sets TCP beside ns-2.
//! The TCP of `tcp-a` and `tcp-b` is that of `contrib/ns-2/dumbbell.tcl`, which runs the same networks in
//! ns-2; that of `rack-a` and `rack-b` differs in how it finds losses. `xcp-a` has a router of explicit rate
//! control in the middle, and a TCP that follows it; `xcp-none-a` the TCP alone: the difference is what the
//! router costs.

#[path = "support/mod.rs"]
mod support;

use skyhaul_core::{MS, NullSink, SECOND};
use skyhaul_link::{DirectionConfig, ExplicitConfig, LinkConfig, QueueLimit};
use skyhaul_scenario::EndConfig;
use skyhaul_scenario::{Flow, LinkBetween, Node, NodeKind, Scenario, Stop, Transport, Workload};
use skyhaul_sim::{STP, Simulation, TCP};
use skyhaul_tcp::{AckPolicy, ControllerKind, Recovery};
use support::{cpu_seconds, flag, median, peak_memory_bytes};

const PAIRS: usize = 20;
const PACKET_BYTES: u64 = 1000;
/// Round trip: 1 ms at each end, 273 ms between the routers, each way.
const EDGE_NS: u64 = MS;
const MIDDLE_NS: u64 = 273 * MS;

/// Protocol of all flows of a scenario.
struct Speaker {
    name: &'static str,
    config: EndConfig,
    /// Of a full packet.
    payload_bytes: u64,
}

/// An IP packet has 20 + 8 + 1 + 12 octets of headers.
fn stp(buffer_bytes: u64) -> Speaker {
    let payload_bytes = PACKET_BYTES - 41;
    let config = skyhaul_stp::Config {
        max_payload_bytes: payload_bytes as usize,
        send_limit_bytes: buffer_bytes,
        receive_limit_bytes: buffer_bytes,
        early_window_bytes: buffer_bytes,
        ..skyhaul_stp::Config::paper()
    };
    Speaker { name: "stp", config: STP.end(config), payload_bytes }
}

/// SACK, initial window of 1, timers of 500 ms, acknowledgements delayed by 200 ms; headers of 40 octets.
fn tcp(recovery: Recovery) -> Speaker {
    let payload_bytes = PACKET_BYTES - 40;
    let config = skyhaul_tcp::Config {
        mss_bytes: payload_bytes as u16,
        recovery,
        window_scale: true,
        send_limit_bytes: 250 * payload_bytes,
        receive_limit_bytes: 250 * payload_bytes,
        ack_policy: AckPolicy::Delayed { every_packets: 2, delay_ns: 200 * MS },
        ..skyhaul_tcp::Config::paper()
    };
    Speaker { name: "tcp", config: TCP.end(config), payload_bytes }
}

/// As [`tcp`] with SACK, where routers rule the window.
fn xcp() -> Speaker {
    let config = skyhaul_tcp::Config {
        controller: ControllerKind::Xcp,
        window_scale: true,
        recovery: Recovery::Sack,
        mss_bytes: PACKET_BYTES as u16 - 60,
        send_limit_bytes: 250 * PACKET_BYTES,
        receive_limit_bytes: 250 * PACKET_BYTES,
        ack_policy: AckPolicy::Delayed { every_packets: 2, delay_ns: 200 * MS },
        ..skyhaul_tcp::Config::paper()
    };
    Speaker { name: "tcp", config: TCP.end(config), payload_bytes: PACKET_BYTES - 60 }
}

/// Host i - router 0 - router 1 - host i'.
fn dumbbell(flows: u32, rate_bps: u64, speaker: &Speaker, duration_ns: u64) -> Scenario {
    let host =
        |side: &str, i: usize| Node { name: format!("{side}{i}"), kind: NodeKind::Host, signals: None };
    let router = |name: &str| Node { name: name.into(), kind: NodeKind::Router, signals: None };
    let mut nodes = vec![router("west"), router("east")];
    nodes.extend((0..PAIRS).map(|i| host("a", i)).chain((0..PAIRS).map(|i| host("b", i))));
    let bdp_packets = rate_bps / 8 * (2 * (2 * EDGE_NS + MIDDLE_NS)) / SECOND / PACKET_BYTES;
    let link = |name: String, direction: DirectionConfig, ends| LinkBetween {
        config: LinkConfig { name, forward: direction.clone(), reverse: direction, ..LinkConfig::default() },
        ends,
        arq: None,
    };
    let edge =
        DirectionConfig { rate_bps: Some(1_000_000_000), delay_ns: EDGE_NS, ..DirectionConfig::default() };
    let middle = DirectionConfig {
        rate_bps: Some(rate_bps),
        delay_ns: MIDDLE_NS,
        queue: QueueLimit::Packets(bdp_packets as u32),
        ..DirectionConfig::default()
    };
    let mut links = vec![link("middle".into(), middle, [0, 1])];
    links.extend((0..PAIRS).map(|i| link(format!("a{i}"), edge.clone(), [2 + i, 0])));
    links.extend((0..PAIRS).map(|i| link(format!("b{i}"), edge.clone(), [1, 2 + PAIRS + i])));
    let flow = |i: usize| Flow {
        name: format!("f{i}"),
        from: 2 + i,
        to: 2 + PAIRS + i,
        count: flows / PAIRS as u32,
        start_ns: i as u64 * 5 * MS,
        weight: skyhaul_core::Weight::ONE,
        stagger_ns: 100 * MS,
        transport: Transport {
            name: speaker.name.into(),
            opener: speaker.config.clone(),
            acceptor: speaker.config.clone(),
        },
        via: Vec::new(),
        end_to_end: None,
        workload: Workload::Bulk { bytes: None, chunk_bytes: speaker.payload_bytes, rate_bps: None },
    };
    Scenario {
        name: format!("{flows} flows"),
        nodes,
        links,
        flows: (0..PAIRS).map(flow).collect(),
        stop: Stop { duration_ns: Some(duration_ns), when_done: false, ..Stop::default() },
        ..Scenario::default()
    }
}

/// With a router of explicit rate control in the middle, forward.
fn explicit(mut scenario: Scenario) -> Scenario {
    scenario.links[0].config.forward.explicit = Some(ExplicitConfig::default());
    scenario
}

fn measure(label: &str, scenario: &Scenario, payload_bytes: u64, repeats: usize) {
    let (mut hops_rate, mut data_rate) = (Vec::new(), Vec::new());
    let mut line = String::new();
    for seed in 1..=repeats as u64 {
        let before = cpu_seconds();
        let mut simulation = Simulation::new(scenario, seed).expect("the scenario is valid");
        if flag("--octets") {
            simulation.network_mut().show_octets();
        }
        let ended = simulation.run(&mut NullSink);
        let measured = simulation.measured(ended).expect("every byte was right");
        let seconds = cpu_seconds() - before;
        let hops: u64 = simulation
            .network()
            .edges()
            .iter()
            .flat_map(|edge| {
                [0, 1].map(|port| edge.link.counters(port, simulation.network().now()).delivered_packets)
            })
            .sum();
        let metric = |name: &str| measured.metrics.get(name).copied().unwrap_or(0.0);
        let data = metric("payload_bytes") / payload_bytes as f64;
        hops_rate.push(hops as f64 / seconds);
        data_rate.push(data / seconds);
        line = format!(
            "{seconds:.2} CPU-s, {hops} hops, {data:.0} data packets, utilisation {:.3}, jain {:.3}",
            metric("links.middle.forward.utilisation"),
            metric("jain"),
        );
    }
    println!(
        "{label}: {:.2} M hops and {:.3} M data packets per CPU-second (median of {repeats}); last run {line}; peak memory {:.0} MB",
        median(hops_rate) / 1e6,
        median(data_rate) / 1e6,
        peak_memory_bytes() as f64 / 1e6,
    );
}

fn main() {
    let (repeats, part) = if flag("--quick") { (1, 10) } else { (5, 1) };
    let repeats = support::argument("--repeats").map_or(repeats, |repeats| repeats.max(1) as usize);
    let only = support::text("--only");
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    let many = |speaker: &Speaker| dumbbell(1000, 100_000_000, speaker, 60 * SECOND / part);
    let few = |speaker: &Speaker| dumbbell(20, 10_000_000, speaker, 600 * SECOND / part);
    for (name, speaker) in
        [("b", stp(16_000)), ("tcp-b", tcp(Recovery::Sack)), ("rack-b", tcp(Recovery::Rack))]
    {
        if wanted(name) {
            let label = format!("{name}, {}: 1000 flows, 100 Mbit/s", speaker.name);
            measure(&label, &many(&speaker), speaker.payload_bytes, repeats);
        }
    }
    for (name, speaker) in
        [("a", stp(64_000)), ("tcp-a", tcp(Recovery::Sack)), ("rack-a", tcp(Recovery::Rack))]
    {
        if wanted(name) {
            let label = format!("{name}, {}: 20 flows, 10 Mbit/s", speaker.name);
            measure(&label, &few(&speaker), speaker.payload_bytes, repeats);
        }
    }
    let speaker = xcp();
    for (name, scenario) in [("xcp-none-a", few(&speaker)), ("xcp-a", explicit(few(&speaker)))] {
        if wanted(name) {
            let label = format!("{name}, {}: 20 flows, 10 Mbit/s", speaker.name);
            measure(&label, &scenario, speaker.payload_bytes, repeats);
        }
    }
}

//! STP under a seal in scenarios: what the seal costs, beside STP in the clear, over bad links, in captures.

use std::collections::BTreeMap;

use skyhaul_core::{Event, EventSink, Instant};
use skyhaul_scenario::{File, Register, Scenario};
use skyhaul_sim::{Ended, SEALED_STP, STP, Simulation, Source};

/// Octets of head and tag around each segment.
const SEAL_BYTES: u32 = 24;

fn scenario(text: &str) -> Scenario {
    let register = Register::new(&[&STP, &SEALED_STP]);
    let file = File::parse(&register, "sealed.toml", text).unwrap_or_else(|error| panic!("{error}"));
    file.first_scenario().unwrap_or_else(|error| panic!("{error}"))
}

fn run(text: &str, seed: u64, sink: &mut dyn EventSink<Source>) -> BTreeMap<String, f64> {
    let scenario = scenario(text);
    let mut simulation = Simulation::new(&scenario, seed).unwrap_or_else(|error| panic!("{error}"));
    let ended = simulation.run(sink);
    assert_eq!(ended, Ended::Done);
    let metrics = simulation.measured(ended).unwrap_or_else(|error| panic!("{error}")).metrics;
    let flows: f64 = scenario.flows.iter().map(|flow| f64::from(flow.count)).sum();
    assert_eq!((metrics["completed"], metrics["failed"]), (flows, 0.0));
    metrics
}

/// `count` exchanges of 10 kB over a round trip of 600 ms, one each 20 s.
fn exchanges(protocol: &str, extra: &str, count: u32, warm_up: &str) -> String {
    format!(
        r#"
[run]
goal = "done"
duration = "60min"
warm_up = "{warm_up}"
[nodes]
server = {{ kind = "host" }}
reader = {{ kind = "host" }}
[links.path]
between = ["reader", "server"]
forward = {{ rate = "10Mbit/s", delay = "300ms", queue = "unlimited" }}
reverse = {{ rate = "10Mbit/s", delay = "300ms", queue = "unlimited" }}
[transports.used]
protocol = "{protocol}"
{extra}
[flows.page]
from = "reader"
to = "server"
transport = "used"
[flows.page.workload]
kind = "requests"
request = "320B"
response = "10kB"
requests = {count}
think = "20s"
closes = "after-response"
"#
    )
}

/// Every packet of a run by its number, as engines tell of it and as links take it.
#[derive(Debug, Default)]
struct Ledger {
    told: BTreeMap<u64, u32>,
}

impl EventSink<Source> for Ledger {
    fn emit(&mut self, _: Instant, source: Source, event: Event) {
        if let (Source::Engine { packet: Some(packet), .. }, Event::Sent { wire_bytes, .. }) = (source, event)
        {
            assert_eq!(self.told.insert(packet, wire_bytes), None, "packet {packet} is told of twice");
        }
    }
}

/// [STP 5.1.2]: an answer to a request from a proven address takes one round trip. A token proves it.
#[test]
fn a_token_saves_the_round_trip_that_a_first_contact_takes() {
    let round_trips = |count, warm_up| {
        run(&exchanges("sealed-stp", "", count, warm_up), 1, &mut Ledger::default())["completion_ms.max"]
            / 600.0
    };
    let (first, known) = (round_trips(1, "0s"), round_trips(10, "20s"));
    assert!((1.95..2.05).contains(&first), "{first} round trips at first contact");
    assert!((1.0..1.05).contains(&known), "{known} round trips with a token");
}

/// The keys of the transport are STP's. The octet of the envelope is part of a sealed record's head.
#[test]
fn a_seal_costs_23_octets_a_packet_more_than_an_envelope() {
    let largest = |protocol| {
        let mut ledger = Ledger::default();
        run(&exchanges(protocol, "max_payload = \"1000B\"", 1, "0s"), 1, &mut ledger);
        ledger.told.values().copied().max()
    };
    let (plain, sealed) = (largest("stp"), largest("sealed-stp"));
    assert_eq!(sealed.zip(plain).map(|(sealed, plain)| sealed - plain), Some(SEAL_BYTES - 1));
}

/// Flows of both families between two hosts, over a link that loses and overtakes.
fn mixed(loss: f64) -> String {
    format!(
        r#"
[run]
goal = "done"
duration = "60min"
[nodes]
ship = {{ kind = "host" }}
shore = {{ kind = "host" }}
[links.path]
between = ["ship", "shore"]
forward = {{ rate = "5Mbit/s", delay = "275ms", queue = "400kB", loss = {loss} }}
reverse = {{ rate = "1Mbit/s", delay = "275ms", queue = "100kB", loss = {loss} }}
[transports.plain]
protocol = "stp"
[transports.sealed]
protocol = "sealed-stp"
[flows.open]
from = "ship"
to = "shore"
count = 2
transport = "plain"
workload = {{ kind = "bulk", size = "1MB" }}
[flows.shut]
from = "ship"
to = "shore"
count = 3
transport = "sealed"
workload = {{ kind = "bulk", size = "1MB" }}
[flows.back]
from = "shore"
to = "ship"
transport = "sealed"
workload = {{ kind = "bulk", size = "200kB" }}
"#
    )
}

#[test]
fn sealed_flows_and_flows_in_the_clear_share_hosts_and_port_number() {
    for seed in 1..=5 {
        run(&mixed(0.02), seed, &mut Ledger::default());
    }
}

/// Packets are numbered as they leave; each is told of by one event, with its size.
#[test]
fn each_packet_under_a_seal_is_told_of_with_its_size() {
    let text = mixed(0.01);
    let scenario = scenario(&text);
    let mut simulation = Simulation::new(&scenario, 1).unwrap_or_else(|error| panic!("{error}"));
    let left = std::sync::Arc::new(std::sync::Mutex::new(BTreeMap::new()));
    simulation.network_mut().set_tap(Box::new(Tap(left.clone())));
    let mut ledger = Ledger::default();
    assert_eq!(simulation.run(&mut ledger), Ended::Done);
    let left = left.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    assert!(left.len() > 3000, "{} packets", left.len());
    assert_eq!(*left, ledger.told);
}

/// Sizes of the packets that enter links, by number.
#[derive(Debug)]
struct Tap(std::sync::Arc<std::sync::Mutex<BTreeMap<u64, u32>>>);

impl skyhaul_sim::LinkTap for Tap {
    fn entered(&mut self, _: Instant, _: skyhaul_sim::LinkEnd, packet: &skyhaul_core::Packet, _: &[Event]) {
        let mut left = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        left.insert(packet.meta.id, packet.meta.wire_bytes);
    }

    fn left(&mut self, _: Instant, _: skyhaul_sim::LinkEnd, _: &skyhaul_core::Packet) {}
}

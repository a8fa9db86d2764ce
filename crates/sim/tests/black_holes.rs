//! Black holes that are none: in front of a short queue rows of packets are lost, alone and beside others.
//! What they are taken for must not be the size of the packets, and no more may leave than the path's rate
//! allows.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use skyhaul_core::{Event, EventSink, Instant, MS};
use skyhaul_link::ScheduleStep;
use skyhaul_scenario::{File, Register};
use skyhaul_sim::{STP, Simulation, Source, TCP};

/// Host 0 sends to host 4, its rival 1 to host 5, over the link between 2 and 3.
fn network(rate_mbps: u64, delay_us: u64, queue: &str, rival: &str, more: &str) -> String {
    let access = |name: &str, one: &str, other: &str| {
        format!(
            "[links.{name}]\nbetween = [\"{one}\", \"{other}\"]\nforward = {{ rate = \"1Gbit/s\", delay = \"10us\" }}\n\
             reverse = {{ rate = \"1Gbit/s\", delay = \"10us\" }}\n"
        )
    };
    let links = [
        access("a", "sender", "west"),
        access("b", "rival", "west"),
        access("c", "east", "sink"),
        access("d", "east", "rival_sink"),
    ];
    format!(
        r#"
[run]
duration = "2s"
[nodes]
sender = {{ kind = "host" }}
rival = {{ kind = "host" }}
west = {{ kind = "router" }}
east = {{ kind = "router" }}
sink = {{ kind = "host" }}
rival_sink = {{ kind = "host" }}
{}[links.bottleneck]
between = ["west", "east"]
forward = {{ rate = "{rate_mbps}Mbit/s", delay = "{delay_us}us", queue = "{queue}" }}
reverse = {{ rate = "{rate_mbps}Mbit/s", delay = "{delay_us}us" }}
{more}
[transports.own]
protocol = "stp"
discover_mtu = true
[flows.own]
from = "sender"
to = "sink"
transport = "own"
workload = {{ kind = "bulk" }}
{rival}"#,
        links.concat()
    )
}

/// A neighbour of this transport from a third of a second on.
fn rival(transport: &str) -> String {
    format!(
        r#"
[transports.rival]
{transport}
[flows.rival]
from = "rival"
to = "rival_sink"
transport = "rival"
start = "333ms"
workload = {{ kind = "bulk" }}
"#
    )
}

/// Sizes and octets of the sender.
#[derive(Default)]
struct Sizes {
    packet_bytes: u32,
    falls: u32,
    oversized: u32,
    sent_bytes: u64,
    /// Next packet in order that is not confirmed, since when, and the longest time that one was.
    next: u64,
    next_since: Instant,
    stalled_ns: u64,
}

impl EventSink<Source> for Sizes {
    fn wants(&self) -> bool {
        true
    }

    fn emit(&mut self, now: Instant, source: Source, event: Event) {
        if source.host() != Some(0) {
            return;
        }
        match event {
            Event::PathMtu { mtu_bytes } => {
                self.falls += u32::from(mtu_bytes < self.packet_bytes);
                self.packet_bytes = mtu_bytes;
            }
            Event::Acknowledged { next, .. } if next > self.next => {
                self.stalled_ns = self.stalled_ns.max(now.since(self.next_since));
                (self.next, self.next_since) = (next, now);
            }
            Event::Oversized { .. } => self.oversized += 1,
            Event::Sent { wire_bytes, .. } => self.sent_bytes += u64::from(wire_bytes),
            _ => {}
        }
    }
}

fn run(text: &str, seed: u64) -> Sizes {
    run_falling(text, seed, 0, None)
}

/// A run in which the bottleneck takes no more than this from a moment on.
fn run_falling(text: &str, seed: u64, at_ms: u64, falls_to: Option<u32>) -> Sizes {
    let file = File::parse(&Register::new(&[&STP, &TCP]), "black_holes.toml", text)
        .unwrap_or_else(|error| panic!("{error}"));
    let mut scenario = file.first_scenario().unwrap();
    for link in scenario.links.iter_mut().filter(|link| link.config.name == "bottleneck") {
        let forward = &mut link.config.forward;
        let (at, first) = (Instant::from_ns(at_ms * MS), forward.first_step());
        let step = falls_to.map(|mtu_bytes| ScheduleStep { at, mtu_bytes: Some(mtu_bytes), ..first });
        forward.schedule.extend(step);
    }
    let mut sizes = Sizes::default();
    Simulation::new(&scenario, seed).unwrap().run(&mut sizes);
    sizes
}

/// Neighbours: none, TCP, and a declared rate of so many percent of the path's, which heeds no loss.
fn neighbours(rate_mbps: u64) -> Vec<(String, String)> {
    let tcp = ["bbr", "cubic"]
        .map(|name| (name.to_string(), rival(&format!("protocol = \"tcp\"\ncontroller = \"{name}\""))));
    let blind = [30, 60, 90, 120].map(|percent| {
        let transport = format!("protocol = \"stp\"\nrate = \"{}kbit/s\"", rate_mbps * percent * 10);
        (format!("{percent} %"), rival(&transport))
    });
    [("alone".to_string(), String::new())].into_iter().chain(tcp).chain(blind).collect()
}

#[test]
fn no_row_of_losses_in_front_of_a_short_queue_is_taken_for_a_black_hole() {
    let (mut runs, mut total, mut bad, mut sent) = (0, 0, Vec::new(), Vec::new());
    for (i, queue) in
        ["1packets", "2packets", "3packets", "5packets", "10packets", "4000B", "9000B"].iter().enumerate()
    {
        for (j, delay_us) in [20, 1000, 25_000, 200_000].into_iter().enumerate() {
            for (k, (name, rival)) in neighbours([5, 20, 50, 100][(i + j) % 4]).iter().enumerate() {
                let rate_mbps = [5, 20, 50, 100][(i + j) % 4];
                let seed = (i + 10 * j + 100 * k) as u64;
                let sizes = run(&network(rate_mbps, delay_us, queue, rival, ""), seed);
                runs += 1;
                let most = rate_mbps as f64 * 2.0 / 8.0 * 1e6;
                let what = format!("{queue}, {rate_mbps} Mbit/s, {delay_us} us, {name}");
                sent.push((sizes.sent_bytes as f64 / most, what.clone()));
                total += sizes.falls;
                // Where a full queue has room for what is small and never for what is large, size does
                // matter.
                if sizes.falls > if *queue == "4000B" { 3 } else { 0 } {
                    bad.push(format!("{what}: {} falls, {} oversized", sizes.falls, sizes.oversized));
                }
            }
        }
    }
    sent.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("{runs} runs, {total} falls; most sent, of what the path carries: {:#?}", &sent[..8]);
    assert!(bad.is_empty(), "{} of {runs}: {bad:#?}", bad.len());
}

#[test]
fn a_declared_rate_far_above_the_path_leaves_packets_their_size() {
    let mut bad = Vec::new();
    for (rate_mbps, declared_mbps, delay_us) in
        [(10, 30, 25_000), (10, 100, 25_000), (50, 200, 5000), (50, 500, 25_000), (10, 200, 275_000)]
    {
        for seed in 1..=4 {
            let text = network(rate_mbps, delay_us, "100packets", "", "")
                .replace("duration = \"2s\"", "duration = \"6s\"")
                .replace(
                    "discover_mtu = true\n",
                    &format!("discover_mtu = true\nrate = \"{declared_mbps}Mbit/s\"\n"),
                );
            let sizes = run(&text, seed);
            let what = format!(
                "{declared_mbps} on {rate_mbps} Mbit/s, {delay_us} us, seed {seed}: {} falls, {} B",
                sizes.falls, sizes.packet_bytes
            );
            println!("{what}");
            bad.extend((sizes.falls > 0 || sizes.packet_bytes < 1500).then_some(what));
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

#[test]
fn where_a_satellite_path_falls_in_mid_flow_data_flows_again_within_five_seconds() {
    for rate in ["", "rate = \"10Mbit/s\"\n"] {
        for falls_to in [1400, 1280, 600] {
            let text =
                network(10, 275_000, "687500B", "", "").replace("duration = \"2s\"", "duration = \"30s\"");
            let text = text.replace("discover_mtu = true\n", &format!("discover_mtu = true\n{rate}"));
            let sizes = run_falling(&text, 1, 8000, Some(falls_to));
            let what = format!("{rate:?} to {falls_to}: {} ms", sizes.stalled_ns / MS);
            println!("{what}, {} B", sizes.packet_bytes);
            assert!(
                sizes.stalled_ns < 5000 * MS && sizes.next_since > Instant::from_ns(29_000 * MS),
                "{what}"
            );
            assert!(sizes.falls > 0 && sizes.packet_bytes <= falls_to, "{what}: {} B", sizes.packet_bytes);
        }
    }
}

/// What was known of the path is forgotten behind an outage and where large packets vanish: here in front of
/// a queue that others keep full.
#[test]
fn what_is_learnt_anew_beside_a_blind_neighbour_lets_no_storm_leave() {
    let outage = "[[links.bottleneck.outages]]\nfrom = \"700ms\"\nto = \"1100ms\"\n";
    let mut bad = Vec::new();
    for (delay_us, queue) in [(1000, "60000B"), (25_000, "100000B"), (1000, "10packets"), (20, "4packets")] {
        for percent in [60, 80, 100] {
            let rival = rival(&format!("protocol = \"stp\"\nrate = \"{}kbit/s\"", 300 * percent));
            for (more, falls_to) in [(outage, None), ("", Some(1280)), ("", Some(1400))] {
                let sizes = run_falling(&network(30, delay_us, queue, &rival, more), 1, 700, falls_to);
                let part = sizes.sent_bytes as f64 / (30_000_000.0 * 2.0 / 8.0);
                let what = format!(
                    "{delay_us} us, {queue}, {percent} %, {falls_to:?}: {part:.2}, {} cut",
                    sizes.oversized
                );
                println!("{what}");
                bad.extend((part > 1.6).then_some(what));
            }
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

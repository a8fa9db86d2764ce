//! The model in front of queues of a few packets, alone and after others have gone: the worst of a grid. No
//! state may keep a low rate on a path that loses nothing and has no queue.

use skyhaul_core::event::Phase;
use skyhaul_core::{Event, EventSink, Instant, MS, NullSink, SECOND};
use skyhaul_link::{DirectionConfig, LinkConfig, QueueLimit};
use skyhaul_scenario::{File, Register, Scenario};
use skyhaul_sim::{Outcome, STP, Simulation, Source, TCP, Transfer};

/// Outcome of `bytes` over a link with a queue of `packets`.
fn run(rate_bps: u64, delay_ns: u64, packets: u32, seed: u64, bytes: u64) -> Outcome {
    let direction = DirectionConfig { rate_bps: Some(rate_bps), delay_ns, ..DirectionConfig::default() };
    let forward = DirectionConfig { queue: QueueLimit::Packets(packets), ..direction.clone() };
    let link = LinkConfig { forward, reverse: direction, ..LinkConfig::default() };
    Transfer::new(link, seed, bytes).run(&mut NullSink).unwrap_or_else(|error| panic!("seed {seed}: {error}"))
}

#[test]
fn a_queue_of_a_few_packets_at_lan_delay_is_no_reason_to_crawl() {
    let mut bad = Vec::new();
    for packets in [1, 2, 3, 5] {
        for delay_ns in [MS / 50, MS, 3 * MS, 10 * MS] {
            for rate_mbps in [5, 20, 100] {
                for seed in 1..=3 {
                    let outcome = run(rate_mbps * 1_000_000, delay_ns, packets, seed, 5_000_000);
                    let sent = outcome.sender.sent_bytes as f64 / outcome.bytes as f64;
                    let share = outcome.share().unwrap();
                    let delay_us = delay_ns / 1000;
                    let what = format!("{packets} packets, {delay_us} us, {rate_mbps} Mbit/s, seed {seed}");
                    if share < 0.28 || sent > 3.1 {
                        bad.push(format!("{what}: {share:.3}, sent {sent:.3}"));
                    }
                }
            }
        }
    }
    assert!(bad.is_empty(), "0.012, with 10 packets sent for each, at worst before: {bad:#?}");
}

/// The bottleneck of `beside-tcp` with 12 Mbit/s, a round trip of 210 ms and a queue of 20 packets. Two flows
/// of BBR send 9 MB each from a few seconds on.
fn after_bbr(start: [&str; 2]) -> Scenario {
    let flow = |start: &str| {
        format!(
            r#"{{ from = "rival", to = "sink_rival", transport = "rival", start = "{start}", workload = {{ kind = "bulk", size = "9MB" }} }}"#
        )
    };
    let (first, second) = (flow(start[0]), flow(start[1]));
    let set = [
        ("sweep", "{}"),
        ("run.duration", "60s"),
        ("run.warm_up", "0s"),
        ("transports.rival.controller", "bbr"),
        ("links.bottleneck.forward.rate", "12Mbit/s"),
        ("links.bottleneck.reverse.rate", "12Mbit/s"),
        ("links.bottleneck.forward.delay", "95ms"),
        ("links.bottleneck.reverse.delay", "95ms"),
        ("links.bottleneck.forward.queue", "20packets"),
        ("flows.rival", &first),
        ("flows.second", &second),
    ];
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/beside-tcp.toml");
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let set: Vec<_> = set.iter().map(|(key, value)| ((*key).to_string(), (*value).to_string())).collect();
    let whole = File::parse(&Register::new(&[&STP, &TCP]), path, &text)
        .and_then(|file| file.with(&set))
        .unwrap_or_else(|error| panic!("{error}"));
    let point = whole.points().next().unwrap_or_else(|| panic!("{path} has no point"));
    whole.scenario_at(&point).unwrap_or_else(|error| panic!("{error}"))
}

/// Time at which TCP last sent, and how long the model's rate was below half of the path, and others were
/// blamed, after that.
#[derive(Default)]
struct After {
    gone_at: Instant,
    seen_at: Instant,
    rate_bps: u64,
    is_beside: bool,
    low_ns: u64,
    beside_ns: u64,
}

impl EventSink<Source> for After {
    fn wants(&self) -> bool {
        true
    }

    fn emit(&mut self, now: Instant, _: Source, event: Event) {
        let passed_ns = now.since(self.seen_at);
        self.low_ns += if self.rate_bps < 6_000_000 { passed_ns } else { 0 };
        self.beside_ns += if self.is_beside { passed_ns } else { 0 };
        self.seen_at = now;
        match event {
            Event::Rate { rate_bps } => self.rate_bps = rate_bps,
            Event::Window { phase: Phase::Competing | Phase::Sharing, .. } => self.is_beside = true,
            Event::Window { phase: Phase::Measuring | Phase::Holding, .. } => self.is_beside = false,
            Event::Window { .. } => {
                // The rivals'.
                (self.gone_at, self.low_ns, self.beside_ns) = (now, 0, 0);
            }
            _ => {}
        }
    }
}

#[test]
fn a_path_is_used_and_nobody_blamed_soon_after_others_have_gone() {
    for start in [["2.3s", "2.4s"], ["2.6s", "2.8s"], ["2.9s", "2.9s"], ["3.2s", "3.5s"], ["3.3s", "3.3s"]] {
        let mut after = After::default();
        Simulation::new(&after_bbr(start), 1).unwrap().run(&mut after);
        let (low_ms, beside_ms) = (after.low_ns / MS, after.beside_ns / MS);
        assert!(after.gone_at.as_ns() < 50 * SECOND);
        let what = format!("{start:?}: {low_ms} ms of a low rate, {beside_ms} ms beside nobody");
        assert!(low_ms < 4000 && beside_ms < 2500, "{what}, up to 38 s before");
    }
}

//! Transfers alone over paths whose packets take longer now and then, by chance.

use skyhaul_core::{LimitTimes, MS, NullSink};
use skyhaul_scenario::{File, Register};
use skyhaul_sim::{Flows, STP, Simulation, TCP};

/// Rates of the path in Mbit/s, ...
const RATES_MBPS: [u32; 3] = [10, 40, 100];
/// ... its round trips without jitter in ms, ...
const RTTS_MS: [u32; 3] = [6, 40, 550];
/// ... and its jitter each way in ms.
const JITTERS_MS: [u32; 4] = [0, 2, 8, 30];
/// Part of the packets that come later than their turn, in percent, where some do.
const LATE_PERCENT: u32 = 2;
/// Time that a transfer takes without jitter, in s, over short and over long paths.
const SHORT_S: u32 = 5;
const LONG_S: u32 = 20;
/// Shortest queue: 200 packets.
const MIN_QUEUE_BYTES: u32 = 200 * 1500;

/// Path with nobody else on it, and what is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) rate_mbps: u32,
    pub(crate) rtt_ms: u32,
    pub(crate) jitter_ms: u32,
    pub(crate) is_reordered: bool,
}

/// What came of a transfer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// Payload over the time, of the rate that the path has for payload.
    pub(crate) share: f64,
    /// Time by limit.
    pub(crate) limits: LimitTimes,
    pub(crate) elapsed_ms: u64,
    /// Waiting in the queue on average, in ms.
    pub(crate) waited_ms: f64,
}

/// Every combination.
pub(crate) fn cells() -> impl Iterator<Item = Cell> {
    let paths = RATES_MBPS.into_iter().flat_map(|rate| RTTS_MS.map(|rtt| (rate, rtt)));
    let jittered = paths.flat_map(|path| JITTERS_MS.map(|jitter| (path, jitter)));
    let ordered = jittered.flat_map(|of| [(of, false), (of, true)]);
    ordered.filter(|((_, jitter_ms), is_reordered)| *jitter_ms > 0 || !is_reordered).map(
        |(((rate_mbps, rtt_ms), jitter_ms), is_reordered)| Cell {
            rate_mbps,
            rtt_ms,
            jitter_ms,
            is_reordered,
        },
    )
}

impl Cell {
    fn bytes(&self) -> u32 {
        self.rate_mbps * 125_000 * if self.rtt_ms > 100 { LONG_S } else { SHORT_S }
    }

    fn text(&self, transport: &str) -> String {
        let Self { rate_mbps, rtt_ms, jitter_ms, is_reordered } = self;
        let queue = (rate_mbps * 125 * rtt_ms).max(MIN_QUEUE_BYTES);
        let late = if *is_reordered {
            format!(
                ", reordering = {{ probability = {}, extra_delay = \"{jitter_ms}ms\" }}",
                f64::from(LATE_PERCENT) / 100.0
            )
        } else {
            String::new()
        };
        let way = format!(
            "rate = \"{rate_mbps}Mbit/s\", delay = \"{}us\", jitter = \"{jitter_ms}ms\", queue = \"{queue}B\"{late}",
            rtt_ms * 500
        );
        format!(
            "[run]\nduration = \"300s\"\n[nodes]\na = {{ kind = \"host\" }}\nb = {{ kind = \"host\" }}\n\
             [links.path]\nbetween = [\"a\", \"b\"]\nforward = {{ {way} }}\nreverse = {{ {way} }}\n\
             [transports.ours]\n{transport}\n[flows.ours]\nfrom = \"a\"\nto = \"b\"\ntransport = \"ours\"\n\
             workload = {{ kind = \"bulk\", size = \"{}B\" }}\n",
            self.bytes()
        )
    }

    /// Transfer of ours.
    pub(crate) fn ours(&self, seed: u64) -> Run {
        self.run("protocol = \"stp\"", seed)
    }

    /// Transfer of TCP with CUBIC.
    pub(crate) fn cubic(&self, seed: u64) -> Run {
        self.run("protocol = \"tcp\"\ncontroller = \"cubic\"", seed)
    }

    fn run(&self, transport: &str, seed: u64) -> Run {
        let text = self.text(transport);
        let file = File::parse(&Register::new(&[&STP, &TCP]), "jitter.toml", &text)
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let scenario = file.first_scenario().unwrap_or_else(|error| panic!("{error}"));
        let mut simulation = Simulation::new(&scenario, seed).unwrap_or_else(|error| panic!("{error}"));
        simulation.run(&mut NullSink);
        let network = simulation.network();
        let ends = network.hosts().flat_map(|(_, host)| {
            let flows = host.app.as_any().downcast_ref::<Flows>().into_iter();
            let ends = flows.flat_map(|flows| flows.records(&host.engines));
            ends.map(|end| (end.1, end.2.started_at, end.2.last_byte_at, end.3.limits)).collect::<Vec<_>>()
        });
        let records: Vec<_> = ends.collect();
        let of = |is_opener: bool| records.iter().find(|end| end.0 == is_opener);
        let began_at = of(true).and_then(|end| end.1);
        let ended_at = of(false).and_then(|end| end.2);
        let elapsed_ns = ended_at.zip(began_at).map_or(u64::MAX, |(end, begin)| end.since(begin));
        let limits = of(true).and_then(|end| end.3).unwrap_or_default();
        let carried_bytes = f64::from(self.rate_mbps) / 8e3 * elapsed_ns as f64 * 1448.0 / 1500.0;
        let queue = network.edges()[0].link.counters(0, network.now());
        Run {
            share: f64::from(self.bytes()) / carried_bytes,
            limits,
            elapsed_ms: elapsed_ns / MS,
            waited_ms: queue.waited_ns as f64 / 1e6 / queue.entered_packets.max(1) as f64,
        }
    }
}

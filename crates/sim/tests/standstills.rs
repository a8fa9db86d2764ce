//! Machines that stand still: what they read at once afterwards is no rate of the path, and nobody else's
//! doing.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use skyhaul_core::{Instant, Limit, MS, NullSink, SECOND, Stream};
use skyhaul_link::{DirectionConfig, LinkConfig, Outage, QueueLimit};
use skyhaul_sim::{Ended, Flows, Simulation, Standstills, Transfer};
use skyhaul_stp::ControllerKind;

const RATE_BPS: u64 = 10_000_000;
const BYTES: u64 = 20_000_000;
const QUEUE: QueueLimit = QueueLimit::Packets(460);
/// Delays one way: a geostationary link, and shorter ones.
const DELAYS_MS: [u64; 3] = [275, 50, 10];
const SENDER: usize = 0;
const RECEIVER: usize = 1;
/// Room of sockets: what this program asks for, and what a system gives that grants no more.
const SOCKETS: [u64; 2] = [4 << 20, 140_000];

/// What came of a transfer: bytes on the link, and time, all of it and that said to be others'.
#[derive(Debug)]
struct Run {
    sent_bytes: u64,
    total_ms: u64,
    neighbour_ms: u64,
}

impl Run {
    /// True if a tenth of the time is said to be others'.
    fn blames_others(&self) -> bool {
        self.neighbour_ms * 10 > self.total_ms
    }
}

fn transfer(delay_ms: u64, bytes: u64) -> Transfer {
    let direction = DirectionConfig {
        rate_bps: Some(RATE_BPS),
        delay_ns: delay_ms * MS,
        queue: QUEUE,
        mtu_bytes: Some(1500),
        ..DirectionConfig::default()
    };
    let link = LinkConfig { forward: direction.clone(), reverse: direction, ..LinkConfig::default() };
    let mut transfer = Transfer::new(link, 1, bytes);
    for end in [&mut transfer.sender, &mut transfer.receiver] {
        end.controller = ControllerKind::Model;
    }
    transfer
}

/// Run in which the machine of host `node` stands still at these times.
fn run(transfer: &Transfer, node: usize, standstills: Standstills) -> Run {
    let scenario = transfer.scenario();
    let mut simulation = Simulation::new(&scenario, transfer.seed).unwrap();
    simulation.network_mut().set_standstills(node, standstills);
    assert_eq!(simulation.run(&mut NullSink), Ended::Done);
    let network = simulation.network();
    let host = network.host(SENDER).unwrap();
    let flows = host.app.as_any().downcast_ref::<Flows>().unwrap();
    let limits = flows.records(&host.engines).last().unwrap().3.limits.unwrap();
    let sent_bytes = network.edges()[0].link.counters(0, network.now()).entered_bytes;
    Run { sent_bytes, total_ms: limits.total_ns() / MS, neighbour_ms: limits.spent_ns(Limit::Neighbour) / MS }
}

/// One standstill.
fn one(at_ms: u64, stands_ms: u64, socket_bytes: u64) -> Standstills {
    let at = Instant::from_ns(at_ms * MS);
    Standstills::new([[at, at.after(stands_ms * MS)]], socket_bytes)
}

/// Runs of one standstill on each path, each at several moments, that send more than a tenth beyond the file,
/// or call a tenth of the time others'.
fn wrong(node: usize) -> Vec<String> {
    let stands = [300, 1000, 4000].into_iter().flat_map(|ms| SOCKETS.map(|bytes| (ms, bytes)));
    let cases = stands
        .flat_map(|(stands_ms, socket_bytes)| [4000, 4150].map(|at_ms| (at_ms, stands_ms, socket_bytes)));
    let on_paths = cases.flat_map(|case| DELAYS_MS.map(|delay_ms| (delay_ms, case)));
    let told = on_paths.filter_map(|(delay_ms, case)| {
        let (at_ms, stands_ms, socket_bytes) = case;
        let run = run(&transfer(delay_ms, BYTES), node, one(at_ms, stands_ms, socket_bytes));
        let is_right = run.sent_bytes * 10 <= BYTES * 11 && !run.blames_others();
        (!is_right).then(|| format!("{delay_ms} ms, {case:?}: {run:?}"))
    });
    told.collect()
}

#[test]
fn a_receiver_that_stood_still_is_not_flooded() {
    let wrong = wrong(RECEIVER);
    assert!(wrong.is_empty(), "{} {wrong:#?}", wrong.len());
}

#[test]
fn a_sender_that_stood_still_does_not_flood() {
    let wrong = wrong(SENDER);
    assert!(wrong.is_empty(), "{} {wrong:#?}", wrong.len());
}

#[test]
fn an_outage_of_seconds_is_followed_by_no_flood() {
    for (delay_ms, s) in DELAYS_MS.into_iter().flat_map(|delay_ms| [2, 8].map(|s| (delay_ms, s))) {
        let mut transfer = transfer(delay_ms, BYTES);
        let from = Instant::from_ns(4 * SECOND);
        transfer.link.outages = vec![Outage { from, to: from.after(s * SECOND) }];
        let run = run(&transfer, RECEIVER, Standstills::default());
        let part = run.sent_bytes as f64 / BYTES as f64;
        assert!(part < 1.15, "{delay_ms} ms, {s} s: {part:.2}");
    }
}

/// Sizes of transfers that a loaded machine makes.
const SIZES: [u64; 2] = [1_000_000, 5_000_000];

/// Standstills of a machine that others use: they come every 150 ms on average, and last up to `most_ms`.
fn loaded(seed: u64, most_ms: u64) -> Standstills {
    let mut dice = Stream::new(seed, "loaded");
    let mut at = Instant::ZERO;
    let spans = (0..1000).map(|_| {
        let begin = at.after(dice.exponential_ns(150 * MS));
        at = begin.after(dice.below(most_ms * MS));
        [begin, at]
    });
    Standstills::new(spans.collect::<Vec<_>>(), SOCKETS[0])
}

#[test]
fn a_loaded_machine_is_no_neighbour() {
    // On a path on which 60 ms are several round trips, that is not told from a queue of others.
    let cases = DELAYS_MS
        .into_iter()
        .zip([60, 20, 20])
        .flat_map(|(delay_ms, most_ms)| [SENDER, RECEIVER].map(|node| (delay_ms, most_ms, node)));
    for ((delay_ms, most_ms, node), bytes) in cases.flat_map(|case| SIZES.map(|bytes| (case, bytes))) {
        for seed in 1..=3 {
            let run = run(&transfer(delay_ms, bytes), node, loaded(seed, most_ms));
            let what = format!("{delay_ms} ms, {bytes} B, up to {most_ms} ms at {node}, seed {seed}");
            assert!(!run.blames_others(), "{what}: {run:?}");
        }
    }
}

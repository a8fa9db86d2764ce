//! Bound of what leaves: however short the queue, whatever is lost in a row, and where the path's MTU falls
//! in mid-flow, it is not many times the file.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use skyhaul_core::{Event, Instant, MS, SECOND};
use skyhaul_link::{BurstLoss, DirectionConfig, LinkConfig, Outage, QueueLimit, ScheduleStep};
use skyhaul_sim::{Outcome, Source, Transfer};
use skyhaul_stp::ControllerKind;

const BYTES: u64 = 5_000_000;
/// Queues that rows of packets overflow: rate, delay one way, packets.
const SHORT_QUEUES: [(u64, u64, u32); 4] =
    [(20_000_000, 3, 3), (20_000_000, 10, 6), (50_000_000, 2, 10), (30_000_000, 25, 40)];

fn direction(rate_bps: u64, delay_ms: u64, packets: u32) -> DirectionConfig {
    DirectionConfig {
        rate_bps: Some(rate_bps),
        delay_ns: delay_ms * MS,
        queue: QueueLimit::Packets(packets),
        mtu_bytes: Some(1500),
        ..DirectionConfig::default()
    }
}

/// Sizes of packets in turn, and what came of the transfer.
fn run(forward: DirectionConfig, seed: u64) -> (Vec<u32>, Outcome) {
    let reverse =
        DirectionConfig { burst_loss: BurstLoss::default(), schedule: Vec::new(), ..forward.clone() };
    let link = LinkConfig { forward, reverse, ..LinkConfig::default() };
    let mut transfer = Transfer::new(link, seed, BYTES);
    for end in [&mut transfer.sender, &mut transfer.receiver] {
        end.controller = ControllerKind::Model;
        end.discover_mtu = true;
    }
    let mut events: Vec<(Instant, Source, Event)> = Vec::new();
    let outcome = transfer.run(&mut events).unwrap();
    let size = |event: &Event| match event {
        Event::PathMtu { mtu_bytes } => Some(*mtu_bytes),
        _ => None,
    };
    (events.iter().filter_map(|(_, _, event)| size(event)).collect(), outcome)
}

/// Rows of twenty packets, large or small, that are lost one behind the other.
fn in_rows() -> BurstLoss {
    BurstLoss { good_to_bad: 0.002, bad_to_good: 0.05, loss_good: 0.0, loss_bad: 0.95 }
}

#[test]
fn rows_of_losses_in_short_queues_send_little_again() {
    for (rate_bps, delay_ms, packets) in SHORT_QUEUES {
        for (seed, burst_loss) in (1..=5).flat_map(|seed| [(seed, BurstLoss::default()), (seed, in_rows())]) {
            let what = format!("{rate_bps} bit/s, {delay_ms} ms, {packets} packets, seed {seed}");
            let (_, outcome) =
                run(DirectionConfig { burst_loss, ..direction(rate_bps, delay_ms, packets) }, seed);
            assert!(outcome.sender.sent_bytes < 3 * BYTES, "{what}: {} B", outcome.sender.sent_bytes);
        }
    }
}

#[test]
fn where_the_mtu_falls_at_most_twice_the_file_leaves() {
    for (rate_bps, delay_ms, packets) in SHORT_QUEUES.into_iter().chain([(5_000_000, 270, 250)]) {
        for mtu_bytes in [1280, 1400, 600] {
            let at = Instant::from_ns(SECOND);
            let forward = direction(rate_bps, delay_ms, packets);
            let step = ScheduleStep {
                at,
                rate_bps: forward.rate_bps,
                delay_ns: forward.delay_ns,
                mtu_bytes: Some(mtu_bytes),
            };
            let (sizes, outcome) = run(DirectionConfig { schedule: vec![step], ..forward }, 1);
            let sent_bytes = outcome.sender.sent_bytes;
            let what =
                format!("{rate_bps} bit/s, {delay_ms} ms, {packets} packets to {mtu_bytes}: {sizes:?}");
            assert!(sent_bytes < 2 * BYTES, "{what}: {sent_bytes} B");
        }
    }
}

/// Transfer at a declared rate of ten times the path's, with a queue of one round trip.
fn ten_times_too_fast(rate_bps: u64, delay_ms: u64, bytes: u64) -> (Vec<u32>, Outcome) {
    ten_times_too_fast_into(100, rate_bps, delay_ms, bytes)
}

/// [`ten_times_too_fast`] with a queue of so many hundredths of a round trip.
fn ten_times_too_fast_into(hundredths: u64, rate_bps: u64, delay_ms: u64, bytes: u64) -> (Vec<u32>, Outcome) {
    let packets = (rate_bps * 2 * delay_ms / 8_000 / 1500 * hundredths / 100).max(20) as u32;
    let forward = direction(rate_bps, delay_ms, packets);
    let link = LinkConfig { forward: forward.clone(), reverse: forward, ..LinkConfig::default() };
    let mut transfer = Transfer::new(link, 1, bytes).with_rate(10 * rate_bps);
    for end in [&mut transfer.sender, &mut transfer.receiver] {
        end.discover_mtu = true;
    }
    let mut events: Vec<(Instant, Source, Event)> = Vec::new();
    let outcome = transfer.run(&mut events).unwrap();
    let size = |event: &Event| match event {
        Event::PathMtu { mtu_bytes } => Some(*mtu_bytes),
        _ => None,
    };
    (events.iter().filter_map(|(_, _, event)| size(event)).collect(), outcome)
}

#[test]
fn a_declared_rate_of_ten_times_the_paths_floods_it_for_some_round_trips_alone() {
    for (rate_bps, delay_ms, bytes) in [
        (3_000_000, 25, 5_000_000),
        (3_000_000, 50, 5_000_000),
        (10_000_000, 50, 20_000_000),
        (10_000_000, 275, 50_000_000),
    ] {
        let what = format!("{rate_bps} bit/s, {delay_ms} ms");
        let (sizes, outcome) = ten_times_too_fast(rate_bps, delay_ms, bytes);
        let [congestion, corruption, outage, unknown] = outcome.sender.lost_packets;
        println!(
            "{what}: {sizes:?}, {} B, lost {:?}, lowered to {:?}, {:.3} of the path",
            outcome.sender.sent_bytes,
            outcome.sender.lost_packets,
            outcome.sender.lowered_rate_bps,
            outcome.goodput_bps() / rate_bps as f64
        );
        assert!(outcome.sender.sent_bytes < 3 * bytes, "{what}: {} B", outcome.sender.sent_bytes);
        assert_eq!(sizes.last(), Some(&1500), "{what}: {sizes:?}");
        let all = congestion + corruption + outage + unknown;
        assert!(corruption + outage <= all / 100, "{what}: {:?}", outcome.sender.lost_packets);
        assert!(outcome.goodput_bps() > 0.7 * rate_bps as f64, "{what}: {} bit/s", outcome.goodput_bps());
        let lowered_bps = outcome.sender.lowered_rate_bps.unwrap();
        assert!(
            (0.85..1.15).contains(&(lowered_bps as f64 / rate_bps as f64)),
            "{what}: {lowered_bps} bit/s"
        );
    }
}

#[test]
fn a_file_that_has_left_before_the_first_report_does_not_go_again_and_again_at_a_rate_of_ten_times_the_paths()
{
    for (hundredths, delay_ms, bytes) in [
        (30, 275, 3_000_000),
        (30, 275, 10_000_000),
        (100, 275, 3_000_000),
        (100, 275, 10_000_000),
        (100, 25, 3_000_000),
        (100, 50, 3_000_000),
        (300, 50, 3_000_000),
    ] {
        let (_, outcome) = ten_times_too_fast_into(hundredths, 10_000_000, delay_ms, bytes);
        let sent_bytes = outcome.sender.sent_bytes;
        let what = format!("{delay_ms} ms, queue of {hundredths} %, {bytes} B: {sent_bytes} B");
        println!("{what} in {} ms, {:?}", outcome.confirmed_ns / MS, outcome.sender.lowered_rate_bps);
        assert!(2 * outcome.sender.sent_bytes < 5 * bytes, "{what}");
        let lowered_bps = outcome.sender.lowered_rate_bps.unwrap();
        assert!((8_000_000..12_000_000).contains(&lowered_bps), "{what}: {lowered_bps} bit/s");
    }
}

#[test]
fn short_files_over_noisy_links_and_outages_keep_a_declared_rate_that_the_path_carries() {
    let gone = Outage { from: Instant::from_ns(900 * MS), to: Instant::from_ns(2400 * MS) };
    for (loss, burst_loss, outages) in [
        (0.11, BurstLoss::default(), Vec::new()),
        (0.3, BurstLoss::default(), Vec::new()),
        (0.0, in_rows(), Vec::new()),
        (0.0, BurstLoss::default(), vec![gone]),
    ] {
        for (delay_ms, seed) in [25, 50, 275].into_iter().flat_map(|delay_ms| [(delay_ms, 1), (delay_ms, 2)])
        {
            let clean = direction(10_000_000, delay_ms, 600);
            let forward = DirectionConfig { loss, burst_loss, ..clean.clone() };
            let link =
                LinkConfig { forward, reverse: clean, outages: outages.clone(), ..LinkConfig::default() };
            let mut transfer = Transfer::new(link, seed, 1_500_000).with_rate(10_000_000);
            for end in [&mut transfer.sender, &mut transfer.receiver] {
                end.discover_mtu = true;
            }
            let outcome = transfer.run(&mut skyhaul_core::NullSink).unwrap();
            let what = format!("loss {loss}, {burst_loss:?}, {outages:?}, {delay_ms} ms, seed {seed}");
            assert_eq!(outcome.sender.lowered_rate_bps, None, "{what}");
        }
    }
}

#[test]
fn a_declared_rate_of_which_the_link_loses_most_is_not_to_blame() {
    let forward = DirectionConfig { loss: 0.6, ..direction(10_000_000, 25, 100) };
    let link = LinkConfig { forward, reverse: direction(10_000_000, 25, 100), ..LinkConfig::default() };
    let outcome =
        Transfer::new(link, 1, BYTES).with_rate(10_000_000).run(&mut skyhaul_core::NullSink).unwrap();
    println!("{:?}, {} bit/s", outcome.sender.lost_packets, outcome.goodput_bps());
    assert_eq!(outcome.sender.lowered_rate_bps, None);
    assert!(outcome.goodput_bps() > 3_000_000.0, "{} bit/s", outcome.goodput_bps());
}

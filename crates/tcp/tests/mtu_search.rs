//! Answer to black holes, and the search for the largest packet that the path takes [RFC 4821].

mod common;

use common::pair::{Outcome, Pair, content, transfer};
use common::silent::{GEO_NS, LAND_NS, link};
use common::{Heard, Lone, plain};
use proptest::collection::vec;
use proptest::prelude::*;
use skyhaul_core::{Connections, Instant, MS, SECOND, Verdict};
use skyhaul_link::{LinkConfig, Reordering};
use skyhaul_tcp::segment::Options;
use skyhaul_tcp::{Config, ControllerKind, IcmpMessage};

/// Payload of packets of 1500 and of 1280 bytes.
const FULL: u32 = 1460;
const SMALL: u32 = 1240;

/// Ten full segments are under way, and much waits.
fn opened() -> Lone {
    let config = Config { mss_bytes: FULL as u16, discover_mtu: true, ..plain() };
    let options = Options { mss: Some(FULL as u16), sack_permitted: true, ..Options::default() };
    let mut lone = Lone::accepted(&config, options);
    lone.write(4_000_000);
    assert_eq!(sizes(&lone.hear()), [FULL; 10]);
    lone
}

fn size(heard: &Heard) -> u32 {
    heard.payload.len() as u32
}

fn sizes(heard: &[Heard]) -> Vec<u32> {
    heard.iter().map(size).collect()
}

fn end(heard: &Heard) -> u32 {
    heard.sequence + size(heard)
}

fn end_of(heard: &[Heard]) -> u32 {
    heard.iter().map(end).max().unwrap_or_default()
}

/// Acknowledges all that comes but for the last `behind` segments, until a packet is larger than those of
/// `usual` bytes of payload: what is under way then, the larger one in the place `behind`.
fn until_probe(lone: &mut Lone, usual: u32, behind: usize) -> Vec<Heard> {
    let mut under_way = Vec::new();
    for _ in 0..2000 {
        under_way.extend(lone.hear());
        let probe = under_way.iter().position(|heard| size(heard) > usual);
        let known = probe.unwrap_or(under_way.len()).saturating_sub(behind);
        for heard in under_way.drain(..known) {
            lone.ack(1, end(&heard));
        }
        if probe.is_some() {
            under_way.extend(lone.hear());
            return under_way;
        }
        lone.wait_ms(1);
    }
    panic!("no probe came");
}

/// All of it but the packets at these places arrives, in one acknowledgement each; what leaves then.
fn lose(lone: &mut Lone, heard: &[Heard], lost: &[usize]) -> Vec<Heard> {
    let una = heard[lost[0]].sequence;
    let arrived = heard.iter().enumerate().filter(|(at, _)| !lost.contains(at));
    for (_, heard) in arrived {
        lone.sack(una, &[(heard.sequence, end(heard))]);
    }
    lone.hear()
}

/// Packets are small, and the first large one is on its way.
fn fallen() -> (Lone, Vec<Heard>) {
    let mut lone = opened();
    lone.wait();
    assert_eq!(sizes(&lone.hear()), [SMALL], "no large one ever arrived");
    lone.ack(1, 1 + SMALL);
    let heard = until_probe(&mut lone, SMALL, 0);
    assert_eq!((size(&heard[0]), lone.stats().black_holes), (FULL, 0));
    (lone, heard)
}

/// A black hole was found, the window is as large as it gets, and the next probe is on its way.
fn searching(behind: usize) -> (Lone, Vec<Heard>) {
    let (mut lone, heard) = fallen();
    let again = lose(&mut lone, &heard, &[0]);
    lone.ack(1, end_of(&again));
    let heard = until_probe(&mut lone, SMALL, behind);
    assert_eq!(size(&heard[behind]), FULL, "three times");
    (lone, heard)
}

#[test]
fn full_packets_that_once_arrived_become_smaller_after_a_timeout_and_tiny_after_three() {
    let mut lone = opened();
    lone.ack(1, 1 + FULL);
    lone.hear();
    for payload in [SMALL, SMALL, 536, 256, 256] {
        lone.wait();
        let sizes = sizes(&lone.hear());
        assert!(!sizes.is_empty() && sizes.iter().all(|&size| size == payload), "{sizes:?}, not {payload}");
    }
    assert_eq!(lone.stats().black_holes, 0, "nothing arrives");
}

#[test]
fn a_large_packet_among_small_ones_shows_the_black_hole_and_the_window_is_as_before() {
    let (mut lone, heard) = fallen();
    assert!(lone.stats().cwnd_bytes < 14_600);
    let again = lose(&mut lone, &heard, &[0]);
    assert_eq!(
        (again[0].sequence, sizes(&again)[..2].to_vec()),
        (heard[0].sequence, vec![SMALL, FULL - SMALL])
    );
    let stats = lone.stats();
    assert_eq!((stats.black_holes, stats.timeouts, stats.cwnd_bytes), (1, 1, 14_600));
}

#[test]
fn a_large_packet_that_arrives_was_an_outage() {
    let (mut lone, heard) = fallen();
    lone.ack(1, end(&heard[0]));
    let stats = lone.stats();
    assert_eq!((stats.black_holes, stats.path_mtu_bytes), (0, Some(1500)));
    lone.ack(1, end_of(&heard));
    assert!(lone.hear().iter().all(|heard| size(heard) == FULL));
}

#[test]
fn a_probe_that_is_lost_alone_is_no_congestion() {
    let (mut lone, heard) = searching(0);
    let before = lone.stats();
    let again = lose(&mut lone, &heard, &[0]);
    assert_eq!(
        (again[0].sequence, size(&again[0])),
        (heard[0].sequence, SMALL),
        "it goes again in small ones"
    );
    lone.ack(1, end_of(&heard));
    let after = lone.stats();
    assert!(after.cwnd_bytes >= before.cwnd_bytes, "{} of {}", after.cwnd_bytes, before.cwnd_bytes);
    assert_eq!((after.recoveries, after.timeouts), (before.recoveries + 1, before.timeouts));
    let mut causes = before.lost_packets;
    causes[Verdict::Unknown as usize] += 2;
    assert_eq!(after.lost_packets, causes, "nobody is to blame");
}

#[test]
fn a_loss_beside_a_probe_is_congestion() {
    for (behind, lost) in [(0, [0, 1]), (0, [0, 6]), (2, [0, 2])] {
        let (mut lone, heard) = searching(behind);
        let before = lone.stats().cwnd_bytes;
        lose(&mut lone, &heard, &lost);
        let after = lone.stats().cwnd_bytes;
        assert!((before * 2 / 5..before * 3 / 4).contains(&after), "{after} of {before}: halved once");
    }
}

#[test]
fn a_router_that_tells_of_a_probe_chooses_the_next_one() {
    let (mut lone, heard) = searching(0);
    lone.icmp(IcmpMessage::PacketTooBig { mtu_bytes: 1391 }, heard[0].sequence);
    lose(&mut lone, &heard, &[0]);
    lone.ack(1, end_of(&heard));
    let heard = until_probe(&mut lone, SMALL, 0);
    assert_eq!(size(&heard[0]), 1391 - 40);
    lone.ack(1, end(&heard[0]));
    assert_eq!(lone.stats().path_mtu_bytes, Some(1391));
    assert_eq!(lone.endpoint.endpoint_stats().icmp_ignored, 0);
}

#[test]
fn without_sack_the_full_size_is_tried_once() {
    let config = Config { mss_bytes: FULL as u16, discover_mtu: true, ..plain() };
    let mut lone = Lone::accepted(&config, Options { mss: Some(FULL as u16), ..Options::default() });
    lone.write(60_000);
    lone.hear();
    for payload in [FULL, FULL, SMALL] {
        lone.wait();
        assert_eq!(sizes(&lone.hear()), [payload]);
    }
    lone.ack(1, 1 + SMALL);
    assert_eq!(size(&lone.hear()[0]), FULL);
}

fn send(config: &Config, link: LinkConfig, bytes: usize) -> Outcome {
    let data = content(bytes);
    let outcome = transfer(config, link, 1, &data, 600);
    assert!(outcome.ended && outcome.received == data, "{:?}", outcome.sender);
    outcome
}

fn with(discover_mtu: bool) -> Config {
    Config { discover_mtu, ..Config::standard() }
}

fn seconds(outcome: &Outcome) -> f64 {
    outcome.elapsed_ns as f64 / 1e9
}

#[test]
fn every_size_of_a_silent_path_is_found() {
    for controller in [ControllerKind::Cubic, ControllerKind::Reno, ControllerKind::Bbr] {
        for mtu_bytes in [576, 1280, 1300, 1333, 1400, 1492] {
            let config = Config { controller: controller.clone(), ..with(true) };
            let outcome = send(&config, link(LAND_NS, &[(0, mtu_bytes)]), 10_000_000);
            let found_bytes = outcome.sender.path_mtu_bytes.unwrap();
            let least_bytes = mtu_bytes - mtu_bytes / 64;
            assert!((least_bytes..=mtu_bytes).contains(&found_bytes), "{found_bytes} of {mtu_bytes}");
            assert_eq!(outcome.sender.black_holes, 1);
        }
    }
}

#[test]
fn a_path_below_all_usual_sizes_is_crossed() {
    let outcome = send(&with(true), link(LAND_NS, &[(0, 400)]), 1_000_000);
    assert!(outcome.sender.path_mtu_bytes.is_some_and(|bytes| (296..=400).contains(&bytes)));
}

/// 973 octets make no full packet, and too large a one.
#[test]
fn a_short_segment_that_a_silent_path_does_not_take_arrives_in_smaller_ones() {
    let outcome = send(&with(true), link(LAND_NS, &[(0, 1000)]), 973);
    assert_eq!(outcome.sender.timeouts, 3, "not before: it is no full one");
}

#[test]
fn a_black_hole_on_a_geostationary_link_costs_seconds() {
    let (small, hole) = (Config { mss_bytes: 1260, ..with(true) }, [(0, 1300)]);
    let [known, found] =
        [&small, &with(true)].map(|config| seconds(&send(config, link(GEO_NS, &hole), 20_000_000)));
    assert!(found < known + 6.0, "{found} s, and {known} s where the size is known");
}

#[test]
fn a_path_that_falls_and_rises_in_mid_flow_is_used() {
    let fallen = send(&with(true), link(LAND_NS, &[(0, 1500), (3, 1300)]), 20_000_000);
    assert_eq!((fallen.sender.path_mtu_bytes, fallen.sender.black_holes), (Some(1300), 1));
    assert!(seconds(&fallen) < 20.0, "{} s", seconds(&fallen));
    let risen = send(&with(true), link(LAND_NS, &[(0, 1500), (3, 1300), (8, 1500)]), 30_000_000);
    assert_eq!(risen.sender.path_mtu_bytes, Some(1500));
}

/// Time from a fall of the path's MTU in mid-flow until data flows again: the end of the longest pause of its
/// reader.
fn flows_again_s(config: &Config, fall_s: u64) -> f64 {
    let mut pair = Pair::new(config, link(GEO_NS, &[(0, 1500), (fall_s, 1300)]), 1);
    let (id, fall) = (pair.connect(config), Instant::from_ns(fall_s * SECOND));
    let (data, mut scratch) = (content(1 << 16), vec![0; 1 << 16]);
    let (mut other, mut read_at, mut longest_ns, mut again) = (None, fall, 0, fall);
    loop {
        while pair.ends[0].write(id, &data).is_ok_and(|written| written > 0) {}
        other = other.or_else(|| pair.ends[1].accept());
        while let Some(Ok(Some(1..))) = other.map(|other| pair.ends[1].read(other, &mut scratch)) {
            if pair.now.since(read_at) > longest_ns && pair.now > fall {
                (longest_ns, again) = (pair.now.since(read_at), pair.now);
            }
            read_at = pair.now.max(fall);
        }
        if !pair.step(fall.after(20 * SECOND)) {
            break;
        }
    }
    assert_eq!(pair.ends[0].stats(id).map(|stats| stats.black_holes), Some(1));
    again.since(fall) as f64 / 1e9
}

/// With a queue of a round trip, which is full.
#[test]
fn after_a_fall_in_mid_flow_data_flows_again_within_five_seconds() {
    for controller in [ControllerKind::Cubic, ControllerKind::Reno, ControllerKind::Bbr] {
        let config = Config { controller, ..with(true) };
        for fall_s in [4, 9, 15, 20, 30] {
            let pause_s = flows_again_s(&config, fall_s);
            assert!(pause_s < 5.0, "{:?} at {fall_s} s: {pause_s} s", config.controller);
        }
    }
}

#[test]
fn random_losses_are_no_black_hole() {
    for controller in [ControllerKind::Cubic, ControllerKind::Bbr] {
        let [without, with] = [false, true].map(|discover_mtu| {
            let mut lossy = link(LAND_NS, &[]);
            lossy.forward.loss = 0.01;
            let config = Config { controller: controller.clone(), ..with(discover_mtu) };
            send(&config, lossy, 3_000_000)
        });
        assert_eq!(with.sender.black_holes, 0);
        assert!(
            with.elapsed_ns <= without.elapsed_ns * 102 / 100,
            "{} {}",
            seconds(&with),
            seconds(&without)
        );
    }
}

/// Random losses on the path of a black hole: the search may err for a while, and the data arrive.
#[test]
fn a_search_among_random_losses_ends() {
    for seed in 1..=8 {
        let mut lossy = link(LAND_NS, &[(0, 1400)]);
        lossy.forward.loss = 0.01;
        let data = content(5_000_000);
        let outcome = transfer(&with(true), lossy, seed, &data, 600);
        assert!(outcome.ended && outcome.received == data, "seed {seed}");
        let found_bytes = outcome.sender.path_mtu_bytes;
        assert!(
            found_bytes.is_some_and(|bytes| (1280..=1400).contains(&bytes)),
            "seed {seed}: {found_bytes:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn whatever_sizes_the_path_takes_the_stream_arrives(
        seed in any::<u64>(), mtus in vec(296u32..=1500, 1..5), loss in 0.0f64..0.1,
        reordered in 0.0f64..0.2, bytes in 100_000usize..3_000_000, controller in 0usize..4,
        timestamps in any::<bool>(), nagle in any::<bool>(), patience in 1u32..4,
    ) {
        let steps: Vec<_> = mtus.iter().zip(0..).map(|(&mtu_bytes, step)| (step, mtu_bytes)).collect();
        let mut link = link(LAND_NS, &steps);
        link.forward.loss = loss;
        link.forward.reordering = Reordering { probability: reordered, extra_delay_ns: 30 * MS };
        let config = Config {
            controller: ControllerKind::WINDOWS[controller].1.clone(),
            timestamps,
            nagle,
            black_hole_timeouts: Some(patience),
            max_rto_ns: 4 * SECOND,
            max_repeats: 60,
            max_syn_repeats: 60,
            ..with(true)
        };
        let data = content(bytes);
        let outcome = transfer(&config, link, seed, &data, 7200);
        prop_assert!(outcome.ended && outcome.received == data, "not all arrived: {:?}", outcome.sender);
    }
}

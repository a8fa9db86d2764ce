//! The search for the largest packet that the path takes where holes are named by SNACK [RFC 4821,
//! SCPS-TP 3.3.2]: the word of what is missing tells that a probe alone is lost, as SACK does.

mod common;

use bytes::Bytes;
use common::pair::{Outcome, Pair, content, transfer, transfer_over};
use common::silent::{GEO_NS, LAND_NS, RATE_BPS, link};
use proptest::collection::vec;
use proptest::prelude::*;
use skyhaul_core::{Instant, MS, SECOND, Stats, Verdict};
use skyhaul_link::{DirectionConfig, LinkConfig, Outage, QueueLimit, Reordering};
use skyhaul_tcp::scps::{Scps, Snack};
use skyhaul_tcp::{Config, ControllerKind, IcmpMessage};

fn with(scps: Scps, discover_mtu: bool) -> Config {
    Config { scps: Some(scps), discover_mtu, ..Config::scps_tp() }
}

/// No controller: a declared rate decides alone.
fn declared(scps: &Scps, discover_mtu: bool) -> Config {
    let scps = Scps { controller: ControllerKind::Off, ..scps.clone() };
    Config { rate_bps: Some(RATE_BPS * 95 / 100), ..with(scps, discover_mtu) }
}

/// With losses taken for damage.
fn damaged(discover_mtu: bool) -> Config {
    declared(&Scps { loss_cause: Verdict::Corruption, ..Scps::standard() }, discover_mtu)
}

fn all(discover_mtu: bool) -> Vec<(&'static str, Config)> {
    let short = Scps { max_snacks: 1, snack: Snack::Short, ..Scps::standard() };
    let compressed = Scps { compression: true, ..Scps::standard() };
    vec![
        ("vegas", with(Scps::standard(), discover_mtu)),
        ("one hole an acknowledgement", with(short.clone(), discover_mtu)),
        ("compressed", with(compressed, discover_mtu)),
        ("declared", declared(&Scps::standard(), discover_mtu)),
        ("declared, one hole", declared(&short, discover_mtu)),
        ("declared, damage", damaged(discover_mtu)),
    ]
}

fn send(name: &str, config: &Config, link: LinkConfig, bytes: usize) -> Outcome {
    let data = content(bytes);
    let outcome = transfer(config, link, 1, &data, 600);
    assert!(outcome.ended && outcome.received == data, "{name}: {:?}", outcome.sender);
    outcome
}

fn seconds(outcome: &Outcome) -> f64 {
    outcome.elapsed_ns as f64 / 1e9
}

#[test]
fn with_snack_every_size_of_a_silent_path_is_found() {
    for (name, config) in all(true) {
        for mtu_bytes in [576, 1280, 1300, 1333, 1400, 1492] {
            let outcome = send(name, &config, link(LAND_NS, &[(0, mtu_bytes)]), 10_000_000);
            let found_bytes = outcome.sender.path_mtu_bytes.unwrap();
            let least_bytes = mtu_bytes - mtu_bytes / 64;
            assert!((least_bytes..=mtu_bytes).contains(&found_bytes), "{name}: {found_bytes} of {mtu_bytes}");
            assert_eq!(outcome.sender.black_holes, 1, "{name}, {mtu_bytes}");
        }
    }
}

/// Blocks have 1448 octets, and the first probe that is lost leaves two of them missing where headers are
/// compressed. Fourteen further events, and 78 s, came of that.
#[test]
fn a_probe_that_is_longer_than_a_block_is_lost_alone() {
    let [plain, compressed] = [false, true].map(|compression| {
        let config = with(Scps { compression, ..Scps::standard() }, true);
        send("vegas", &config, link(GEO_NS, &[(0, 1300)]), 2_000_000)
    });
    for outcome in [&plain, &compressed] {
        let Stats { recoveries, timeouts, black_holes, .. } = outcome.sender;
        assert_eq!((recoveries, timeouts, black_holes), (1, 1, 1));
    }
    assert!(seconds(&compressed) < seconds(&plain) + 1.0, "{} {}", seconds(&plain), seconds(&compressed));
}

#[test]
fn with_snack_a_black_hole_on_a_geostationary_link_costs_seconds() {
    let hole = link(GEO_NS, &[(0, 1300)]);
    for ((name, searching), (_, at_once)) in all(true).into_iter().zip(all(false)) {
        let known = Config { mss_bytes: 1260, ..at_once.clone() };
        let [known, found, unsought] =
            [known, searching, at_once].map(|config| seconds(&send(name, &config, hole.clone(), 2_000_000)));
        println!(
            "{name}: {known:.1} s where the size is known, {found:.1} s found, {unsought:.1} s without a search"
        );
        let dear_s = if name.starts_with("declared") { 6.0 } else { 20.0 };
        assert!(found < known + dear_s && found < unsought, "{name}: {known} {found} {unsought}");
    }
}

#[test]
fn with_snack_a_path_that_falls_and_rises_in_mid_flow_is_used() {
    for (name, config) in all(true) {
        let fallen = send(name, &config, link(LAND_NS, &[(0, 1500), (3, 1300)]), 10_000_000).sender;
        assert_eq!((fallen.path_mtu_bytes, fallen.black_holes), (Some(1300), 1), "{name}");
        let risen = link(LAND_NS, &[(0, 1500), (3, 1300), (8, 1500)]);
        assert_eq!(send(name, &config, risen, 30_000_000).sender.path_mtu_bytes, Some(1500), "{name}");
    }
}

#[test]
fn with_snack_random_losses_are_no_black_hole() {
    for (name, config) in all(true) {
        let mut lossy = link(LAND_NS, &[]);
        lossy.forward.loss = 0.01;
        assert_eq!(send(name, &config, lossy, 3_000_000).sender.black_holes, 0, "{name}");
    }
}

/// One forged message held packets at 90 octets for ten minutes, plain TCP's at 296: nothing raised them
/// again within the transfer. Full packets had arrived before.
#[test]
fn a_forged_word_of_tiny_packets_holds_a_transfer_up_for_a_moment() {
    let plain = Config { discover_mtu: true, ..Config::standard() };
    for (name, config) in all(true).into_iter().chain([("plain TCP", plain)]) {
        let of = |told: Option<u32>| {
            let mut pair = Pair::new(&config, link(LAND_NS, &[]), 1);
            pair.events = Some(Vec::new());
            pair.told =
                told.map(|mtu_bytes| (Instant::from_ns(3 * SECOND), IcmpMessage::PacketTooBig { mtu_bytes }));
            let outcome = transfer_over(&mut pair, &config, &content(10_000_000), 600);
            assert!(outcome.ended && pair.told.is_none(), "{name}: {:?}", outcome.sender);
            outcome
        };
        let (left_alone, forged) = (of(None), of(Some(68)));
        let lost_s = seconds(&forged) - seconds(&left_alone);
        let Stats { path_mtu_bytes, lost_packets, .. } = forged.sender;
        println!("{name}: {lost_s:.2} s later, {} packets went again in smaller ones", lost_packets[3]);
        assert!(lost_s < 2.0 && path_mtu_bytes == Some(1500), "{name}: {lost_s} s, {:?}", forged.sender);
    }
}

/// 16 MB over 4 Mbit/s and 60 ms, with the link down from 6 s on: the sender's numbers, how long it took, and
/// the packets below full size that came after the outage.
fn over_outage(config: &Config, length_s: u64) -> (Stats, f64, usize) {
    let [from, to] = [6, 6 + length_s].map(|s| Instant::from_ns(s * SECOND));
    let direction = DirectionConfig {
        rate_bps: Some(4_000_000),
        delay_ns: 60 * MS,
        queue: QueueLimit::Bytes(120_000),
        ..DirectionConfig::default()
    };
    let (forward, reverse) = (direction.clone(), direction);
    let link = LinkConfig { forward, reverse, outages: vec![Outage { from, to }], ..link(LAND_NS, &[]) };
    let mut pair = Pair::new(config, link, 1);
    pair.arrived = Some(Vec::new());
    let outcome = transfer_over(&mut pair, config, &content(16_000_000), 600);
    let is_small = |segment: &&Bytes| (100..1400).contains(&segment.len());
    let small = pair.arrived.unwrap_or_default().iter().filter(is_small).count();
    assert!(outcome.ended && outcome.received == content(16_000_000), "{length_s} s: {:?}", outcome.sender);
    (outcome.sender, seconds(&outcome), small)
}

/// Nothing tells an outage from a black hole while it lasts. Its end does at once, though all that it took
/// waits to go again: 16512 packets went again after 10 s, and packets were small for 17 s.
#[test]
fn with_snack_an_outage_is_followed_by_full_packets_where_losses_cut_nothing() {
    for (cause, length_s) in
        [("damage", 2), ("damage", 8), ("damage", 10), ("congestion", 5), ("congestion", 10)]
    {
        let config = |discover_mtu| match cause {
            "damage" => damaged(discover_mtu),
            _ => declared(&Scps::standard(), discover_mtu),
        };
        let [(plain, plain_s, _), (searching, searching_s, small)] = [false, true].map(|discover_mtu| {
            over_outage(&Config { rate_bps: Some(3_800_000), ..config(discover_mtu) }, length_s)
        });
        let (repeats, plain_repeats) = (searching.retransmitted_packets, plain.retransmitted_packets);
        println!(
            "{cause}, {length_s} s: {searching_s:.2} s, {repeats} repeats, {small} small packets; without a \
             search {plain_s:.2} s, {plain_repeats} repeats"
        );
        assert_eq!((searching.path_mtu_bytes, searching.black_holes), (Some(1500), 0), "{length_s} s");
        assert!(repeats < plain_repeats + 300 && small < 600, "{length_s} s: {repeats}, {small}");
        assert!(searching_s < plain_s + 1.0, "{length_s} s: {searching_s} and {plain_s} s");
    }
}

/// The last segments of a transfer have nothing beside them: a few losses in a row are as silent as a black
/// hole. Three of these twenty ended with packets of 1280 octets.
#[test]
fn with_snack_damage_that_takes_a_tenth_of_all_leaves_packets_full() {
    let config = Config { rate_bps: Some(3_800_000), ..damaged(true) };
    for seed in 1..=20 {
        let mut lossy = link(60 * MS, &[]);
        (lossy.forward.loss, lossy.reverse.loss) = (0.11, 0.11);
        let data = content(3_000_000);
        let outcome = transfer(&config, lossy, seed, &data, 600);
        assert!(outcome.ended && outcome.received == data, "seed {seed}: {:?}", outcome.sender);
        let Stats { path_mtu_bytes, black_holes, .. } = outcome.sender;
        assert_eq!((path_mtu_bytes, black_holes), (Some(1500), 0), "seed {seed}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn with_snack_whatever_sizes_the_path_takes_the_stream_arrives(
        seed in any::<u64>(), mtus in vec(296u32..=1500, 1..5), loss in 0.0f64..0.1,
        reordered in 0.0f64..0.2, bytes in 100_000usize..1_000_000, which in 0usize..6,
        timestamps in any::<bool>(), patience in 1u32..4,
    ) {
        let steps: Vec<_> = mtus.iter().zip(0..).map(|(&mtu_bytes, step)| (step, mtu_bytes)).collect();
        let mut link = link(LAND_NS, &steps);
        link.forward.loss = loss;
        link.forward.reordering = Reordering { probability: reordered, extra_delay_ns: 30 * MS };
        let (name, config) = all(true).swap_remove(which);
        let config = Config {
            timestamps,
            black_hole_timeouts: Some(patience),
            max_rto_ns: 4 * SECOND,
            max_repeats: 60,
            max_syn_repeats: 60,
            ..config
        };
        let data = content(bytes);
        let outcome = transfer(&config, link, seed, &data, 7200);
        prop_assert!(outcome.ended && outcome.received == data, "{}: {:?}", name, outcome.sender);
    }
}

//! Whole transfers between two ends that speak SCPS-TP, over an emulated link.

mod common;

use std::collections::BTreeMap;

use common::pair::{Outcome, Pair, content, transfer, transfer_over};
use proptest::prelude::*;
use skyhaul_core::{Connections, Event, Instant, MS, SECOND, Verdict};
use skyhaul_link::{DirectionConfig, LinkConfig, Order, QueueLimit, Reordering};
use skyhaul_tcp::scps::{Scps, Snack};
use skyhaul_tcp::{AckPolicy, Config, ControllerKind};

const RTT_NS: u64 = 100 * MS;

fn link(loss: f64) -> LinkConfig {
    let direction = DirectionConfig {
        rate_bps: Some(1_500_000),
        delay_ns: RTT_NS / 2,
        loss,
        queue: QueueLimit::Packets(100),
        ..DirectionConfig::default()
    };
    LinkConfig { name: "l".into(), forward: direction.clone(), reverse: direction, ..LinkConfig::default() }
}

/// Table 2 of the paper.
fn declared(snack: Snack, max_snacks: u8) -> Config {
    Config {
        mss_bytes: 512,
        rate_bps: Some(1_425_000),
        timestamps: false,
        send_limit_bytes: 300_000,
        receive_limit_bytes: 300_000,
        scps: Some(Scps {
            controller: ControllerKind::Off,
            pacing_percent: None,
            bandwidth_delay_bytes: None,
            loss_cause: Verdict::Corruption,
            ack_policy: AckPolicy::Reduced { every_packets: u32::MAX, delay_ns: 69 * MS },
            snack,
            max_snacks,
            compression: false,
            ..Scps::standard()
        }),
        ..Config::standard()
    }
}

fn check(outcome: &Outcome, data: &[u8], what: &str) {
    assert!(outcome.ended && outcome.received == data, "{what}: {:?}", outcome.sender);
}

/// A lost SYN takes a second, and the last repairs may take half of one: the median is looked at.
#[test]
fn a_noisy_link_takes_what_its_losses_leave() {
    let data = content(5_000_000);
    for (snack, max_snacks, least) in
        [(Snack::Vector, 6, 0.93), (Snack::Short, 6, 0.93), (Snack::Short, 1, 0.85)]
    {
        let config = declared(snack, max_snacks);
        let clean = transfer(&config, link(0.0), 1, &data, 600);
        check(&clean, &data, "clean");
        let mut ratios: Vec<f64> = (0..5)
            .map(|seed| {
                let noisy = transfer(&config, link(0.043), seed, &data, 600);
                check(&noisy, &data, "noisy");
                let sent = noisy.sender.sent_bytes as f64 * 0.957 / clean.sender.sent_bytes as f64;
                assert!(sent < 1.02, "{snack:?} {max_snacks}, seed {seed}: {sent}, {:?}", noisy.sender);
                clean.elapsed_ns as f64 / noisy.elapsed_ns as f64
            })
            .collect();
        ratios.sort_by(f64::total_cmp);
        assert!(ratios[2] > least, "{snack:?} {max_snacks}: {ratios:?}");
    }
}

/// A compressed segment is larger than a block of a vector, and lies whole in none: what lay beside a hole of
/// several blocks went again, too, 8 % of all.
#[test]
fn vectors_ask_for_no_more_of_compressed_segments_than_is_missing() {
    let data = content(5_000_000);
    let of = |snack| {
        let declared = declared(snack, 6);
        let ack_policy = AckPolicy::Reduced { every_packets: u32::MAX, delay_ns: 275 * MS };
        let scps = declared.scps.map(|scps| Scps { compression: true, ack_policy, ..scps });
        let config = Config {
            mss_bytes: 1460,
            rate_bps: Some(9_500_000),
            timestamps: true,
            send_limit_bytes: 4_000_000,
            receive_limit_bytes: 4_000_000,
            scps,
            ..declared
        };
        let direction = DirectionConfig {
            rate_bps: Some(10_000_000),
            delay_ns: 275 * MS,
            loss: 0.113,
            queue: QueueLimit::Packets(500),
            ..DirectionConfig::default()
        };
        let link = LinkConfig { forward: direction.clone(), reverse: direction, ..link(0.0) };
        let outcome = transfer(&config, link, 1, &data, 600);
        check(&outcome, &data, "compressed");
        outcome.sender.retransmitted_packets as f64
    };
    let (short, vector) = (of(Snack::Short), of(Snack::Vector));
    assert!(vector < 1.1 * short, "{vector} repeats, {short} without vectors");
}

/// Moments at which each number went again by request.
fn repeats(events: &[(Instant, u64, Event)]) -> BTreeMap<u64, Vec<u64>> {
    let mut all = BTreeMap::<u64, Vec<u64>>::new();
    for (at, _, event) in events {
        if let Event::Sent { number, repeat: Some(skyhaul_core::event::Repeat::Recovery), .. } = event {
            all.entry(*number).or_default().push(at.as_ns());
        }
    }
    all
}

/// Goodput of 4 MB by Vegas over 4 Mbit/s and 50 ms, where some packets come late by so much; mean of five
/// seeds.
fn by_vegas_bps(config: &Config, loss: f64, (reordered, late_ms): (f64, u64)) -> f64 {
    let data = content(4_000_000);
    let way = DirectionConfig {
        rate_bps: Some(4_000_000),
        delay_ns: 25 * MS,
        queue: QueueLimit::Packets(100),
        ..DirectionConfig::default()
    };
    let reordering = Reordering { probability: reordered, extra_delay_ns: late_ms * MS };
    let forward = DirectionConfig { loss, reordering, order: Order::Free, ..way.clone() };
    let of = |seed| {
        let link = LinkConfig { forward: forward.clone(), reverse: way.clone(), ..link(0.0) };
        let outcome = transfer(config, link, seed, &data, 600);
        check(&outcome, &data, "by Vegas");
        data.len() as f64 * 8e9 / outcome.elapsed_ns as f64
    };
    (1..=5).map(of).sum::<f64>() / 5.0
}

/// What is asked for goes again at once, and most of it had been overtaken alone: it was taken for
/// congestion, and at 5 % and 30 ms 0.56 of what plain TCP had was left.
#[test]
fn what_was_only_overtaken_costs_repeats_and_no_window() {
    let plain = Config { controller: ControllerKind::Vegas, ..Config::standard() };
    for (probability, late_ms) in [(0.05, 30), (0.05, 10), (0.02, 30)] {
        let at = |config: &Config| by_vegas_bps(config, 0.0, (probability, late_ms)) / 1e6;
        let (scps, tcp) = (at(&Config::scps_tp()), at(&plain));
        println!("{probability} late by {late_ms} ms: {scps:.2} Mbit/s, plain TCP {tcp:.2}");
        assert!(scps > 0.95 * tcp, "{probability}, {late_ms} ms: {scps} of {tcp}");
    }
}

/// Reordering hides no congestion: what is lost beside it slows Vegas down as it does without.
#[test]
fn what_is_lost_beside_what_is_overtaken_costs_its_window() {
    let at = |late| by_vegas_bps(&Config::scps_tp(), 0.01, late) / 1e6;
    let (beside, alone) = (at((0.05, 30)), at((0.0, 0)));
    println!("1 % lost: {alone:.2} Mbit/s, beside reordering {beside:.2}");
    assert!(beside < 1.1 * alone, "{beside} of {alone}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn nothing_is_repeated_twice_within_a_round_trip(
        seed in any::<u64>(), loss in 0.0f64..0.2, short in any::<bool>(), most in 1u8..7, reordered in 0.0f64..0.2,
    ) {
        let config = declared(if short { Snack::Short } else { Snack::Vector }, most);
        let mut link = link(loss);
        link.forward.reordering = Reordering { probability: reordered, extra_delay_ns: 30 * MS };
        link.forward.order = Order::Free;
        let mut pair = Pair::new(&config, link, seed);
        pair.events = Some(Vec::new());
        let data = content(300_000);
        let outcome = transfer_over(&mut pair, &config, &data, 3600);
        check(&outcome, &data, "pair");
        for (number, times) in repeats(&pair.events.unwrap_or_default()) {
            let is_barred = |pair: &[u64]| pair[1] - pair[0] < RTT_NS;
            prop_assert!(!times.windows(2).any(is_barred), "{number}: {times:?}");
        }
    }

    #[test]
    fn whatever_the_link_does_the_stream_arrives(
        seed in any::<u64>(), loss in 0.0f64..0.2, reordered in 0.0f64..0.3, extra_ms in 0u64..80,
        bytes in 1usize..120_000, kinds in any::<[bool; 6]>(), acks in 1u32..9, most in 1u8..7,
        receive_limit_bytes in 2_000u64..200_000, mss_bytes in 32u16..1460,
    ) {
        let [is_declared, short, timestamps, vegas, damage, compression] = kinds;
        let mut link = link(loss);
        link.forward.reordering = Reordering { probability: reordered, extra_delay_ns: extra_ms * MS };
        link.forward.order = Order::Free;
        let scps = Scps {
            controller: if vegas { ControllerKind::Vegas } else { ControllerKind::Off },
            pacing_percent: vegas.then_some((100, 100)),
            bandwidth_delay_bytes: None,
            loss_cause: if damage { Verdict::Corruption } else { Verdict::Congestion },
            ack_policy: AckPolicy::PerRoundTrip { acks },
            snack: if short { Snack::Short } else { Snack::Vector },
            max_snacks: most,
            compression,
            ..Scps::standard()
        };
        let config = Config {
            mss_bytes,
            rate_bps: is_declared.then_some(1_000_000),
            timestamps,
            receive_limit_bytes,
            max_rto_ns: 4 * SECOND,
            max_repeats: 60,
            max_syn_repeats: 60,
            scps: Some(scps),
            ..Config::standard()
        };
        let data = content(bytes);
        let outcome = transfer(&config, link, seed, &data, 7200);
        prop_assert!(outcome.ended, "not all arrived: {:?}", outcome.sender);
        prop_assert!(outcome.received == data);
    }
}

/// 400 kB at 800 kbit/s to an end whose way back has 4 kbit/s, which answers then with 100 octets: the octets
/// that it sent when the data had come, in how many seconds, and those from there to the answer.
fn over_a_thin_return(config: &Config) -> (u64, f64, f64) {
    let back = Config { rate_bps: Some(4000), ..config.clone() };
    let mut pair = Pair::new(&back, link(0.0), 1);
    let id = pair.connect(&Config { rate_bps: Some(800_000), ..config.clone() });
    let (data, mut scratch) = (content(400_000), vec![0; 1 << 16]);
    let (mut written, mut received, mut other, mut answered) = (0, 0, None, None);
    loop {
        written += pair.ends[0].write(id, &data[written..]).unwrap_or(0);
        other = other.or_else(|| pair.ends[1].accept());
        while let Some(Ok(Some(count @ 1..))) = other.map(|other| pair.ends[1].read(other, &mut scratch)) {
            received += count;
        }
        if received == data.len() && answered.is_none() {
            let other = other.expect("it was read from");
            answered = Some((pair.now, pair.ends[1].stats(other).map_or(0, |stats| stats.sent_bytes)));
            assert_eq!(pair.ends[1].write(other, &[1; 100]), Ok(100));
        }
        if let (Some((at, sent_bytes)), Ok(Some(1..))) = (answered, pair.ends[0].read(id, &mut scratch)) {
            let seconds = |ns: u64| ns as f64 / 1e9;
            return (sent_bytes, seconds(at.as_ns()), seconds(pair.now.since(at)));
        }
        assert!(pair.step(Instant::from_ns(100 * SECOND)), "no answer");
    }
}

/// They went at 30 kbit/s, and the answer paid for them: it took 28 s.
#[test]
fn acknowledgements_keep_to_the_rate_of_their_way_and_an_answer_does_not_pay_for_them() {
    for config in [Config::scps_tp(), declared(Snack::Vector, 6), Config::standard()] {
        let (sent_bytes, seconds, answer_s) = over_a_thin_return(&config);
        println!("{sent_bytes} octets in {seconds:.1} s, the answer within {answer_s:.1} s");
        let rate_bps = sent_bytes as f64 * 8.0 / seconds;
        assert!(rate_bps < 5000.0 && answer_s < 1.0, "{rate_bps} bit/s, {answer_s} s");
    }
}

//! Whole transfers between two endpoints over an emulated link.

mod common;

use common::pair::{Pair, content, transfer};
use proptest::prelude::*;
use skyhaul_core::{Connections, Instant, MS, SECOND};
use skyhaul_link::{DirectionConfig, LinkConfig, Order, QueueLimit, Reordering};
use skyhaul_tcp::{Config, ControllerKind, Recovery};

fn link(rate_bps: u64, delay_ns: u64, loss: f64) -> LinkConfig {
    let direction = DirectionConfig {
        rate_bps: Some(rate_bps),
        delay_ns,
        loss,
        queue: QueueLimit::Packets(100),
        ..DirectionConfig::default()
    };
    LinkConfig { name: "l".into(), forward: direction.clone(), reverse: direction, ..LinkConfig::default() }
}

fn with(recovery: Recovery) -> Config {
    Config { recovery, ..Config::standard() }
}

const ALL: [Recovery; 3] = [Recovery::Reno, Recovery::NewReno, Recovery::Sack];

#[test]
fn a_bulk_transfer_with_losses_arrives_byte_equal() {
    let data = content(1_000_000);
    for recovery in ALL {
        for seed in 0..4 {
            let outcome = transfer(&with(recovery), link(10_000_000, 20 * MS, 0.03), seed, &data, 600);
            assert!(
                outcome.ended && outcome.received == data,
                "{recovery:?}, seed {seed}: {:?}",
                outcome.sender
            );
            assert!(outcome.sender.retransmitted_packets > 0);
        }
    }
}

#[test]
fn every_profile_fills_a_clean_link() {
    let data = content(2_000_000);
    for name in ["standard", "paper", "sunos-4.1.3"] {
        let config = Config::profile(name).unwrap();
        let outcome = transfer(&config, link(2_000_000, 5 * MS, 0.0), 1, &data, 600);
        let goodput_bps = data.len() as u64 * 8 * SECOND / outcome.elapsed_ns;
        assert!(outcome.ended && outcome.received == data, "{name}");
        assert!(goodput_bps > 1_600_000, "{name}: {goodput_bps} bit/s of 2 Mbit/s, {:?}", outcome.sender);
    }
}

/// Slow start overruns a short queue and loses many packets of one window. SACK repairs them in a few round
/// trips; `NewReno` needs one for each, and Reno its timer: which of these two is slower depends on how many.
#[test]
fn sack_repairs_a_window_with_many_losses_sooner_than_reno_and_newreno() {
    let data = content(3_000_000);
    let mut short = link(1_500_000, 260 * MS, 0.0);
    short.forward.queue = QueueLimit::Packets(19);
    let outcomes = ALL.map(|recovery| transfer(&with(recovery), short.clone(), 1, &data, 3600));
    assert!(outcomes.iter().all(|outcome| outcome.ended && outcome.received == data));
    let [reno, newreno, sack] = outcomes.each_ref().map(|outcome| outcome.elapsed_ns);
    assert!(sack * 10 < reno.min(newreno) * 9, "{reno} {newreno} {sack}");
    assert!(outcomes[0].sender.timeouts > 0 && outcomes[2].sender.timeouts == 0);
}

/// The round trip grows to 500 ms while samples, one in each, have told of less than half: a timeout that
/// trusted their mean alone would come in the middle of the repair.
#[test]
fn a_slow_start_that_overruns_a_long_queue_meets_no_timeout() {
    let data = content(8_000_000);
    let mut long = link(20_000_000, 100 * MS, 0.0);
    long.forward.queue = QueueLimit::Packets(500);
    let config = Config { controller: ControllerKind::Reno, ..Config::standard() };
    let outcome = transfer(&config, long, 1, &data, 600);
    assert!(outcome.ended && outcome.received == data);
    assert!(outcome.sender.retransmitted_packets > 500, "it does overrun it: {:?}", outcome.sender);
    assert_eq!(outcome.sender.timeouts, 0);
}

#[test]
fn equal_seeds_give_equal_runs() {
    let data = content(300_000);
    let run = |seed| {
        let outcome = transfer(&Config::standard(), link(5_000_000, 50 * MS, 0.05), seed, &data, 600);
        (outcome.elapsed_ns, outcome.sender.sent_bytes)
    };
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
}

#[test]
fn connections_share_the_turns() {
    let config = Config::standard();
    let mut pair = Pair::new(&config, link(10_000_000, 10 * MS, 0.0), 1);
    let ids: Vec<_> = (0..4).map(|_| pair.connect(&config)).collect();
    let mut accepted = Vec::new();
    let end = Instant::from_ns(10 * SECOND);
    loop {
        for &id in &ids {
            let _ = pair.ends[0].write(id, &[1; 4096]);
        }
        accepted.extend(pair.ends[1].accept());
        for &id in &accepted {
            while pair.ends[1].read(id, &mut [0; 4096]).is_ok_and(|read| read.is_some()) {}
        }
        if !pair.step(end) {
            break;
        }
    }
    let stats = accepted.iter().filter_map(|&id| pair.ends[1].stats(id));
    let shares: Vec<u64> = stats.map(|stats| stats.delivered_bytes).collect();
    let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
    assert!(shares.len() == 4 && *least * 4 > *most, "{shares:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn whatever_the_link_does_the_stream_arrives(
        seed in any::<u64>(), loss in 0.0f64..0.2, reordered in 0.0f64..0.3, extra_ms in 0u64..80,
        bytes in 1usize..120_000, recovery in 0usize..3, receive_limit_bytes in 2_000u64..200_000,
        timestamps in any::<bool>(), window_scale in any::<bool>(), nagle in any::<bool>(),
    ) {
        let mut link = link(8_000_000, 30 * MS, loss);
        link.forward.reordering = Reordering { probability: reordered, extra_delay_ns: extra_ms * MS };
        link.forward.order = Order::Free;
        let config = Config {
            timestamps,
            window_scale,
            nagle,
            receive_limit_bytes,
            max_rto_ns: 4 * SECOND,
            max_repeats: 60,
            max_syn_repeats: 60,
            ..with(ALL[recovery])
        };
        let data = content(bytes);
        let outcome = transfer(&config, link, seed, &data, 7200);
        prop_assert!(outcome.ended, "not all arrived: {:?}", outcome.sender);
        prop_assert!(outcome.received == data);
    }
}

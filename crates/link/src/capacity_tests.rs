use skyhaul_core::{Instant, MS, NullSink, SECOND};

use crate::test_support::{at, both_ways, hollow, link, state, with_channel, with_outages};
use crate::{BurstLoss, Damage, DirectionConfig, LinkConfig, Order, QueueLimit, carried_packets, preset};

const BYTES: u32 = 1500;

/// Keeps the queue of a real link between one and three packets and counts what comes out.
fn carried_by_saturating(config: &LinkConfig, seed: u64, port: u32, from: Instant, until: Instant) -> u64 {
    let mut link = link(config, seed);
    let mut carried = 0;
    let mut now = from;
    while now <= until {
        while link.queue_bytes(port, now) < 3 * u64::from(BYTES) {
            link.handle(now, port, hollow(BYTES, 0), &mut NullSink);
        }
        while link.poll_transmit(now).is_some() {
            carried += 1;
        }
        now = now.after(MS / 4);
    }
    while link.poll_transmit(until).is_some() {
        carried += 1;
    }
    carried
}

fn bad_link() -> LinkConfig {
    let direction = DirectionConfig {
        rate_bps: Some(7_654_321),
        delay_ns: 275 * MS,
        queue: QueueLimit::Packets(10),
        loss: 0.02,
        bit_error_rate: 1e-6,
        ..DirectionConfig::default()
    };
    with_outages(both_ways(direction), &[(2 * SECOND, 3 * SECOND), (4 * SECOND, 4 * SECOND + 7)])
}

#[test]
fn agrees_with_really_saturating_the_link() {
    for (port, from_ns, until_ns) in [(0, 0, 10 * SECOND), (1, 0, SECOND), (0, 1_234_567, 5 * SECOND)] {
        for seed in 1..4 {
            let (from, until) = (at(from_ns), at(until_ns));
            let carried = carried_packets(&bad_link(), seed, port, from, until, BYTES);
            let real = carried_by_saturating(&bad_link(), seed, port, from, until);
            assert_eq!(carried, Some(real), "port {port}, seed {seed}");
        }
    }
}

/// Everything at once: a schedule, a channel that is gone at times and changes its delay, bursts.
fn worse_link(order: Order) -> LinkConfig {
    let mut config = bad_link();
    let burst_loss = BurstLoss { good_to_bad: 0.01, bad_to_good: 0.2, loss_good: 0.0, loss_bad: 0.7 };
    for direction in [&mut config.forward, &mut config.reverse] {
        (direction.order, direction.burst_loss) = (order, burst_loss);
    }
    let (good, bad) = (state(700 * MS, 0.03, [10 * MS, 90 * MS]), state(300 * MS, 1.0, [0, 50 * MS]));
    with_channel(config, good, bad)
}

#[test]
fn agrees_with_really_saturating_a_link_with_a_channel() {
    for order in [Order::Preserve, Order::Free] {
        for (port, from_ns, until_ns) in [(0, 0, 10 * SECOND), (1, 1_234_567, 5 * SECOND)] {
            for seed in 1..4 {
                let (from, until) = (at(from_ns), at(until_ns));
                let carried = carried_packets(&worse_link(order), seed, port, from, until, BYTES);
                let real = carried_by_saturating(&worse_link(order), seed, port, from, until);
                assert_eq!(carried, Some(real), "port {port}, seed {seed}, {order:?}");
                assert!(real > 500);
            }
        }
    }
}

#[test]
fn a_link_that_is_gone_at_times_carries_what_is_left() {
    for (name, there) in [("leo-handoff", 0.9), ("leo-passes", 0.3)] {
        let config = preset(name).unwrap();
        let count = |seed| carried_packets(&config, seed, 0, at(0), at(300 * SECOND), BYTES).unwrap();
        let mean = (1..21).map(count).sum::<u64>() as f64 / 20.0;
        let share = mean * f64::from(BYTES) * 8.0 / (300.0 * 10e6);
        // 20 runs of 300 s are about 600 or 360 stays of each kind.
        assert!((share / there - 1.0).abs() < 0.15, "{name}: {share}");
    }
}

#[test]
fn a_clean_link_carries_its_rate() {
    let geo = preset("geo").unwrap();
    let delay_ns = geo.forward.delay_ns;
    let carried = |end| carried_packets(&geo, 1, 0, at(0), at(end + delay_ns), 1250);
    assert_eq!(carried(SECOND), Some(1000), "10,000 bits each, the last one arrives just in time");
    assert_eq!(carried(SECOND - 1), Some(999));
    assert_eq!(carried(0), Some(0));
    let window = carried_packets(&geo, 1, 0, at(SECOND), at(2 * SECOND + delay_ns), 1250);
    assert_eq!(window, Some(1000), "what counts is the time between");
    assert_eq!(carried_packets(&geo, 1, 0, at(SECOND), at(0), 1250), Some(0));
}

#[test]
fn a_hundred_megabytes_over_noise_lose_what_the_formula_says() {
    let noisy = preset("geo-noisy").unwrap();
    let carried = carried_packets(&noisy, 1, 0, at(0), at(80 * SECOND), BYTES).unwrap();
    let expected = 66_666.0 * (1.0f64 - 1e-5).powi(8 * 1500);
    assert!((carried as f64 - expected).abs() < 4.0 * 82.0, "{carried} for {expected}");
}

#[test]
fn damage_that_is_delivered_is_not_carried() {
    let mut noisy = preset("geo-noisy").unwrap();
    let carried = |config: &LinkConfig| carried_packets(config, 1, 0, at(0), at(SECOND), BYTES);
    let dropping = carried(&noisy);
    noisy.forward.damage = Damage::Deliver;
    assert_eq!(carried(&noisy), dropping);
}

#[test]
fn there_is_not_always_a_number() {
    let carried = |config: &LinkConfig, bytes| carried_packets(config, 1, 0, at(0), Instant::MAX, bytes);
    assert_eq!(carried(&LinkConfig::default(), BYTES), None, "no rate");
    assert_eq!(carried(&bad_link(), 0), None, "no bytes");
    let mut senseless = bad_link();
    senseless.reverse.loss = -1.0;
    assert_eq!(carried(&senseless, BYTES), None);
}

#[test]
fn the_end_of_time_ends_the_count() {
    let slow = both_ways(DirectionConfig { rate_bps: Some(1), ..DirectionConfig::default() });
    assert_eq!(carried_packets(&slow, 1, 0, at(0), Instant::MAX, 1 << 30), Some(2));
}

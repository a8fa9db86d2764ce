use alloc::vec::Vec;

use skyhaul_core::{Instant, MS, NullSink};

use crate::test_support::{at, both_ways, drain, hollow, link, state, with_channel};
use crate::{Conditions, DirectionConfig, LinkConfig, Order, Reordering};

const GAP_NS: u64 = MS;

/// Stays of 50 ms, with 10 or 40 ms of delay.
fn swinging(order: Order, reordering: Reordering) -> LinkConfig {
    let direction = DirectionConfig { delay_ns: 7 * MS, order, reordering, ..DirectionConfig::default() };
    let state = state(50 * MS, 0.0, [10 * MS, 40 * MS]);
    with_channel(both_ways(direction), state, state)
}

/// Arrival and number of packets that enter port 0 every millisecond, and how many were overtaken.
fn arrivals(config: &LinkConfig, seed: u64) -> (Vec<(Instant, u32)>, u64) {
    let mut link = link(config, seed);
    (0..3000).for_each(|n| link.handle(at(u64::from(n) * GAP_NS), 0, hollow(125, n), &mut NullSink));
    let arrived = drain(&mut link).iter().map(|(time, _, packet)| (*time, packet.meta.flow)).collect();
    (arrived, link.counters(0, Instant::MAX).reordered_packets)
}

/// When each packet would arrive if it were alone.
fn alone(config: &LinkConfig, seed: u64) -> Vec<Instant> {
    let conditions = Conditions::new(config, seed).unwrap();
    let arrival = |sent: Instant| sent.after(conditions.delay_ns(0, sent));
    (0..3000).map(|n| arrival(at(n * GAP_NS))).collect()
}

#[test]
fn preserved_order_makes_packets_wait_for_those_before_them() {
    for seed in 1..6 {
        let config = swinging(Order::Preserve, Reordering::default());
        let (arrived, overtaken) = arrivals(&config, seed);
        let mut latest = Instant::ZERO;
        let expected: Vec<(Instant, u32)> = (0..)
            .zip(alone(&config, seed))
            .map(|(number, own)| {
                latest = latest.max(own);
                (latest, number)
            })
            .collect();
        assert_eq!(arrived, expected);
        assert_eq!(overtaken, 0);
    }
}

#[test]
fn free_order_lets_packets_overtake_when_the_delay_shrinks() {
    for seed in 1..6 {
        let config = swinging(Order::Free, Reordering::default());
        let (arrived, overtaken) = arrivals(&config, seed);
        let alone = alone(&config, seed);
        assert!(arrived.iter().all(|&(time, number)| time == alone[number as usize]));
        assert!(!arrived.is_sorted_by_key(|&(_, number)| number));
        assert!(overtaken > 0);
    }
}

#[test]
fn the_two_orders_differ_in_nothing_but_the_waiting() {
    let [preserved, free] =
        [Order::Preserve, Order::Free].map(|order| arrivals(&swinging(order, Reordering::default()), 1).0);
    let waited = preserved.iter().filter(|arrival| !free.contains(arrival)).count();
    assert!((1..1500).contains(&waited), "{waited}");
    let mut times = free;
    times.sort_by_key(|&(_, number)| number);
    assert!(times.iter().zip(&preserved).all(|(own, with_others)| own.0 <= with_others.0));
}

#[test]
fn packets_picked_for_reordering_are_not_waited_for() {
    let reordering = Reordering { probability: 0.1, extra_delay_ns: 5 * MS };
    let (plain, _) = arrivals(&swinging(Order::Preserve, Reordering::default()), 2);
    let (mut arrived, overtaken) = arrivals(&swinging(Order::Preserve, reordering), 2);
    assert!(overtaken > 100);
    arrived.sort_by_key(|&(_, number)| number);
    let late: Vec<u64> = arrived.iter().zip(&plain).map(|(late, plain)| late.0.since(plain.0)).collect();
    assert!(late.iter().all(|&ns| ns == 0 || ns == 5 * MS), "{late:?}");
}

#[test]
fn without_a_channel_both_orders_are_the_same() {
    let direction = |order| DirectionConfig { delay_ns: 7 * MS, order, ..DirectionConfig::default() };
    let [preserved, free] = [Order::Preserve, Order::Free].map(|o| arrivals(&both_ways(direction(o)), 1));
    assert_eq!(preserved, free);
}

/// Longer by up to 4 ms, anew for each packet.
fn jittered(order: Order) -> LinkConfig {
    both_ways(DirectionConfig { delay_ns: 7 * MS, jitter_ns: 4 * MS, order, ..DirectionConfig::default() })
}

#[test]
fn jitter_makes_each_packet_later_by_itself_and_holds_back_those_behind_it_or_not() {
    let late_ns = |order: Order| {
        let (mut arrived, _) = arrivals(&jittered(order), 1);
        arrived.sort_by_key(|&(_, number)| number);
        let late = |&(time, number): &(Instant, u32)| time.since(at(u64::from(number) * GAP_NS + 7 * MS));
        arrived.iter().map(late).collect::<Vec<_>>()
    };
    let free = late_ns(Order::Free);
    assert!(free.iter().all(|&ns| ns <= 4 * MS));
    let mean_ns = free.iter().sum::<u64>() / free.len() as u64;
    assert!(mean_ns.abs_diff(2 * MS) < MS / 10, "{mean_ns}");
    let (mut held, mut latest) = (Vec::new(), 0);
    for (number, ns) in (0..).zip(free) {
        latest = u64::max(latest, number * GAP_NS + ns);
        held.push(latest - number * GAP_NS);
    }
    assert_eq!(late_ns(Order::Preserve), held);
}

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use skyhaul_core::event::DropCause::{self, Outage, RandomLoss};
use skyhaul_core::{Instant, MS, NullSink, SECOND, US};

use crate::test_support::{
    Events, at, both_ways, drain, drops, hollow, link, packet, state, with_channel, with_outages,
};
use crate::{BurstLoss, Conditions, Damage, DirectionConfig, LinkConfig, Order, Reordering};

const COUNT: u32 = 20_000;

fn perfect_link() -> LinkConfig {
    both_ways(DirectionConfig { delay_ns: 5 * MS, order: Order::Free, ..DirectionConfig::default() })
}

/// Up for 100 ms and down for 30 ms, more or less.
fn gone_at_times(config: LinkConfig) -> LinkConfig {
    with_channel(config, state(100 * MS, 0.0, [0, 20 * MS]), state(30 * MS, 1.0, [0, 0]))
}

fn sent(number: u32) -> Instant {
    at(u64::from(number) * 100 * US)
}

/// Fates of packets that enter `port` every 100 us: arrival or drop, by number.
fn fates(config: &LinkConfig, seed: u64, port: u32) -> BTreeMap<u32, Result<Instant, DropCause>> {
    let mut link = link(config, seed);
    let mut fates = BTreeMap::new();
    for number in 0..COUNT {
        let mut events = Events::new();
        link.handle(sent(number), port, hollow(125, number), &mut events);
        if let Some((.., cause)) = drops(&events).first() {
            fates.insert(number, Err(*cause));
        }
    }
    let arrived = drain(&mut link);
    fates.extend(arrived.into_iter().map(|(time, _, packet)| (packet.meta.flow, Ok(time))));
    fates
}

fn lost(config: &LinkConfig, seed: u64, port: u32) -> BTreeSet<u32> {
    fates(config, seed, port)
        .into_iter()
        .filter(|(_, fate)| fate.is_err())
        .map(|(number, _)| number)
        .collect()
}

#[test]
fn a_state_that_loses_everything_is_an_outage_for_both_directions() {
    let config = gone_at_times(perfect_link());
    let conditions = Conditions::new(&config, 1).unwrap();
    for port in [0, 1] {
        let fates = fates(&config, 1, port);
        let mut down = 0;
        for number in 0..COUNT {
            match fates[&number] {
                Err(cause) => assert_eq!((cause, conditions.is_up(sent(number))), (Outage, false)),
                Ok(_) => assert!(conditions.is_up(sent(number)), "{number} at port {port}"),
            }
            down += u32::from(fates[&number].is_err());
        }
        assert!((COUNT / 8..COUNT / 2).contains(&down), "{down}");
    }
}

#[test]
fn outages_of_the_channel_are_counted_as_outages() {
    let config = gone_at_times(perfect_link());
    let mut link = link(&config, 1);
    (0..COUNT).for_each(|n| link.handle(sent(n), 1, hollow(125, n), &mut NullSink));
    let dropped = link.counters(1, sent(COUNT)).dropped;
    assert_eq!(dropped.outage, lost(&config, 1, 1).len() as u64);
    assert_eq!(dropped.total(), dropped.outage);
}

#[test]
fn the_delay_is_that_of_the_stay_on_top_of_the_directions_own() {
    let config = gone_at_times(perfect_link());
    let conditions = Conditions::new(&config, 2).unwrap();
    let mut seen = BTreeSet::new();
    for port in [0, 1] {
        for (number, fate) in fates(&config, 2, port) {
            let Ok(arrival) = fate else { continue };
            let delay_ns = arrival.since(sent(number));
            assert_eq!(delay_ns, conditions.delay_ns(port, sent(number)));
            seen.insert(delay_ns);
        }
    }
    assert_eq!(seen, [5 * MS, 25 * MS].into());
}

#[test]
fn what_counts_is_the_state_when_the_serialisation_ends() {
    // A packet takes 10 ms; the direction back takes none.
    let mut config = gone_at_times(perfect_link());
    config.forward.rate_bps = Some(100_000);
    let conditions = Conditions::new(&config, 3).unwrap();
    let mut link = link(&config, 3);
    let (mut events, mut differing) = (Events::new(), 0);
    for n in 0..1000u32 {
        let (from, end) = (at(u64::from(n) * 20 * MS), at(u64::from(n) * 20 * MS + 10 * MS));
        events.clear();
        link.handle(from, 0, hollow(125, n), &mut events);
        let expected = if conditions.is_up(end) { Vec::new() } else { alloc::vec![(end.as_ns(), 0, Outage)] };
        assert_eq!(drops(&events), expected);
        differing += u32::from(conditions.is_up(from) != conditions.is_up(end));
        let arrival = end.after(conditions.delay_ns(0, end));
        let arrived: Vec<Instant> = drain(&mut link).iter().map(|(time, ..)| *time).collect();
        assert!(arrived.iter().all(|&time| time == arrival), "{arrived:?}, not {arrival:?}");
    }
    assert!(differing > 50, "{differing}: the test must meet the case it is about");
}

#[test]
fn other_losses_are_random_ones_at_the_rate_of_the_state() {
    let config = with_channel(perfect_link(), state(100 * MS, 0.05, [0, 0]), state(100 * MS, 0.4, [0, 0]));
    let conditions = Conditions::new(&config, 4).unwrap();
    let (mut entered, mut lost) = ([0u32; 2], [0u32; 2]);
    for (number, fate) in fates(&config, 4, 0) {
        let state = conditions.stay(sent(number)).unwrap().state as usize;
        entered[state] += 1;
        lost[state] += u32::from(fate.is_err());
        assert!(matches!(fate, Ok(_) | Err(RandomLoss)));
    }
    let share = |state: usize| f64::from(lost[state]) / f64::from(entered[state]);
    assert!((share(0) - 0.05).abs() < 0.015 && (share(1) - 0.4).abs() < 0.03, "{lost:?} of {entered:?}");
}

#[test]
fn the_directions_share_the_stays_and_not_the_losses() {
    let config = with_channel(perfect_link(), state(100 * MS, 0.3, [0, 0]), state(100 * MS, 1.0, [0, 0]));
    let (forward, reverse) = (fates(&config, 5, 0), fates(&config, 5, 1));
    let outages = |fates: &BTreeMap<u32, Result<Instant, DropCause>>| -> Vec<u32> {
        fates.iter().filter(|(_, fate)| **fate == Err(Outage)).map(|(number, _)| *number).collect()
    };
    assert!(!outages(&forward).is_empty());
    assert_eq!(outages(&forward), outages(&reverse));
    assert_ne!(lost(&config, 5, 0), lost(&config, 5, 1));
}

#[test]
fn equal_seeds_give_equal_fates() {
    let config = with_channel(perfect_link(), state(50 * MS, 0.1, [0, MS]), state(10 * MS, 0.9, [0, MS]));
    assert_eq!(fates(&config, 6, 0), fates(&config, 6, 0));
    assert_ne!(fates(&config, 6, 0), fates(&config, 7, 0));
}

/// A link on which every other impairment is at work.
fn impaired() -> LinkConfig {
    both_ways(DirectionConfig {
        delay_ns: 5 * MS,
        order: Order::Free,
        loss: 0.05,
        burst_loss: BurstLoss { good_to_bad: 0.02, bad_to_good: 0.2, loss_good: 0.0, loss_bad: 0.8 },
        bit_error_rate: 1e-4,
        damage: Damage::Deliver,
        reordering: Reordering { probability: 0.1, extra_delay_ns: 3 * MS },
        ..DirectionConfig::default()
    })
}

/// All that comes out of 3000 packets, with their bytes.
fn trace(config: &LinkConfig) -> String {
    let mut link = link(config, 9);
    let mut events = Events::new();
    (0..3000).for_each(|n| link.handle(sent(n), n % 2, packet(125, n), &mut events));
    format!("{:?} {events:?}", drain(&mut link))
}

#[test]
fn a_channel_without_effect_changes_nothing() {
    let quiet = with_channel(impaired(), state(MS, 0.0, [0, 0]), state(MS, 0.0, [0, 0]));
    assert_eq!(trace(&quiet), trace(&impaired()));
}

#[test]
fn adding_a_channel_shifts_no_draw_of_the_other_impairments() {
    let (alone, both) = (gone_at_times(perfect_link()), gone_at_times(impaired()));
    for port in [0, 1] {
        let expected: BTreeSet<u32> = &lost(&alone, 10, port) | &lost(&impaired(), 10, port);
        assert_eq!(lost(&both, 10, port), expected);
        let (plain, delayed) = (fates(&impaired(), 10, port), fates(&both, 10, port));
        let conditions = Conditions::new(&both, 10).unwrap();
        for (number, fate) in delayed {
            let Ok(arrival) = fate else { continue };
            let own = plain[&number].unwrap().after(conditions.stay(sent(number)).unwrap().delay_ns);
            assert_eq!(arrival, own, "reordered packets stay the same ones");
        }
    }
}

#[test]
fn an_outage_of_the_schedule_shifts_no_draw_of_the_channel() {
    let config = with_channel(perfect_link(), state(100 * MS, 0.3, [0, 0]), state(100 * MS, 0.6, [0, 0]));
    let (from, to) = (sent(500), sent(700));
    let mut expected = lost(&config, 11, 0);
    expected.extend(500..700);
    assert_eq!(lost(&with_outages(config, &[(from.as_ns(), to.as_ns())]), 11, 0), expected);
}

#[test]
fn a_link_works_until_the_end_of_time() {
    let config = with_channel(perfect_link(), state(SECOND, 0.0, [0, 0]), state(u64::MAX, 1.0, [0, 0]));
    let mut link = link(&config, 12);
    for number in [0, 1] {
        link.handle(Instant::MAX, 0, hollow(125, number), &mut NullSink);
    }
    assert_eq!(link.counters(0, Instant::MAX).entered_packets, 2);
}

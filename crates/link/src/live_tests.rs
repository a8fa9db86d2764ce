use alloc::vec::Vec;

use proptest::prelude::*;
use skyhaul_core::event::DropCause::Outage as KnownOutages;
use skyhaul_core::{Instant, NullSink, US};

use crate::serializer::work_of;
use crate::test_support::{
    Events, at, both_ways, burst, drain, drain_numbers, drops, hollow, link, packet, state, with_channel,
    with_outages,
};
use crate::timeline::Timeline;
use crate::{DirectionConfig, Link, LinkConfig, Order, Problem, RedConfig, Reordering};

/// 1 byte takes 1 microsecond.
fn direction() -> DirectionConfig {
    DirectionConfig { rate_bps: Some(8_000_000), delay_ns: 1000 * US, ..DirectionConfig::default() }
}

/// Three packets of 100 bytes in the queue of port 0.
fn waiting(config: &LinkConfig) -> Link {
    let mut link = link(config, 1);
    burst(&mut link, 3, 100);
    link
}

/// Arrival in microseconds and number of all that is left inside.
fn arrivals(link: &mut Link) -> Vec<(u64, u32)> {
    drain(link).iter().map(|(time, _, packet)| (time.as_ns() / US, packet.meta.flow)).collect()
}

#[test]
fn what_waits_and_the_rest_of_what_is_in_service_go_at_the_new_rate() {
    for (rate_bps, second, third) in
        [(Some(4_000_000), 250, 450), (Some(16_000_000), 175, 225), (None, 150, 150)]
    {
        let mut link = waiting(&both_ways(direction()));
        link.set_rate(at(150 * US), 0, rate_bps, &mut NullSink).unwrap();
        let between = if rate_bps.is_some() { 100 } else { 0 };
        assert_eq!(link.queue_bytes(0, at(second * US)), between, "{rate_bps:?}");
        assert_eq!(link.queue_bytes(0, at(third * US)), 0);
        assert_eq!(arrivals(&mut link), [(1100, 0), (1000 + second, 1), (1000 + third, 2)]);
    }
}

#[test]
fn a_link_without_a_rate_gets_one_and_loses_it() {
    let mut link = link(&both_ways(DirectionConfig { rate_bps: None, ..direction() }), 1);
    link.handle(at(0), 0, packet(100, 0), &mut NullSink);
    link.set_rate(at(0), 0, Some(8_000_000), &mut NullSink).unwrap();
    link.handle(at(0), 0, packet(100, 1), &mut NullSink);
    link.handle(at(0), 1, packet(100, 2), &mut NullSink);
    link.set_rate(at(50 * US), 0, None, &mut NullSink).unwrap();
    link.handle(at(60 * US), 0, packet(100, 3), &mut NullSink);
    assert_eq!(arrivals(&mut link), [(1000, 0), (1000, 2), (1050, 1), (1060, 3)]);
    let rates = [0, 49, 50].map(|us| link.conditions().rate_bps(0, at(us * US)));
    assert_eq!(rates, [Some(8_000_000), Some(8_000_000), None]);
}

#[test]
fn senseless_values_are_refused_and_change_nothing() {
    let mut link = waiting(&both_ways(direction()));
    let before = alloc::format!("{link:?}");
    let error = link.set_rate(at(9), 1, Some(0), &mut NullSink).unwrap_err();
    assert_eq!((error.field.as_str(), error.problem), ("reverse.rate_bps", Problem::ZeroRate));
    for p in [-0.1, 1.1, f64::NAN] {
        assert_eq!(link.set_loss(at(9), 0, p).unwrap_err().field, "forward.loss");
    }
    for until in [0, 9] {
        let error = link.force_outage(at(9), Some(at(until)), &mut NullSink).unwrap_err();
        assert!(matches!(error.problem, Problem::EmptyOutage(_)), "{error}");
    }
    assert_eq!(alloc::format!("{link:?}"), before);
}

#[test]
fn a_new_delay_is_for_what_has_not_left() {
    for (order, expected) in [
        (Order::Preserve, [(1100, 0), (1100, 1), (1100, 2), (1100, 3)]),
        (Order::Free, [(210, 1), (310, 2), (410, 3), (1100, 0)]),
    ] {
        let mut link = waiting(&both_ways(DirectionConfig { order, ..direction() }));
        link.set_delay(at(100 * US), 0, 10 * US, &mut NullSink);
        assert_eq!(link.conditions().delay_ns(0, at(100 * US)), 10 * US);
        assert_eq!(link.conditions().delay_ns(0, at(100 * US - 1)), 1000 * US);
        assert_eq!(link.conditions().delay_ns(1, at(100 * US)), 1000 * US);
        link.handle(at(200 * US), 0, packet(100, 3), &mut NullSink);
        assert_eq!(arrivals(&mut link), expected, "{order:?}: the first one left at that instant");
    }
}

#[test]
fn picked_packets_stay_picked_and_are_not_waited_for() {
    let reordering = Reordering { probability: 0.5, extra_delay_ns: 77 * US };
    let config = both_ways(DirectionConfig { reordering, ..direction() });
    let plain = |link: &mut Link| {
        burst(link, 50, 100);
        link.set_delay(at(1234 * US), 0, 1000 * US, &mut NullSink);
        arrivals(link)
    };
    let mut changed = link(&config, 1);
    let mut same = link(&config, 1);
    burst(&mut same, 50, 100);
    assert_eq!(plain(&mut changed), arrivals(&mut same), "the same delay again changes nothing");
}

#[test]
fn losses_are_for_what_enters_later_and_meet_the_next_draws() {
    let lossy = both_ways(DirectionConfig { loss: 0.3, ..DirectionConfig::default() });
    let survivors = |config: &LinkConfig, from: Option<u32>| {
        let mut link = link(config, 4);
        for number in 0..1000 {
            if from == Some(number) {
                link.set_loss(at(5), 0, 0.3).unwrap();
            }
            link.handle(at(5), 0, hollow(100, number), &mut NullSink);
        }
        drain_numbers(&mut link)
    };
    let all = survivors(&lossy, None);
    let clean = both_ways(DirectionConfig::default());
    let expected: Vec<u32> = (0..100).chain(all.iter().map(|n| n + 100).filter(|&n| n < 1000)).collect();
    assert_eq!(survivors(&clean, Some(100)), expected, "a stream that was not in use begins");
    assert_eq!(survivors(&lossy, Some(100)), all, "one that was in use goes on");
}

#[test]
fn an_outage_takes_what_is_in_service_at_once_and_the_rest_as_it_begins() {
    let mut link = waiting(&both_ways(direction()));
    let mut events = Events::new();
    assert!(link.is_up(at(150 * US)));
    link.force_outage(at(150 * US), None, &mut events).unwrap();
    assert_eq!(drops(&events), [(200 * US, 0, KnownOutages)]);
    assert!(!link.is_up(at(150 * US)) && link.is_up(at(150 * US - 1)) && !link.is_up(Instant::MAX.before(1)));
    assert_eq!(link.packets_inside(0), 2, "one that has left, one that waits");
    assert_eq!(link.deadline(), Some(at(1100 * US)));
    link.handle(at(199 * US), 1, packet(100, 3), &mut events);
    assert_eq!(drops(&events)[1..], [(299 * US, 1, KnownOutages)]);
    link.handle(at(200 * US), 1, packet(100, 4), &mut events);
    assert_eq!(drops(&events)[2..], [(300 * US, 0, KnownOutages)], "the other one waits");
    link.end_outage(at(250 * US), &mut events);
    assert_eq!(drops(&events).len(), 3);
    assert!(link.is_up(at(250 * US)));
    assert_eq!(link.conditions().outages(at(0), Instant::MAX).len(), 1);
    assert_eq!(arrivals(&mut link), [(1100, 0), (1399, 4)], "it began when the link was up again");
    assert_eq!((link.counters(0, at(0)).dropped.outage, link.counters(1, at(0)).dropped.outage), (2, 1));
}

#[test]
fn an_outage_ends_by_itself_or_earlier_or_later() {
    let inside = |end: &dyn Fn(&mut Link)| {
        let mut link = waiting(&both_ways(direction()));
        link.force_outage(at(10 * US), Some(at(150 * US)), &mut NullSink).unwrap();
        end(&mut link);
        link.handle(at(400 * US), 0, packet(100, 3), &mut NullSink);
        (arrivals(&mut link), link.conditions().outages(at(0), at(1000 * US)))
    };
    let (numbers, outages) = inside(&|_| {});
    assert_eq!(numbers, [(1300, 2), (1500, 3)]);
    assert_eq!((outages[0].from, outages[0].to), (at(10 * US), at(150 * US)));
    let (numbers, outages) = inside(&|link| link.end_outage(at(100 * US), &mut NullSink));
    assert_eq!(numbers, [(1200, 1), (1300, 2), (1500, 3)], "begins at that instant");
    assert_eq!((outages[0].from, outages[0].to), (at(10 * US), at(100 * US)));
    let longer = |link: &mut Link| {
        link.force_outage(at(100 * US), Some(at(201 * US)), &mut NullSink).unwrap();
    };
    let (numbers, outages) = inside(&longer);
    assert_eq!(numbers, [(1500, 3)]);
    assert_eq!((outages[0].from, outages[0].to), (at(10 * US), at(201 * US)));
    assert_eq!(inside(&|link| link.force_outage(at(100 * US), None, &mut NullSink).unwrap()).0, []);
}

#[test]
fn a_packet_that_is_moved_into_an_outage_is_lost() {
    let scheduled = with_outages(both_ways(direction()), &[(320 * US, 330 * US)]);
    // A channel that is down from the beginning of its second stay on, at 300 us or later.
    let channel = (1..100).map(|seed| {
        let config =
            with_channel(both_ways(direction()), state(400 * US, 0.0, [0, 0]), state(u64::MAX, 1.0, [0, 0]));
        let mut link = link(&config, seed);
        burst(&mut link, 3, 100);
        link
    });
    let is_late = |link: &Link| link.conditions().stays().next().unwrap().to > at(300 * US);
    let by_channel = channel.into_iter().find(is_late).unwrap();
    for mut link in core::iter::once(by_channel).chain([waiting(&scheduled)]) {
        let mut events = Events::new();
        link.set_rate(at(200 * US), 0, Some(8_000), &mut events).unwrap();
        assert_eq!(drops(&events), [(100_200 * US, 0, KnownOutages)]);
        link.set_rate(at(200 * US), 0, None, &mut events).unwrap();
        assert_eq!(events.len(), 1, "what is lost stays lost");
        assert_eq!(arrivals(&mut link), [(1100, 0), (1200, 1)]);
    }
}

#[test]
fn early_detection_begins_with_a_rate_and_ends_with_it() {
    let red = RedConfig { weight: 0.5, max_probability: 1.0, ..RedConfig::default() };
    let mut link = link(&both_ways(DirectionConfig { rate_bps: None, red: Some(red), ..direction() }), 1);
    let mut early = |rate_bps| {
        link.set_rate(at(0), 0, rate_bps, &mut NullSink).unwrap();
        let before = link.counters(0, at(0)).dropped.early;
        (0..200).for_each(|n| link.handle(at(0), 0, hollow(100, n), &mut NullSink));
        link.counters(0, at(0)).dropped.early - before
    };
    assert_eq!(early(None), 0);
    assert!(early(Some(8_000_000)) > 50);
    assert_eq!(early(None), 0, "nothing waits");
}

#[test]
fn memory_of_changes_is_bounded() {
    let mut link = link(&both_ways(direction()), 1);
    for n in 0..2000u64 {
        link.set_rate(at(4 * n), 0, Some(n + 1), &mut NullSink).unwrap();
        link.force_outage(at(4 * n + 1), None, &mut NullSink).unwrap();
        link.end_outage(at(4 * n + 3), &mut NullSink);
    }
    assert_eq!(link.conditions().rate_bps(0, at(4 * 1900)), Some(1901));
    assert_eq!(link.conditions().rate_bps(0, at(0)), Some(2000 - 256), "the oldest that is remembered");
    assert_eq!(link.conditions().outages(at(0), Instant::MAX).len(), 256);
}

fn any_link() -> impl Strategy<Value = LinkConfig> {
    let way = (proptest::option::of(1_000_000u64..50_000_000), 0u64..400_000, 0.0f64..0.3, any::<bool>());
    let way = way.prop_map(|(rate_bps, delay_ns, p, free)| DirectionConfig {
        rate_bps,
        delay_ns,
        order: if free { Order::Free } else { Order::Preserve },
        loss: p,
        duplication: p,
        reordering: Reordering { probability: p, extra_delay_ns: 90_000 },
        ..DirectionConfig::default()
    });
    (way, any::<bool>()).prop_map(|(way, with)| {
        let plain = both_ways(way);
        let states = (state(300_000, 0.1, [0, 500_000]), state(50_000, 1.0, [10_000, 20_000]));
        if with { with_channel(plain, states.0, states.1) } else { plain }
    })
}

proptest! {
    /// Over a burst, any number of changes later, as much has been sent as the rates allow.
    #[test]
    fn changes_of_the_rate_do_not_drift(
        first in 1_000_000u64..100_000_000,
        changes in proptest::collection::vec((1u64..3_000_000, 1_000_000u64..100_000_000), 0..8),
        sizes in proptest::collection::vec(1u32..2000, 1..60),
    ) {
        let config = DirectionConfig { rate_bps: Some(first), ..DirectionConfig::default() };
        let mut link = link(&both_ways(config), 1);
        let mut timeline = Timeline::constant(Some(first), 0);
        for &bytes in &sizes {
            link.handle(at(0), 0, hollow(bytes, 0), &mut NullSink);
        }
        let mut now = at(0);
        for (ns, rate) in changes {
            now = now.after(ns);
            if link.queue_bytes(0, now) == 0 {
                break; // there is nothing left to be sent
            }
            link.set_rate(now, 0, Some(rate), &mut NullSink).unwrap();
            timeline = timeline.changed(now, |step| step.rate_bps = Some(rate));
        }
        let sent = work_of(sizes.iter().map(|&bytes| u64::from(bytes)).sum());
        let end = drain(&mut link).last().unwrap().0;
        prop_assert!(timeline.work(at(0), end) <= sent && sent < timeline.work(at(0), end.after(1)));
    }

    /// A forced outage gives what one of the schedule would have given.
    #[test]
    fn a_forced_outage_is_like_one_of_the_schedule(
        config in any_link(), seed in any::<u64>(), from in 0u64..2_000_000, length in 1u64..1_000_000,
        how in 0u8..4, packets in proptest::collection::vec((0u64..100_000, 1u32..1500, 0u32..2), 1..80),
    ) {
        let (from, to) = (from | 1, (from | 1) + length);
        let mut expected = link(&with_outages(config.clone(), &[(from, to)]), seed);
        let mut forced = link(&config, seed);
        let (mut events, mut sink) = (Events::new(), Events::new());
        let mut now = 0;
        for (number, &(gap, bytes, port)) in (0..).zip(&packets) {
            let past = now;
            now += gap & !1;
            force(&mut forced, [from, to], how, [past, now], &mut sink);
            expected.handle(at(now), port, hollow(bytes, number), &mut events);
            forced.handle(at(now), port, hollow(bytes, number), &mut sink);
        }
        force(&mut forced, [from, to], how, [now, u64::MAX], &mut sink);
        let touched = events.iter().any(|&(time, ..)| time == at(from));
        prop_assume!(!touched); // it leaves at the very instant
        prop_assert_eq!(drain(&mut forced), drain(&mut expected));
    }
}

/// Forces an outage if it begins in (`past`, `now`], and ends it likewise: by a time told at once, or later,
/// or when it comes.
fn force(link: &mut Link, [from, to]: [u64; 2], how: u8, [past, now]: [u64; 2], sink: &mut Events) {
    let comes = |time: u64| past < time && time <= now;
    if comes(from) {
        let until = [Some(to), None, Some(to + 12_345), Some(from + 1)][how as usize];
        link.force_outage(at(from), until.map(at), sink).unwrap();
    }
    if how == 3 && comes(from) {
        link.force_outage(at(from), Some(at(to)), sink).unwrap();
    }
    if comes(to) && (how == 1 || how == 2) {
        link.end_outage(at(to), sink);
    }
}

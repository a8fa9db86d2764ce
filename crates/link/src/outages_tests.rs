use alloc::vec;

use skyhaul_core::NullSink;
use skyhaul_core::event::DropCause::Outage;

use crate::DirectionConfig;
use crate::outages::is_down_during;
use crate::test_support::{Events, at, both_ways, drain, drops, link, packet, with_outages};

#[test]
fn every_instant_of_the_span_counts() {
    let config = with_outages(both_ways(DirectionConfig::default()), &[(10, 20), (30, 40)]);
    let down = |start, end| is_down_during(&config.outages, at(start), at(end));
    assert!(!down(0, 9));
    assert!(down(0, 10), "the last instant counts");
    assert!(down(12, 13));
    assert!(down(19, 25), "so does the first");
    assert!(!down(20, 29), "up again at the end of the outage");
    assert!(down(20, 100), "an outage in the middle");
    assert!(!down(40, 100));
}

#[test]
fn both_directions_lose_what_is_on_its_way_onto_the_wire() {
    // 1 byte takes 8 ns.
    let direction = DirectionConfig { rate_bps: Some(1_000_000_000), delay_ns: 50, ..Default::default() };
    let config = with_outages(both_ways(direction), &[(16, 30)]);
    let mut link = link(&config, 1);
    let mut events = Events::new();
    for port in [0, 1] {
        for number in 0..6 {
            link.handle(at(0), port, packet(1, number), &mut events);
        }
    }
    // [0,8] passes; [8,16] touches; [16,24] is within; [24,32] starts within; [32,40], [40,48] pass.
    let lost = |port| vec![(16, port, Outage), (24, port, Outage), (32, port, Outage)];
    assert_eq!(drops(&events), [lost(0), lost(1)].concat());
    let arrived: vec::Vec<_> =
        drain(&mut link).iter().map(|(t, port, p)| (t.as_ns(), *port, p.meta.flow)).collect();
    assert_eq!(arrived, [(58, 1, 0), (58, 0, 0), (90, 1, 4), (90, 0, 4), (98, 1, 5), (98, 0, 5)]);
    for port in [0, 1] {
        assert_eq!(link.counters(port, at(99)).dropped.outage, 3);
    }
}

#[test]
fn the_link_says_whether_it_is_up() {
    let config = with_outages(both_ways(DirectionConfig::default()), &[(10, 20)]);
    let link = link(&config, 1);
    let up = [9, 10, 19, 20].map(|ns| link.is_up(at(ns)));
    assert_eq!(up, [true, false, false, true]);
}

#[test]
fn what_left_before_the_outage_arrives_during_it() {
    let direction = DirectionConfig { delay_ns: 50, ..DirectionConfig::default() };
    let mut link = link(&with_outages(both_ways(direction), &[(10, 90)]), 1);
    link.handle(at(9), 0, packet(1, 0), &mut NullSink);
    assert_eq!(drain(&mut link).len(), 1);
}

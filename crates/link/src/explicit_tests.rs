use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use skyhaul_core::{Class, HeaderFormat, HeaderTime, Instant, MS, NullSink, Packet, PathHeader, US};
use skyhaul_xcp::Discipline;

use crate::test_support::{at, both_ways, drain, drain_numbers, hollow, link};
use crate::{DirectionConfig, ExplicitConfig, Link, LinkConfig, LowLimit, Problem, ScheduleStep};

const XCP: ExplicitConfig = ExplicitConfig { discipline: Discipline::Xcp, set_off: None };

/// 1 octet takes 1 microsecond, and the first control interval 10 ms.
fn direction() -> DirectionConfig {
    let rate_bps = Some(8_000_000);
    DirectionConfig { rate_bps, delay_ns: 1000 * US, explicit: Some(XCP), ..DirectionConfig::default() }
}

/// Packet of 1000 octets that asks for all that there is; X is 2^-9 s and RTT 1/8 s.
fn asking(number: u32) -> Packet {
    let (inter_packet, rtt) = (HeaderTime::from_units(1 << 19), HeaderTime::from_units(1 << 25));
    let header = PathHeader { inter_packet, rtt, delta_bytes_per_s: i32::MAX, ..PathHeader::default() };
    let mut packet = hollow(1000, number);
    packet.meta.fields.path_header = Some(header);
    packet
}

fn enter(link: &mut Link, us: u64, packet: Packet) {
    link.handle(at(us * US), 0, packet, &mut NullSink);
}

/// What each packet that is left inside was granted.
fn granted(link: &mut Link) -> Vec<(u32, i32)> {
    let delta = |packet: &Packet| packet.meta.fields.path_header.unwrap().delta_bytes_per_s;
    drain(link).iter().map(|(_, _, packet)| (packet.meta.flow, delta(packet))).collect()
}

/// One packet in the first 10 ms: 0.4 (1 000 000 - 100 000) = 360 000 for the next one.
const SPARE: i32 = 360_000;

#[test]
fn packets_come_out_with_what_the_router_granted() {
    let mut link = link(&both_ways(direction()), 1);
    (0..3).zip([0, 11_000, 13_000]).for_each(|(number, us)| enter(&mut link, us, asking(number)));
    assert_eq!(granted(&mut link), [(0, 0), (1, SPARE), (2, 0)]);
}

#[test]
fn a_packet_departs_when_its_service_begins() {
    let mut link = link(&both_ways(direction()), 1);
    // Served in [9.2, 10.2) and [10.2, 11.2) ms.
    (0..2).for_each(|number| enter(&mut link, 9_200, asking(number)));
    let [(0, first), (1, second)] = granted(&mut link)[..] else { panic!("both arrive") };
    assert_eq!(first, 0);
    assert!(second > 0, "{second}: its interval is the second one");
}

#[test]
fn a_live_change_moves_departures() {
    let begins_at = |rate_bps: u64| {
        let mut link = link(&both_ways(direction()), 1);
        (0..2).for_each(|number| enter(&mut link, 9_200, asking(number)));
        link.set_rate(at(9_300 * US), 0, Some(rate_bps), &mut NullSink).unwrap();
        granted(&mut link)[1].1
    };
    // The rest of the first takes 900 or 90 us.
    assert!(begins_at(8_000_000) > 0, "at 10.2 ms");
    assert_eq!(begins_at(80_000_000), 0, "at 9.39 ms");
}

#[test]
fn capacity_is_the_rate_of_the_moment() {
    let step =
        |at: Instant, rate_bps| ScheduleStep { at, rate_bps: Some(rate_bps), delay_ns: 0, mtu_bytes: None };
    let schedule = vec![step(at(5 * MS), 16_000_000)];
    let mut scheduled = link(&both_ways(DirectionConfig { schedule, ..direction() }), 1);
    let mut changed = link(&both_ways(direction()), 1);
    enter(&mut scheduled, 0, asking(0));
    enter(&mut changed, 0, asking(0));
    changed.set_rate(at(5 * MS), 0, Some(16_000_000), &mut NullSink).unwrap();
    for link in [&mut scheduled, &mut changed] {
        enter(link, 11_000, asking(1));
        // 0.4 (2 000 000 - 100 000).
        assert_eq!(granted(link)[1], (1, 760_000));
    }
}

#[test]
fn packets_that_the_wire_loses_depart_too() {
    let mut link = link(&both_ways(direction()), 1);
    enter(&mut link, 0, asking(0));
    link.set_loss(at(11 * MS), 0, 1.0).unwrap();
    enter(&mut link, 11_000, asking(1));
    link.set_loss(at(12 * MS), 0, 0.0).unwrap();
    enter(&mut link, 12_000, asking(2));
    assert_eq!(granted(&mut link), [(0, 0), (2, 0)], "the lost one took all");
}

#[test]
fn packets_of_an_outage_depart_too() {
    let mut link = link(&both_ways(direction()), 1);
    enter(&mut link, 0, asking(0));
    enter(&mut link, 10_500, asking(1));
    enter(&mut link, 10_500, asking(2));
    // The first is in service and lost now, the other one is held, and lost when its turn comes.
    link.force_outage(at(11 * MS), None, &mut NullSink).unwrap();
    link.end_outage(at(12 * MS), &mut NullSink);
    enter(&mut link, 13_000, asking(3));
    assert_eq!(granted(&mut link), [(0, 0), (3, 0)]);
}

#[test]
fn what_is_not_for_routers_passes_as_it_is() {
    let mut link = link(&both_ways(direction()), 1);
    enter(&mut link, 0, asking(0));
    let back = PathHeader {
        reverse_bytes_per_s: -7,
        reverse_routers: 3,
        format: HeaderFormat::Minimal,
        ..PathHeader::default()
    };
    let mut minimal = hollow(40, 1);
    minimal.meta.fields.path_header = Some(back);
    enter(&mut link, 11_000, minimal);
    enter(&mut link, 12_000, hollow(1000, 2));
    let headers: Vec<_> =
        drain(&mut link).iter().skip(1).map(|(_, _, packet)| packet.meta.fields.path_header).collect();
    assert_eq!(headers, [Some(back), None]);
}

#[test]
fn both_copies_of_a_packet_carry_what_was_granted() {
    let mut link = link(&both_ways(DirectionConfig { duplication: 1.0, ..direction() }), 1);
    enter(&mut link, 0, asking(0));
    enter(&mut link, 11_000, asking(1));
    assert_eq!(granted(&mut link), [(0, 0), (0, 0), (1, SPARE), (1, SPARE)]);
}

#[test]
fn packets_of_low_class_enter_while_few_wait() {
    let low = |number| {
        let mut packet = hollow(1000, number);
        packet.meta.fields.class = Class::Low;
        packet
    };
    for (limit, entered) in [(0, 2), (1, 3), (3, 5)] {
        let direction = DirectionConfig { low_limit: LowLimit(limit), explicit: None, ..direction() };
        let mut link = link(&both_ways(direction), 1);
        (0..8).for_each(|number| enter(&mut link, 0, low(number)));
        enter(&mut link, 0, hollow(1000, 8));
        assert_eq!(link.counters(0, at(0)).dropped.queue_full, 8 - entered);
        let numbers = drain_numbers(&mut link);
        assert_eq!(numbers.len() as u64, entered + 1, "others enter all the same");
    }
}

#[test]
fn a_router_needs_a_rate_at_all_times() {
    let refused = |direction: DirectionConfig| {
        let error = Link::new(both_ways(direction), 1, 7).unwrap_err();
        assert_eq!(error.problem, Problem::ExplicitUnlimited);
        error.to_string()
    };
    let unlimited = refused(DirectionConfig { rate_bps: None, ..direction() });
    assert!(unlimited.starts_with("forward.explicit: a router"), "{unlimited}");
    let step = ScheduleStep { at: at(5), rate_bps: None, delay_ns: 0, mtu_bytes: None };
    refused(DirectionConfig { schedule: vec![step], ..direction() });

    let mut running = link(&both_ways(direction()), 1);
    let error = running.set_rate(at(0), 0, None, &mut NullSink).unwrap_err();
    assert_eq!(error.problem, Problem::ExplicitUnlimited);
}

#[derive(Clone, Debug)]
enum Step {
    Packet {
        bytes: u32,
        x_shift: u32,
        delta: i32,
    },
    Wait(u64),
    Rate(u64),
    Outage(u64),
    /// Seen by one of the two links alone.
    Look,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (40u32..3000, 0u32..32, any::<i32>())
            .prop_map(|(bytes, x_shift, delta)| Step::Packet { bytes, x_shift, delta }),
        4 => (0..8 * MS).prop_map(Step::Wait),
        1 => (1_000_000u64..80_000_000).prop_map(Step::Rate),
        1 => (1..20 * MS).prop_map(Step::Outage),
        4 => Just(Step::Look),
    ]
}

/// What comes out, in the order of its coming out.
fn run(config: &LinkConfig, steps: &[Step], looks: bool) -> Vec<(Instant, u32, Packet)> {
    let mut link = link(config, 1);
    let (mut now, mut number, mut out) = (at(0), 0, Vec::new());
    for step in steps {
        match *step {
            Step::Packet { bytes, x_shift, delta } => {
                let mut packet = asking(number);
                packet.meta.wire_bytes = bytes;
                let header = packet.meta.fields.path_header.as_mut().unwrap();
                header.inter_packet = HeaderTime::from_units(1 << x_shift);
                header.delta_bytes_per_s = delta;
                link.handle(now, 0, packet, &mut NullSink);
                number += 1;
            }
            Step::Wait(ns) => now = now.after(ns),
            Step::Rate(rate_bps) => link.set_rate(now, 0, Some(rate_bps), &mut NullSink).unwrap(),
            Step::Outage(ns) => link.force_outage(now, Some(now.after(ns)), &mut NullSink).unwrap(),
            Step::Look => {}
        }
        while looks && link.deadline().is_some_and(|at| at <= now) {
            let due = link.deadline().unwrap();
            let (port, packet) = link.poll_transmit(now).unwrap();
            out.push((due, port, packet));
        }
    }
    out.extend(drain(&mut link));
    out
}

proptest! {
    /// With losses, overtaking, copies, live changes and outages: a link that is looked at all the time, and
    /// one that is looked at when all is over, write the same on every packet.
    #[test]
    fn looking_late_equals_looking_on_time(
        discipline in prop_oneof![Just(Discipline::Xcp), Just(Discipline::PXcp), Just(Discipline::Untaken)],
        order in prop_oneof![Just(crate::Order::Preserve), Just(crate::Order::Free)],
        steps in proptest::collection::vec(step(), 1..200),
    ) {
        let direction = DirectionConfig {
            explicit: Some(ExplicitConfig { discipline, set_off: None }),
            order,
            jitter_ns: 3 * MS,
            loss: 0.1,
            duplication: 0.2,
            queue: crate::QueueLimit::Packets(8),
            ..direction()
        };
        let config = both_ways(direction);
        prop_assert_eq!(run(&config, &steps, true), run(&config, &steps, false));
    }
}

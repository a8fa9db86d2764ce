//! Properties that hold whatever the link is like and whatever is done with it.

use alloc::vec::Vec;

use proptest::prelude::*;
use skyhaul_core::{Class, Event, HeaderTime, Instant, PathHeader};
use skyhaul_xcp::Discipline;

use crate::test_support::{Events, at, hollow, link, packet, state};
use crate::{
    BurstLoss, ChannelConfig, ChannelState, Damage, DirectionConfig, ExplicitConfig, Link, LinkConfig, Order,
    Outage, PolicerConfig, QueueLimit, RedConfig, Reordering, StateConfig,
};

/// One thing done to a link.
#[derive(Clone, Debug)]
enum TestStep {
    Wait { ns: u64 },
    GoBack { ns: u64 },
    Enter { port: u32, wire_bytes: u32, hollow: bool },
    Poll,
    Rate { port: u32, rate_bps: Option<u64> },
    Delay { port: u32, delay_ns: u64 },
    Mtu { port: u32, mtu_bytes: Option<u32> },
    Loss { port: u32, probability: f64 },
    Force { for_ns: Option<u64> },
    EndOutage,
}

fn step() -> impl Strategy<Value = TestStep> {
    prop_oneof![
        3 => (0u64..3_000_000).prop_map(|ns| TestStep::Wait { ns }),
        1 => (0u64..1_000_000).prop_map(|ns| TestStep::GoBack { ns }),
        8 => (0u32..2, 0u32..2000, any::<bool>())
            .prop_map(|(port, wire_bytes, hollow)| TestStep::Enter { port, wire_bytes, hollow }),
        3 => Just(TestStep::Poll),
        2 => change(),
    ]
}

/// Something that is done to a running link.
fn change() -> impl Strategy<Value = TestStep> {
    let rate = prop_oneof![Just(None), (100_000u64..100_000_000).prop_map(Some)];
    prop_oneof![
        (0u32..2, rate).prop_map(|(port, rate_bps)| TestStep::Rate { port, rate_bps }),
        (0u32..2, 1u64..5_000_000).prop_map(|(port, delay_ns)| TestStep::Delay { port, delay_ns }),
        (0u32..2, mtu()).prop_map(|(port, mtu_bytes)| TestStep::Mtu { port, mtu_bytes }),
        (0u32..2, probability()).prop_map(|(port, probability)| TestStep::Loss { port, probability }),
        proptest::option::of(1u64..5_000_000).prop_map(|for_ns| TestStep::Force { for_ns }),
        Just(TestStep::EndOutage),
    ]
}

fn queue() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![
        Just(QueueLimit::Unlimited),
        (1u32..10).prop_map(QueueLimit::Packets),
        (1u64..9000).prop_map(QueueLimit::Bytes),
    ]
}

fn mtu() -> impl Strategy<Value = Option<u32>> {
    prop_oneof![Just(None), (68u32..2000).prop_map(Some)]
}

fn red() -> impl Strategy<Value = Option<RedConfig>> {
    let bytes = (0u64..3000, 1u64..3000).prop_map(|(min, more)| [min, min + more].map(QueueLimit::Bytes));
    let packets = (0u32..3, 1u32..4).prop_map(|(min, more)| [min, min + more].map(QueueLimit::Packets));
    let some = (prop_oneof![bytes, packets], probability(), 0.01f64..1.0, any::<bool>(), any::<bool>());
    let some = some.prop_map(|([min, max], max_probability, weight, gentle, ecn)| RedConfig {
        min,
        max,
        max_probability,
        weight,
        gentle,
        ecn,
        mean_packet_bytes: 1000,
    });
    prop_oneof![2 => Just(None), 1 => some.prop_map(Some)]
}

fn explicit() -> impl Strategy<Value = Option<ExplicitConfig>> {
    let discipline = prop_oneof![Just(Discipline::Xcp), Just(Discipline::PXcp), Just(Discipline::Untaken)];
    let some = (discipline, any::<Option<bool>>());
    proptest::option::of(some.prop_map(|(discipline, set_off)| ExplicitConfig { discipline, set_off }))
}

fn policer() -> impl Strategy<Value = Option<PolicerConfig>> {
    let some = (1u64..100_000_000, 1u64..20_000);
    let some = some.prop_map(|(rate_bps, depth_bytes)| PolicerConfig { rate_bps, depth_bytes });
    prop_oneof![2 => Just(None), 1 => some.prop_map(Some)]
}

fn probability() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0..1.0, Just(1.0)]
}

fn burst_loss() -> impl Strategy<Value = BurstLoss> {
    let some = (probability(), probability(), probability(), probability());
    let some = some.prop_map(|(good_to_bad, bad_to_good, loss_good, loss_bad)| BurstLoss {
        good_to_bad,
        bad_to_good,
        loss_good,
        loss_bad,
    });
    prop_oneof![2 => Just(BurstLoss::default()), 1 => some]
}

fn state_config() -> impl Strategy<Value = StateConfig> {
    (1_000u64..3_000_000, probability(), 0u64..1_000_000, 0u64..2_000_000).prop_map(
        |(mean_stay_ns, loss, min_ns, more_ns)| state(mean_stay_ns, loss, [min_ns, min_ns + more_ns]),
    )
}

fn channel() -> impl Strategy<Value = Option<ChannelConfig>> {
    let start = prop_oneof![Just(ChannelState::Good), Just(ChannelState::Bad)];
    let some = (state_config(), state_config(), start);
    prop_oneof![Just(None), some.prop_map(|(good, bad, start)| Some(ChannelConfig { good, bad, start })),]
}

fn direction() -> impl Strategy<Value = DirectionConfig> {
    let rate = prop_oneof![Just(None), (1_000_000u64..100_000_000).prop_map(Some)];
    let probability = || prop_oneof![Just(0.0), 0.0..1.0];
    let ber = prop_oneof![Just(0.0), 0.0..1e-4, Just(1.0)];
    let damage = prop_oneof![Just(Damage::Drop), Just(Damage::Deliver)];
    // With no delay at all, what enters now is delivered now, and the order of polls would matter.
    (rate, 1u64..5_000_000, queue(), probability(), ber, damage, probability(), 0u64..2_000_000).prop_map(
        |(rate_bps, delay_ns, queue, loss, bit_error_rate, damage, probability, extra_delay_ns)| {
            let reordering = Reordering { probability, extra_delay_ns };
            DirectionConfig {
                rate_bps,
                delay_ns,
                queue,
                loss,
                bit_error_rate,
                damage,
                reordering,
                ..DirectionConfig::default()
            }
        },
    )
}

prop_compose! {
    fn any_direction()(plain in direction(), burst_loss in burst_loss(), free in any::<bool>(), red in red(),
                       duplication in probability(), mtu_bytes in mtu(), explicit in explicit(),
                       policer in policer()) -> DirectionConfig {
        let order = if free { Order::Free } else { Order::Preserve };
        let explicit = explicit.filter(|_| plain.rate_bps.is_some() && policer.is_none());
        DirectionConfig { order, mtu_bytes, policer, red, explicit, burst_loss, duplication, ..plain }
    }
}

prop_compose! {
    fn config()(forward in any_direction(), reverse in any_direction(), channel in channel(),
                spans in proptest::collection::vec((0u64..9_000_000, 1u64..4_000_000), 0..4)) -> LinkConfig {
        let mut end = 0;
        let outages = spans.iter().map(|(gap, length)| {
            let from = end + gap;
            end = from + length;
            Outage { from: at(from), to: at(end) }
        });
        LinkConfig { name: "p".into(), forward, reverse, outages: outages.collect(), channel }
    }
}

/// Delivery: due time, port, number of the packet, and what was granted to it.
type Delivery = (Instant, u32, u32, i32);

/// A link being played with, and what was seen of it.
struct Play {
    link: Link,
    now: Instant,
    entered: u32,
    events: Events,
    deliveries: Vec<Delivery>,
}

impl Play {
    fn new(config: &LinkConfig, seed: u64) -> Self {
        let link = link(config, seed);
        Self { link, now: Instant::ZERO, entered: 0, events: Events::new(), deliveries: Vec::new() }
    }

    fn step(&mut self, step: &TestStep) {
        match *step {
            TestStep::Wait { ns } => self.now = self.now.after(ns),
            TestStep::GoBack { ns } => self.now = self.now.before(ns),
            TestStep::Poll => self.poll(),
            TestStep::Enter { port, wire_bytes, hollow: only_meta } => {
                let make = if only_meta { hollow } else { packet };
                self.enter(port, make(wire_bytes, self.entered));
            }
            _ => self.change(step),
        }
    }

    fn change(&mut self, step: &TestStep) {
        let (now, sink, deadline) = (self.now, &mut self.events, self.link.deadline());
        match *step {
            // Refused where a router needs one.
            TestStep::Rate { port, rate_bps } => drop(self.link.set_rate(now, port, rate_bps, sink)),
            TestStep::Delay { port, delay_ns } => self.link.set_delay(now, port, delay_ns, sink),
            TestStep::Loss { port, probability } => self.link.set_loss(now, port, probability).unwrap(),
            TestStep::Mtu { port, mtu_bytes } => self.link.set_mtu(now, port, mtu_bytes, sink).unwrap(),
            // Refused if time went back so far that the end is over.
            TestStep::Force { for_ns } => {
                drop(self.link.force_outage(now, for_ns.map(|ns| now.after(ns)), sink));
            }
            _ => self.link.end_outage(now, sink),
        }
        let delivered_at = self.deliveries.last().map_or(Instant::ZERO, |&(due, ..)| due);
        let earliest = deadline.map_or(delivered_at, |deadline| deadline.min(delivered_at));
        assert!(self.link.deadline().is_none_or(|due| due >= earliest), "back past what was delivered");
    }

    fn enter(&mut self, port: u32, mut packet: skyhaul_core::Packet) {
        let fields = &mut packet.meta.fields;
        fields.may_fragment = self.entered.is_multiple_of(3);
        fields.class = if self.entered.is_multiple_of(5) { Class::Low } else { Class::Normal };
        fields.path_header = Some(PathHeader {
            inter_packet: HeaderTime::from_units(1 << (self.entered % 32)),
            rtt: HeaderTime::from_units(self.entered << 16),
            delta_bytes_per_s: if self.entered.is_multiple_of(7) { 0 } else { i32::MAX },
            ..PathHeader::default()
        });
        self.link.handle(self.now, port, packet, &mut self.events);
        self.entered += 1;
    }

    fn poll(&mut self) {
        while let Some(due) = self.link.deadline().filter(|&due| due <= self.now) {
            let (port, packet) = self.link.poll_transmit(self.now).expect("a deadline that has come");
            let granted = packet.meta.fields.path_header.expect("it entered with one").delta_bytes_per_s;
            self.deliveries.push((due, port, packet.meta.flow, granted));
        }
        assert_eq!(self.link.poll_transmit(self.now), None, "more than the deadline said");
    }

    fn check_conservation(&self) {
        for port in [0, 1] {
            let c = self.link.counters(port, self.now);
            let inside = self.link.packets_inside(port) as u64;
            let all = c.entered_packets + c.duplicated_packets;
            assert_eq!(all, c.delivered_packets + c.dropped.total() + inside);
            if c.duplicated_packets == 0 {
                assert!(c.entered_bytes >= c.delivered_bytes + c.dropped_bytes);
            }
            assert_eq!(self.drop_events(port), c.dropped.total());
            self.check_queue(port);
        }
    }

    fn drop_events(&self, entered: u32) -> u64 {
        let here = |event| matches!(event, Event::LinkDrop { port, .. } if port == entered);
        self.events.iter().filter(|&&(_, _, event)| here(event)).count() as u64
    }

    fn check_queue(&self, port: u32) {
        let c = self.link.counters(port, self.now);
        assert_eq!(c.queue_bytes, self.link.queue_bytes(port, self.now));
        assert!(c.queue_bytes <= c.max_queue_bytes);
        if let QueueLimit::Bytes(limit) = self.link.config().direction(port).queue {
            assert!(c.max_queue_bytes <= limit);
        }
    }

    fn finish(&mut self) {
        self.link.end_outage(self.now, &mut self.events);
        self.now = Instant::MAX;
        self.poll();
    }
}

proptest! {
    #[test]
    fn what_enters_is_delivered_or_dropped_or_inside(
        config in config(), seed in any::<u64>(), steps in proptest::collection::vec(step(), 0..200),
    ) {
        let mut play = Play::new(&config, seed);
        for step in &steps {
            play.step(step);
            play.check_conservation();
        }
        play.finish();
        play.check_conservation();
        for port in [0, 1] {
            let c = play.link.counters(port, Instant::MAX);
            let out = c.delivered_packets + c.dropped.total();
            prop_assert_eq!(c.entered_packets + c.duplicated_packets, out);
            if c.duplicated_packets == 0 {
                prop_assert_eq!(c.entered_bytes, c.delivered_bytes + c.dropped_bytes);
            }
            prop_assert_eq!(c.queue_bytes, 0);
            prop_assert_eq!(play.link.packets_inside(port), 0);
        }
    }

    #[test]
    fn polls_between_change_neither_order_nor_times(
        config in config(), seed in any::<u64>(), steps in proptest::collection::vec(step(), 0..100),
    ) {
        let (mut seldom, mut often) = (Play::new(&config, seed), Play::new(&config, seed));
        for step in &steps {
            if !matches!(step, TestStep::GoBack { .. }) {
                seldom.step(step);
                often.step(step);
                often.poll();
                let _ = (often.link.deadline(), often.link.is_up(often.now));
            }
        }
        seldom.finish();
        often.finish();
        prop_assert_eq!(&seldom.deliveries, &often.deliveries);
        prop_assert_eq!(&seldom.events, &often.events);
        prop_assert!(often.deliveries.is_sorted_by_key(|&(due, port, ..)| (due, core::cmp::Reverse(port))));
    }
}

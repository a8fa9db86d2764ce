//! A link layer that repeats, over a link.

use std::vec::Vec;

use proptest::prelude::*;
use skyhaul_core::{Event, EventSink, Instant, NullSink, Packet, SECOND};

use crate::test_support::{at, both_ways, hollow, link, with_outages};
use crate::{Arq, ArqConfig, Damage, Delivery, DirectionConfig, Link, LinkConfig, QueueLimit, ScheduleStep};

const MS: u64 = 1_000_000;

/// A line of 384 kbit/s and 250 ms, as in [PETRA V].
fn satellite(bit_error_rate: f64) -> DirectionConfig {
    let (rate_bps, delay_ns) = (Some(384_000), 250 * MS);
    DirectionConfig { rate_bps, delay_ns, bit_error_rate, ..DirectionConfig::default() }
}

struct Line {
    link: Link,
    arq: Arq,
    now: Instant,
    /// Packets that left at port 1, by flow, and when.
    left: Vec<(u32, Instant)>,
}

impl Line {
    fn new(config: &LinkConfig, arq: ArqConfig, seed: u64) -> Self {
        arq.validate(config).unwrap();
        Self { link: link(config, seed), arq: Arq::new(arq, config), now: Instant::ZERO, left: Vec::new() }
    }

    fn enter(&mut self, packet: Packet, sink: &mut dyn EventSink) {
        self.arq.handle(self.now, 0, packet, &mut self.link, (7, sink));
    }

    /// Runs until nothing happens any more, or until `end`.
    fn run(&mut self, end: Instant) {
        loop {
            self.arq.work(self.now, &mut self.link);
            while let Some(port) = self.arq.due_port() {
                let packet = self.arq.take_due(port).unwrap();
                self.left.push((packet.meta.flow, self.now));
            }
            let next = self.link.deadline().into_iter().chain(self.arq.deadline()).min();
            match next {
                Some(next) if next <= end => self.now = self.now.max(next),
                _ => return,
            }
        }
    }

    fn flows(&self) -> Vec<u32> {
        self.left.iter().map(|&(flow, _)| flow).collect()
    }
}

#[test]
fn a_clean_line_carries_at_the_rate_of_its_pdus() {
    let mut line = Line::new(&both_ways(satellite(0.0)), ArqConfig::default(), 1);
    (0..100).for_each(|number| line.enter(hollow(1040, number), &mut NullSink));
    line.run(at(100 * SECOND));
    assert_eq!(line.flows(), (0..100).collect::<Vec<_>>());
    // 600 + 440 octets of payload, twice 20 beside them, at 384 kbit/s: 22.5 ms a packet.
    let end_ns = 100 * 22_500_000 + 250 * MS;
    let late_ns = line.left.last().unwrap().1.since(at(end_ns));
    assert!(late_ns <= 200, "a nanosecond a PDU at most, not {late_ns}");
}

#[test]
fn a_lost_pdu_is_told_by_the_next_and_goes_again_before_new_ones() {
    // Down while the second of ten PDUs is on the line: 620 octets take 12.92 ms.
    let config = with_outages(both_ways(satellite(0.0)), &[(14 * MS, 15 * MS)]);
    let mut line = Line::new(&config, ArqConfig { delivery: Delivery::AsItComes, ..ArqConfig::default() }, 1);
    (0..100).for_each(|number| line.enter(hollow(600, number), &mut NullSink));
    line.run(at(100 * SECOND));
    let pdu_ns = 620 * 8 * SECOND / 384_000;
    let nack_ns = (20 * 8 * SECOND).div_ceil(384_000);
    // The third PDU tells of the second. Its NACK finds a PDU in service, behind which the repeat goes.
    let told = 3 * pdu_ns + 500 * MS + nack_ns;
    let repeated = told.div_ceil(pdu_ns) * pdu_ns;
    let (_, when) = *line.left.iter().find(|&&(flow, _)| flow == 1).unwrap();
    let error_ns = when.as_ns().abs_diff(repeated + pdu_ns + 250 * MS);
    assert!(error_ns < 100, "{when:?}, {error_ns} ns off");
    assert_eq!(line.link.counters(0, line.now).entered_packets, 101, "one PDU went twice");
}

#[test]
fn the_loss_of_the_last_pdu_is_noticed_by_silence() {
    let config = with_outages(both_ways(satellite(0.0)), &[(MS, 2 * MS)]);
    let mut line = Line::new(&config, ArqConfig::default(), 1);
    line.enter(hollow(600, 0), &mut NullSink);
    line.run(at(100 * SECOND));
    assert_eq!(line.flows(), [0]);
    assert!(line.left[0].1 < at(2 * SECOND));
}

#[test]
fn nothing_happens_when_all_is_told() {
    let mut line = Line::new(&both_ways(satellite(0.0)), ArqConfig::default(), 1);
    line.enter(hollow(1040, 0), &mut NullSink);
    line.run(at(100 * SECOND));
    assert_eq!((line.arq.deadline(), line.link.deadline()), (None, None));
    assert_eq!(line.link.counters(1, line.now).entered_packets, 1, "one acknowledgement");
}

#[test]
fn damaged_pdus_cost_what_selective_repeat_costs() {
    // [PETRA IV-C]: the share of good PDUs is (1 - 1e-4)^4960 = 0.609.
    let mut line = Line::new(&both_ways(satellite(1e-4)), ArqConfig::default(), 3);
    (0..4000).for_each(|number| line.enter(hollow(600, number), &mut NullSink));
    line.run(at(1000 * SECOND));
    assert_eq!(line.flows(), (0..4000).collect::<Vec<_>>());
    let clean_s = 4000.0 * 620.0 * 8.0 / 384_000.0;
    let share = clean_s / (line.now.as_ns() as f64 / 1e9);
    assert!((0.57..0.615).contains(&share), "{share}");
}

#[test]
fn a_rate_that_falls_under_a_pdu_leaves_none_waiting_behind_it() {
    let step = ScheduleStep { at: at(5 * MS), rate_bps: Some(9_600), ..satellite(0.0).first_step() };
    let falling =
        DirectionConfig { queue: QueueLimit::Packets(1), schedule: [step].into(), ..satellite(0.0) };
    let config = LinkConfig { forward: falling, ..both_ways(satellite(0.0)) };
    let mut line = Line::new(&config, ArqConfig::default(), 1);
    line.enter(hollow(1040, 0), &mut NullSink);
    line.run(at(100 * SECOND));
    let counters = line.link.counters(0, line.now);
    assert_eq!((line.flows(), counters.entered_packets, counters.dropped.total()), ([0].to_vec(), 2, 0));
}

#[derive(Default)]
struct Drops(Vec<Event>);

impl EventSink for Drops {
    fn emit(&mut self, _: Instant, _: u64, event: Event) {
        self.0.push(event);
    }
}

#[test]
fn a_full_queue_drops_and_says_so() {
    let queue = QueueLimit::Packets(3);
    let mut line =
        Line::new(&both_ways(DirectionConfig { queue, ..satellite(0.0) }), ArqConfig::default(), 1);
    let mut drops = Drops::default();
    // The first PDU of the first packet is sent at once; the packet waits with its second.
    (0..5).for_each(|number| line.enter(hollow(1040, number), &mut drops));
    line.run(at(100 * SECOND));
    assert_eq!((line.flows(), drops.0.len(), line.arq.dropped_packets(0)), ([0, 1, 2].to_vec(), 2, 2));
}

#[test]
fn links_that_cannot_have_one_are_refused() {
    let refused = |direction: DirectionConfig, arq: ArqConfig| arq.validate(&both_ways(direction)).is_err();
    let arq = ArqConfig::default();
    assert!(refused(DirectionConfig { mtu_bytes: Some(619), ..satellite(0.0) }, arq));
    assert!(refused(DirectionConfig { queue: QueueLimit::Bytes(619), ..satellite(0.0) }, arq));
    assert!(refused(DirectionConfig { damage: Damage::Deliver, ..satellite(0.0) }, arq));
    assert!(refused(satellite(0.0), ArqConfig { payload_bytes: 15, ..arq }));
    assert!(refused(satellite(0.0), ArqConfig { window_pdus: 0, ..arq }));
    assert!(refused(satellite(0.0), ArqConfig { overhead_bytes: 1001, ..arq }));
    assert!(refused(satellite(0.0), ArqConfig { payload_bytes: 65_516, ..arq }));
    assert!(!refused(DirectionConfig { mtu_bytes: Some(620), ..satellite(0.0) }, arq));
}

proptest! {
    #[test]
    fn every_packet_leaves_once_and_in_order_if_that_is_asked_for(
        seed in 0u64..1000, loss in 0.0f64..0.6, back in 0.0f64..0.6, payload_bytes in 50u32..2000,
        window_pdus in 1u32..200, in_order: bool, down in 0u64..20_000, sizes in prop::collection::vec(20u32..3000, 1..120),
    ) {
        let delivery = if in_order { Delivery::InOrder } else { Delivery::AsItComes };
        let arq = ArqConfig { payload_bytes, window_pdus, delivery, ..ArqConfig::default() };
        let config = LinkConfig {
            forward: DirectionConfig { loss, ..satellite(0.0) },
            reverse: DirectionConfig { loss: back, ..satellite(0.0) },
            ..both_ways(satellite(0.0))
        };
        let mut line = Line::new(&with_outages(config, &[(500 * MS, 501 * MS + down * MS)]), arq, seed);
        sizes.iter().enumerate().for_each(|(number, &bytes)| line.enter(hollow(bytes, number as u32), &mut NullSink));
        line.run(at(200_000 * SECOND));
        let mut flows = line.flows();
        if !in_order {
            flows.sort_unstable();
        }
        prop_assert_eq!(flows, (0..sizes.len() as u32).collect::<Vec<_>>());
        prop_assert_eq!((line.arq.deadline(), line.link.deadline()), (None, None), "and nothing is left to do");
    }
}

/// Over a link without delay and rate two round trips are no time: the oldest PDU went again for ever at one
/// moment of an outage, and each of its sendings was kept.
#[test]
fn an_outage_of_a_link_without_delay_ends() {
    let config = with_outages(both_ways(DirectionConfig::default()), &[(SECOND, 2 * SECOND)]);
    let mut line = Line::new(&config, ArqConfig::default(), 1);
    line.run(at(1500 * MS));
    line.now = at(1500 * MS);
    line.enter(hollow(1040, 0), &mut NullSink);
    let mut frames = 0;
    while line.link.deadline().into_iter().chain(line.arq.deadline()).min().is_some_and(|at| {
        line.now = line.now.max(at);
        line.now < Instant::from_ns(3 * SECOND)
    }) {
        frames += line.arq.work(line.now, &mut line.link);
        while let Some(port) = line.arq.due_port() {
            line.left.extend(line.arq.take_due(port).map(|packet| (packet.meta.flow, line.now)));
        }
        assert!(frames < 1100, "a silence a millisecond, and a NACK for each: {frames} by {:?}", line.now);
    }
    assert!(line.flows() == [0] && line.left[0].1 < at(2 * SECOND + 10 * MS), "{:?}", line.left);
    assert!(frames > 400, "{frames}: what is sent into an outage counts, too");
}

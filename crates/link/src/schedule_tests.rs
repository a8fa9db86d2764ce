use alloc::string::ToString;
use alloc::vec::Vec;

use proptest::prelude::*;
use skyhaul_core::{Instant, MS, NullSink, SECOND, US};

use crate::serializer::{Serializer, work_of};
use crate::test_support::{at, both_ways, drain, hollow, link};
use crate::timeline::Timeline;
use crate::{
    Conditions, DirectionConfig, LinkConfig, Order, Problem, Reordering, ScheduleStep, carried_packets,
};

fn step(us: u64, rate_bps: Option<u64>, delay_us: u64) -> ScheduleStep {
    ScheduleStep { at: at(us * US), rate_bps, delay_ns: delay_us * US, mtu_bytes: None }
}

/// 1 byte takes 1 microsecond, from 150 us on 2 and from 400 us on nothing.
fn slower() -> DirectionConfig {
    DirectionConfig {
        rate_bps: Some(8_000_000),
        delay_ns: 1000 * US,
        schedule: Vec::from([step(150, Some(4_000_000), 3000), step(400, None, 10)]),
        ..DirectionConfig::default()
    }
}

/// Arrivals in microseconds of `count` packets of 100 bytes that enter at once.
fn arrivals(direction: DirectionConfig, count: u32) -> Vec<u64> {
    let mut link = link(&both_ways(direction), 1);
    (0..count).for_each(|n| link.handle(at(0), 0, hollow(100, n), &mut NullSink));
    drain(&mut link).iter().map(|(time, ..)| time.as_ns() / US).collect()
}

#[test]
fn a_packet_goes_on_at_the_new_rate_and_has_the_delay_of_its_end() {
    // Ends: 100, 250 (half of it at either rate), and 400, when the third has a quarter left.
    assert_eq!(arrivals(slower(), 4), [1100, 3250, 3250, 3250], "they wait for the second");
    let free = DirectionConfig { order: Order::Free, ..slower() };
    assert_eq!(arrivals(free, 4), [410, 410, 1100, 3250]);
}

#[test]
fn a_step_at_the_beginning_stands_for_the_base() {
    let schedule = Vec::from([step(0, Some(4_000_000), 5)]);
    assert_eq!(arrivals(DirectionConfig { schedule, ..slower() }, 2), [205, 405]);
}

#[test]
fn a_server_that_idles_over_a_step_has_the_rate_behind_it() {
    let mut link = link(&both_ways(slower()), 1);
    for (us, number) in [(300, 0), (500, 1)] {
        link.handle(at(us * US), 0, hollow(25, number), &mut NullSink);
    }
    let conditions = link.conditions().clone();
    let times: Vec<u64> = drain(&mut link).iter().map(|(time, ..)| time.as_ns() / US).collect();
    assert_eq!(times, [3350, 3350]);
    let rates = [0, 149, 150, 399, 400].map(|us| conditions.rate_bps(0, at(us * US)));
    assert_eq!(rates, [Some(8_000_000), Some(8_000_000), Some(4_000_000), Some(4_000_000), None]);
    let delays = [149, 150, 400].map(|us| conditions.delay_ns(1, at(us * US)) / US);
    assert_eq!(delays, [1000, 3000, 10]);
}

#[test]
fn the_mean_rate_is_that_between_the_instants() {
    let schedule = Vec::from([step(150, Some(4_000_000), 0)]);
    let config = both_ways(DirectionConfig { schedule, ..slower() });
    let conditions = Conditions::new(&config, 1).unwrap();
    let mean = |from, until| conditions.mean_rate_bps(0, at(from * US), at(until * US));
    assert_eq!(mean(0, 150), Some(8e6));
    assert_eq!(mean(150, 900), Some(4e6));
    assert_eq!(mean(100, 200), Some(6e6));
    assert_eq!(mean(100, 100), None);
    let unlimited = Conditions::new(&both_ways(slower()), 1).unwrap();
    assert_eq!(unlimited.mean_rate_bps(0, at(0), at(1)), None, "not for long");
}

#[test]
fn steps_are_in_order_and_have_rates() {
    let complaint = |schedule: &[ScheduleStep]| {
        let config = both_ways(DirectionConfig { schedule: schedule.to_vec(), ..slower() });
        config.validate().map_err(|error| (error.field, error.problem))
    };
    let fine = step(5, Some(1), 0);
    assert_eq!(complaint(&[step(0, None, 0), fine]), Ok(()));
    let early = Problem::StepTooEarly(at(5 * US));
    assert_eq!(complaint(&[fine, fine]), Err(("forward.schedule[1].at".to_string(), early)));
    let stopped = complaint(&[fine, step(6, Some(0), 0)]);
    assert_eq!(stopped, Err(("forward.schedule[1].rate_bps".to_string(), Problem::ZeroRate)));
}

#[test]
fn the_limit_follows_the_schedule() {
    // 10 packets of 1250 bytes a second, then 100, then 10.
    let steps = [(1, 1_000_000, 300 * MS), (2, 100_000, 20 * MS)];
    let steps = steps.map(|(s, rate, delay_ns)| ScheduleStep {
        at: at(s * SECOND),
        rate_bps: Some(rate),
        delay_ns,
        mtu_bytes: None,
    });
    let direction =
        |schedule| DirectionConfig { rate_bps: Some(100_000), schedule, ..DirectionConfig::default() };
    let config = both_ways(direction(steps.to_vec()));
    let carried = |until_ms| carried_packets(&config, 1, 0, at(0), at(until_ms * MS), 1250);
    assert_eq!(carried(1000), Some(9), "the tenth ends when the delay is longer");
    assert_eq!(carried(1300), Some(10));
    assert_eq!(carried(2289), Some(108));
    assert_eq!(carried(2290), Some(112), "those with the new delay wait for the last one with the old");
    assert_eq!(carried(3020), Some(120));
    let unlimited = both_ways(direction(Vec::from([step(9, None, 0)])));
    assert_eq!(carried_packets(&unlimited, 1, 0, at(0), at(SECOND), 1250), None);
}

fn any_steps() -> impl Strategy<Value = Vec<(u64, Option<u64>, u64)>> {
    let rate = prop_oneof![1 => Just(None), 9 => (1_000_000u64..100_000_000).prop_map(Some)];
    proptest::collection::vec((1u64..400_000, rate, 0u64..900_000), 0..8)
}

proptest! {
    /// Every packet ends when all bits up to its last one can have been sent.
    #[test]
    fn ends_are_exact(
        first in 1u64..10_000_000_000,
        steps in proptest::collection::vec((1u64..2_000_000, 1u64..10_000_000_000), 0..20),
        sizes in proptest::collection::vec(0u32..3000, 1..100),
    ) {
        let mut time = 0;
        let schedule = steps.iter().map(|&(gap, rate)| {
            time += gap;
            ScheduleStep { at: at(time), rate_bps: Some(rate), delay_ns: 0, mtu_bytes: None }
        });
        let schedule = schedule.collect();
        let config = DirectionConfig { rate_bps: Some(first), schedule, ..DirectionConfig::default() };
        let timeline = Timeline::new(&config);
        let mut serializer = Serializer::new(&timeline);
        let mut sent = 0;
        for bytes in sizes {
            let end = serializer.serve(Instant::ZERO, bytes).end;
            sent += work_of(bytes.into());
            prop_assert!(timeline.work(at(0), end) <= sent);
            prop_assert!(sent < timeline.work(at(0), end.after(1)));
        }
    }

    /// A planned change gives what a change of the running link gives.
    #[test]
    fn a_schedule_is_like_changes_of_the_running_link(
        steps in any_steps(), seed in any::<u64>(), chance in 0.0f64..0.2, free in any::<bool>(),
        packets in proptest::collection::vec((0u64..60_000, 1u32..1500), 1..80),
    ) {
        let plain = DirectionConfig {
            rate_bps: Some(20_000_000),
            delay_ns: 300_000,
            order: if free { Order::Free } else { Order::Preserve },
            loss: chance,
            duplication: chance,
            reordering: Reordering { probability: chance, extra_delay_ns: 70_000 },
            ..DirectionConfig::default()
        };
        // Steps at odd nanoseconds, packets at even ones.
        let mut time = 0;
        let schedule: Vec<ScheduleStep> = steps.iter().map(|&(gap, rate_bps, delay_ns)| {
            time = (time + gap) | 1;
            ScheduleStep { at: at(time), rate_bps, delay_ns, mtu_bytes: None }
        }).collect();
        prop_assume!(schedule.is_sorted_by(|a, b| a.at < b.at));
        let planned = DirectionConfig { schedule: schedule.clone(), ..plain.clone() };
        let planned = LinkConfig { reverse: DirectionConfig::default(), ..both_ways(planned) };
        let (mut planned, mut changed) = (link(&planned, seed), link(&both_ways(plain), seed));
        let mut steps = schedule.iter().peekable();
        let mut now = 0;
        for (number, &(gap, bytes)) in (0..).zip(&packets) {
            now += gap & !1;
            while let Some(step) = steps.next_if(|step| step.at < at(now)) {
                // One that ends at the very instant has left when the change comes.
                prop_assume!(changed.queue_bytes(0, step.at.before(1)) == changed.queue_bytes(0, step.at));
                changed.set_delay(step.at, 0, step.delay_ns, &mut NullSink);
                changed.set_rate(step.at, 0, step.rate_bps, &mut NullSink).unwrap();
            }
            for link in [&mut planned, &mut changed] {
                link.handle(at(now), 0, hollow(bytes, number), &mut NullSink);
            }
        }
        for step in steps {
            prop_assume!(changed.queue_bytes(0, step.at.before(1)) == changed.queue_bytes(0, step.at));
            changed.set_delay(step.at, 0, step.delay_ns, &mut NullSink);
            changed.set_rate(step.at, 0, step.rate_bps, &mut NullSink).unwrap();
        }
        prop_assert_eq!(drain(&mut planned), drain(&mut changed));
    }
}

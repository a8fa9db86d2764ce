//! For any sequence of packets, of any fields: residues are never negative, no more is granted than there is,
//! equal runs are equal, and catching up late is catching up on time.

use proptest::prelude::*;
use skyhaul_core::{HeaderFormat, HeaderTime, Instant, MS, PathHeader};
use std::collections::VecDeque;
use std::vec::Vec;

use crate::load::Load;
use crate::shares::Shares;
use crate::{Discipline, Router, RouterConfig};

#[derive(Clone, Debug)]
enum Step {
    Arrive(u32, Option<PathHeader>),
    Depart,
    Wait(u64),
    Look,
}

fn word() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), Just(1), Just(u32::MAX), any::<u32>(), (0u32..32).prop_map(|shift| 1 << shift)]
}

fn header() -> impl Strategy<Value = PathHeader> {
    (word(), word(), word(), any::<u8>(), any::<bool>()).prop_map(|(x, rtt, delta, routers, is_minimal)| {
        PathHeader {
            inter_packet: HeaderTime::from_units(x),
            rtt: HeaderTime::from_units(rtt),
            delta_bytes_per_s: delta as i32,
            routers,
            format: if is_minimal { HeaderFormat::Minimal } else { HeaderFormat::Standard },
            ..PathHeader::default()
        }
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (prop_oneof![Just(0), Just(u32::MAX), 40u32..1500], proptest::option::of(header()))
            .prop_map(|(bytes, header)| Step::Arrive(bytes, header)),
        3 => Just(Step::Depart),
        2 => prop_oneof![0..20 * MS, 0..3000 * MS].prop_map(Step::Wait),
        1 => Just(Step::Look),
    ]
}

fn config() -> impl Strategy<Value = RouterConfig> {
    let discipline = prop_oneof![Just(Discipline::Xcp), Just(Discipline::PXcp), Just(Discipline::Untaken)];
    let delay = prop_oneof![Just(0), Just(u64::MAX), 0..2000 * MS];
    (discipline, any::<bool>(), delay).prop_map(|(discipline, set_off, delay)| RouterConfig {
        set_off,
        ..RouterConfig::new(discipline, delay)
    })
}

/// Capacity that changes every 100 ms; now and then nothing, now and then all that there can be.
fn capacity_bps(at: Instant) -> u64 {
    [0, 1, 10_000_000, u64::MAX, 64_000][(at.as_ns() / (100 * MS) % 5) as usize]
}

/// Runs the steps. Whoever is `eager` looks at the router at each of its deadlines, and at each `Look`.
fn run(config: RouterConfig, steps: &[Step], eager: bool) -> (Router, Vec<Option<PathHeader>>) {
    let mut router = Router::new(config, Instant::ZERO);
    let (mut now, mut queue, mut departed) = (Instant::ZERO, VecDeque::new(), Vec::new());
    for step in steps {
        if let Step::Wait(ns) = step {
            let end = now.after(*ns);
            while eager && router.deadline() <= end {
                router.catch_up(router.deadline(), capacity_bps);
            }
            now = end;
            continue;
        }
        if matches!(step, Step::Look) && !eager {
            continue;
        }
        router.catch_up(now, capacity_bps);
        match step {
            Step::Arrive(bytes, header) => {
                router.on_arrival(*bytes, header.as_ref());
                router.on_queued(*bytes);
                queue.push_back((*bytes, *header));
            }
            Step::Depart => {
                if let Some((bytes, mut header)) = queue.pop_front() {
                    router.on_departure(bytes, header.as_mut());
                    departed.push(header);
                }
            }
            Step::Wait(_) | Step::Look => {}
        }
    }
    router.catch_up(now, capacity_bps);
    (router, departed)
}

proptest! {
    #[test]
    fn catching_up_late_equals_on_time_and_equal_runs_are_equal(
        config in config(),
        steps in proptest::collection::vec(step(), 1..300),
    ) {
        let eager = run(config, &steps, true);
        prop_assert_eq!(&eager, &run(config, &steps, true));
        prop_assert_eq!(&eager, &run(config, &steps, false));
    }

    /// Conservation in one interval, whatever the packets say.
    #[test]
    fn residues_are_never_negative_and_no_more_is_granted_than_there_is(
        arrived in proptest::collection::vec((40u32..1500, header()), 1..60),
        departing in proptest::collection::vec((40u32..1500, header()), 1..60),
        (rate, capacity, queue) in (0.0..1e12f64, 0.0..1e12f64, 0.0..1e10f64),
        factor in 1.0..1e6f64,
        sets_off in any::<bool>(),
    ) {
        let config = RouterConfig::new(Discipline::Xcp, 0);
        let mut load = Load::starting_at(Instant::ZERO, &config);
        for (bytes, header) in &arrived {
            load.add(*bytes, Some(header));
        }
        let mut shares = Shares::after(&load, rate, capacity, (queue, 0.1), factor);
        let (all_pos, all_neg) = shares.residues();
        prop_assert!(all_pos >= 0.0 && all_neg >= 0.0 && all_pos.is_finite() && all_neg.is_finite());
        let mut granted = 0.0;
        for (bytes, header) in departing {
            let before = shares.residues();
            let asked = header.delta_bytes_per_s;
            let share = shares.take(bytes, header.inter_packet.units(), asked, sets_off);
            let after = shares.residues();
            prop_assert!(share.delta_bytes_per_s <= asked);
            prop_assert!((0.0..=before.0).contains(&after.0), "{before:?} {after:?}");
            prop_assert!((0.0..=before.1).contains(&after.1), "{before:?} {after:?}");
            prop_assert!((0.0..=share.offered).contains(&share.untaken));
            granted += f64::from(share.delta_bytes_per_s.max(0));
        }
        // Each change is rounded to an octet a second.
        prop_assert!(granted <= all_pos + 30.0 + all_pos * 1e-9, "{granted} of {all_pos}");
    }

    #[test]
    fn nobody_is_granted_more_than_he_asked_for(
        config in config(),
        steps in proptest::collection::vec(step(), 1..200),
    ) {
        let asked = steps.iter().filter_map(|step| match step {
            Step::Arrive(_, header) => Some(header.map(|header| header.delta_bytes_per_s)),
            _ => None,
        });
        for (asked, header) in asked.zip(run(config, &steps, false).1) {
            let granted = header.map(|header| header.delta_bytes_per_s);
            prop_assert!(granted <= asked, "asked {asked:?}, granted {granted:?}");
        }
    }
}

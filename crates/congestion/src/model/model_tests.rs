//! The model by itself: any samples in any order. What it makes of links is tested in `sim`.

use proptest::prelude::*;
use skyhaul_core::event::Phase;
use skyhaul_core::{Instant, Interval, MS, PathSample, RateControl, SECOND};

use super::Model;

const MSS: u64 = 1400;

/// A train of ten packets over a path of `rate_bps`, then a packet each round trip.
fn started(rate_bps: u64) -> Model {
    let mut model = Model::new(MSS, 10 * MSS);
    let bytes = 9 * 1500;
    let train = Interval {
        sent_ns: 1000,
        sent_bytes: bytes,
        arrived_ns: bytes * 8 * SECOND / rate_bps,
        arrived_bytes: bytes,
    };
    let sample = PathSample {
        sent_at: Instant::ZERO,
        arrived_ns: 7 * SECOND,
        rtt_ns: 550 * MS,
        long: None,
        train: Some(train),
        behind_train: true,
    };
    assert_eq!((model.phase(), model.window_bytes()), (Phase::Measuring, 10 * MSS));
    model.on_sample(Instant::from_ns(550 * MS), &sample);
    model
}

#[test]
fn the_first_train_tells_the_rate() {
    let model = started(10_000_000);
    assert_eq!((model.phase(), model.rate_bps()), (Phase::Holding, 10_000_000));
    assert!(model.window_bytes() >= 2 * 687_500, "{}", model.window_bytes());
}

#[test]
fn packets_that_arrive_at_once_tell_nothing() {
    let mut model = Model::new(MSS, 10 * MSS);
    let train = Interval { sent_ns: 0, sent_bytes: 14_000, arrived_ns: 0, arrived_bytes: 14_000 };
    let sample = PathSample {
        sent_at: Instant::ZERO,
        arrived_ns: 0,
        rtt_ns: MS,
        long: None,
        train: Some(train),
        behind_train: false,
    };
    model.on_sample(Instant::from_ns(MS), &sample);
    assert_eq!(model.phase(), Phase::Measuring);
}

fn interval() -> impl Strategy<Value = Option<Interval>> {
    let any_interval = (any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>());
    proptest::option::of(any_interval.prop_map(|(a, b, c, d)| Interval {
        sent_ns: a >> 3,
        sent_bytes: b >> 20,
        arrived_ns: c >> 3,
        arrived_bytes: (d >> 20).min(b >> 20),
    }))
}

proptest! {
    #[test]
    fn any_samples_in_any_order_are_survived(
        samples in proptest::collection::vec((any::<[u64; 4]>(), interval(), interval(), any::<bool>()), 1..100),
    ) {
        let mut model = Model::new(MSS, 10 * MSS);
        for ([now, sent, arrived, rtt], long, train, behind_train) in samples {
            let now = Instant::from_ns(now);
            let sent_at = Instant::from_ns(sent);
            model.on_sample(now, &PathSample { sent_at, arrived_ns: arrived, rtt_ns: rtt >> 3, long, train, behind_train });
            if rtt % 7 == 0 {
                model.on_outage(now);
            }
            prop_assert!(model.rate_bps() > 0 && model.window_bytes() > 0);
            prop_assert!(model.take_train(now) <= 64);
        }
    }
}

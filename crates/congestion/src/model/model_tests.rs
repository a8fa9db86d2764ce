//! The model by itself: any samples in any order. What it makes of links is tested in `sim`.

use std::vec::Vec;

use proptest::prelude::*;
use skyhaul_core::event::Phase;
use skyhaul_core::{Instant, Interval, MS, PathController, PathSample, SECOND};

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
        since_bytes: 0,
    };
    assert_eq!((model.phase(), model.window_bytes()), (Phase::Measuring, 10 * MSS));
    model.on_sample(Instant::from_ns(550 * MS), &sample);
    model
}

/// Report of a mark that left at `sent_at` on a path of 550 ms, and waited nowhere.
fn calm(sent_at: Instant, long: Interval) -> PathSample {
    PathSample {
        sent_at,
        arrived_ns: sent_at.as_ns() + 7 * SECOND,
        rtt_ns: 550 * MS,
        long: Some(long),
        train: None,
        behind_train: false,
        since_bytes: 0,
    }
}

#[test]
fn the_first_train_tells_the_rate() {
    let model = started(10_000_000);
    assert_eq!((model.phase(), model.rate_bps()), (Phase::Holding, 10_000_000));
    assert!(model.window_bytes() >= 2 * 687_500, "{}", model.window_bytes());
}

/// At 20 kbit/s a packet takes 0.6 s, and ten of them longer than the path: two are aimed at.
#[test]
fn what_left_before_the_rate_was_known_is_charged_to_it_once() {
    let mut model = Model::new(MSS, 10 * MSS);
    let train = Interval { sent_ns: 1000, sent_bytes: 3000, arrived_ns: 1_200 * MS, arrived_bytes: 3000 };
    let mut sample = PathSample {
        sent_at: Instant::ZERO,
        arrived_ns: 7 * SECOND,
        rtt_ns: 550 * MS,
        long: None,
        train: Some(train),
        behind_train: true,
        since_bytes: 12_000,
    };
    model.on_sample(Instant::from_ns(550 * MS), &sample);
    assert_eq!(model.rate_bps(), 20_000);
    // A round trip carries 1375 bytes; the queue aimed at takes 10 ms, 25 bytes, and two packets.
    let packets_bytes = (2.0 * model.packet_ns(20_000.0) * 20_000.0 / (8.0 * SECOND as f64)) as u64;
    assert_eq!(
        [model.take_excess_bytes(), model.take_excess_bytes()],
        [12_000 - 1375 - 25 - packets_bytes, 0]
    );
    sample.sent_at = Instant::from_ns(1000);
    model.on_sample(Instant::from_ns(600 * MS), &sample);
    assert_eq!(model.take_excess_bytes(), 0, "what it still tells of the first packets is charged already");
    let mut fast = started(10_000_000);
    assert_eq!(fast.take_excess_bytes(), 0);
}

/// Packets of 9000 bytes take 7 ms at 10 Mbit/s: two of them are no queue of somebody else's, and the
/// shortest train, of four, is long enough.
#[test]
fn larger_packets_make_shorter_trains_and_a_longer_queue_that_is_aimed_at() {
    let mut model = started(10_000_000);
    assert_eq!((model.target_ns() / MS, model.take_train(Instant::from_ns(SECOND))), (12, 17));
    model.on_packet_size(8900);
    assert_eq!((model.target_ns() / MS, model.take_train(Instant::from_ns(2 * SECOND))), (24, 4));
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
        since_bytes: 0,
    };
    model.on_sample(Instant::from_ns(MS), &sample);
    assert_eq!(model.phase(), Phase::Measuring);
}

/// A receiver whose machine stands still reads what has come meanwhile at once, and its clock says so.
#[test]
fn what_was_held_up_and_read_at_once_makes_no_rate() {
    let mut model = started(10_000_000);
    for (step, (waited_ms, arrived_ms)) in [(0, 30), (300, 30), (300, 1), (300, 1)].into_iter().enumerate() {
        let now = Instant::from_ns((1000 + step as u64 * 30) * MS);
        let sent_at = now.before(550 * MS);
        let bytes = 10_000_000 * 30 / 8000;
        let long = Interval {
            sent_ns: 30 * MS,
            sent_bytes: bytes,
            arrived_ns: arrived_ms * MS,
            arrived_bytes: bytes,
        };
        let sample = PathSample {
            sent_at,
            arrived_ns: sent_at.as_ns() + 7 * SECOND + waited_ms * MS,
            rtt_ns: (550 + waited_ms) * MS,
            long: Some(long),
            train: None,
            behind_train: false,
            since_bytes: 0,
        };
        model.on_sample(now, &sample);
    }
    assert!(model.rate_bps() <= 21_000_000, "{}", model.rate_bps());
}

/// Bytes that a model sends in the last of 40 s that was shown 10 Mbit/s over a path without a queue, on
/// which of the bytes sent in 330 ms so many get `through`.
fn sent_bps_without_a_queue(through: impl Fn(u64) -> u64) -> u64 {
    let mut model = started(10_000_000);
    let mut rates_bps = [model.rate_bps(); 2];
    for step in 2..120 {
        let now = Instant::from_ns((550 + step * 330) * MS);
        let sent_bytes = rates_bps[0] * 330 / 8000;
        let long = Interval {
            sent_ns: 330 * MS,
            sent_bytes,
            arrived_ns: 330 * MS,
            arrived_bytes: through(sent_bytes).min(sent_bytes),
        };
        let sent_at = now.before(550 * MS);
        model.on_sample(now, &calm(sent_at, long));
        rates_bps = [rates_bps[1], model.rate_bps()];
    }
    model.rate_bps()
}

#[test]
fn what_a_policer_drops_is_not_sent_for_long() {
    // A token bucket that is empty: 5 Mbit/s get through, whatever is sent, and nothing waits.
    let sent_bps = sent_bps_without_a_queue(|_| 5_000_000 * 330 / 8000);
    assert!((4_500_000..5_300_000).contains(&sent_bps), "{sent_bps}");
}

#[test]
fn noise_that_takes_every_second_packet_is_no_policer() {
    let sent_bps = sent_bps_without_a_queue(|sent_bytes| sent_bytes / 2);
    assert!(sent_bps > 9_500_000, "{sent_bps}");
}

#[test]
fn what_was_found_to_be_noise_excuses_no_more_than_that() {
    // A tenth is noise, whatever is sent; later a token bucket takes what exceeds 5 Mbit/s as well.
    let reports = core::cell::Cell::new(0);
    let sent_bps = sent_bps_without_a_queue(|sent_bytes| {
        reports.set(reports.get() + 1);
        let policed_bytes = if reports.get() < 60 { u64::MAX } else { 5_000_000 * 330 / 8000 };
        sent_bytes.min(policed_bytes) * 9 / 10
    });
    assert!((4_000_000..5_900_000).contains(&sent_bps), "{sent_bps}");
}

/// Model on a path of 10 Mbit/s without a queue for more than `room` packets of a train, and trains that it
/// sent within a minute.
fn trains_into(room_packets: u64) -> (Model, Vec<u64>) {
    let mut model = started(10_000_000);
    let (mut trains, mut last_packets) = (Vec::new(), 0);
    for step in 2..240 {
        // Every second POLL begins a train; the others show the path without one.
        let sent_at = Instant::from_ns(step * 275 * MS);
        let sent_bytes = 10_000_000 * 275 / 8000;
        let lost_bytes = 1500 * u64::saturating_sub(last_packets, room_packets);
        let interval =
            |arrived_bytes| Interval { sent_ns: 275 * MS, sent_bytes, arrived_ns: 275 * MS, arrived_bytes };
        let long = interval(sent_bytes - lost_bytes);
        model.on_sample(sent_at.after(550 * MS), &calm(sent_at, long));
        last_packets = if step % 2 == 0 { u64::from(model.take_train(sent_at)) } else { 0 };
        trains.extend(Some(last_packets).filter(|&packets| packets > 0));
    }
    (model, trains)
}

#[test]
fn what_a_train_loses_in_a_short_queue_makes_it_shorter_and_is_no_noise() {
    let (model, trains) = trains_into(10);
    assert_eq!(trains.iter().max(), Some(&17), "{trains:?}");
    assert_eq!(trains.last(), Some(&10), "{trains:?}");
    assert!(model.noise.part() < 1e-9, "{}", model.noise.part());
    // Half of the room, and two packets.
    assert!((7 * MS..9 * MS).contains(&model.target_ns()), "{}", model.target_ns());
}

#[test]
fn a_queue_without_room_for_the_shortest_train_gets_none() {
    let (model, trains) = trains_into(2);
    assert!(trains.len() < 20, "{trains:?}");
    assert!(model.noise.part() < 1e-9, "{}", model.noise.part());
}

#[test]
fn a_few_packets_a_second_tell_a_low_rate() {
    let mut model = started(400_000);
    for step in 2..12 {
        // Two packets a second arrive of seven that are sent, and each waits longer than the one before.
        let sent_at = Instant::from_ns(step * SECOND);
        let long = Interval { sent_ns: SECOND, sent_bytes: 25_000, arrived_ns: SECOND, arrived_bytes: 3000 };
        let arrived_ns = 7 * SECOND + sent_at.as_ns() + (step - 2) * 400 * MS;
        let sample = PathSample {
            sent_at,
            arrived_ns,
            rtt_ns: 550 * MS,
            long: Some(long),
            train: None,
            behind_train: false,
            since_bytes: 0,
        };
        model.on_sample(sent_at.after(550 * MS), &sample);
    }
    assert!(model.rate_bps() < 30_000, "{}", model.rate_bps());
}

/// A machine that stood still takes what many connections sent at once: each of their answers shows more than
/// the estimate, one of them a wait, and the others stand behind trains and show none. This comes while the
/// first queue drains.
#[test]
fn answers_that_show_more_than_the_estimate_never_lower_it() {
    let mut model = started(100_000_000);
    for step in 0..50 {
        let sent_at = Instant::from_ns(SECOND + step * MS);
        let waited_ns = if step == 0 { 0 } else { 600 * MS };
        let long = Interval { sent_ns: MS, sent_bytes: 150_000, arrived_ns: MS, arrived_bytes: 150_000 };
        let sample = PathSample {
            sent_at,
            arrived_ns: 7 * SECOND + sent_at.as_ns() + waited_ns,
            rtt_ns: 550 * MS + waited_ns,
            long: Some(long),
            train: None,
            behind_train: step > 1,
            since_bytes: 0,
        };
        model.on_sample(sent_at.after(550 * MS), &sample);
    }
    assert!(model.rate_bps() >= 45_000_000, "{}", model.rate_bps());
}

#[test]
fn the_whole_first_train_counts_not_its_first_packets() {
    let mut model = started(10_000_000);
    let bytes = 12 * 1500;
    let train = Interval { sent_ns: 1000, sent_bytes: bytes, arrived_ns: 18 * MS, arrived_bytes: bytes };
    let sample = PathSample {
        sent_at: Instant::from_ns(1000),
        arrived_ns: 7 * SECOND,
        rtt_ns: 550 * MS,
        long: None,
        train: Some(train),
        behind_train: true,
        since_bytes: 0,
    };
    model.on_sample(Instant::from_ns(552 * MS), &sample);
    assert_eq!(model.rate_bps(), 8_000_000);
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
        samples in proptest::collection::vec(
            (any::<[u64; 4]>(), interval(), interval(), any::<bool>()), 1..100,
        ),
    ) {
        let mut model = Model::new(MSS, 10 * MSS);
        for ([now, sent, arrived, rtt], long, train, behind_train) in samples {
            let now = Instant::from_ns(now);
            let sent_at = Instant::from_ns(sent);
            let rtt_ns = rtt >> 3;
            let sample = PathSample { sent_at, arrived_ns: arrived, rtt_ns, long, train, behind_train, since_bytes: 0 };
            model.on_sample(now, &sample);
            if rtt % 7 == 0 {
                model.on_outage(now);
            }
            prop_assert!(model.rate_bps() > 0 && model.window_bytes() > 0);
            prop_assert!(model.take_train(now) <= 64);
        }
    }
}

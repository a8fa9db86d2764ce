//! One rule of the sampler a test. Packets of 1000 bytes and numbers; times in ms.

use skyhaul_core::{Instant, MS};

use crate::{Delivery, DeliveryLog};

fn at(ms: u64) -> Instant {
    Instant::from_ns(ms * MS)
}

/// Sends packet `number` with `flight` packets under way.
fn send(log: &mut DeliveryLog, ms: u64, number: u64, flight: u64) {
    log.on_sent(at(ms), number * 1000, (number + 1) * 1000, 1000, flight * 1000);
}

/// Acknowledges the packets [first, end).
fn deliver(log: &mut DeliveryLog, ms: u64, first: u64, end: u64) -> Option<Delivery> {
    log.on_delivered(first * 1000, end * 1000);
    log.finish(at(ms), 0)
}

/// Ten packets leave 10 ms apart and are acknowledged 100 ms later, each.
#[test]
fn the_rate_is_what_arrived_over_the_round_trip_of_a_packet() {
    let mut log = DeliveryLog::new(at(0));
    for number in 0u64..30 {
        if let Some(acked) = number.checked_sub(10) {
            let delivery = deliver(&mut log, 10 * number, acked, acked + 1).unwrap();
            assert_eq!((delivery.total_bytes, delivery.rtt_ns), ((acked + 1) * 1000, Some(100 * MS)));
            let rate = delivery.rate.unwrap();
            if acked >= 10 {
                assert_eq!((rate.bytes, rate.interval_ns), (10_000, 100 * MS), "packet {acked}");
                assert_eq!(rate.bytes_per_s(), 100_000);
                assert_eq!(rate.prior_total_bytes, (acked - 9) * 1000);
            }
        }
        send(&mut log, 10 * number, number, number.min(10));
    }
}

#[test]
fn acknowledgements_that_come_at_once_are_measured_by_the_time_of_sending() {
    let mut log = DeliveryLog::new(at(0));
    (0..5).for_each(|number| send(&mut log, 20 * number, number, number));
    deliver(&mut log, 100, 0, 1).unwrap();
    (5..10).for_each(|number| send(&mut log, 20 * number, number, number - 1));
    let rate = deliver(&mut log, 281, 1, 10).unwrap().rate.unwrap();
    assert_eq!((rate.bytes, rate.interval_ns), (9000, 181 * MS), "sent within 180 ms");
}

#[test]
fn an_interval_shorter_than_the_round_trip_is_no_sample() {
    let mut log = DeliveryLog::new(at(0));
    send(&mut log, 0, 0, 0);
    assert!(deliver(&mut log, 100, 0, 1).unwrap().rate.is_some());
    send(&mut log, 100, 1, 0);
    send(&mut log, 110, 1, 1);
    let repeated = deliver(&mut log, 150, 1, 2).unwrap();
    assert_eq!((repeated.rate, repeated.rtt_ns), (None, None), "which of the two copies arrived is unknown");
}

#[test]
fn what_is_told_twice_counts_once() {
    let mut log = DeliveryLog::new(at(0));
    (0..4).for_each(|number| send(&mut log, number, number, number));
    assert_eq!(deliver(&mut log, 100, 2, 4).unwrap().newly_bytes, 2000);
    assert_eq!(deliver(&mut log, 101, 2, 4), None);
    assert_eq!(deliver(&mut log, 102, 0, 4).unwrap().newly_bytes, 2000);
    log.forget_below(4000);
    assert_eq!(deliver(&mut log, 103, 0, 4), None);
}

#[test]
fn a_pause_of_the_application_marks_what_is_sent_until_its_data_are_delivered() {
    let mut log = DeliveryLog::new(at(0));
    send(&mut log, 0, 0, 0);
    log.mark_limited(1000);
    send(&mut log, 10, 1, 1);
    assert!(!deliver(&mut log, 100, 0, 1).unwrap().rate.unwrap().app_limited);
    assert!(deliver(&mut log, 110, 1, 2).unwrap().rate.unwrap().app_limited);
    send(&mut log, 110, 2, 0);
    assert!(!deliver(&mut log, 210, 2, 3).unwrap().rate.unwrap().app_limited);
}

#[test]
fn idle_time_is_no_part_of_an_interval() {
    let mut log = DeliveryLog::new(at(0));
    send(&mut log, 0, 0, 0);
    deliver(&mut log, 100, 0, 1).unwrap();
    send(&mut log, 5000, 1, 0);
    assert_eq!(deliver(&mut log, 5100, 1, 2).unwrap().rate.unwrap().interval_ns, 100 * MS);
}

#[test]
fn memory_is_bounded() {
    let mut log = DeliveryLog::new(at(0));
    (0..100_000).for_each(|number| send(&mut log, 0, number, 1));
    let delivery = deliver(&mut log, 100, 0, 100_000).unwrap();
    assert_eq!(delivery.newly_bytes, 100_000_000);
}

use skyhaul_core::{Instant, SECOND};

use crate::serializer::Serializer;
use crate::test_support::at;
use crate::timeline::Timeline;

fn serializer(rate_bps: Option<u64>) -> Serializer {
    Serializer::new(&Timeline::constant(rate_bps, 0))
}

fn exact_ns(bytes: u128, rate_bps: u64) -> u128 {
    bytes * 8 * u128::from(SECOND) / u128::from(rate_bps)
}

#[test]
fn ten_thousand_packets_end_when_they_should_to_the_nanosecond() {
    for rate_bps in [1, 9_600, 7_000_003, 10_000_000, 999_999_999_989] {
        let mut serializer = serializer(Some(rate_bps));
        let mut sent_bytes = 0u128;
        for n in 0..10_000 {
            let wire_bytes = 40 + n % 1461;
            let start = exact_ns(sent_bytes, rate_bps);
            sent_bytes += u128::from(wire_bytes);
            let service = serializer.serve(Instant::ZERO, wire_bytes);
            assert_eq!(u128::from(service.start.as_ns()), start, "start of {n} at {rate_bps}");
            assert_eq!(u128::from(service.end.as_ns()), exact_ns(sent_bytes, rate_bps), "{n} at {rate_bps}");
        }
    }
}

#[test]
fn a_sender_that_is_paced_to_the_end_of_each_packet_does_not_drift_either() {
    let mut serializer = serializer(Some(7_000_003));
    let mut now = Instant::ZERO;
    for _ in 0..10_000 {
        now = serializer.serve(now, 1499).end;
    }
    assert_eq!(u128::from(now.as_ns()), exact_ns(10_000 * 1499, 7_000_003));
}

#[test]
fn the_fraction_is_forgotten_when_the_server_idles() {
    let mut serializer = serializer(Some(3_000_000_000));
    assert_eq!(serializer.serve(at(0), 1).end, at(2), "2.67 ns");
    assert_eq!(serializer.serve(at(2), 1).end, at(5), "5.33 ns");
    assert_eq!(serializer.serve(at(6), 1).end, at(8), "from anew");
}

#[test]
fn without_a_rate_packets_take_no_time() {
    let mut serializer = serializer(None);
    assert_eq!(serializer.serve(at(5), 1500).end, at(5));
    assert_eq!(serializer.serve(at(3), 1500).start, at(5), "time does not run backwards");
}

#[test]
fn the_end_of_time_is_not_passed() {
    let mut serializer = serializer(Some(1));
    assert_eq!(serializer.serve(at(9), u32::MAX).end, Instant::MAX);
    assert_eq!(serializer.serve(at(9), u32::MAX).end, Instant::MAX);
}

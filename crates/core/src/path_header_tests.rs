use crate::{HeaderTime, MS, PathHeader, SECOND};

#[test]
fn times_count_seconds_with_28_fraction_bits() {
    assert_eq!(HeaderTime::from_ns(SECOND).units(), 1 << 28);
    assert_eq!(HeaderTime::from_ns(SECOND / 2).units(), 1 << 27);
    // 0.08 * 2^28 = 21_474_836.48.
    assert_eq!(HeaderTime::from_ns(80 * MS).units(), 21_474_836);
    // The step is 3.7 ns.
    assert_eq!(HeaderTime::from_units(21_474_836).as_ns(), 79_999_998);
}

#[test]
fn what_is_known_stays_known_and_what_is_long_is_the_longest() {
    assert_eq!(HeaderTime::from_ns(0), HeaderTime::UNKNOWN);
    assert_eq!(HeaderTime::from_ns(1).units(), 1);
    assert_eq!(HeaderTime::from_ns(16 * SECOND - 1).units(), u32::MAX);
    assert_eq!(HeaderTime::from_ns(u64::MAX), HeaderTime::MAX);
    assert_eq!(HeaderTime::MAX.as_ns(), 15_999_999_996);
    assert!(!HeaderTime::UNKNOWN.is_known());
}

/// It is moved about with every packet, there or not.
#[test]
fn a_header_is_as_small_as_its_octets() {
    assert_eq!(size_of::<Option<PathHeader>>(), 20);
}

//! Sequence numbers: 64 bits inside, modulo 2^32 on the wire [RFC 9293 3.4]. What is compared, added and
//! kept in sets is the full number, so no comparison can go wrong at the wrap.

use skyhaul_core::nearest;

const MODULUS: u64 = 1 << 32;

/// The wire form of a full number.
pub(crate) const fn wire(number: u64) -> u32 {
    (number % MODULUS) as u32
}

/// The full number nearest to `reference`.
pub(crate) const fn expand(wire: u32, reference: u64) -> u64 {
    nearest(wire as u64, reference, MODULUS)
}

/// The full number of a direction's first one (its SYN): a wrap above zero, so that none lies below zero.
pub(crate) const fn initial(wire: u32) -> u64 {
    MODULUS + wire as u64
}

/// Whether the 32-bit clock value `a` is earlier than `b` [RFC 7323 5.2].
pub(crate) const fn is_earlier(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_number_survives_the_wire_within_half_the_space(
            reference in MODULUS..(1u64 << 40), ahead in 0u64..(1 << 31), behind in 0u64..(1 << 31),
        ) {
            prop_assert_eq!(expand(wire(reference + ahead), reference), reference + ahead);
            prop_assert_eq!(expand(wire(reference - behind), reference), reference - behind);
        }
    }

    #[test]
    fn the_wrap_lies_between_the_last_and_the_first() {
        let last = initial(u32::MAX);
        assert_eq!((wire(last), wire(last + 1)), (u32::MAX, 0));
        assert_eq!(expand(0, last), last + 1);
        assert_eq!(expand(u32::MAX, last + 1), last);
    }

    #[test]
    fn clocks_wrap() {
        assert!(is_earlier(u32::MAX, 0) && !is_earlier(0, u32::MAX) && !is_earlier(7, 7));
    }
}

//! Sequence numbers: 64 bits inside, modulo 2^32 in segments [RFC 9293 3.4]. What is compared, added and
//! kept in sets is the full number, so no comparison can go wrong at the wrap. Timestamps have 32 bits only.

use skyhaul_core::{Instant, nearest};

const MODULUS: u64 = 1 << 32;

/// Number as segments bear it.
pub(crate) const fn truncate(number: u64) -> u32 {
    (number % MODULUS) as u32
}

/// Full number nearest to `reference`.
pub(crate) const fn expand(number: u32, reference: u64) -> u64 {
    nearest(number as u64, reference, MODULUS)
}

/// Full number of a direction's first one (its SYN): a wrap above zero, so that none lies below zero.
pub(crate) const fn initial(number: u32) -> u64 {
    MODULUS + number as u64
}

/// True if the 32-bit clock value `a` is earlier than `b` [RFC 7323 5.2].
pub(crate) const fn is_earlier(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// Clock of our timestamps [RFC 7323 4.1]: the host's, from an offset on, so that it does not tell how long
/// the host runs [RFC 7323 7.1].
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimestampClock {
    tick_ns: u64,
    offset: u32,
}

impl TimestampClock {
    /// Clock with ticks of `tick_ns`, at least 1.
    pub(crate) fn new(tick_ns: u64, offset: u32) -> Self {
        Self { tick_ns: tick_ns.max(1), offset }
    }

    /// Value that a segment sent now bears.
    pub(crate) fn value(self, now: Instant) -> u32 {
        ((now.as_ns() / self.tick_ns) as u32).wrapping_add(self.offset)
    }

    /// Time since a segment bore the value that comes back now, at least a tick: within the same one, all
    /// that is known is that it took no longer. `None`: it is no echo of ours.
    pub(crate) fn since_ns(self, echo: u32, now: Instant) -> Option<u64> {
        let ticks = self.value(now).wrapping_sub(echo);
        let is_past = echo != 0 && ticks < 1 << 31;
        is_past.then(|| u64::from(ticks.max(1)) * self.tick_ns)
    }
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
            prop_assert_eq!(expand(truncate(reference + ahead), reference), reference + ahead);
            prop_assert_eq!(expand(truncate(reference - behind), reference), reference - behind);
        }
    }

    #[test]
    fn the_wrap_lies_between_the_last_and_the_first() {
        let last = initial(u32::MAX);
        assert_eq!((truncate(last), truncate(last + 1)), (u32::MAX, 0));
        assert_eq!(expand(0, last), last + 1);
        assert_eq!(expand(u32::MAX, last + 1), last);
    }

    #[test]
    fn clocks_wrap() {
        assert!(is_earlier(u32::MAX, 0) && !is_earlier(0, u32::MAX) && !is_earlier(7, 7));
    }
}

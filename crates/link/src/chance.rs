//! Probabilities as integers: made once from floats, compared with random numbers ever after.

/// A probability in units of 2^-64. The largest value stands for certainty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const NEVER: Self = Self(0);
    pub(crate) const ALWAYS: Self = Self(u64::MAX);

    /// The nearest chance at or below `probability`. Certainty keeps its own value: the float just
    /// below 1 is 2^11 units away from it.
    pub(crate) fn new(probability: f64) -> Self {
        Self(libm::ldexp(probability, 64) as u64) // saturates: 1.0 becomes ALWAYS
    }

    /// True if the event happens, by a uniform 64-bit random number.
    pub(crate) fn hit(self, draw: u64) -> bool {
        draw < self.0 || self == Self::ALWAYS
    }

    /// The chance that this or an independent `other` happens: a + b - ab. The rounding is such that
    /// certainty stays certainty.
    pub(crate) fn or(self, other: Self) -> Self {
        let neither_yet = (1u128 << 64) - u128::from(self.0);
        Self(self.0 + ((u128::from(other.0) * neither_yet) >> 64) as u64)
    }

    #[cfg(test)]
    pub(crate) fn as_f64(self) -> f64 {
        libm::ldexp(self.0 as f64, -64)
    }
}

/// The chance of a bit error in a packet of any length, without floats once built: the chances for
/// 1, 2, 4, ... bytes are kept and those of a length's binary digits combined. Exact to about
/// 2^-60, and smaller than a cache by length.
#[derive(Clone, Debug)]
pub(crate) struct BitErrors([Chance; 32]);

impl BitErrors {
    pub(crate) fn new(bit_error_rate: f64) -> Self {
        // ln(1 - ber) and 1 - e^x keep their precision for tiny rates, unlike pow.
        let log_intact_bit = libm::log1p(-bit_error_rate);
        Self(core::array::from_fn(|digit| {
            let bits = libm::ldexp(8.0, digit as i32);
            Chance::new(-libm::expm1(bits * log_intact_bit))
        }))
    }

    /// True if no packet of any length is ever hit.
    pub(crate) fn is_never(&self) -> bool {
        self.0[31] == Chance::NEVER
    }

    /// The chance that a packet of so many bytes is hit.
    pub(crate) fn chance(&self, bytes: u32) -> Chance {
        let mut chance = Chance::NEVER;
        let mut digits = bytes;
        while digits != 0 {
            chance = chance.or(self.0[digits.trailing_zeros() as usize]);
            digits &= digits - 1;
        }
        chance
    }
}

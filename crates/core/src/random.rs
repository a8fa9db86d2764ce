//! Seeded random streams: one per component, keyed by (seed, name), so that adding a component
//! does not disturb another.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Portable stream of random numbers. Equal seed and name give equal numbers on every machine.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// Stream of the component called `name` in the run with this `seed`.
    pub fn new(seed: u64, name: &str) -> Self {
        let mut state = fnv1a(name) ^ seed.rotate_left(32);
        let mut key = [0u8; 32];
        for (i, word) in key.chunks_exact_mut(8).enumerate() {
            state = state.wrapping_add(seed).wrapping_add(i as u64);
            word.copy_from_slice(&splitmix(&mut state).to_le_bytes());
        }
        Self(ChaCha8Rng::from_seed(key))
    }

    /// Stream from 256 bits of the operating system's: nobody can guess what it gives.
    pub fn from_entropy(key: [u8; 32]) -> Self {
        Self(ChaCha8Rng::from_seed(key))
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Number below `bound` (at least 1); the bias is below 2^-32 for bounds below 2^32.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound.max(1))) >> 64) as u64
    }

    /// Exponentially distributed time of at least 1 ns and at most 37 means. `libm` gives the same
    /// floats everywhere.
    pub fn exponential_ns(&mut self, mean_ns: u64) -> u64 {
        ((-libm::log(self.uniform()) * mean_ns as f64) as u64).max(1)
    }

    /// Pareto distributed number of at least 1 with this `shape` above 0: above `x` with probability
    /// `x^-shape`. The mean is `shape / (shape - 1)`; there is none for shapes up to 1.
    pub fn pareto(&mut self, shape: f64) -> f64 {
        libm::exp(-libm::log(self.uniform()) / shape)
    }

    /// Normally distributed number of mean 0 and variance 1, by two draws [Box and Muller 1958].
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(self.uniform()));
        radius * libm::cos(core::f64::consts::TAU * self.uniform())
    }

    /// Log-normally distributed number of this `median` and `mean`, both above 0, the mean not below the
    /// median.
    pub fn log_normal(&mut self, median: f64, mean: f64) -> f64 {
        let deviation = libm::sqrt(2.0 * libm::log(mean / median));
        median * libm::exp(deviation * self.normal())
    }

    /// Geometrically distributed number of at least 1 with this `mean`, which should be at least 1.
    pub fn geometric(&mut self, mean: f64) -> u64 {
        if mean <= 1.0 {
            return 1;
        }
        let tries = libm::log(self.uniform()) / libm::log1p(-1.0 / mean);
        (tries as u64).saturating_add(1)
    }

    /// Above 0 and up to 1, so that the logarithm exists.
    fn uniform(&mut self) -> f64 {
        libm::ldexp(((self.next_u64() >> 11) + 1) as f64, -53)
    }

    /// Fills `out` with random bytes.
    pub fn fill(&mut self, out: &mut [u8]) {
        self.0.fill_bytes(out);
    }
}

fn fnv1a(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_and_by_name_and_repeat() {
        let first = |seed, name| Stream::new(seed, name).next_u64();
        assert_eq!(first(1, "a"), first(1, "a"));
        assert_ne!(first(1, "a"), first(2, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
    }

    #[test]
    fn the_stream_is_the_same_on_every_machine() {
        assert_eq!(Stream::new(1, "link/forward/loss").next_u64(), GOLDEN);
    }

    const GOLDEN: u64 = 10_592_278_247_468_556_412;

    #[test]
    fn a_pareto_number_has_the_mean_and_the_tail_of_its_shape() {
        let mut stream = Stream::new(5, "pareto");
        let numbers: [f64; 20_000] = core::array::from_fn(|_| stream.pareto(3.0));
        assert!(numbers.iter().all(|&number| number >= 1.0));
        let mean = numbers.iter().sum::<f64>() / 20_000.0;
        assert!((1.48..1.52).contains(&mean), "{mean}");
        let beyond = numbers.iter().filter(|&&number| number > 2.0).count();
        assert!((2350..2650).contains(&beyond), "an eighth: {beyond}");
    }

    #[test]
    fn below_stays_below_and_reaches_everything() {
        let mut stream = Stream::new(3, "below");
        let mut seen = [false; 7];
        for _ in 0..1000 {
            seen[stream.below(7) as usize] = true;
        }
        assert_eq!(seen, [true; 7]);
    }
}

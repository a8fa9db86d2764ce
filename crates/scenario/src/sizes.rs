//! Sizes of requests and responses: fixed, or drawn from a distribution.

use std::fmt;

use skyhaul_core::Stream;

/// Largest size that is drawn: a number of 32 bits tells it.
pub const MAX_DRAWN_BYTES: u64 = u32::MAX as u64;

/// Sizes of requests or responses. What is drawn depends on the stream alone: its floats are of `libm`.
#[derive(Clone, Copy, PartialEq)]
pub enum Sizes {
    /// Each has so many bytes; at least 1.
    Fixed(u64),
    /// Pareto distributed, with a heavy tail.
    Pareto {
        /// Mean before the cut.
        mean_bytes: u64,
        /// Shape above 1: with less there is no mean.
        shape: f64,
        /// Cut: larger ones have this size.
        max_bytes: u64,
    },
    /// Log-normally distributed.
    LogNormal {
        /// Half of them are smaller.
        median_bytes: u64,
        /// Mean before the cut; above the median.
        mean_bytes: u64,
        /// Cut: larger ones have this size.
        max_bytes: u64,
    },
}

impl Sizes {
    /// True if they differ.
    pub fn are_drawn(&self) -> bool {
        !matches!(self, Self::Fixed(_))
    }

    /// Largest one that there may be.
    pub fn max_bytes(&self) -> u64 {
        match *self {
            Self::Fixed(bytes) => bytes,
            Self::Pareto { max_bytes, .. } | Self::LogNormal { max_bytes, .. } => max_bytes,
        }
    }

    /// Size of the next one, at least 1. A fixed one draws nothing.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        let (drawn, max_bytes) = match *self {
            Self::Fixed(bytes) => return bytes.max(1),
            Self::Pareto { mean_bytes, shape, max_bytes } => {
                let least = mean_bytes as f64 * (shape - 1.0) / shape;
                (stream.pareto(shape) * least, max_bytes)
            }
            Self::LogNormal { median_bytes, mean_bytes, max_bytes } => {
                (stream.log_normal(median_bytes as f64, mean_bytes as f64), max_bytes)
            }
        };
        drawn.clamp(1.0, max_bytes as f64) as u64
    }
}

impl fmt::Debug for Sizes {
    /// Text that digests of scenarios are made of: a fixed size is its number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Fixed(bytes) => write!(f, "{bytes}"),
            Self::Pareto { mean_bytes, shape, max_bytes } => {
                write!(f, "Pareto({mean_bytes}, {shape}, {max_bytes})")
            }
            Self::LogNormal { median_bytes, mean_bytes, max_bytes } => {
                write!(f, "LogNormal({median_bytes}, {mean_bytes}, {max_bytes})")
            }
        }
    }
}

/// Connections of transactions, and who ends them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// One each; its client ends its direction with the request, its server with the response.
    WithRequest,
    /// One each; its server ends its direction with the response, then its client: HTTP/1.0.
    AfterResponse,
    /// All over one connection, which the client ends behind the last response.
    Whole,
}

impl fmt::Debug for Keep {
    /// Text that digests of scenarios are made of: what was a switch before is one here.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WithRequest => "false",
            Self::AfterResponse => "AfterResponse",
            Self::Whole => "true",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARETO: Sizes = Sizes::Pareto { mean_bytes: 10_000, shape: 1.2, max_bytes: 1_000_000 };
    const LOG_NORMAL: Sizes = Sizes::LogNormal { median_bytes: 2000, mean_bytes: 8000, max_bytes: 1_000_000 };

    fn drawn(sizes: Sizes, count: usize) -> Vec<u64> {
        let mut stream = Stream::new(22, "sizes");
        (0..count).map(|_| sizes.draw(&mut stream)).collect()
    }

    #[test]
    fn drawn_sizes_are_equal_on_every_machine() {
        assert_eq!(drawn(Sizes::Fixed(320), 2), [320, 320]);
        assert_eq!(drawn(PARETO, 8), PARETO_GOLDEN);
        assert_eq!(drawn(LOG_NORMAL, 8), LOG_NORMAL_GOLDEN);
    }

    const PARETO_GOLDEN: [u64; 8] = [1765, 4069, 2906, 2255, 2327, 1791, 1974, 1866];
    const LOG_NORMAL_GOLDEN: [u64; 8] = [1422, 1050, 7290, 4191, 1077, 169_691, 150, 3046];

    #[test]
    fn log_normal_sizes_have_their_median_and_their_mean() {
        let wide = Sizes::LogNormal { median_bytes: 2000, mean_bytes: 3000, max_bytes: 1_000_000_000 };
        let mut all = drawn(wide, 40_000);
        let mean = all.iter().sum::<u64>() as f64 / 40_000.0;
        assert!((2900.0..3100.0).contains(&mean), "{mean}");
        all.sort_unstable();
        assert!((1940..2060).contains(&all[20_000]), "{}", all[20_000]);
    }

    #[test]
    fn no_size_is_above_the_cut_or_nothing() {
        for sizes in [PARETO, LOG_NORMAL] {
            let all = drawn(sizes, 20_000);
            assert_eq!(all.iter().max(), Some(&1_000_000), "{sizes:?}");
        }
        let tiny = Sizes::LogNormal { median_bytes: 1, mean_bytes: 2, max_bytes: 10 };
        assert_eq!(drawn(tiny, 1000).into_iter().min(), Some(1));
    }
}

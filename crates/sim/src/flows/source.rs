//! When an application has something to write.

use skyhaul_core::{Instant, SECOND, Stream};

/// Makes the bytes of a stream available over time, a chunk at a time.
#[derive(Clone, Debug)]
pub(crate) enum Supply {
    /// Everything is there from the start.
    Greedy,
    /// A steady rate.
    Steady(Steady),
    /// A steady rate, with pauses.
    OnOff(Box<OnOff>),
}

impl Supply {
    /// Bytes available by `now`.
    pub(crate) fn produced(&mut self, now: Instant) -> u64 {
        match self {
            Self::Greedy => u64::MAX,
            Self::Steady(steady) => steady.produced(now),
            Self::OnOff(on_off) => on_off.produced(now),
        }
    }

    /// When more is available.
    pub(crate) fn next(&self) -> Option<Instant> {
        match self {
            Self::Greedy => None,
            Self::Steady(steady) => Some(steady.next),
            Self::OnOff(on_off) => Some(on_off.next()),
        }
    }
}

/// A chunk every so often, the first at once.
#[derive(Clone, Debug)]
pub(crate) struct Steady {
    chunk_bytes: u64,
    rate_bps: u64,
    from: Instant,
    chunks: u64,
    next: Instant,
}

impl Steady {
    pub(crate) fn new(rate_bps: u64, chunk_bytes: u64, from: Instant) -> Self {
        Self { chunk_bytes, rate_bps, from, chunks: 0, next: from }
    }

    fn produced(&mut self, now: Instant) -> u64 {
        while self.next <= now {
            self.chunks += 1;
            let bits = u128::from(self.chunks) * u128::from(self.chunk_bytes) * 8;
            let ns = bits * u128::from(SECOND) / u128::from(self.rate_bps);
            self.next = self.from.after(u64::try_from(ns).unwrap_or(u64::MAX));
        }
        self.chunks.saturating_mul(self.chunk_bytes)
    }
}

/// Exponentially distributed times on and off, beginning on.
#[derive(Clone, Debug)]
pub(crate) struct OnOff {
    on_ns: u64,
    off_ns: u64,
    stream: Stream,
    steady: Steady,
    /// End of the present time on.
    until: Instant,
    before: u64,
}

impl OnOff {
    pub(crate) fn new(steady: Steady, on_ns: u64, off_ns: u64, mut stream: Stream) -> Self {
        let until = steady.from.after(stream.exponential_ns(on_ns));
        Self { on_ns, off_ns, stream, steady, until, before: 0 }
    }

    fn next(&self) -> Instant {
        self.steady.next.min(self.until)
    }

    fn produced(&mut self, now: Instant) -> u64 {
        while self.until <= now {
            self.before += self.steady.produced(self.until.before(1));
            let from = self.until.after(self.stream.exponential_ns(self.off_ns));
            self.steady = Steady::new(self.steady.rate_bps, self.steady.chunk_bytes, from);
            self.until = from.after(self.stream.exponential_ns(self.on_ns));
        }
        self.before + self.steady.produced(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skyhaul_core::MS;

    fn steady() -> Steady {
        Steady::new(8_000_000, 1000, Instant::from_ns(SECOND))
    }

    #[test]
    fn a_steady_source_makes_a_chunk_every_millisecond_and_says_when() {
        let mut source = Supply::Steady(steady());
        assert_eq!(source.produced(Instant::ZERO), 0);
        assert_eq!(source.next(), Some(Instant::from_ns(SECOND)));
        assert_eq!(source.produced(Instant::from_ns(SECOND)), 1000);
        assert_eq!(source.next(), Some(Instant::from_ns(SECOND + MS)));
        assert_eq!(source.produced(Instant::from_ns(SECOND + 10 * MS)), 11_000);
    }

    #[test]
    fn an_on_off_source_is_on_for_its_share_of_the_time_however_often_it_is_asked() {
        let make =
            || Supply::OnOff(Box::new(OnOff::new(steady(), SECOND, 3 * SECOND, Stream::new(1, "source"))));
        let (mut often, mut once) = (make(), make());
        let end = Instant::from_ns(20_000 * SECOND);
        let mut at = Instant::ZERO;
        while at < end {
            often.produced(at);
            at = at.after(700 * MS);
        }
        let bytes = once.produced(end);
        assert_eq!(often.produced(end), bytes);
        let share = bytes as f64 / 20e9;
        assert!((share - 0.25).abs() < 0.01, "{share}");
    }
}

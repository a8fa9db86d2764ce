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
        if self.next <= now {
            // Chunk k is there at floor(k * chunk / rate): it is if k * chunk < (elapsed + 1) * rate.
            let chunk = u128::from(self.chunk_bytes) * 8 * u128::from(SECOND);
            let elapsed_ns = u128::from(now.since(self.from));
            let last = ((elapsed_ns + 1) * u128::from(self.rate_bps) - 1) / chunk;
            self.chunks = u64::try_from(last + 1).unwrap_or(u64::MAX);
            let next_ns = u128::from(self.chunks) * chunk / u128::from(self.rate_bps);
            self.next = self.from.after(u64::try_from(next_ns).unwrap_or(u64::MAX));
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
    fn a_fast_source_that_nobody_asked_for_hours_answers_at_once_and_as_if_it_had_been_asked_always() {
        let make = |rate_bps, chunk_bytes| Steady::new(rate_bps, chunk_bytes, Instant::from_ns(77));
        for (rate_bps, chunk_bytes) in
            [(1, 1), (7, 3), (9_999_999_967, 1), (3_000_000_000, 1459), (16 << 30, 1)]
        {
            let (mut often, mut once) = (make(rate_bps, chunk_bytes), make(rate_bps, chunk_bytes));
            let mut produced = 0;
            for _ in 0..1000 {
                let at = often.next;
                assert_eq!(often.produced(at.before(1)), produced, "not before");
                produced = often.produced(at);
                assert!(produced > 0 && often.next > at, "{rate_bps} {chunk_bytes}");
            }
            let last = often.next.before(1);
            assert_eq!((once.produced(last), once.next), (produced, often.next), "{rate_bps} {chunk_bytes}");
        }
        let day = Instant::from_ns(77 + 86_400 * SECOND);
        assert_eq!(make(8_000_000_000, 1).produced(day), 86_400 * SECOND + 1);
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

//! Round trip as a receiver knows it that sends nothing but acknowledgements: from one that leaves to the
//! first segment that echoes its timestamp [SCPS-TP 3.2].

use skyhaul_core::Instant;

use crate::sequence::{TimestampClock, is_earlier};

/// Parts of a new sample in the estimate.
const GAIN: u64 = 8;
/// Multiple of the estimate that a sample counts for at most: a sender that paused echoes late.
const MAX_GROWTH: u64 = 2;

/// Estimate of the round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EchoedRtt {
    /// Latest echo.
    newest: Option<u32>,
    smoothed_ns: Option<u64>,
}

impl EchoedRtt {
    pub(super) fn rtt_ns(&self) -> Option<u64> {
        self.smoothed_ns
    }

    /// Segment with this echo of `clock` came. The first one that has it tells when our acknowledgement was
    /// there.
    pub(super) fn on_echo(&mut self, echo: u32, clock: TimestampClock, now: Instant) {
        if self.newest.is_some_and(|newest| !is_earlier(newest, echo)) {
            return;
        }
        let is_first = self.newest.replace(echo).is_none();
        let Some(sample_ns) = clock.since_ns(echo, now).filter(|_| !is_first) else { return };
        self.smoothed_ns = Some(match self.smoothed_ns {
            Some(rtt_ns) => (rtt_ns * (GAIN - 1) + sample_ns.min(MAX_GROWTH * rtt_ns)) / GAIN,
            None => sample_ns,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skyhaul_core::MS;

    #[test]
    fn the_first_segment_that_echoes_an_acknowledgement_times_it() {
        let clock = TimestampClock::new(MS, 7);
        let at = |ms: u64| Instant::from_ns(ms * MS);
        let mut rtt = EchoedRtt::default();
        rtt.on_echo(clock.value(at(0)), clock, at(900));
        assert_eq!(rtt.rtt_ns(), None, "the opening may have waited for anything");
        rtt.on_echo(clock.value(at(1000)), clock, at(1500));
        rtt.on_echo(clock.value(at(1000)), clock, at(1900));
        rtt.on_echo(clock.value(at(0)), clock, at(1900));
        assert_eq!(rtt.rtt_ns(), Some(500 * MS), "later ones, and late ones, tell nothing");
        rtt.on_echo(clock.value(at(2000)), clock, at(2580));
        assert_eq!(rtt.rtt_ns(), Some(510 * MS));
        rtt.on_echo(clock.value(at(3000)), clock, at(60_000));
        assert_eq!(rtt.rtt_ns(), Some((510 * 7 + 1020) * MS / 8), "a pause is no round trip");
    }
}

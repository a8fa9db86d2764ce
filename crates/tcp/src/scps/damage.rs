//! Option 23: "corruption experienced", on acknowledgements [SCPS-TP 3.1.2].

use skyhaul_core::Instant;

use super::CORRUPTION;
use crate::segment::ExtraOptions;

/// Round trips for which a report counts.
const ROUND_TRIPS: u64 = 2;

/// Receiver's knowledge of damage on the way to it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Damage {
    until: Option<Instant>,
}

impl Damage {
    /// A report came; the round trip is `rtt_ns`.
    pub(crate) fn report(&mut self, rtt_ns: u64, now: Instant) {
        self.until = Some(now.after(ROUND_TRIPS.saturating_mul(rtt_ns)));
    }

    /// Adds the option while a report counts.
    pub(crate) fn push(&self, extra: &mut ExtraOptions, now: Instant) {
        if self.until.is_some_and(|until| now < until) {
            extra.push(CORRUPTION, &[]);
        }
    }

    /// True if a segment has the option.
    pub(crate) fn is_told(options: &ExtraOptions) -> bool {
        options.get(CORRUPTION) == Some(&[])
    }
}

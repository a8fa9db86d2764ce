//! Circuit breaker of a declared rate [RFC 8084]: a rate of which most is lost, round after round, is lowered
//! to what gets through. Once nothing new is left, and only repeats leave at that rate, the first reports
//! that show it decide: a short file would be over before a second round is, and sent many times. Whether the
//! rate was to blame shows then: if no less is lost, it holds again. Since paths change, the lowered rate is
//! doubled after a while, round by round until too much is lost: ever more rarely, unless that was right.

use crate::{Instant, SECOND};

/// Packets whose fate is known that make a round, ...
const ROUND_PACKETS: u64 = 100;
/// ... and shortest round trips that it takes at least.
const ROUND_RTTS: u64 = 2;
/// Part of a shortest round trip that reports span at least by which a rate is measured: a quarter.
const SPAN_PARTS: u64 = 4;
/// Shortest round trips without a report behind which a measure begins anew: behind a full queue a round trip
/// is several of them, and most POLLs of a flood are lost.
const PAUSE_RTTS: u64 = 8;
/// Part of what gets through that a lowered rate is, so that the queue empties: 19/20.
const SAFE_PART: (u64, u64) = (19, 20);
/// Time after which a lowered rate is raised: at first, and at most. It doubles.
const RETRY_NS: (u64, u64) = (5 * SECOND, 600 * SECOND);
/// Lowest rate that a declared one is lowered to, in bit/s.
const MIN_RATE_BPS: u64 = 1000;

/// Packets whose fate is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Fates {
    arrived: u64,
    lost: u64,
}

impl Fates {
    fn known(self) -> u64 {
        self.arrived.saturating_add(self.lost)
    }

    fn are_mostly_lost(self) -> bool {
        self.lost > self.arrived
    }

    /// True if more than a quarter is.
    fn are_much_lost(self) -> bool {
        u128::from(self.lost) * 4 > u128::from(self.known())
    }

    /// True if a smaller part of these is lost than half of the part of `before`.
    fn are_better_than(self, before: Self) -> bool {
        2 * u128::from(self.lost) * u128::from(before.known())
            < u128::from(before.lost) * u128::from(self.known())
    }
}

/// What reports told of arrivals, by which the rate is measured that gets through. What a queue took in
/// before it was full is no part of that: it came before the first report, or comes at the path's rate as all
/// else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Delivery {
    /// First and last report that told of some.
    reports: Option<(Instant, Instant)>,
    /// What those behind the first one told of, in wire bytes.
    bytes: u64,
    /// What the report told of that is being read.
    told_bytes: u64,
}

impl Delivery {
    /// A report was read. One that comes [`PAUSE_RTTS`] later than the one before begins anew: nothing may
    /// have been under way meanwhile.
    fn conclude(&mut self, now: Instant, rtt_ns: u64) {
        let told_bytes = core::mem::take(&mut self.told_bytes);
        if told_bytes == 0 {
            return;
        }
        let near = self.reports.filter(|&(_, last)| now.since(last) < PAUSE_RTTS.saturating_mul(rtt_ns));
        *self = match near {
            Some((first, _)) => Self {
                reports: Some((first, now)),
                bytes: self.bytes.saturating_add(told_bytes),
                told_bytes: 0,
            },
            None => Self { reports: Some((now, now)), ..Self::default() },
        };
    }

    /// Rate at which it arrived, in bit/s; `None`: the reports do not span enough time to tell.
    fn rate_bps(&self, rtt_ns: u64) -> Option<u64> {
        let (first, last) = self.reports?;
        let span_ns = last.since(first);
        let bits = u128::from(self.bytes) * 8 * u128::from(SECOND);
        let is_enough = span_ns > 0 && span_ns >= rtt_ns / SPAN_PARTS;
        is_enough.then(|| (bits / u128::from(span_ns)).min(u128::from(u64::MAX)) as u64)
    }
}

/// State of the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It is what was declared. `is_suspect`: most of the last round was lost.
    Declared { is_suspect: bool },
    /// It was lowered. `before`: the round that was the reason, until one has told whether that helped.
    Lowered { before: Option<Fates> },
    /// It is raised again, twice as much a round.
    Raised,
}

/// Rate that was declared, and the one that holds. It changes when a round ends, and when a retry is due.
#[derive(Clone, Debug)]
pub(crate) struct CircuitBreaker {
    declared_bps: u64,
    rate_bps: u64,
    state: State,
    /// Packets that left before this belong to no round.
    since: Instant,
    fates: Fates,
    delivery: Delivery,
    /// Until when a lowered rate is not raised; nor one lowered that was found not to blame.
    retry_at: Instant,
    retry_ns: u64,
    /// Lowered rate that held last.
    lowered_bps: Option<u64>,
}

impl CircuitBreaker {
    /// Breaker of a rate that is declared now.
    pub(crate) fn new(now: Instant, declared_bps: u64) -> Self {
        Self {
            declared_bps,
            rate_bps: declared_bps,
            state: State::Declared { is_suspect: false },
            since: now,
            fates: Fates::default(),
            delivery: Delivery::default(),
            retry_at: now,
            retry_ns: RETRY_NS.0,
            lowered_bps: None,
        }
    }

    /// When the packets left, at the earliest, that count now.
    pub(crate) fn since(&self) -> Instant {
        self.since
    }

    /// True while the rate is below what was declared.
    pub(crate) fn is_open(&self) -> bool {
        self.rate_bps < self.declared_bps
    }

    /// Lowered rate that holds, or held last and helped, in bit/s.
    pub(crate) fn lowered_bps(&self) -> Option<u64> {
        self.lowered_bps
    }

    /// Takes in that so many packets arrived that left since [`Self::since`], of so many wire bytes.
    pub(crate) fn count_arrived(&mut self, packets: u64, wire_bytes: u64) {
        self.fates.arrived = self.fates.arrived.saturating_add(packets);
        self.delivery.told_bytes = self.delivery.told_bytes.saturating_add(wire_bytes);
    }

    /// Takes in that so many packets are lost that left since [`Self::since`].
    pub(crate) fn count_lost(&mut self, packets: u64) {
        self.fates.lost = self.fates.lost.saturating_add(packets);
    }

    /// The path is another one, or was gone: what was counted says nothing.
    pub(crate) fn forget(&mut self, now: Instant) {
        let state = match self.state {
            State::Declared { .. } => State::Declared { is_suspect: false },
            lowered => lowered,
        };
        self.begin(now, state);
    }

    /// Decides after a report, on a path whose shortest round trip is `rtt_ns`, for a sender of which only
    /// repeats leave, or not. Result: another rate, in bit/s.
    pub(crate) fn conclude(&mut self, now: Instant, rtt_ns: u64, only_repeats: bool) -> Option<u64> {
        self.delivery.conclude(now, rtt_ns);
        let through_bps = self.through_bps();
        if only_repeats && let Some(measured_bps) = self.measured_flood(now, rtt_ns) {
            // Of what a queue took in before it was full more arrives than the path carries.
            return Some(self.lower(now, Some(self.fates), through_bps.min(measured_bps)));
        }
        if matches!(self.state, State::Lowered { .. }) && now >= self.retry_at {
            return Some(self.raise(now));
        }
        let is_over =
            self.fates.known() >= ROUND_PACKETS && now.since(self.since) >= ROUND_RTTS.saturating_mul(rtt_ns);
        if !is_over {
            return None;
        }
        match self.state {
            State::Declared { is_suspect } => {
                let is_lost = self.fates.are_mostly_lost() && now >= self.retry_at;
                if is_lost && is_suspect {
                    return Some(self.lower(now, Some(self.fates), through_bps));
                }
                self.begin(now, State::Declared { is_suspect: is_lost });
                None
            }
            State::Lowered { before: Some(before) } if !self.fates.are_better_than(before) => {
                (self.retry_at, self.lowered_bps) = (now.after(self.retry_ns), None);
                self.rate_bps = self.declared_bps;
                self.begin(now, State::Declared { is_suspect: false });
                Some(self.rate_bps)
            }
            // It has become less meanwhile.
            State::Lowered { before: None } if self.fates.are_mostly_lost() => {
                Some(self.lower(now, None, through_bps))
            }
            // The queue took some of what seemed to get through.
            State::Lowered { before: Some(_) } if self.fates.lost > self.fates.known() / SAFE_PART.1 => {
                Some(self.take_through(now, None, through_bps))
            }
            State::Lowered { .. } => {
                self.begin(now, State::Lowered { before: None });
                None
            }
            State::Raised if self.fates.are_much_lost() => Some(self.lower(now, None, through_bps)),
            State::Raised if !self.is_open() => {
                self.begin(now, State::Declared { is_suspect: false });
                None
            }
            State::Raised => Some(self.raise(now)),
        }
    }

    /// Rate at which packets arrive of a declared rate of which most is lost, where it has been measured.
    /// Later it could not be seen: of a packet that is repeated until it arrives, only that is told.
    fn measured_flood(&self, now: Instant, rtt_ns: u64) -> Option<u64> {
        let is_declared = matches!(self.state, State::Declared { .. }) && now >= self.retry_at;
        let are_enough = self.fates.known() >= ROUND_PACKETS && self.fates.are_mostly_lost();
        self.delivery.rate_bps(rtt_ns).filter(|_| is_declared && are_enough)
    }

    /// What gets through of the rate, in bit/s, by the fates of packets.
    fn through_bps(&self) -> u64 {
        let Fates { arrived, .. } = self.fates;
        let share_bps =
            u128::from(self.rate_bps) * u128::from(arrived) / u128::from(self.fates.known().max(1));
        share_bps as u64 // at most the rate
    }

    /// Lowers the rate for a while.
    fn lower(&mut self, now: Instant, before: Option<Fates>, through_bps: u64) -> u64 {
        let has_held = now.since(self.retry_at) > self.retry_ns;
        let retry_ns = if has_held { RETRY_NS.0 } else { self.retry_ns };
        (self.retry_at, self.retry_ns) = (now.after(retry_ns), retry_ns.saturating_mul(2).min(RETRY_NS.1));
        self.take_through(now, before, through_bps)
    }

    /// Goes on at what got through in this round.
    fn take_through(&mut self, now: Instant, before: Option<Fates>, through_bps: u64) -> u64 {
        let rate_bps = through_bps / SAFE_PART.1 * SAFE_PART.0; // less than the rate was
        self.rate_bps = rate_bps.max(MIN_RATE_BPS).min(self.declared_bps);
        self.lowered_bps = Some(self.rate_bps);
        self.begin(now, State::Lowered { before });
        self.rate_bps
    }

    fn raise(&mut self, now: Instant) -> u64 {
        self.rate_bps = self.rate_bps.saturating_mul(2).min(self.declared_bps);
        self.begin(now, State::Raised);
        self.rate_bps
    }

    fn begin(&mut self, now: Instant, state: State) {
        (self.state, self.since, self.fates) = (state, now, Fates::default());
        self.delivery = Delivery::default();
    }
}

#[cfg(test)]
#[path = "circuit_breaker_tests.rs"]
mod tests;

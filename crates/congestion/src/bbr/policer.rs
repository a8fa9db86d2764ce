//! Long-term bandwidth (`lt_bw`): a token bucket on the path shows as two stretches in a row with the same
//! rate and heavy loss. That rate is kept for a while instead of the highest one.

use skyhaul_core::{Instant, MS};

/// Round trips of a stretch at least (`lt_intvl_min_rtts`); at most four times as many.
const MIN_ROUNDS: u32 = 4;
/// Loss over delivery that makes a stretch suspicious: 50/256, about a fifth.
const LOSS: (u64, u64) = (50, 256);
/// Difference of rates that are the same: an eighth, or 500 bytes/s.
const RATIO: u64 = 8;
const DIFFERENCE_BYTES_PER_S: u64 = 500;
/// Round trips for which the policed rate is kept (`lt_bw_max_rtts`).
const KEEP_ROUNDS: u32 = 48;

/// Totals since the connection began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) delivered_bytes: u64,
    pub(super) lost_bytes: u64,
}

/// Report of an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    pub(super) totals: Totals,
    pub(super) has_losses: bool,
    pub(super) app_limited: bool,
    pub(super) round_starts: bool,
}

/// Search for a policer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policer {
    /// Start of the stretch that is being measured.
    since: Option<Instant>,
    totals: Totals,
    rounds: u32,
    /// Rate of the stretch before.
    lt_bw: Option<u64>,
    is_used: bool,
}

impl Policer {
    pub(super) const fn new() -> Self {
        let totals = Totals { delivered_bytes: 0, lost_bytes: 0 };
        Self { since: None, totals, rounds: 0, lt_bw: None, is_used: false }
    }

    /// Policed rate in bytes/s, while it counts.
    pub(super) fn bw(&self) -> Option<u64> {
        self.lt_bw.filter(|_| self.is_used)
    }

    /// True if a policed rate has had its time: the path is to be probed again.
    pub(super) fn is_over(&mut self, round_starts: bool) -> bool {
        self.rounds += u32::from(round_starts && self.is_used);
        let is_over = self.is_used && self.rounds >= KEEP_ROUNDS;
        if is_over {
            *self = Self::new();
        }
        is_over
    }

    pub(super) fn update(&mut self, now: Instant, report: &Report) {
        if self.is_used {
            return;
        }
        let Some(since) = self.since else {
            if report.has_losses {
                self.begin(now, report.totals);
            }
            return;
        };
        self.rounds += u32::from(report.round_starts);
        if report.app_limited || self.rounds > 4 * MIN_ROUNDS {
            *self = Self::new();
        } else if self.rounds >= MIN_ROUNDS && report.has_losses {
            self.end_stretch(since, now, report.totals); // a policer's bucket is empty when losses come
        }
    }

    fn begin(&mut self, now: Instant, totals: Totals) {
        (self.since, self.totals, self.rounds) = (Some(now), totals, 0);
    }

    fn end_stretch(&mut self, since: Instant, now: Instant, totals: Totals) {
        let delivered = totals.delivered_bytes.saturating_sub(self.totals.delivered_bytes);
        let lost = totals.lost_bytes.saturating_sub(self.totals.lost_bytes);
        let duration_ns = now.since(since);
        if delivered == 0 || lost * LOSS.1 < delivered * LOSS.0 || duration_ns < MS {
            return;
        }
        let rate = u128::from(delivered) * u128::from(skyhaul_core::SECOND) / u128::from(duration_ns);
        let rate = u64::try_from(rate).unwrap_or(u64::MAX);
        if let Some(last) = self.lt_bw {
            let difference = rate.abs_diff(last);
            if difference <= last / RATIO || difference <= DIFFERENCE_BYTES_PER_S {
                self.lt_bw = Some(rate / 2 + last / 2);
                (self.is_used, self.rounds) = (true, 0);
                return;
            }
        }
        self.lt_bw = Some(rate);
        self.begin(now, totals);
    }
}

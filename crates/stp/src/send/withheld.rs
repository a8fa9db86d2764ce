//! Withheld packets: a test of what reports say. Where much leaves on the word of the peer, now and then a
//! packet counts as sent and does not leave. Whoever calls it received would call anything received
//! (`docs/spec/stp.md`, section 6.6).

use skyhaul_core::{Instant, MS, SECOND, Stream};

use super::choice::Choice;
use super::{Missing, Plan, Sender, Situation};
use crate::call::Call;

/// Octets that leave within [`WINDOW_NS`] where reports are tested, 150 Mbit/s: below it a peer may lie.
const MIN_WINDOW_OCTETS: u64 = 1_875_000;
const WINDOW_NS: u64 = 100 * MS;
/// Least time between two tests, and what is added to it at random.
const INTERVAL_NS: u64 = 250 * MS;
const RANDOM_NS: u64 = SECOND;
/// Data behind a withheld packet, at least: what follows it shows the gap.
const MIN_BEHIND_BYTES: usize = 1 << 16;

/// Tests of the peer's reports.
#[derive(Clone, Debug)]
pub(super) struct Withholding {
    secret: u64,
    next_at: Instant,
    /// Begin of the window under way, and octets sent until then.
    window: (Instant, u64),
    /// True if the last whole window was fast.
    is_fast: bool,
    /// Packet that counts as sent, and never left.
    withheld: Option<u64>,
    has_lied: bool,
}

impl Withholding {
    /// Tests at moments that `secret` makes nobody guess.
    pub(super) fn new(secret: u64) -> Self {
        let (next_at, window) = (Instant::ZERO, (Instant::ZERO, 0));
        Self { secret, next_at, window, is_fast: false, withheld: None, has_lied: false }
    }

    /// Data leaves, behind so many octets in all. One window that is longer, as nothing left, is not fast.
    fn note_sent(&mut self, now: Instant, sent_octets: u64) {
        let (since, before) = self.window;
        let ns = now.since(since);
        if ns >= WINDOW_NS {
            self.is_fast = ns < 2 * WINDOW_NS && sent_octets - before >= MIN_WINDOW_OCTETS;
            self.window = (now, sent_octets);
        }
    }

    fn withhold(&mut self, number: u64, now: Instant) {
        self.withheld = Some(number);
        let random_ns = Stream::new(self.secret ^ number, "stp/withheld").below(RANDOM_NS);
        self.next_at = now.after(INTERVAL_NS + random_ns);
    }

    /// A packet leaves: whatever is said of it may be true from now on.
    pub(super) fn let_go(&mut self, number: u64) {
        self.withheld = self.withheld.filter(|&withheld| withheld != number);
    }

    /// A test ends without a result: symbols may bring across what was withheld.
    pub(super) fn give_up(&mut self) {
        self.withheld = None;
    }

    /// True if a packet is missing because it never left.
    pub(super) fn is_withheld(&self, number: u64) -> bool {
        self.withheld == Some(number)
    }

    /// The peer calls a packet missing. Result: true if it is the one that was withheld.
    pub(super) fn is_found(&mut self, number: u64) -> bool {
        let is_found = self.withheld == Some(number);
        if is_found {
            self.withheld = None;
        }
        is_found
    }
}

impl Sender {
    /// Withholds the packet that is planned, if it is time for a test. Result: true if it does.
    pub(crate) fn withholds(&mut self, plan: &Plan, situation: &Situation, call: &mut Call<'_>) -> bool {
        self.withholding.note_sent(call.now, self.traffic.sent_octets());
        if !self.may_withhold(plan, situation, call.now) {
            return false;
        }
        if let (Some(number), _) = self.commit(plan, situation, call) {
            self.withholding.withhold(number, call.now);
        }
        true
    }

    fn may_withhold(&self, plan: &Plan, situation: &Situation, now: Instant) -> bool {
        let Some(Choice::New { bytes }) = plan.data() else { return false };
        self.withholding.is_fast
            && now >= self.withholding.next_at
            && self.withholding.withheld.is_none()
            && self.config.rate_bps.is_none()
            && self.following.as_ref().is_none_or(|following| !following.is_in_train())
            && plan.is_data_alone()
            && situation.reply.is_none()
            && self.cache.unsent_bytes() >= bytes + MIN_BEHIND_BYTES
    }

    /// A report was read: looks whether it calls received what never left.
    pub(super) fn test_report(&mut self) {
        let Some(number) = self.withholding.withheld else { return };
        self.withholding.has_lied |= self.cache.entry(number).is_none_or(|entry| entry.acknowledged);
    }

    /// True if what was withheld is all that a report calls missing: nothing was lost.
    pub(crate) fn misses_withheld_alone(&self, missing: &Missing<'_>) -> bool {
        let mut numbers = missing.numbers();
        numbers.next().is_some_and(|number| self.withholding.is_withheld(number)) && numbers.next().is_none()
    }

    /// True if the peer has called something received that never left.
    pub(crate) fn has_peer_lied(&self) -> bool {
        self.withholding.has_lied
    }
}

//! The end of a transfer over a lossy link. By plain rules the last window costs about three round
//! trips: one to learn its losses, one for each further loss of a retransmission. While nothing new
//! is left, a declared rate would idle; so packets without confirmation are repeated, oldest first,
//! as often as the losses seen so far make likely to be needed and no more. A link that has lost
//! nothing gets no repeats (`docs/spec/stp.md`, section 6.4).

use super::cache::SendCache;
use super::loss::Loss;

/// Repeats until fewer packets than this are expected to be missing still.
const RESIDUAL_PACKETS: f64 = 0.05;
/// Copies of one packet per report at most.
const MAX_COPIES: u16 = 8;

/// Finder of packets to repeat.
#[derive(Clone, Debug, Default)]
pub(super) struct TailRepeat {
    sent_packets: u64,
    lost_packets: u64,
    cursor: u64,
    /// Everything was looked at since the last report.
    exhausted: bool,
}

impl TailRepeat {
    /// A data packet left.
    pub(super) fn on_sent(&mut self) {
        self.sent_packets += 1;
        self.exhausted = false;
    }

    /// A report arrived and showed so many losses.
    pub(super) fn on_report(&mut self, lost_packets: u64) {
        self.lost_packets += lost_packets;
        self.exhausted = false;
    }

    /// So many packets had not been lost.
    pub(super) fn take_back(&mut self, packets: u64) {
        self.lost_packets = self.lost_packets.saturating_sub(packets);
    }

    /// Copies of each packet after which fewer than the residual are expected missing.
    fn copies_wanted(&self, unacknowledged: u64) -> u16 {
        if self.lost_packets == 0 {
            return 0;
        }
        let loss = (self.lost_packets as f64 / self.sent_packets.max(1) as f64).min(0.9);
        let mut missing = unacknowledged as f64;
        let mut copies = 0;
        while missing > RESIDUAL_PACKETS && copies < MAX_COPIES {
            missing *= loss;
            copies += 1;
        }
        copies
    }

    /// Loss so far; what is under way has no fate yet.
    pub(super) fn loss(&self, cache: &SendCache) -> Loss {
        let under_way = cache.unacknowledged() - cache.queued_packets() as u64;
        Loss::new(self.lost_packets, self.sent_packets.saturating_sub(under_way))
    }

    /// Next packet worth repeating, if any; not one of [covered.0, covered.1).
    pub(super) fn find(&self, cache: &SendCache, covered: (u64, u64)) -> Option<u64> {
        if !self.may_repeat(cache) {
            return None;
        }
        let wanted = self.copies_wanted(cache.unacknowledged());
        let (first, next) = (cache.first(), cache.next());
        let start = self.cursor.clamp(first, next);
        let worth = |number: &u64| {
            !(covered.0..covered.1).contains(number)
                && cache.entry(*number).is_some_and(|e| !e.acknowledged && !e.queued && e.copies < wanted)
        };
        (start..next).find(worth).or_else(|| (first..start).find(worth))
    }

    /// Packet `number` is repeated: the search goes on behind it.
    pub(super) fn advance(&mut self, number: u64) {
        self.cursor = number + 1;
    }

    /// Remembers that [`Self::find`] finds nothing.
    pub(super) fn exhaust(&mut self) {
        self.exhausted = true;
    }

    /// True if [`Self::find`] may find something.
    pub(super) fn may_repeat(&self, cache: &SendCache) -> bool {
        !self.exhausted && self.lost_packets > 0 && cache.unacknowledged() > 0
    }
}

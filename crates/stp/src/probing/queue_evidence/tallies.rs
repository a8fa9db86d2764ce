//! Tallies: how often packets vanish, by the queue that they met.

use super::waits::Queue;

/// Packets after which all counts are halved: noise changes.
const MEMORY_PACKETS: u64 = 8192;
/// Losses without a queue from which on they have a share ...
pub(super) const KNOWN_LOSSES: u64 = 3;
/// ... and packets sent without one, fewer of which lost say that there is none.
const CLEAN_PACKETS: u64 = 300;
/// Packets sent without a queue, fewer of which are taken for as many.
const FEW_PACKETS: u64 = 100;
/// Losses between two POLLs that are explained by what is usual, at most: so many times that, and so many.
const USUAL_FACTOR: u64 = 2;
const USUAL_PACKETS: u64 = 2;
/// Percent of losses that no usable link has, counted over so many packets.
pub(super) const OVERLOAD_PERCENT: u64 = 20;
const OVERLOAD_PACKETS: u64 = 200;
const OVERLOAD_LOSSES: u64 = 8;
/// Losses directly behind another that chance explains, at most: so many times as many as it makes on
/// average.
const PAIR_FACTOR: u64 = 2;

/// Packets by the queue that they met.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    sent: u64,
    lost: u64,
}

impl Tally {
    fn is_overloaded(self) -> bool {
        self.lost * 100 >= self.sent * OVERLOAD_PERCENT
    }
}

/// Counts of late.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tallies {
    /// By [`Queue`].
    tallies: [Tally; 3],
    /// Order of the loss judged last, and losses directly behind another.
    last_lost: Option<u64>,
    pairs: u64,
    /// Losses with a short queue, without what exceeds a cluster.
    usual_losses: u64,
    /// Share of those when the last POLL was answered: what is judged now does not excuse itself.
    usual: Tally,
}

impl Tallies {
    /// Takes in packets that were sent, with the queue that they met.
    pub(super) fn sent(&mut self, queue: Queue, packets: u64) {
        self.tallies[queue as usize].sent += packets;
        self.age();
    }

    /// Takes in a lost packet of this order.
    pub(super) fn lost(&mut self, queue: Queue, order: u64) {
        self.tallies[queue as usize].lost += 1;
        self.pairs += u64::from(self.last_lost.is_some_and(|last| last + 1 == order));
        self.last_lost = Some(order);
    }

    /// Takes in a loss that counts for what is usual.
    pub(super) fn lost_as_usual(&mut self) {
        self.usual_losses += 1;
    }

    /// What is usual, from here on, is what was counted so far.
    pub(super) fn settle(&mut self) {
        self.usual = Tally { sent: self.short().sent.max(FEW_PACKETS), lost: self.usual_losses };
    }

    fn age(&mut self) {
        if self.tallies.iter().map(|tally| tally.sent).sum::<u64>() > MEMORY_PACKETS {
            for tally in &mut self.tallies {
                (tally.sent, tally.lost) = (tally.sent / 2, tally.lost / 2);
            }
            self.usual_losses /= 2;
            self.pairs /= 2;
        }
    }

    fn short(&self) -> Tally {
        self.tallies[Queue::Short as usize]
    }

    /// True if there is a share of losses without a queue.
    pub(super) fn are_known(&self) -> bool {
        self.usual.lost >= KNOWN_LOSSES
    }

    /// True if so much was sent without a queue that losses there would be known.
    pub(super) fn are_clean(&self) -> bool {
        self.short().sent >= CLEAN_PACKETS
    }

    /// Losses to be expected of so many packets without a queue.
    pub(super) fn usual_of(&self, sent: u64) -> u64 {
        sent * self.usual.lost / self.usual.sent.max(FEW_PACKETS)
    }

    /// True if what is usual explains so many losses.
    pub(super) fn explain(&self, lost: u64, sent: u64) -> bool {
        lost <= USUAL_FACTOR * self.usual_of(sent) + USUAL_PACKETS
    }

    /// True if so many vanish without a queue that it may be a queue as well.
    pub(super) fn are_heavy(&self) -> bool {
        self.short().lost >= KNOWN_LOSSES && self.short().is_overloaded()
    }

    /// True if more vanish without a queue than on any usable link.
    pub(super) fn are_overload(&self) -> bool {
        let short = self.short();
        short.lost >= OVERLOAD_LOSSES && short.sent >= OVERLOAD_PACKETS && short.is_overloaded()
    }

    /// True if packets vanish as often behind a lost one as behind any: that is how damage does it, while a
    /// full queue takes several.
    pub(super) fn are_one_by_one(&self) -> bool {
        let sum = |of: fn(&Tally) -> u64| self.tallies.iter().map(of).sum::<u64>();
        let (sent, lost) = (sum(|tally| tally.sent), sum(|tally| tally.lost));
        lost >= OVERLOAD_LOSSES && sent > 0 && self.pairs <= PAIR_FACTOR * lost * lost / sent + USUAL_PACKETS
    }

    /// True if packets vanish so many times as often with a long queue as with a short one.
    pub(super) fn exceed(&self, factor: u64) -> bool {
        let [short, _, long] = self.tallies;
        long.lost * short.sent.max(1) >= factor * short.lost * long.sent.max(1)
    }
}

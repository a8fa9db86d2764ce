//! Evidence of a queue around each lost packet: how long the POLLs before and behind it waited, beside the
//! longest and the shortest of late, and how often packets vanish with and without a queue
//! (`docs/spec/stp.md`, 13.2). Nothing but what the user is told goes by it.

mod bursts;
mod marks;
#[cfg(test)]
mod queue_evidence_tests;
mod tallies;
mod waits;

use skyhaul_core::{Instant, Verdict};

use bursts::Bursts;
use marks::{Marks, Stretch};
use tallies::{OVERLOAD_PERCENT, Tallies};
use waits::{Queue, Waits};

/// Losses between two POLLs are a cluster if they are more than so many, and so many times what is usual.
const CLUSTER_PACKETS: u64 = 6;
const CLUSTER_FACTOR: u64 = 3;
/// Factor by which the share of losses with a long queue exceeds that without, if the queue is to blame for a
/// cluster; and for a loss that is in no cluster.
const CLUSTER_EXCESS: u64 = 3;
const SINGLE_EXCESS: u64 = 6;

/// What the answers to POLLs tell of the queue on the way.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueEvidence {
    marks: Marks,
    bursts: Bursts,
    waits: Waits,
    tallies: Tallies,
    /// Time in which the path's queue empties, if its controller knows it to be a short one.
    short_queue_ns: Option<u64>,
    /// When others had a part of the path last, by its controller.
    shared_at: Option<Instant>,
    /// True if that was within a window.
    is_shared: bool,
}

impl QueueEvidence {
    /// Takes the delay of an answered POLL, up to a constant, before which `order` data packets had left.
    /// `rtt`: shortest round trip, and time of a packet at our rate, in ns.
    pub(crate) fn answered(&mut self, now: Instant, order: u64, delay_ns: i64, rtt: [u64; 2]) {
        let [rtt_min_ns, packet_ns] = rtt;
        self.waits.answered(now, delay_ns, rtt_min_ns, packet_ns);
        if let Some((last_order, last_delay_ns)) = self.marks.last() {
            if order < last_order {
                return;
            }
            let queue = self.waits.queue(last_delay_ns.max(delay_ns));
            self.tallies.sent(queue, order - last_order);
        }
        self.tallies.settle();
        self.marks.push(order, delay_ns);
    }

    /// Takes the delay of any answered POLL, one behind a train, too, up to the constant of the others.
    pub(crate) fn note_held(&mut self, delay_ns: i64) {
        self.waits.held(delay_ns);
    }

    /// Takes in that so many packets leave at once, from this order on.
    pub(crate) fn note_burst(&mut self, order: u64, packets: u64) {
        self.bursts.note(order, packets);
    }

    /// Takes what the path's controller knows: the time in which the queue empties, if it is a short one, and
    /// whether others have a part of the path. They come back: it holds for a window.
    pub(crate) fn note_path(&mut self, now: Instant, short_queue_ns: Option<u64>, is_shared: bool) {
        self.short_queue_ns = short_queue_ns;
        self.shared_at = if is_shared { Some(now) } else { self.shared_at };
        self.is_shared = self.shared_at.is_some_and(|at| now.since(at) < self.waits.window_ns());
    }

    /// Forgets everything: the path may be another one.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Counts a packet of this order as lost. All of a report are counted before the first is judged.
    pub(crate) fn count_lost(&mut self, order: u64) {
        self.marks.count_lost(order);
    }

    /// Verdict on a packet of this order that is lost and was counted; `None`: no POLL was answered yet.
    /// `in_passing`: what round trips say, as long as little is known.
    pub(crate) fn judge(&mut self, order: u64, in_passing: Verdict) -> Option<Verdict> {
        let stretch = self.marks.around(order)?;
        let queue = self.waits.queue(stretch.delay_ns);
        let clustered = self.is_cluster(stretch.lost, stretch.sent);
        let is_in_burst = self.bursts.contain(order);
        let is_hidden = self.hides_queue(stretch.delay_ns);
        let is_usual = !is_in_burst && !self.is_cluster(stretch.usual, stretch.sent);
        if queue == Queue::Short && is_usual && !is_hidden {
            self.tallies.lost_as_usual();
            self.marks.count_usual(order);
        }
        self.tallies.lost(queue, order);
        // No queue shows: on a short path, where a machine that is too slow loses packets, too, and to a
        // burst, which may have met one of its own, unless packets are known to vanish without one.
        let is_hidden_burst = is_in_burst && queue != Queue::Long && !self.tallies.are_known();
        if self.waits.are_short() || is_hidden_burst {
            return Some(Verdict::Unknown);
        }
        match self.verdict(queue, clustered, stretch) {
            Verdict::Unknown if queue == Queue::Long && !self.tallies.are_known() => Some(match in_passing {
                Verdict::Congestion => Verdict::Congestion,
                _ => Verdict::Unknown,
            }),
            Verdict::Corruption if is_hidden || self.is_doubtful(is_in_burst, stretch) => {
                Some(Verdict::Unknown)
            }
            verdict => Some(verdict),
        }
    }

    fn is_cluster(&self, lost: u64, sent: u64) -> bool {
        lost >= CLUSTER_PACKETS + CLUSTER_FACTOR * self.tallies.usual_of(sent)
    }

    /// True if so many vanished of so few that it may be a queue as well: of all that were sent without one,
    /// or of a burst beyond what is usual.
    fn is_doubtful(&self, is_in_burst: bool, stretch: Stretch) -> bool {
        self.tallies.are_heavy() || is_in_burst && !self.tallies.explain(stretch.lost, stretch.sent)
    }

    /// True if the queue may be full while no waiting is long: it is known to be too short to show, or the
    /// longest was no plain queue, packets vanish in rows, and others have a part of the path or the queue
    /// never held much more than what waits around a loss, `delay_ns`.
    fn hides_queue(&self, delay_ns: i64) -> bool {
        let is_short = self.short_queue_ns.is_some_and(|short_queue_ns| self.waits.hide(short_queue_ns));
        let may_be_full = self.is_shared || !self.waits.are_roomy(delay_ns);
        is_short || may_be_full && !self.waits.show_queue() && !self.tallies.are_one_by_one()
    }

    fn verdict(&self, queue: Queue, is_cluster: bool, stretch: Stretch) -> Verdict {
        let Stretch { lost, sent, .. } = stretch;
        if self.tallies.are_overload() {
            return Verdict::Congestion;
        }
        let is_known = self.tallies.are_known();
        match queue {
            // It may have come and gone between two POLLs.
            Queue::Short if is_cluster && lost * 100 >= sent * OVERLOAD_PERCENT => Verdict::Unknown,
            Queue::Short => Verdict::Corruption,
            Queue::Middling if is_known && !is_cluster => Verdict::Corruption,
            Queue::Long if is_cluster && self.tallies.exceed(CLUSTER_EXCESS) => Verdict::Congestion,
            Queue::Long if is_cluster => Verdict::Unknown,
            Queue::Long if !is_known && self.tallies.are_clean() => Verdict::Congestion,
            Queue::Long if is_known && self.tallies.exceed(SINGLE_EXCESS) => Verdict::Congestion,
            Queue::Long if is_known && self.tallies.explain(lost, sent) => Verdict::Corruption,
            Queue::Middling | Queue::Long => Verdict::Unknown,
        }
    }
}

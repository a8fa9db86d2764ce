//! Evidence of a queue around each lost packet: how long the POLLs before and behind it waited, beside the
//! longest and the shortest of late, and how often packets vanish with and without a queue
//! (`docs/spec/stp.md`, 13.2). Nothing but what the user is told goes by it.

use alloc::collections::VecDeque;

use skyhaul_core::{Instant, MS, SECOND, Verdict};

/// Answered POLLs remembered: several round trips of them.
const MAX_MARKS: usize = 64;
/// Time in which a path shows its longest and its shortest delay: over one such window at least, two at most.
const WINDOW_NS: u64 = 15 * SECOND;
const WINDOW_RTTS: u64 = 30;
/// Waiting that is no queue of anybody: three times the one that the path's controller aims at.
const NOISE_PART: u64 = 50;
const MIN_NOISE_NS: u64 = 2 * MS;
const MAX_NOISE_NS: u64 = 10 * MS;
const NOISE_PACKETS: u64 = 2;
/// A packet takes no more of a round trip: beside others our rate is lower than the path's.
const PACKET_PART: u64 = 100;
const NOISE_FACTOR: u64 = 3;
/// Packets after which both counts are halved: noise changes.
const MEMORY_PACKETS: u64 = 8192;
/// Losses without a queue from which on they have a share ...
const KNOWN_LOSSES: u64 = 3;
/// ... and packets sent without one, fewer of which lost say that there is none.
const CLEAN_PACKETS: u64 = 300;
/// Packets sent without a queue, fewer of which are taken for as many.
const FEW_PACKETS: u64 = 100;
/// Losses between two POLLs are a cluster if they are more than so many, and so many times what is usual.
const CLUSTER_PACKETS: u64 = 6;
const CLUSTER_FACTOR: u64 = 3;
/// Factor by which the share of losses with a long queue exceeds that without, if the queue is to blame for a
/// cluster; and for a loss that is in no cluster.
const CLUSTER_EXCESS: u64 = 3;
const SINGLE_EXCESS: u64 = 6;
/// Losses between two POLLs that are explained by what is usual, at most: so many times that, and so many.
const USUAL_FACTOR: u64 = 2;
const USUAL_PACKETS: u64 = 2;
/// Packets assumed between two POLLs of which the second is not answered yet, at least.
const ASSUMED_PACKETS: u64 = 40;
/// Percent of losses that no usable link has, counted over so many packets.
const OVERLOAD_PERCENT: u64 = 20;
const OVERLOAD_PACKETS: u64 = 200;
const OVERLOAD_LOSSES: u64 = 8;

/// Factor of what is no queue of anybody by which the longest exceeds it, if the queue of others shows: they
/// fill and empty it between two POLLs.
const SHOWN_FACTOR: u64 = 4;

/// Part of what the queue is known to have held that is as good as empty, ...
const ROOMY_PART: u64 = 2;
/// ... with so many packets more: what is shorter holds too little to be told from a full one.
const ROOMY_PACKETS: u64 = 2;

/// Losses directly behind another that chance explains, at most: so many times as many as it makes on
/// average.
const PAIR_FACTOR: u64 = 2;

/// Bursts remembered: trains are a round trip or 60 ms apart, and what is lost of one is told in the next.
const MAX_BURSTS: usize = 32;

/// POLL that was answered.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// Data transmissions before it.
    order: u64,
    delay_ns: i64,
    /// Losses found between it and the next one, and how far they reach.
    lost: u64,
    lost_to: u64,
    /// Those of them that count for what is usual.
    usual: u64,
}

/// Length of the queue, beside the longest of late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Queue {
    Short,
    Middling,
    Long,
}

/// Packets by the queue that they met.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    sent: u64,
    lost: u64,
}

/// Shortest and longest delay of a window.
#[derive(Clone, Copy, Debug)]
struct Range {
    min_ns: i64,
    max_ns: i64,
}

impl Range {
    fn with(self, delay_ns: i64) -> Self {
        Self { min_ns: self.min_ns.min(delay_ns), max_ns: self.max_ns.max(delay_ns) }
    }

    /// The longest waiting.
    fn longest_ns(self) -> u64 {
        self.max_ns.saturating_sub(self.min_ns).unsigned_abs()
    }
}

/// What the answers to POLLs tell of the queue on the way.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueEvidence {
    marks: VecDeque<Mark>,
    /// Packets that left at once, [first, end) of their order: they make a queue that no POLL around them
    /// meets.
    bursts: VecDeque<(u64, u64)>,
    since: Option<Instant>,
    previous: Option<Range>,
    current: Option<Range>,
    /// Longest delay of any POLL of late, of those behind a train, too: the queue has held that.
    deepest_ns: [Option<i64>; 2],
    rtt_min_ns: u64,
    noise_ns: u64,
    /// Time in which the path's queue empties, if its controller knows it to be a short one.
    short_queue_ns: Option<u64>,
    /// When others had a part of the path last, by its controller.
    shared_at: Option<Instant>,
    /// True if that was within a window.
    is_shared: bool,
    /// Time of a packet at the highest of our rates; 0: not known yet.
    packet_ns: u64,
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

impl QueueEvidence {
    /// Takes the delay of an answered POLL, up to a constant, before which `order` data packets had left.
    /// `packet_ns`: time of a packet at our rate.
    pub(crate) fn answered(&mut self, now: Instant, order: u64, delay_ns: i64, rtt: [u64; 2]) {
        let [rtt_min_ns, packet_ns] = rtt;
        self.rtt_min_ns = rtt_min_ns;
        let packet_ns = packet_ns.min(rtt_min_ns / PACKET_PART);
        self.packet_ns = if self.packet_ns == 0 { packet_ns } else { self.packet_ns.min(packet_ns) };
        let part_ns = (rtt_min_ns / NOISE_PART).clamp(MIN_NOISE_NS, MAX_NOISE_NS);
        self.noise_ns = NOISE_FACTOR.saturating_mul(part_ns.saturating_add(NOISE_PACKETS * self.packet_ns));
        self.turn_window(now);
        let here = Range { min_ns: delay_ns, max_ns: delay_ns };
        self.current = Some(self.current.map_or(here, |range| range.with(delay_ns)));
        if let Some(last) = self.marks.back().copied() {
            if order < last.order {
                return;
            }
            let sent = order - last.order;
            self.tallies[self.queue(last.delay_ns.max(delay_ns)) as usize].sent += sent;
            self.age();
        }
        if self.marks.len() == MAX_MARKS {
            self.marks.pop_front();
        }
        let short = self.tallies[Queue::Short as usize];
        self.usual = Tally { sent: short.sent.max(FEW_PACKETS), lost: self.usual_losses };
        self.marks.push_back(Mark { order, delay_ns, lost: 0, lost_to: 0, usual: 0 });
    }

    /// Takes the delay of any answered POLL, one behind a train, too, up to the constant of the others.
    pub(crate) fn note_held(&mut self, delay_ns: i64) {
        self.deepest_ns[0] = self.deepest_ns[0].max(Some(delay_ns));
    }

    /// Takes in that so many packets leave at once, from this order on.
    pub(crate) fn note_burst(&mut self, order: u64, packets: u64) {
        if let Some((_, end)) = self.bursts.back_mut().filter(|(_, end)| *end == order) {
            *end += packets;
            return;
        }
        if self.bursts.len() == MAX_BURSTS {
            self.bursts.pop_front();
        }
        self.bursts.push_back((order, order + packets));
    }

    fn is_in_burst(&self, order: u64) -> bool {
        self.bursts.iter().any(|&(first, end)| first <= order && order < end)
    }

    /// Takes what the path's controller knows: the time in which the queue empties, if it is a short one, and
    /// whether others have a part of the path. They come back: it holds for a window.
    pub(crate) fn note_path(&mut self, now: Instant, short_queue_ns: Option<u64>, is_shared: bool) {
        self.short_queue_ns = short_queue_ns;
        self.shared_at = if is_shared { Some(now) } else { self.shared_at };
        self.is_shared = self.shared_at.is_some_and(|at| now.since(at) < self.window_ns());
    }

    /// Forgets everything: the path may be another one.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    fn window_ns(&self) -> u64 {
        WINDOW_NS.max(WINDOW_RTTS.saturating_mul(self.rtt_min_ns))
    }

    fn turn_window(&mut self, now: Instant) {
        let since = *self.since.get_or_insert(now);
        if now.since(since) >= self.window_ns() {
            self.previous = self.current.take();
            self.deepest_ns = [None, self.deepest_ns[0]];
            self.since = Some(now);
        }
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

    fn range(&self) -> Option<Range> {
        match (self.previous, self.current) {
            (Some(a), Some(b)) => Some(a.with(b.min_ns).with(b.max_ns)),
            (a, b) => a.or(b),
        }
    }

    fn queue(&self, delay_ns: i64) -> Queue {
        let Some(range) = self.range() else { return Queue::Short };
        let waited_ns = delay_ns.saturating_sub(range.min_ns).unsigned_abs();
        let longest_ns = range.longest_ns();
        if waited_ns <= self.noise_ns || waited_ns < longest_ns / 2 {
            Queue::Short
        } else if waited_ns >= longest_ns / 4 * 3 {
            Queue::Long
        } else {
            Queue::Middling
        }
    }

    /// Index of the last mark that is not behind a packet of this order.
    fn before(&self, order: u64) -> Option<usize> {
        self.marks.partition_point(|mark| mark.order <= order).checked_sub(1)
    }

    /// Counts a packet of this order as lost. All of a report are counted before the first is judged.
    pub(crate) fn count_lost(&mut self, order: u64) {
        if let Some(mark) = self.before(order).and_then(|at| self.marks.get_mut(at)) {
            mark.lost += 1;
            mark.lost_to = mark.lost_to.max(order);
        }
    }

    /// Verdict on a packet of this order that is lost and was counted; `None`: no POLL was answered yet.
    /// `in_passing`: what round trips say, as long as little is known.
    pub(crate) fn judge(&mut self, order: u64, in_passing: Verdict) -> Option<Verdict> {
        let at = self.before(order);
        let before = at.and_then(|at| self.marks.get(at)).copied();
        let behind = self.marks.get(at.map_or(0, |at| at + 1)).copied();
        let delay_ns = before.iter().chain(&behind).map(|mark| mark.delay_ns).max()?;
        let lost = before.map_or(1, |mark| mark.lost);
        let reached = before.map_or(0, |mark| mark.lost_to.saturating_sub(mark.order) + 1);
        let sent = before.zip(behind).map_or(ASSUMED_PACKETS.max(reached), |(a, b)| b.order - a.order);
        let queue = self.queue(delay_ns);
        let is_cluster = |lost| lost >= CLUSTER_PACKETS + CLUSTER_FACTOR * self.usual_of(sent);
        let clustered = is_cluster(lost);
        let is_in_burst = self.is_in_burst(order);
        let is_hidden = self.hides_queue(delay_ns);
        let is_usual = !is_in_burst && !is_cluster(before.map_or(0, |mark| mark.usual));
        if queue == Queue::Short && is_usual && !is_hidden {
            self.usual_losses += 1;
            if let Some(mark) = at.and_then(|at| self.marks.get_mut(at)) {
                mark.usual += 1;
            }
        }
        self.tallies[queue as usize].lost += 1;
        self.pairs += u64::from(self.last_lost.is_some_and(|last| last + 1 == order));
        self.last_lost = Some(order);
        // No queue shows: on a short path, where a machine that is too slow loses packets, too, and to a
        // burst, which may have met one of its own, unless packets are known to vanish without one.
        let is_hidden_burst = is_in_burst && queue != Queue::Long && !self.is_known();
        if self.is_short() || is_hidden_burst {
            return Some(Verdict::Unknown);
        }
        match self.verdict(queue, clustered, lost, sent) {
            Verdict::Unknown if queue == Queue::Long && !self.is_known() => Some(match in_passing {
                Verdict::Congestion => Verdict::Congestion,
                _ => Verdict::Unknown,
            }),
            Verdict::Corruption if is_hidden || self.is_doubtful(is_in_burst, lost, sent) => {
                Some(Verdict::Unknown)
            }
            verdict => Some(verdict),
        }
    }

    /// True if so many vanished of so few that it may be a queue as well: of all that were sent without one,
    /// or of a burst beyond what is usual.
    fn is_doubtful(&self, is_in_burst: bool, lost: u64, sent: u64) -> bool {
        let short = self.tallies[Queue::Short as usize];
        let is_heavy = short.lost >= KNOWN_LOSSES && short.lost * 100 >= short.sent * OVERLOAD_PERCENT;
        is_heavy || is_in_burst && !self.is_usual(lost, sent)
    }

    /// True if what is usual explains so many losses.
    fn is_usual(&self, lost: u64, sent: u64) -> bool {
        lost <= USUAL_FACTOR * self.usual_of(sent) + USUAL_PACKETS
    }

    /// True if round trips are no longer than what is taken for no queue.
    fn is_short(&self) -> bool {
        self.rtt_min_ns <= NOISE_FACTOR * MIN_NOISE_NS
    }

    /// True if the queue may be full while no waiting is long: it is known to be too short to show, or the
    /// longest was no plain queue, packets vanish in rows, and others have a part of the path or the queue
    /// never held much more than what waits around a loss, `delay_ns`.
    fn hides_queue(&self, delay_ns: i64) -> bool {
        let shows = self.range().is_some_and(|range| range.longest_ns() > SHOWN_FACTOR * self.noise_ns);
        let is_short = self.short_queue_ns.is_some_and(|short_queue_ns| short_queue_ns <= self.noise_ns);
        let may_be_full = self.is_shared || !self.is_roomy(delay_ns);
        is_short || may_be_full && !shows && !self.is_one_by_one()
    }

    /// True if the queue is known to have held more than twice what waits at this delay; also where nobody
    /// looks for what it holds, as under a declared rate.
    fn is_roomy(&self, delay_ns: i64) -> bool {
        let deepest_ns = self.deepest_ns.into_iter().flatten().max();
        let Some((range, deepest_ns)) = self.range().zip(deepest_ns) else { return true };
        let waits_ns = |delay_ns: i64| delay_ns.saturating_sub(range.min_ns).max(0).unsigned_abs();
        (waits_ns(delay_ns) + ROOMY_PACKETS * self.packet_ns) * ROOMY_PART <= waits_ns(deepest_ns)
    }

    /// True if packets vanish as often behind a lost one as behind any: that is how damage does it, while a
    /// full queue takes several.
    fn is_one_by_one(&self) -> bool {
        let sum = |of: fn(&Tally) -> u64| self.tallies.iter().map(of).sum::<u64>();
        let (sent, lost) = (sum(|tally| tally.sent), sum(|tally| tally.lost));
        lost >= OVERLOAD_LOSSES && sent > 0 && self.pairs <= PAIR_FACTOR * lost * lost / sent + USUAL_PACKETS
    }

    /// True if there is a share of losses without a queue.
    fn is_known(&self) -> bool {
        self.usual.lost >= KNOWN_LOSSES
    }

    /// Losses to be expected of so many packets without a queue.
    fn usual_of(&self, sent: u64) -> u64 {
        sent * self.usual.lost / self.usual.sent.max(FEW_PACKETS)
    }

    fn verdict(&self, queue: Queue, is_cluster: bool, lost: u64, sent: u64) -> Verdict {
        let short = self.tallies[Queue::Short as usize];
        if short.lost >= OVERLOAD_LOSSES
            && short.sent >= OVERLOAD_PACKETS
            && short.lost * 100 >= short.sent * OVERLOAD_PERCENT
        {
            return Verdict::Congestion;
        }
        let is_known = self.is_known();
        match queue {
            // It may have come and gone between two POLLs.
            Queue::Short if is_cluster && lost * 100 >= sent * OVERLOAD_PERCENT => Verdict::Unknown,
            Queue::Short => Verdict::Corruption,
            Queue::Middling if is_known && !is_cluster => Verdict::Corruption,
            Queue::Long if is_cluster && self.exceeds(CLUSTER_EXCESS) => Verdict::Congestion,
            Queue::Long if is_cluster => Verdict::Unknown,
            Queue::Long if !is_known && short.sent >= CLEAN_PACKETS => Verdict::Congestion,
            Queue::Long if is_known && self.exceeds(SINGLE_EXCESS) => Verdict::Congestion,
            Queue::Long if is_known && self.is_usual(lost, sent) => Verdict::Corruption,
            Queue::Middling | Queue::Long => Verdict::Unknown,
        }
    }

    /// True if packets vanish so many times as often with a long queue as with a short one.
    fn exceeds(&self, factor: u64) -> bool {
        let [short, _, long] = self.tallies;
        long.lost * short.sent.max(1) >= factor * short.lost * long.sent.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evidence of a path of 550 ms and 10 Mbit/s, from POLL to POLL of which 17 packets leave.
    fn calm(polls: u64) -> QueueEvidence {
        let mut evidence = QueueEvidence::default();
        for poll in 0..polls {
            let now = Instant::from_ns((550 + 20 * poll) * MS);
            evidence.answered(now, 17 * poll, 275 * MS as i64, [550 * MS, 1_200_000]);
        }
        evidence.note_held(295 * MS as i64);
        evidence
    }

    fn judge(evidence: &mut QueueEvidence, orders: core::ops::Range<u64>) -> Verdict {
        orders.clone().for_each(|order| evidence.count_lost(order));
        let verdicts = orders.map(|order| evidence.judge(order, Verdict::Corruption).unwrap());
        let mut verdicts: alloc::vec::Vec<Verdict> = verdicts.collect();
        verdicts.dedup();
        assert_eq!(verdicts.len(), 1, "{verdicts:?}");
        verdicts[0]
    }

    #[test]
    fn what_a_burst_loses_in_a_queue_of_its_own_is_not_called_damage() {
        let mut evidence = calm(40);
        evidence.note_burst(340, 10);
        evidence.note_burst(350, 7);
        assert_eq!(judge(&mut evidence, 354..357), Verdict::Unknown);
        assert_eq!(judge(&mut evidence, 357..358), Verdict::Corruption, "behind it");
        // Nor is it taken for what is lost anyway, unlike that.
        assert_eq!(judge(&mut evidence, 400..401), Verdict::Corruption);
        assert_eq!(judge(&mut evidence, 450..451), Verdict::Corruption);
        evidence.answered(Instant::from_ns(2 * SECOND), 680, 275 * MS as i64, [550 * MS, 1_200_000]);
        evidence.note_burst(500, 20);
        assert_eq!(judge(&mut evidence, 505..506), Verdict::Corruption, "packets vanish without a queue");
        for first in 1000..1100 {
            evidence.note_burst(2 * first, 1);
        }
        assert_eq!(evidence.bursts.len(), MAX_BURSTS);
    }

    /// Losses of a path whose queue never exceeds 3 ms, of which others have a part, in rows of so many: a
    /// tenth of all. It is known to have held `held_ms`.
    fn beside_others(is_shared: bool, row: u64, held_ms: u64) -> Verdict {
        let mut evidence = QueueEvidence::default();
        evidence.note_held(((20 + held_ms) * MS) as i64);
        let mut last = Verdict::Outage;
        for poll in 0..60 {
            let now = Instant::from_ns((40 + 20 * poll) * MS);
            evidence.note_path(now, None, is_shared && poll == 40);
            let delay_ns = (20 * MS + poll % 4 * MS) as i64;
            evidence.answered(now, 10 * poll, delay_ns, [40 * MS, 600_000]);
            if poll > 0 && poll % row == 0 {
                last = judge(&mut evidence, 10 * poll - 5..10 * poll - 5 + row);
            }
        }
        last
    }

    #[test]
    fn rows_lost_beside_others_are_no_damage_where_their_queue_does_not_show() {
        assert_eq!(beside_others(true, 3, 20), Verdict::Unknown);
        assert_eq!(beside_others(true, 1, 20), Verdict::Corruption, "one by one, as damage does it");
        assert_eq!(beside_others(false, 3, 20), Verdict::Corruption, "nobody is there");
    }

    #[test]
    fn rows_lost_where_the_queue_never_held_much_more_are_no_damage() {
        assert_eq!(beside_others(false, 3, 3), Verdict::Unknown);
        assert_eq!(beside_others(false, 1, 3), Verdict::Corruption, "one by one");
    }

    #[test]
    fn a_fifth_of_the_first_packets_is_too_much_to_be_called_damage() {
        let mut evidence = calm(3);
        assert_eq!(judge(&mut evidence, 20..22), Verdict::Corruption);
        assert_eq!(judge(&mut evidence, 5..6), Verdict::Corruption);
        (0..4).for_each(|_| assert!(evidence.judge(25, Verdict::Corruption).is_some()));
        assert_eq!(judge(&mut evidence, 28..29), Verdict::Unknown);
    }

    #[test]
    fn of_a_burst_no_more_is_damage_than_is_usual() {
        let mut evidence = calm(20);
        for order in [10, 100, 200] {
            assert_eq!(judge(&mut evidence, order..order + 1), Verdict::Corruption);
        }
        evidence.answered(Instant::from_ns(SECOND), 340, 275 * MS as i64, [550 * MS, 1_200_000]);
        evidence.note_burst(340, 20);
        assert_eq!(judge(&mut evidence, 345..347), Verdict::Corruption);
        assert_eq!(judge(&mut evidence, 355..358), Verdict::Unknown);
    }
}

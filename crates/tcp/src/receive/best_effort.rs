//! Holes that a receiver gives up, and what is ready to be read behind them.

use alloc::collections::VecDeque;

use skyhaul_core::{Instant, OctetQueue};

/// Gaps that wait for the application, at most: while there are so many, no further hole is given up.
const MAX_WAITING: usize = 50;
/// Parts of the patience to which it is known when a hole showed.
const PARTS: u64 = 32;
/// Times kept at which holes showed, at most; of those between two of them the later one counts.
const MAX_SEEN: usize = 64;

/// Gap of a stream, as numbers [first, end), and what was put in sequence behind it.
#[derive(Clone, Debug)]
struct Behind {
    first: u64,
    end: u64,
    octets: OctetQueue,
}

/// Receiver's part of the best effort service. What a segment asks of it is cold: most connections have none.
#[derive(Clone, Debug)]
pub(super) struct BestEffort {
    patience_ns: u64,
    /// Numbers below which the peer is known to have sent all, and since when, both rising.
    seen: VecDeque<(u64, Instant)>,
    /// Gaps that the application was not told of, the lowest first.
    behind: VecDeque<Behind>,
}

impl BestEffort {
    pub(super) fn new(patience_ns: u64) -> Self {
        Self { patience_ns, seen: VecDeque::new(), behind: VecDeque::new() }
    }

    /// The peer is known to have sent everything below `end`, of which `next` is missing if that is lower.
    #[cold]
    pub(super) fn see(&mut self, next: u64, end: u64, now: Instant) {
        let passed = self.seen.partition_point(|&(end, _)| end <= next);
        self.seen.drain(..passed);
        let Some(&(highest, at)) = self.seen.back() else {
            if end > next {
                self.seen.push_back((end, now));
            }
            return;
        };
        if end <= highest {
            return;
        }
        if now.since(at) >= self.patience_ns / PARTS {
            if self.seen.len() >= MAX_SEEN {
                self.seen.pop_back(); // what it told of waits a little longer
            }
            self.seen.push_back((end, now));
        } else if let Some((highest, _)) = self.seen.back_mut() {
            *highest = end;
        }
    }

    /// Moment at which what is missing from `next` on is given up, and how far it is, at most.
    #[cold]
    pub(super) fn due(&self, next: u64) -> Option<(Instant, u64)> {
        let &(end, at) = self.seen.iter().find(|&&(end, _)| end > next)?;
        (self.behind.len() < MAX_WAITING).then(|| (at.after(self.patience_ns), end))
    }

    /// [first, end) is missing for good.
    pub(super) fn give_up(&mut self, first: u64, end: u64) {
        match self.behind.back_mut().filter(|last| last.end == first && last.octets.is_empty()) {
            Some(last) => last.end = end,
            None => self.behind.push_back(Behind { first, end, octets: OctetQueue::default() }),
        }
    }

    /// Where octets are put in sequence that come next; `None`: in front of all gaps.
    pub(super) fn last(&mut self) -> Option<&mut OctetQueue> {
        self.behind.back_mut().map(|last| &mut last.octets)
    }

    /// Number of the first octet that is missing for good and of which the application was not told.
    #[cold]
    pub(super) fn first_gap(&self) -> Option<u64> {
        self.behind.front().map(|behind| behind.first)
    }

    /// First gap and the octets behind it: the application is told.
    pub(super) fn take(&mut self) -> Option<((u64, u64), OctetQueue)> {
        self.behind.pop_front().map(|Behind { first, end, octets }| ((first, end), octets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE_NS: u64 = 3200;

    fn at(ns: u64) -> Instant {
        Instant::from_ns(ns)
    }

    #[test]
    fn each_hole_has_its_patience_from_when_it_showed() {
        let mut holes = BestEffort::new(PATIENCE_NS);
        holes.see(10, 10, at(0));
        assert_eq!(holes.due(10), None);
        holes.see(10, 20, at(100));
        holes.see(10, 30, at(150));
        holes.see(10, 40, at(1000));
        assert_eq!(holes.due(10), Some((at(3300), 30)));
        assert_eq!(holes.due(25), Some((at(3300), 30)), "near enough");
        assert_eq!(holes.due(30), Some((at(4200), 40)));
        assert_eq!(holes.due(40), None);
        holes.see(40, 40, at(1100));
        assert!(holes.seen.is_empty());
    }

    #[test]
    fn however_long_it_takes_few_times_are_kept_and_no_hole_is_given_up_too_soon() {
        let mut holes = BestEffort::new(PATIENCE_NS);
        for n in 0..1000 {
            holes.see(0, n + 1, at(100 * n));
        }
        assert!(holes.seen.len() <= MAX_SEEN);
        for next in 0..1000 {
            let showed_ns = 100 * next;
            assert!(
                holes.due(next).unwrap().0 >= at(showed_ns + PATIENCE_NS - PATIENCE_NS / PARTS),
                "{next}"
            );
        }
    }

    #[test]
    fn gaps_that_nobody_takes_are_bounded_and_those_side_by_side_are_one() {
        let mut holes = BestEffort::new(PATIENCE_NS);
        holes.give_up(10, 20);
        holes.give_up(20, 25);
        assert_eq!(holes.take().map(|(gap, _)| gap), Some((10, 25)));
        holes.see(100, 10_000, at(0));
        for n in 0..MAX_WAITING as u64 {
            assert!(holes.due(100).is_some());
            holes.give_up(100 + 2 * n, 101 + 2 * n);
        }
        assert_eq!(holes.due(100), None);
        holes.take();
        assert!(holes.due(100).is_some());
    }
}

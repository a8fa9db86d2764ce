//! Marks: POLLs that were answered, and what was lost between them.

use alloc::collections::VecDeque;

/// Answered POLLs remembered: several round trips of them.
const MAX_MARKS: usize = 64;
/// Packets assumed between two POLLs of which the second is not answered yet, at least.
const ASSUMED_PACKETS: u64 = 40;

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

/// Stretch of packets between two marks, around a lost one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    /// Longer delay of the two, up to a constant, in ns.
    pub(super) delay_ns: i64,
    /// Packets that were sent, or are assumed.
    pub(super) sent: u64,
    pub(super) lost: u64,
    /// Those of them that count for what is usual.
    pub(super) usual: u64,
}

/// Marks of late.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    marks: VecDeque<Mark>,
}

impl Marks {
    /// Order and delay of the last one.
    pub(super) fn last(&self) -> Option<(u64, i64)> {
        self.marks.back().map(|mark| (mark.order, mark.delay_ns))
    }

    /// Takes in one that is not before the last.
    pub(super) fn push(&mut self, order: u64, delay_ns: i64) {
        if self.marks.len() == MAX_MARKS {
            self.marks.pop_front();
        }
        self.marks.push_back(Mark { order, delay_ns, lost: 0, lost_to: 0, usual: 0 });
    }

    /// Counts a packet of this order as lost.
    pub(super) fn count_lost(&mut self, order: u64) {
        if let Some(mark) = self.before_mut(order) {
            mark.lost += 1;
            mark.lost_to = mark.lost_to.max(order);
        }
    }

    /// Takes in that a lost packet of this order counts for what is usual.
    pub(super) fn count_usual(&mut self, order: u64) {
        if let Some(mark) = self.before_mut(order) {
            mark.usual += 1;
        }
    }

    /// Stretch around a packet of this order; `None`: there is no mark beside it.
    pub(super) fn around(&self, order: u64) -> Option<Stretch> {
        let at = self.before(order);
        let before = at.and_then(|at| self.marks.get(at));
        let behind = self.marks.get(at.map_or(0, |at| at + 1));
        let reached = before.map_or(0, |mark| mark.lost_to.saturating_sub(mark.order) + 1);
        Some(Stretch {
            delay_ns: before.iter().chain(&behind).map(|mark| mark.delay_ns).max()?,
            sent: before.zip(behind).map_or(ASSUMED_PACKETS.max(reached), |(a, b)| b.order - a.order),
            lost: before.map_or(1, |mark| mark.lost),
            usual: before.map_or(0, |mark| mark.usual),
        })
    }

    /// Index of the last mark that is not behind a packet of this order.
    fn before(&self, order: u64) -> Option<usize> {
        self.marks.partition_point(|mark| mark.order <= order).checked_sub(1)
    }

    fn before_mut(&mut self, order: u64) -> Option<&mut Mark> {
        self.before(order).and_then(|at| self.marks.get_mut(at))
    }
}

//! Losses found by the time of sending: RACK [RFC 8985 6]. A segment is lost if one that left later has
//! arrived, and there was time for reordering. That holds for repeats, too, so nothing but the loss of
//! everything waits for the retransmission timer. Names are those of the RFC.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use skyhaul_core::event::Repeat;
use skyhaul_core::{Instant, RangeSet};

use super::Scoreboard;
use super::scoreboard::DUPLICATE_THRESHOLD;
use super::suspects::{Doubt, Settled, Suspects};
use crate::sequence::{TimestampClock, is_earlier};

/// Bound of segments remembered; beyond, the last one stands for those that follow it.
const MAX_SEGMENTS: usize = 1 << 16;
/// Segments for which room is kept while nothing is under way.
const IDLE_SEGMENTS: usize = 16;
/// Recoveries without a duplicate after which the reordering window is small again (`reo_wnd_persist`).
const PERSIST_RECOVERIES: u32 = 16;
/// Largest multiple of a quarter of the round trip; the smoothed one is the bound that counts.
const MAX_REO_WND_MULT: u64 = 255;

/// Segment that is not acknowledged, as it left last.
#[derive(Clone, Copy, Debug)]
struct Sent {
    first: u64,
    end: u64,
    sent_at: Instant,
    /// Place in the order of leaving: tells apart what left at the same moment.
    serial: u64,
    is_repeat: bool,
    is_delivered: bool,
}

/// Acknowledgement, as RACK sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) now: Instant,
    /// Our clock, as the timestamp of what is answered shows it. Only of what is acknowledged in sequence:
    /// blocks come with that of the last segment in sequence [RFC 7323 4.3].
    pub(super) echo: Option<u32>,
    pub(super) clock: TimestampClock,
}

/// State of the connection that the reordering window depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Situation {
    pub(super) now: Instant,
    /// Everything below is acknowledged.
    pub(super) una: u64,
    pub(super) srtt_ns: u64,
    /// Fast recovery goes on, or that of a timeout.
    pub(super) in_recovery: bool,
    /// What is asked for may have been overtaken alone: it is no loss before it had the time to come.
    pub(super) doubts_requests: bool,
}

/// Losses that an acknowledgement or a timer has shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) bytes: u64,
    /// A repeat is among them.
    pub(super) has_repeat: bool,
    /// Place in the order of leaving of the one that left last; 0 if there is none.
    newest: u64,
}

impl Found {
    /// Both together.
    pub(super) fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.has_repeat |= other.has_repeat;
        self.newest = self.newest.max(other.newest);
    }
}

/// Segments that a timeout shows to be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Late {
    /// The oldest, and all that left as long ago [RFC 8985 6.3].
    All,
    /// The oldest alone.
    Oldest,
}

/// Adaptation of the reordering window to needless repeats [RFC 8985 6.2, step 4].
#[derive(Clone, Copy, Debug)]
struct ReorderingWindow {
    /// `reo_wnd_mult`: quarters of the shortest round trip.
    mult: u64,
    /// `reo_wnd_persist`.
    persist: u32,
    /// `dsack_round`: further duplicates count once this is acknowledged.
    dsack_round: Option<u64>,
}

/// Times of sending of what is under way, and what is lost of it.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// In the order of numbers.
    segments: VecDeque<Sent>,
    /// Serial and first number, in the order of leaving; what was delivered or left again meanwhile counts
    /// no more. What is lost is not in it.
    order: VecDeque<(u64, u64)>,
    next_serial: u64,
    /// Lost, and not sent again. Never overlaps what the scoreboard has.
    lost: RangeSet,
    lost_bytes: u64,
    /// Serial of what left last of that which arrived (`RACK.segment`).
    latest: Option<u64>,
    /// `RACK.rtt`.
    rtt_ns: u64,
    /// `RACK.min_RTT`.
    min_rtt_ns: Option<u64>,
    /// `RACK.fack`: highest end that arrived.
    fack: u64,
    /// `RACK.reordering_seen`.
    reordering_seen: bool,
    /// `RACK.segs_sacked`.
    sacked_segments: u64,
    window: ReorderingWindow,
    /// Reordering timer.
    due: Option<Instant>,
    /// The first that is lost goes at once, whatever the window.
    is_due: bool,
    /// A timeout marked what is lost below this number.
    timed_out_to: u64,
    /// Serial of what had left last when a repair began.
    repairs_to: u64,
    /// Asked for after its last copy had the time to arrive, and too soon to go again.
    asked: RangeSet,
    /// Asked for once, and perhaps overtaken alone.
    suspects: Suspects,
}

impl Rack {
    pub(super) fn new() -> Self {
        Self {
            segments: VecDeque::new(),
            order: VecDeque::new(),
            next_serial: 0,
            lost: RangeSet::new(),
            lost_bytes: 0,
            latest: None,
            rtt_ns: 0,
            min_rtt_ns: None,
            fack: 0,
            reordering_seen: false,
            sacked_segments: 0,
            window: ReorderingWindow { mult: 1, persist: 0, dsack_round: None },
            due: None,
            is_due: false,
            timed_out_to: 0,
            repairs_to: 0,
            asked: RangeSet::new(),
            suspects: Suspects::default(),
        }
    }

    /// Bytes that are lost and were not sent again.
    pub(super) fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    /// Moment at which the reordering timer runs out, if it runs.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due.into_iter().chain(self.suspects.due()).min()
    }

    /// True if the first that is lost goes at once, whatever the window.
    pub(super) fn is_repeat_due(&self) -> bool {
        self.is_due && self.lost_bytes > 0
    }

    /// Lowest range that is lost and was not sent again, and why it goes again.
    pub(super) fn first_lost(&self) -> Option<(u64, u64, Repeat)> {
        let (first, end) = self.lost.iter().next()?;
        let why = if first < self.timed_out_to { Repeat::Timer } else { Repeat::Recovery };
        Some((first, end, why))
    }

    /// Segment with the highest number.
    pub(super) fn last(&self) -> Option<(u64, u64)> {
        self.segments.back().map(|sent| (sent.first, sent.end))
    }

    /// End of the segment with this number.
    pub(super) fn segment_end(&self, number: u64) -> Option<u64> {
        self.at(number).map(|sent| sent.end)
    }

    /// True if what begins at `number` was sent more than once.
    pub(super) fn is_repeated(&self, number: u64) -> bool {
        self.at(number).is_some_and(|sent| sent.is_repeat)
    }

    /// Place in the order of leaving of what left last.
    pub(super) fn left_last(&self) -> u64 {
        self.next_serial
    }

    /// True if something arrived that left `segments` or more behind the `serial`-th one.
    pub(super) fn is_overtaken(&self, serial: u64, segments: u64) -> bool {
        self.latest.is_some_and(|latest| latest >= serial + segments)
    }

    /// True if something of [first, end) was found lost, whether or not it was sent again.
    pub(super) fn was_lost(&self, first: u64, end: u64) -> bool {
        self.lost_segments().any(|(from, to)| from < end && first < to)
    }

    /// Segments that were found lost and have not arrived, sent again or not.
    pub(super) fn lost_segments(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let is_lost = |sent: &&Sent| sent.is_repeat || self.lost.contains(sent.first);
        let missing = self.segments.iter().filter(|sent| !sent.is_delivered);
        missing.filter(is_lost).map(|sent| (sent.first, sent.end))
    }

    /// [first, end) leaves, for the first time or again [RFC 8985 6.1].
    pub(super) fn on_sent(&mut self, now: Instant, (first, end): (u64, u64), is_repeat: bool) {
        self.lose_nothing_of(first, end);
        self.is_due &= !is_repeat;
        let known_to = self.segments.back().map_or(first, |last| last.end);
        if first < known_to {
            self.send_again(now, (first, end));
        }
        if end > known_to {
            self.push(now, (first.max(known_to), end), is_repeat);
        }
    }

    fn push(&mut self, now: Instant, (first, end): (u64, u64), is_repeat: bool) {
        let serial = self.take_serial();
        let is_full = self.segments.len() >= MAX_SEGMENTS;
        let sent = Sent { first, end, sent_at: now, serial, is_repeat, is_delivered: false };
        match self.segments.back_mut().filter(|_| is_full) {
            Some(last) => *last = Sent { first: last.first, is_repeat: last.is_repeat || is_repeat, ..sent },
            None => self.segments.push_back(sent),
        }
        let first = self.segments.back().map_or(first, |last| last.first);
        self.order.push_back((serial, first));
        if self.order.len() > 2 * self.segments.len() + IDLE_SEGMENTS {
            self.put_in_order();
        }
    }

    fn send_again(&mut self, now: Instant, (first, end): (u64, u64)) {
        if self.split(first) | self.split(end) {
            self.put_in_order();
        }
        let from = self.segments.partition_point(|sent| sent.end <= first);
        for at in from..self.segments.len() {
            let Sent { first: begin, is_delivered, .. } = self.segments[at];
            if begin >= end {
                break;
            }
            if !is_delivered {
                let serial = self.take_serial();
                let sent = &mut self.segments[at];
                (sent.sent_at, sent.serial, sent.is_repeat) = (now, serial, true);
                self.order.push_back((serial, begin));
            }
        }
    }

    fn take_serial(&mut self) -> u64 {
        self.next_serial += 1;
        self.next_serial
    }

    /// Makes `number` the begin of a segment; true if one was cut.
    fn split(&mut self, number: u64) -> bool {
        let at = self.segments.partition_point(|sent| sent.end <= number);
        let Some(lower) = self.segments.get_mut(at).filter(|sent| sent.first < number) else { return false };
        let upper = Sent { first: number, ..*lower };
        lower.end = number;
        self.sacked_segments += u64::from(upper.is_delivered);
        self.segments.insert(at + 1, upper);
        true
    }

    /// Makes the order of leaving anew.
    fn put_in_order(&mut self) {
        let waiting = |sent: &&Sent| !sent.is_delivered && !self.lost.contains(sent.first);
        let mut order: Vec<_> =
            self.segments.iter().filter(waiting).map(|sent| (sent.serial, sent.first)).collect();
        order.sort_unstable();
        self.order = order.into();
    }

    fn at(&self, number: u64) -> Option<&Sent> {
        if self.segments.front().is_none_or(|lowest| number < lowest.first) {
            return None;
        }
        let at = self.segments.partition_point(|sent| sent.end <= number);
        self.segments.get(at).filter(|sent| sent.first <= number)
    }

    /// Everything from `una` to `acknowledgement` arrived, as far as it was not known to have, and is
    /// forgotten [RFC 8985 6.2, steps 1 to 3].
    pub(super) fn on_acknowledged(&mut self, (una, acknowledgement): (u64, u64), arrival: &Arrival) {
        self.lose_nothing_of(una, acknowledgement);
        self.forget_until(acknowledgement, |rack, sent| rack.learn(sent, arrival));
    }

    /// Everything below `una` is given up.
    pub(super) fn forget_below(&mut self, una: u64) {
        self.lose_nothing_below(una);
        self.suspects.forget_below(una);
        self.forget_until(una, |_, _| ());
    }

    /// Forgets what ends by `number`, and tells of what is not known to have arrived.
    #[inline]
    fn forget_until(&mut self, number: u64, mut tell: impl FnMut(&mut Self, &Sent)) {
        while let Some(&sent) = self.segments.front().filter(|sent| sent.end <= number) {
            if sent.is_delivered {
                self.sacked_segments -= 1;
            } else {
                tell(self, &sent);
            }
            self.segments.pop_front();
        }
        if self.segments.is_empty() {
            self.order.clear();
            if self.segments.capacity() > IDLE_SEGMENTS {
                (self.segments, self.order) = (VecDeque::new(), VecDeque::new());
            }
        }
    }

    /// [first, end) arrived, as an acknowledgement tells that has told nothing higher before [RFC 8985 6.2,
    /// steps 1 to 3]. A segment counts when its last number did.
    pub(super) fn on_delivered(&mut self, (first, end): (u64, u64), arrival: &Arrival) {
        self.lose_nothing_of(first, end);
        let from = self.segments.partition_point(|sent| sent.end <= first);
        for at in from..self.segments.len() {
            let sent = self.segments[at];
            if sent.end > end {
                break;
            }
            if !sent.is_delivered {
                self.segments[at].is_delivered = true;
                self.sacked_segments += 1;
                self.learn(&sent, arrival);
            }
        }
    }

    fn learn(&mut self, sent: &Sent, arrival: &Arrival) {
        if sent.end > self.fack {
            self.fack = sent.end;
        } else if sent.end < self.fack && !sent.is_repeat {
            self.reordering_seen = true;
        }
        let rtt_ns = arrival.now.since(sent.sent_at);
        if !sent.is_repeat {
            self.min_rtt_ns = Some(self.min_rtt_ns.map_or(rtt_ns, |min_ns| min_ns.min(rtt_ns)));
        } else if self.answers_an_earlier_one(sent, rtt_ns, arrival) {
            return;
        }
        self.rtt_ns = rtt_ns;
        self.latest = self.latest.max(Some(sent.serial));
    }

    fn answers_an_earlier_one(&self, sent: &Sent, rtt_ns: u64, arrival: &Arrival) -> bool {
        arrival.echo.is_some_and(|echo| is_earlier(echo, arrival.clock.value(sent.sent_at)))
            || self.min_rtt_ns.is_some_and(|min_ns| rtt_ns < min_ns)
    }

    /// Everything below `una` is acknowledged, and counts no longer as under way.
    pub(super) fn lose_nothing_below(&mut self, una: u64) {
        self.lose_nothing_of(0, una);
    }

    /// [first, end) is not lost, or goes again. Mostly nothing is lost at all, and costs nothing.
    fn lose_nothing_of(&mut self, first: u64, end: u64) {
        if !self.asked.is_empty() {
            self.asked.remove_range(first, end);
        }
        if self.lost_bytes > 0 {
            self.lost_bytes -= self.lost.remove_range(first, end);
        }
    }

    /// A duplicate arrived at the peer, which has told it (DSACK), with `nxt` the next number to send
    /// [RFC 8985 6.2, step 4].
    pub(super) fn on_duplicate_reported(&mut self, nxt: u64) {
        if self.window.dsack_round.is_none() {
            self.window = ReorderingWindow {
                mult: (self.window.mult + 1).min(MAX_REO_WND_MULT),
                persist: PERSIST_RECOVERIES,
                dsack_round: Some(nxt),
            };
        }
    }

    /// A recovery is over.
    pub(super) fn on_recovered(&mut self) {
        self.window.persist = self.window.persist.saturating_sub(1);
        if self.window.persist == 0 {
            self.window.mult = 1;
        }
    }

    fn reo_wnd_ns(&self, situation: &Situation) -> u64 {
        let is_clear = situation.in_recovery || self.sacked_segments >= DUPLICATE_THRESHOLD;
        if !self.reordering_seen && is_clear {
            return 0;
        }
        self.full_reo_wnd_ns(situation.srtt_ns)
    }

    fn full_reo_wnd_ns(&self, srtt_ns: u64) -> u64 {
        (self.window.mult * self.min_rtt_ns.unwrap_or(0) / 4).min(srtt_ns)
    }

    /// Finds what is lost, and sets the timer for what may be [RFC 8985 6.2, step 5].
    pub(super) fn detect(&mut self, board: &Scoreboard, situation: &Situation) -> Found {
        self.window.dsack_round = self.window.dsack_round.filter(|&round| situation.una < round);
        self.due = None;
        let Some(latest) = self.latest else { return Found::default() };
        let patience_ns = self.rtt_ns.saturating_add(self.reo_wnd_ns(situation));
        let mut found = Found::default();
        while let Some(&(serial, first)) = self.order.front().filter(|&&(serial, _)| serial < latest) {
            match self.waiting(serial, first).copied() {
                Some(sent) if sent.sent_at.after(patience_ns) > situation.now => break,
                Some(sent) => self.lose(&sent, board, situation.una, &mut found),
                None => {}
            }
            self.order.pop_front();
        }
        if self.order.front().is_some_and(|&(serial, _)| serial < latest) {
            let candidates = self.order.partition_point(|&(serial, _)| serial < latest);
            let mut later = self.order.range(..candidates).rev();
            let last = later.find_map(|&(serial, first)| self.waiting(serial, first));
            self.due = last.map(|sent| sent.sent_at.after(patience_ns));
        }
        if found.bytes > 0 {
            self.timed_out_to = 0;
        }
        found
    }

    /// Segment that left as the `serial`-th one, if that is neither delivered nor sent again.
    fn waiting(&self, serial: u64, first: u64) -> Option<&Sent> {
        self.at(first).filter(|sent| sent.serial == serial && !sent.is_delivered)
    }

    /// The peer asks for [first, end), which is not known to have arrived, and both ends of which it may have
    /// moved out by less than `block_bytes`: segments that are touched by less than that have not been asked
    /// for if others lie within as a whole. What went again within the last `bar_ns` does not so once more
    /// before that has passed; it does then, if its copy had the time to arrive before the peer asked.
    pub(super) fn on_request(
        &mut self,
        (first, end): (u64, u64),
        (block_bytes, bar_ns): (u64, u64),
        board: &Scoreboard,
        situation: &Situation,
    ) -> Found {
        let mut found = Found::default();
        let from = self.segments.partition_point(|sent| sent.end <= first);
        let is_whole = |sent: &Sent| first <= sent.first && sent.end <= end;
        let has_whole = self.segments.iter().skip(from).take(2).any(is_whole);
        for at in from..self.segments.len() {
            let sent = self.segments[at];
            if sent.first >= end {
                break;
            }
            let touched_bytes = sent.end.min(end) - sent.first.max(first);
            if has_whole && !is_whole(&sent) && touched_bytes < block_bytes {
                continue;
            }
            self.sacked_segments -= u64::from(core::mem::take(&mut self.segments[at].is_delivered));
            let part = Sent { first: sent.first.max(first), end: sent.end.min(end), ..sent };
            let may_at = sent.sent_at.after(bar_ns);
            if sent.is_repeat && may_at <= situation.now {
                self.lose(&part, board, situation.una, &mut found);
            } else if !sent.is_repeat {
                let mut loss = Found::default();
                self.lose(&part, board, situation.una, &mut loss);
                if loss.bytes > 0 && situation.doubts_requests {
                    self.timed_out_to = 0;
                    loss = self.suspects.add((part.first, part.end), loss, situation.now);
                }
                found.add(loss);
            } else if self.min_rtt_ns.is_some_and(|min_ns| sent.sent_at.after(min_ns) <= situation.now) {
                self.asked.insert_range(part.first, part.end);
                self.due = Some(self.due.map_or(may_at, |due| due.min(may_at)));
            }
        }
        if found.bytes > 0 {
            self.timed_out_to = 0;
        }
        found
    }

    /// What was asked for too soon goes again as soon as it may, if something arrived that left after its
    /// copy, or nothing left after that: else the request may be older than the copy's arrival, of which the
    /// next acknowledgement tells. That has `patience_ns` to come.
    pub(super) fn on_request_due(
        &mut self,
        (bar_ns, patience_ns): (u64, u64),
        board: &Scoreboard,
        situation: &Situation,
    ) -> Found {
        let (asked, mut all) = (core::mem::take(&mut self.asked), Found::default());
        self.due = None;
        for (first, end) in asked.iter() {
            let from = self.segments.partition_point(|sent| sent.end <= first);
            for index in from..self.segments.len() {
                let sent = self.segments[index];
                if sent.first >= end {
                    break;
                }
                let part = (sent.first.max(first), sent.end.min(end));
                let is_shown = self.is_overtaken(sent.serial, 1) || sent.serial == self.left_last();
                let wait_ns = if is_shown { bar_ns } else { bar_ns.saturating_add(patience_ns) };
                let at = sent.sent_at.after(wait_ns);
                if at <= situation.now {
                    all.add(self.on_request(part, (0, bar_ns), board, situation));
                } else {
                    self.due = Some(self.due.map_or(at, |due| due.min(at)));
                    self.asked.insert_range(part.0, part.1);
                }
            }
        }
        all
    }

    /// Decides on what was asked for and may have been overtaken alone. The time that it has to come is the
    /// reordering window, which grows with each error, once a round trip [RFC 8985 6.2, step 4]. No repeat
    /// is answered within `rtt_min_ns`.
    pub(super) fn settle(
        &mut self,
        rtt_min_ns: Option<u64>,
        board: &Scoreboard,
        situation: &Situation,
    ) -> Settled {
        if self.suspects.is_empty() {
            return Settled::default();
        }
        let &Situation { now, una, srtt_ns, .. } = situation;
        self.window.dsack_round = self.window.dsack_round.filter(|&round| una < round);
        let patience_ns = if self.reordering_seen { self.full_reo_wnd_ns(srtt_ns) } else { 0 };
        let rtt_min_ns = rtt_min_ns.into_iter().chain(self.min_rtt_ns).min().unwrap_or(0);
        let settled = self.suspects.settle(board, &Doubt { now, una, patience_ns, rtt_min_ns });
        self.reordering_seen |= settled.is_overtaken;
        if settled.has_erred {
            self.on_duplicate_reported(self.segments.back().map_or(una, |last| last.end));
        }
        settled
    }

    /// True if something was asked for too soon.
    pub(super) fn has_early_requests(&self) -> bool {
        !self.asked.is_empty()
    }

    fn lose(&mut self, sent: &Sent, board: &Scoreboard, una: u64, found: &mut Found) {
        let before_bytes = self.lost_bytes;
        for (first, end) in board.unknown(sent.first.max(una), sent.end) {
            self.lost_bytes += self.lost.gaps(first, end).map(|(first, end)| end - first).sum::<u64>();
            self.lost.insert_range(first, end);
        }
        let newly = self.lost_bytes - before_bytes;
        if newly > 0 {
            found.add(Found { bytes: newly, has_repeat: sent.is_repeat, newest: sent.serial });
        }
    }

    /// The retransmission timer ran out: the oldest segment is lost, and what else is `late`.
    pub(super) fn on_timeout(
        &mut self,
        board: &Scoreboard,
        max: u64,
        late: Late,
        situation: &Situation,
    ) -> Found {
        let patience_ns = self.rtt_ns.saturating_add(self.reo_wnd_ns(situation));
        let mut found = Found::default();
        for at in 0..self.segments.len() {
            let sent = self.segments[at];
            let is_old = late == Late::All && sent.sent_at.after(patience_ns) <= situation.now;
            let is_late = sent.first <= situation.una || is_old;
            if !sent.is_delivered && is_late {
                self.lose(&sent, board, situation.una, &mut found);
            }
        }
        (self.timed_out_to, self.is_due, self.due) = (max, true, None);
        self.asked = RangeSet::new();
        self.suspects.clear();
        self.put_in_order();
        found
    }

    /// Place in the order of leaving of the segment with this number; `None`: it has arrived.
    pub(super) fn left_as(&self, number: u64) -> Option<u64> {
        self.at(number).filter(|sent| !sent.is_delivered).map(|sent| sent.serial)
    }

    /// Everything that left as the `serial`-th segment or behind it is lost, as far as it has not arrived.
    pub(super) fn lose_since(&mut self, serial: u64, board: &Scoreboard, una: u64) {
        let mut found = Found::default();
        for at in 0..self.segments.len() {
            let sent = self.segments[at];
            if sent.serial >= serial && !sent.is_delivered {
                self.lose(&sent, board, una, &mut found);
            }
        }
        (self.timed_out_to, self.is_due, self.due) = (0, true, None);
        self.asked = RangeSet::new();
        self.suspects.clear();
        self.put_in_order();
    }

    /// A repair begins: its first repeat goes at once.
    pub(super) fn begin_repair(&mut self) {
        self.is_due = true;
        self.repairs_to = self.next_serial;
    }

    /// True if something of this left after the last repair had begun: another window of data.
    pub(super) fn is_beyond_repair(&self, found: &Found) -> bool {
        found.newest > self.repairs_to
    }

    /// Nothing was lost after all [RFC 4015]: what is missing may be under way.
    pub(super) fn forgive(&mut self) {
        (self.lost, self.lost_bytes) = (RangeSet::new(), 0);
        self.suspects.take_back();
        self.put_in_order();
    }

    /// Everything is sent anew, from the oldest on.
    pub(super) fn clear(&mut self) {
        let Self { next_serial, min_rtt_ns, fack, reordering_seen, window, .. } = *self;
        *self = Self { next_serial, min_rtt_ns, fack, reordering_seen, window, ..Self::new() };
    }

    /// What a repair began for was no loss.
    pub(super) fn take_back(&mut self) {
        self.suspects.take_back();
    }

    /// Panics where its parts disagree, in debug builds.
    pub(super) fn check_invariants(&self, board: &Scoreboard, una: u64, nxt: u64) {
        debug_assert!(
            self.lost.iter().all(|(first, end)| una <= first && end <= nxt),
            "{:?} at {una}, {nxt}",
            self.lost
        );
        let is_missing = |(first, end)| board.unknown(first, end).eq([(first, end)]);
        debug_assert!(self.lost.iter().all(is_missing), "lost and arrived: {:?}, {board:?}", self.lost);
        let lost_bytes: u64 = self.lost.iter().map(|(first, end)| end - first).sum();
        debug_assert_eq!(self.lost_bytes, lost_bytes);
    }
}

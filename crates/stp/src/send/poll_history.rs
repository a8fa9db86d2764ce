//! POLLs under way: their timestamps on the wire, and what had been sent before each.

use alloc::collections::VecDeque;

use skyhaul_core::{Instant, Stream};

use crate::segment::is_newer;

/// POLLs remembered: of those that are older than the newest 64 some, further apart the older they are. An
/// answer to another one says nothing about time.
const MAX_RECORDS: usize = 2 * EXACT_RECORDS;
const EXACT_RECORDS: usize = 64;
/// Bits of a part of an age.
const PART_BITS: u32 = 20;
/// Timestamps keep behind a clock with units of 2^14 ns = 16.384 µs: half the range is 9.8 hours of silence,
/// however many POLLs are lost.
const UNIT_SHIFT: u32 = 14;
/// Least room for the step between two timestamps. POLLs that follow each other more closely than a
/// millisecond let timestamps run ahead of the clock.
const MIN_ROOM: u32 = 64;
/// Random numbers drawn at once: to key a stream costs as much as to draw some thirty numbers from it.
const DRAWS: usize = 8;

/// Segments that left until some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SentUntil {
    /// Octets of the connection's segments, as its receiver counts them, and of those of the path.
    pub(crate) octets: u64,
    pub(crate) path_octets: u64,
    /// Octets of the connection's segments with data, and their IP bytes.
    pub(crate) data_octets: u64,
    pub(crate) data_bytes: u64,
}

/// Record of a POLL that was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PollRecord {
    pub(crate) timestamp: u32,
    pub(crate) sent_at: Instant,
    /// Transmissions made before it.
    pub(crate) order: u64,
    /// Number of the next new packet when it left: the STAT covers everything below.
    pub(crate) next: u64,
    /// What had left until then, its own segment included.
    pub(crate) sent: SentUntil,
    /// The train of packets that it stood in ...
    pub(crate) train: Option<u32>,
    /// ... behind others.
    pub(crate) behind_train: bool,
    /// So many POLLs that are no probes of the path's MTU had left, this one included.
    pub(super) asked: u64,
    /// Size of the packet, if that was a probe of the path's MTU.
    pub(crate) probes_bytes: Option<u32>,
}

/// POLLs sent, by timestamps that only their receiver can echo.
#[derive(Clone, Debug)]
pub(super) struct PollHistory {
    offset: u32,
    secret: u64,
    /// POLLs sent so far.
    count: u64,
    /// Numbers for the POLLs of this group of `DRAWS`.
    draws: [u64; DRAWS],
    records: VecDeque<PollRecord>,
    /// Timestamp of the last POLL of whatever kind.
    last_timestamp: Option<u32>,
    /// The last POLL that was no probe of the path's MTU: what is to be asked goes by it.
    last: Option<PollRecord>,
    answered: Option<PollRecord>,
    answered_at: Instant,
    /// POLLs sent that were no probes of the path's MTU, and those of them up to the newest answered one.
    asked: u64,
    heard: u64,
}

impl PollHistory {
    /// History of POLLs whose timestamps are those of a clock that begins at `offset`, less a random part
    /// of the time since the last one: only who saw a POLL can echo it, and who saw the last one must guess
    /// the next.
    pub(crate) fn new(offset: u32, secret: u64) -> Self {
        Self {
            offset,
            secret,
            count: 0,
            draws: [0; DRAWS], // drawn for the first POLL of a group
            records: VecDeque::new(),
            last_timestamp: None,
            last: None,
            answered: None,
            answered_at: Instant::ZERO,
            asked: 0,
            heard: 0,
        }
    }

    /// History of a connection whose first timestamps are newer than this one.
    pub(crate) fn after(self, last_timestamp: Option<u32>) -> Self {
        Self { last_timestamp, ..self }
    }

    /// Offset of a clock that shows `timestamp` now.
    pub(crate) fn offset_at(now: Instant, timestamp: u32) -> u32 {
        timestamp.wrapping_sub((now.as_ns() >> UNIT_SHIFT) as u32)
    }

    /// Notes a POLL sent now and returns its timestamp, newer than every one before.
    pub(crate) fn send(
        &mut self,
        now: Instant,
        order: u64,
        next: u64,
        (train, behind_train): (Option<u32>, bool),
    ) -> u32 {
        self.asked += 1;
        let mut record = self.record(now, order, next);
        (record.train, record.behind_train) = (train, behind_train);
        self.push(record);
        self.last = Some(record);
        record.timestamp
    }

    /// Notes a POLL in a probe of the path's MTU, a packet of `bytes`, likewise. That it stays without an
    /// answer says nothing.
    pub(crate) fn send_probe(&mut self, now: Instant, order: u64, next: u64, bytes: u32) -> u32 {
        let record = PollRecord { probes_bytes: Some(bytes), ..self.record(now, order, next) };
        self.push(record);
        record.timestamp
    }

    /// Random number below `bound` for the next POLL: that of its group's stream in its place.
    fn draw_below(&mut self, bound: u32) -> u32 {
        let place = (self.count % DRAWS as u64) as usize;
        if place == 0 {
            let mut random = Stream::new(self.secret.wrapping_add(self.count), "stp/poll");
            self.draws = core::array::from_fn(|_| random.next_u64());
        }
        ((u128::from(self.draws[place]) * u128::from(bound)) >> 64) as u32 // below the bound
    }

    fn record(&mut self, now: Instant, order: u64, next: u64) -> PollRecord {
        let ticks = self.ticks(now);
        let last = self.last_timestamp.unwrap_or(ticks.wrapping_sub(MIN_ROOM));
        let room = if is_newer(ticks, last) { ticks.wrapping_sub(last).max(MIN_ROOM) } else { MIN_ROOM };
        let timestamp = last.wrapping_add(1 + self.draw_below(room));
        PollRecord {
            timestamp,
            sent_at: now,
            order,
            next,
            sent: SentUntil::default(),
            train: None,
            behind_train: false,
            asked: self.asked,
            probes_bytes: None,
        }
    }

    fn push(&mut self, record: PollRecord) {
        if self.records.len() == MAX_RECORDS {
            self.thin_out();
        }
        self.records.push_back(record);
        self.last_timestamp = Some(record.timestamp);
        self.count += 1;
    }

    /// Forgets that one of the older half without which the gap is the smallest part of its age.
    fn thin_out(&mut self) {
        let newest_at = self.records.back().map_or(Instant::ZERO, |record| record.sent_at);
        let sent_at = |i: usize| self.records[i].sent_at; // below `EXACT_RECORDS`, and there are more
        let part = |&i: &usize| {
            let gap_ns = sent_at(i + 1).since(sent_at(i - 1));
            gap_ns / (newest_at.since(sent_at(i)) >> PART_BITS).max(1)
        };
        if let Some(least) = (1..EXACT_RECORDS).min_by_key(part) {
            self.records.remove(least);
        }
    }

    /// Completes the record of the last POLL, which is written.
    pub(crate) fn note_sent(&mut self, sent: SentUntil) {
        if let Some(record) = self.records.back_mut() {
            record.sent = sent;
            if record.probes_bytes.is_none() {
                self.last = Some(*record);
            }
        }
    }

    /// Record of an echo: (record, whether this is the first answer to it). `None`: never sent,
    /// too old, or older than one already answered. `overtaken` hears of the probes of the path's MTU that
    /// are older.
    pub(crate) fn answer(
        &mut self,
        now: Instant,
        echo: u32,
        overtaken: impl FnMut(u32),
    ) -> Option<(PollRecord, bool)> {
        if let Some(answered) = self.answered
            && answered.timestamp == echo
        {
            return Some((answered, false));
        }
        let at = self.records.iter().position(|r| r.timestamp == echo)?;
        self.records.range(..at).filter_map(|r| r.probes_bytes).for_each(overtaken);
        let record = self.records.drain(..=at).next_back()?;
        self.answered = Some(record);
        self.answered_at = now;
        self.heard = record.asked;
        Some((record, true))
    }

    /// When the POLL with this timestamp was sent, if it is remembered.
    pub(crate) fn sent_at(&self, timestamp: u32) -> Option<Instant> {
        self.records.iter().find(|record| record.timestamp == timestamp).map(|record| record.sent_at)
    }

    /// What the clock shows.
    fn ticks(&self, now: Instant) -> u32 {
        ((now.as_ns() >> UNIT_SHIFT) as u32).wrapping_add(self.offset)
    }

    /// True if the echo could be of a POLL of ours at all.
    pub(crate) fn was_sent(&self, echo: u32) -> bool {
        self.last_timestamp.is_some_and(|last| !is_newer(echo, last))
    }

    /// Record of the last POLL.
    pub(crate) fn last(&self) -> Option<&PollRecord> {
        self.last.as_ref()
    }

    /// When the last POLL left.
    pub(crate) fn last_sent_at(&self) -> Option<Instant> {
        self.last.map(|r| r.sent_at)
    }

    /// Transmissions made before the last POLL.
    pub(crate) fn last_order(&self) -> Option<u64> {
        self.last.map(|r| r.order)
    }

    /// When the oldest POLL without an answer left.
    pub(crate) fn oldest_unanswered_at(&self) -> Option<Instant> {
        self.records.iter().find(|r| r.probes_bytes.is_none()).map(|r| r.sent_at)
    }

    /// When the last first answer came.
    pub(crate) fn answered_at(&self) -> Instant {
        self.answered_at
    }

    /// POLLs sent since the newest answered one.
    pub(crate) fn unanswered(&self) -> u32 {
        u32::try_from(self.asked - self.heard).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skyhaul_core::SECOND;

    #[test]
    fn timestamps_rise_even_within_a_moment_and_over_the_wrap() {
        let mut clock = PollHistory::new(u32::MAX - 1, 5);
        let mut last = clock.send(Instant::ZERO, 0, 0, (None, false));
        for step in 0..5000u64 {
            let next = clock.send(Instant::from_ns(step / 3 * 20_000), step, 0, (None, false));
            assert!(is_newer(next, last));
            last = next;
        }
    }

    #[test]
    fn who_saw_a_poll_cannot_echo_the_next() {
        let steps = |secret| {
            let mut history = PollHistory::new(7, secret);
            let poll = |i| history.send(Instant::from_ns(i * SECOND), i, 0, (None, false));
            let sent: alloc::vec::Vec<u32> = (0..100).map(poll).collect();
            sent.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect::<alloc::vec::Vec<u32>>()
        };
        let (mut one, other) = (steps(1), steps(2));
        let equal = one.iter().zip(&other).filter(|(a, b)| a == b).count();
        assert!(equal <= 1, "{equal} steps are those of another connection");
        one.sort_unstable();
        one.dedup();
        assert!(one.len() >= 98, "{} steps of 99 differ", one.len());
    }

    #[test]
    fn no_number_of_lost_polls_makes_a_new_timestamp_an_old_one() {
        let mut history = PollHistory::new(7, 5);
        let mut poll = |i: u64| history.send(Instant::from_ns(i * SECOND / 50), i, 0, (None, false));
        let first = poll(0);
        let last = (1..50 * 3600 * 9).map(&mut poll).last();
        assert!(last.is_some_and(|last| is_newer(last, first)), "after nine hours");
    }

    /// Else no answer to whatever waits in a queue of minutes would tell that it takes minutes.
    #[test]
    fn of_any_number_of_polls_some_are_remembered() {
        let mut history = PollHistory::new(7, 5);
        let at = |i: u64| Instant::from_ns(i * SECOND);
        let sent: alloc::vec::Vec<u32> =
            (0..5000).map(|i| history.send(at(i), i, 0, (None, false))).collect();
        let is_known = |i: &usize| history.sent_at(sent[*i]).is_some();
        let known: alloc::vec::Vec<usize> = (0..5000).filter(is_known).collect();
        assert!(
            known.len() <= MAX_RECORDS
                && known.ends_with(&(5000 - EXACT_RECORDS..5000).collect::<alloc::vec::Vec<_>>())
        );
        assert_eq!(known[0], 0, "the oldest is");
        let apart = known.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(apart.is_some_and(|apart| apart <= 5000 / 8), "{apart:?}: {known:?}");
        let (record, _) = history.answer(at(5000), sent[known[5]], |_| {}).unwrap();
        assert_eq!((record.sent_at, history.unanswered()), (at(known[5] as u64), 4999 - known[5] as u32));
    }

    #[test]
    fn an_answer_makes_older_polls_obsolete() {
        let mut clock = PollHistory::new(7, 5);
        let t: alloc::vec::Vec<u32> =
            (0..4).map(|i| clock.send(Instant::from_ns(i * SECOND), i, 0, (None, false))).collect();
        assert_eq!(
            clock.answer(Instant::ZERO, t[2], |_| {}).map(|(r, first)| (r.order, first)),
            Some((2, true))
        );
        assert_eq!(
            clock.answer(Instant::ZERO, t[2], |_| {}).map(|(_, first)| first),
            Some(false),
            "a second part"
        );
        assert!(clock.answer(Instant::ZERO, t[1], |_| {}).is_none());
        assert_eq!(clock.unanswered(), 1);
        assert!(clock.answer(Instant::ZERO, t[3].wrapping_add(9), |_| {}).is_none());
        assert!(!clock.was_sent(t[3].wrapping_add(9)) && clock.was_sent(t[0]));
    }
}

//! Receiver's side of negative acknowledgements: holes to options [SCPS-TP 3.3.2].

use alloc::collections::VecDeque;

use skyhaul_core::{Instant, RangeSet};

use super::{SNACK, SnackOption, SnackTerms};
use crate::segment::{ExtraOptions, MAX_OPTIONS_BYTES};

/// Ranges that a teller remembers to have told; at more the two oldest become one, and holes between them
/// may be told twice.
const MAX_TOLD: usize = 64;

/// Teller of holes: new ones first, then those that were told longest ago. What does not fit into one
/// acknowledgement is told by the next ones, so that none is never told.
#[derive(Clone, Debug)]
pub(crate) struct Teller {
    terms: SnackTerms,
    max_options: usize,
    /// Number from which on nothing was told.
    fresh_from: u64,
    /// Ranges below it, the one that was told longest ago first.
    told: VecDeque<Told>,
    /// Time of the last telling, and whether old holes left no room for new ones.
    last_at: Instant,
    was_turn_of_old: bool,
}

/// Range whose holes were told.
#[derive(Clone, Copy, Debug)]
struct Told {
    first: u64,
    end: u64,
    at: Instant,
}

/// Most holes, and octets of all options, those counted that are there.
#[derive(Clone, Copy, Debug)]
struct Room {
    holes: usize,
    octets: usize,
}

impl Room {
    /// The room without places for so many holes.
    fn without(self, holes: usize) -> Self {
        let octets = self.octets.saturating_sub(holes * SnackOption::encoded_len(0));
        Self { holes: self.holes.saturating_sub(holes), octets }
    }

    /// Octets that one more option beside those in `extra` may have; `None`: there is no room for any.
    fn free(self, extra: &ExtraOptions) -> Option<usize> {
        let holes = extra.iter().filter(|&(kind, _)| kind == SNACK).count();
        let octets = self.octets.saturating_sub(extra.as_bytes().len());
        (holes < self.holes && octets >= SnackOption::encoded_len(0)).then_some(octets)
    }
}

impl Teller {
    pub(crate) fn new(terms: SnackTerms, max_options: u8) -> Self {
        let max_options = usize::from(max_options).max(1);
        Self {
            terms,
            max_options,
            fresh_from: 0,
            told: VecDeque::new(),
            last_at: Instant::ZERO,
            was_turn_of_old: false,
        }
    }

    /// Adds options for an acknowledgement of everything below `next`, where `have` came beyond and `end` is
    /// where the peer's data is known to go to, so that all take `octets` at most. `rtt_ns`: the round trip,
    /// where it is known.
    pub(crate) fn tell(
        &mut self,
        have: &RangeSet,
        (next, end): (u64, u64),
        octets: usize,
        (now, rtt_ns): (Instant, Option<u64>),
        extra: &mut ExtraOptions,
    ) {
        self.told.retain(|told| have.gaps(told.first.max(next), told.end).next().is_some());
        self.fresh_from = self.fresh_from.clamp(next, end);
        let room = Room { holes: self.max_options, octets };
        let fresh = Told { first: self.fresh_from, end, at: now };
        let oldest = self.told.front().filter(|_| rtt_ns.is_some() && !self.was_turn_of_old);
        let places = usize::from(oldest.is_some_and(|told| self.is_owed(told, rtt_ns, now)));
        let to = self.tell_range(have, next, (fresh.first, end), room.without(places), extra);
        if fresh.first < to {
            self.remember(Told { end: to, ..fresh });
        }
        self.fresh_from = to;
        self.was_turn_of_old = fresh.first == to && to < end;
        let highest = (extra.get(SNACK).is_some()).then_some(to);
        self.tell_old(have, next, (highest, rtt_ns), (room, now), extra);
        self.last_at = now;
        if extra.get(SNACK).is_none()
            && let Some(&told) = self.told.front()
        {
            self.tell_range(have, next, (told.first.max(next), told.end), room, extra);
        }
    }

    /// True if a hole of this range was told a round trip before the last telling: had its repeat come, it
    /// would be none.
    fn is_owed(&self, told: &Told, rtt_ns: Option<u64>, now: Instant) -> bool {
        told.at < now && told.at.after(rtt_ns.unwrap_or(0)) <= self.last_at
    }

    /// Tells of ranges that are owed, below `highest` if there is any: where options ascend, a sender takes
    /// all between them to be there.
    fn tell_old(
        &mut self,
        have: &RangeSet,
        next: u64,
        (mut highest, rtt_ns): (Option<u64>, Option<u64>),
        (room, now): (Room, Instant),
        extra: &mut ExtraOptions,
    ) {
        loop {
            let is_next = |told: &Told| {
                self.is_owed(told, rtt_ns, now) && highest.is_none_or(|highest| told.first < highest)
            };
            let Some(place) = self.told.iter().position(is_next) else { break };
            let Some(told) = self.told.remove(place) else { break };
            let first = told.first.max(next);
            // What lies behind the last hole was said to be there before.
            let last = have.gaps(first, told.end).last().map_or(first, |(_, to)| to);
            let end = told.end.min(last + self.terms.unit_bytes);
            let to = self.tell_range(have, next, (first, end), room, extra);
            if first < to {
                self.remember(Told { first, end: if to < end { to } else { told.end }, at: now });
                highest = highest.max(Some(to));
            }
            if to < end {
                self.told.insert(place, Told { first: to, ..told });
                break;
            }
        }
    }

    fn remember(&mut self, told: Told) {
        if self.told.len() >= MAX_TOLD
            && let (Some(a), Some(b)) = (self.told.pop_front(), self.told.pop_front())
        {
            self.told.push_front(Told { first: a.first.min(b.first), end: a.end.max(b.end), at: a.at });
        }
        self.told.push_back(told);
    }

    /// Adds options for the holes of [first, end), as far as there is room; the number up to which they tell.
    fn tell_range(
        &self,
        have: &RangeSet,
        next: u64,
        (first, end): (u64, u64),
        room: Room,
        extra: &mut ExtraOptions,
    ) -> u64 {
        let mut at = first;
        while let Some(hole) = have.gaps(at, end).next() {
            let Some(free) = room.free(extra) else { return at };
            // Beyond what an offset can say nothing is told until the left edge has moved.
            let Some(to) = self.tell_one(have, (next, end), hole, free, extra) else { break };
            at = to;
        }
        end
    }

    /// Adds an option of at most `room` octets, which is enough for one, for a hole; the number up to which
    /// it tells. `None`: it is too far away.
    fn tell_one(
        &self,
        have: &RangeSet,
        (next, end): (u64, u64),
        (first, to): (u64, u64),
        room: usize,
        extra: &mut ExtraOptions,
    ) -> Option<u64> {
        let unit = self.terms.unit_bytes;
        let offset = u16::try_from((first - next) / unit).ok()?;
        let blocks = (to - next).div_ceil(unit) - u64::from(offset);
        let size = u16::try_from(blocks).unwrap_or(u16::MAX);
        let base = next + (u64::from(offset) + u64::from(size)) * unit;
        let mut vector = [0; MAX_OPTIONS_BYTES];
        let free = (room - SnackOption::encoded_len(0)).min(vector.len());
        let seen = if self.terms.has_vector { fill(&mut vector[..free], have, (base, end), unit) } else { 0 };
        let vector = &vector[..seen.div_ceil(8)];
        SnackOption { offset, size, vector }.push(extra).then_some(base + seen as u64 * unit)
    }
}

/// Sets a bit for each block of [base, end) that is there as a whole. Blocks up to the last one of these.
fn fill(vector: &mut [u8], have: &RangeSet, (base, end): (u64, u64), unit: u64) -> usize {
    let whole = end.saturating_sub(base) / unit;
    let mut seen = 0;
    for (n, first) in (0..whole.min(8 * vector.len() as u64)).map(|n| (n as usize, base + n * unit)) {
        if have.range_of(first).is_some_and(|(_, to)| to >= first + unit) {
            vector[n / 8] |= 0x80 >> (n % 8);
            seen = n + 1;
        }
    }
    seen
}

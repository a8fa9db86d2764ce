//! Receiver's side of negative acknowledgements: holes to options [SCPS-TP 3.3.2].

use skyhaul_core::RangeSet;

use super::{SnackOption, SnackTerms};
use crate::segment::{ExtraOptions, MAX_OPTIONS_BYTES};

/// Teller of holes. What does not fit into one acknowledgement is told by the next ones, so that none is
/// never told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Teller {
    terms: SnackTerms,
    max_options: usize,
    /// Number from which on holes are told next.
    from: u64,
}

impl Teller {
    pub(crate) fn new(terms: SnackTerms, max_options: u8) -> Self {
        Self { terms, max_options: usize::from(max_options).max(1), from: 0 }
    }

    /// Adds options for an acknowledgement of everything below `next`, where `have` came beyond and `end` is
    /// where the peer's data is known to go to, so that all take `room` octets at most.
    pub(crate) fn tell(
        &mut self,
        have: &RangeSet,
        (next, end): (u64, u64),
        room: usize,
        extra: &mut ExtraOptions,
    ) {
        let mut at = if self.from < end { self.from.max(next) } else { next };
        if have.gaps(at, end).next().is_none() {
            at = next;
        }
        for _ in 0..self.max_options {
            let room = room.saturating_sub(extra.as_bytes().len());
            let Some(hole) = have.gaps(at, end).next().filter(|_| room >= SnackOption::encoded_len(0)) else {
                break;
            };
            // Beyond what an offset can say nothing is told: the next one begins at the left edge.
            at = self.tell_one(have, (next, end), hole, room, extra).unwrap_or(end);
        }
        self.from = if have.gaps(at, end).next().is_some() { at } else { next };
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

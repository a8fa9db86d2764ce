//! Parties whose sessions had a place of late and brought nothing: one that opens fresh ones all the time
//! never has more than one at once, and its next one is as new as anybody's.

use std::collections::BTreeMap;

use skyhaul_core::{Instant, SECOND};

use crate::places::Party;

/// Time after the last of its sessions that brought nothing after which a party is forgotten.
const MEMORY_NS: u64 = 60 * SECOND;
/// Parties that are known. Of more, the one with the fewest such sessions is forgotten, the oldest among
/// them.
const MAX_PARTIES: usize = 4096;

/// Parties, each with its sessions that had a place and brought nothing.
#[derive(Debug, Default)]
pub(crate) struct Fruitless(BTreeMap<Party, Record>);

#[derive(Clone, Copy, Debug)]
struct Record {
    sessions: usize,
    /// Time since which the last of them had brought nothing.
    at: Instant,
}

impl Fruitless {
    /// Takes in that a session of `party` has lost or left its place, and brought nothing since `at`.
    pub(crate) fn add(&mut self, party: Party, at: Instant) {
        let record = self.0.entry(party).or_insert(Record { sessions: 0, at });
        if at.since(record.at) >= MEMORY_NS {
            record.sessions = 0;
        }
        record.sessions = record.sessions.saturating_add(1);
        record.at = record.at.max(at);
        if self.0.len() > MAX_PARTIES {
            let others = self.0.iter().filter(|&(&other, _)| other != party);
            let least =
                others.min_by_key(|(_, record)| (record.sessions, record.at)).map(|(&party, _)| party);
            least.and_then(|party| self.0.remove(&party));
        }
    }

    /// Number of such sessions of `party` of late.
    pub(crate) fn of(&self, party: Party, now: Instant) -> usize {
        let record = self.0.get(&party).filter(|record| now.since(record.at) < MEMORY_NS);
        record.map_or(0, |record| record.sessions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_ns(seconds * SECOND)
    }

    #[test]
    fn a_party_is_forgotten_a_minute_after_its_last_session_that_brought_nothing() {
        let mut fruitless = Fruitless::default();
        (0..3).for_each(|_| fruitless.add(Party::Host(1), at(10)));
        fruitless.add(Party::Host(1), at(9)); // it lost its place later than those that came behind it
        assert_eq!([at(10), at(69), at(70)].map(|now| fruitless.of(Party::Host(1), now)), [4, 4, 0]);
        fruitless.add(Party::Host(1), at(70));
        assert_eq!(
            (fruitless.of(Party::Host(1), at(129)), fruitless.of(Party::Host(2), at(70))),
            (1, 0),
            "it begins anew"
        );
    }

    #[test]
    fn parties_that_come_once_each_drive_none_out_that_comes_again_and_again() {
        let mut fruitless = Fruitless::default();
        for host in [1, 1, 2, 2] {
            fruitless.add(Party::Host(host), at(0));
        }
        (100..20_000).for_each(|host| fruitless.add(Party::Host(host), at(1)));
        assert_eq!([1, 2, 100, 19_999].map(|host| fruitless.of(Party::Host(host), at(2))), [2, 2, 0, 1]);
        assert_eq!(fruitless.0.len(), MAX_PARTIES);
    }
}

//! Memory for the names and results of files, of all sessions together: whoever likes can announce very many.
//! Where it is used up, whoever lists the most for the least gives way, so that nobody keeps it from others.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

use skyhaul_files::Event;
use tokio::sync::Notify;

use crate::places::{MAX_SESSIONS, Party};

/// Bytes of them at most, of all sessions. One alone needs half for the most files with the longest names.
const BUDGET_BYTES: u64 = 128 << 20;
/// Bytes that no session has to give up, whatever others list: as many sessions as there may be have them.
const SHARE_BYTES: u64 = BUDGET_BYTES / MAX_SESSIONS as u64;
/// Bytes that a file takes beside its name, which counts twice: once kept, and once in the record under way.
const FILE_BYTES: u64 = 384;

/// What all sessions list.
#[derive(Debug, Default)]
pub(crate) struct Listings {
    /// Lists of sessions that stay. Those that have to go are let go of in their next turn.
    lists: RefCell<BTreeMap<u64, List>>,
    next: Cell<u64>,
}

#[derive(Debug)]
struct List {
    party: Party,
    bytes: u64,
    /// Payload of the files that were stored.
    brought_bytes: u64,
    leave: Rc<Notify>,
}

/// What one session lists, until it is dropped.
#[derive(Debug)]
pub(crate) struct Listing<'a> {
    all: &'a Listings,
    key: u64,
    leave: Rc<Notify>,
}

impl Listings {
    /// List of a session of this party.
    pub(crate) fn begin(&self, party: Party) -> Listing<'_> {
        let (key, leave) = (self.next.get(), Rc::new(Notify::new()));
        self.next.set(key + 1);
        let list = List { party, bytes: 0, brought_bytes: 0, leave: Rc::clone(&leave) };
        self.lists.borrow_mut().insert(key, list);
        Listing { all: self, key, leave }
    }
}

impl Listing<'_> {
    /// Takes what the session tells.
    pub(crate) fn observe(&self, event: &Event<'_>) {
        let mut lists = self.all.lists.borrow_mut();
        let Some(list) = lists.get_mut(&self.key) else { return };
        match event {
            Event::File { name, .. } => list.bytes += FILE_BYTES + 2 * name.as_bytes().len() as u64,
            Event::Settled { report, .. } if report.digest().is_some() => list.brought_bytes += report.bytes,
            _ => return,
        }
        if lists.values().map(|list| list.bytes).sum::<u64>() > BUDGET_BYTES
            && let Some(list) = who_gives_way(&lists).and_then(|key| lists.remove(&key))
        {
            list.leave.notify_one();
        }
    }

    /// Ends when the session has to make room for the lists of others.
    pub(crate) async fn has_to_go(&self) {
        self.leave.notified().await;
    }
}

/// Session whose list is given up: that of which the party lists the most for each octet that the session
/// itself has brought. None has to go with no more than its share.
fn who_gives_way(lists: &BTreeMap<u64, List>) -> Option<u64> {
    let mut of_parties = BTreeMap::new();
    for list in lists.values() {
        *of_parties.entry(list.party).or_insert(0) += list.bytes;
    }
    let cost = |list: &List| (of_parties[&list.party], list.brought_bytes + 1);
    let by_cost = |one: &List, other: &List| -> Ordering {
        let ((one_bytes, one_brought), (other_bytes, other_brought)) = (cost(one), cost(other));
        let products = [(one_bytes, other_brought), (other_bytes, one_brought)];
        let [one_worth, other_worth] =
            products.map(|(bytes, brought)| u128::from(bytes) * u128::from(brought));
        one_worth.cmp(&other_worth).then(one.bytes.cmp(&other.bytes))
    };
    let candidates = lists.iter().filter(|(_, list)| list.bytes > SHARE_BYTES);
    candidates.max_by(|(_, one), (_, other)| by_cost(one, other)).map(|(&key, _)| key)
}

impl Drop for Listing<'_> {
    fn drop(&mut self) {
        self.all.lists.borrow_mut().remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use skyhaul_files::{Digest, FileOutcome, FileReport, MAX_FILES, MAX_NAME_BYTES, RawName, Side};

    use super::*;

    fn address(last: u8) -> Party {
        Party::at([192, 0, 2, last].into())
    }

    fn has_to_go(listing: &Listing<'_>) -> bool {
        use std::future::Future as _;
        let mut waiting = std::pin::pin!(listing.has_to_go());
        waiting.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_ready()
    }

    /// Lists so many files with names of so many octets, each of which brings so much.
    fn lists(listing: &Listing<'_>, files: usize, name_bytes: usize, brings: Option<u64>) {
        let name = RawName::new(vec![b'x'; name_bytes]);
        for _ in 0..files {
            listing.observe(&Event::File { file: 0, name: &name, bytes: 0 });
            if let Some(bytes) = brings {
                let report = FileReport {
                    outcome: FileOutcome::Delivered { digest: Digest([0; 32]) },
                    ..FileReport::unfinished(name.clone(), bytes, Side::Receiver)
                };
                listing.observe(&Event::Settled { file: 0, report: &report });
            }
        }
    }

    fn all_bytes(all: &Listings) -> u64 {
        all.lists.borrow().values().map(|list| list.bytes).sum()
    }

    #[test]
    fn one_session_lists_all_that_it_may_and_many_share() {
        let all = Listings::default();
        let sessions: Vec<_> = (0..3).map(|last| all.begin(address(last))).collect();
        for listing in &sessions {
            lists(listing, MAX_FILES, MAX_NAME_BYTES, None);
            assert!(all_bytes(&all) <= BUDGET_BYTES);
        }
        let gone: Vec<_> = sessions.iter().filter(|listing| has_to_go(listing)).collect();
        assert_eq!(gone.len(), 1, "two have room for all that they may list");
        drop(gone);
        drop(sessions);
        assert_eq!(all_bytes(&all), 0);
    }

    /// Sessions that each list half of what is free left nothing of it to anybody.
    #[test]
    fn lists_that_take_half_of_what_is_free_leave_room_for_whoever_comes_and_brings_something() {
        const ONE_BYTES: u64 = FILE_BYTES + 2 * MAX_NAME_BYTES as u64;
        let all = Listings::default();
        let under_way = all.begin(address(1));
        lists(&under_way, 200, 20, Some(10_000));
        let mut free_bytes = BUDGET_BYTES;
        let hungry: Vec<_> = (0..19)
            .map(|i| {
                let listing = all.begin(address(100 + i));
                let files = (free_bytes / 2 / ONE_BYTES).min(MAX_FILES as u64);
                lists(&listing, files as usize, MAX_NAME_BYTES, None);
                free_bytes -= files * ONE_BYTES;
                listing
            })
            .collect();
        let newcomer = all.begin(address(2));
        lists(&under_way, 10_000, 20, Some(10_000));
        lists(&newcomer, 10_000, 20, Some(10_000));
        assert!(!has_to_go(&under_way) && !has_to_go(&newcomer));
        assert!(all_bytes(&all) <= BUDGET_BYTES);
        assert_eq!(hungry.iter().filter(|listing| has_to_go(listing)).count(), 1, "no more than is needed");
    }

    #[test]
    fn what_many_sessions_of_an_address_list_counts_together() {
        let all = Listings::default();
        // Files that are there already: the transfer brings nothing.
        let again = all.begin(address(1));
        lists(&again, 20_000, 20, None);
        let crowd: Vec<_> = (0..32).map(|_| all.begin(address(2))).collect();
        for listing in &crowd {
            lists(listing, 5_000, MAX_NAME_BYTES, None);
        }
        assert!(!has_to_go(&again));
        assert!(crowd.iter().any(has_to_go) && all_bytes(&all) <= BUDGET_BYTES);
    }

    #[test]
    fn a_session_keeps_its_share_whatever_others_bring() {
        let all = Listings::default();
        let small = all.begin(address(1));
        lists(&small, 3_200, 20, None);
        let rich: Vec<_> = (2..12).map(|last| all.begin(address(last))).collect();
        for listing in &rich {
            lists(listing, MAX_FILES, MAX_NAME_BYTES, Some(1_000_000));
        }
        assert!(!has_to_go(&small));
    }
}

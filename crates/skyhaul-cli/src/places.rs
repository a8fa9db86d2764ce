//! Places of transfers that come in: how many there are, and who gives way to a newcomer. Whoever brings
//! something keeps its place.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use skyhaul_association::PeerId;
use skyhaul_core::{Instant, SECOND, host_number};
use skyhaul_files::Event;
use tokio::sync::Notify;

use crate::fruitless::Fruitless;

/// Party whose transfers have bounds together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Party {
    /// Host that an address is of, as its number: nothing else is known of who comes.
    Host(u64),
    /// Peer by its key, wherever it is: others share its address, as behind a router that translates them.
    Peer(PeerId),
}

impl Party {
    /// Host that has this address.
    pub(crate) fn at(address: IpAddr) -> Self {
        Self::Host(host_number(address))
    }
}

/// Transfers at the same time.
pub(crate) const MAX_PLACES: usize = 32;
/// Of those, transfers of one party.
const MAX_PLACES_OF_PARTY: usize = MAX_PLACES / 2;
/// Transfers that wait for a place because something of them is kept.
const MAX_WAITING: usize = MAX_PLACES / 2;
/// Of those, transfers of one party.
const MAX_WAITING_OF_PARTY: usize = MAX_WAITING / 2;
/// Sessions without a place, of which nothing is to come, that wait for their senders' farewells.
pub(crate) const MAX_FAREWELLS: usize = MAX_PLACES / 2;
/// Sessions that are told that there is no room, where that is a record of the file protocol and takes time.
const MAX_TURNED_AWAY: usize = MAX_PLACES / 2;
/// Sessions of peers that have not proven their address: they come and go beside the places.
pub(crate) const MAX_EARLY: usize = 8;
/// Sessions at the same time, those among them that have no place any more.
pub(crate) const MAX_SESSIONS: usize = 3 * MAX_PLACES;
const _: () = assert!(MAX_SESSIONS > MAX_PLACES + MAX_EARLY + MAX_WAITING + MAX_FAREWELLS + MAX_TURNED_AWAY);
/// Time between two looks for a free place.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);
/// Time after which a connection without a transfer's opening gives way.
const OPENING_GRACE_NS: u64 = SECOND;
/// Time without progress after which a transfer gives way.
const PROGRESS_GRACE_NS: u64 = 3 * SECOND;
/// Places of transfers that have brought nothing yet beyond which [`OPENING_GRACE_NS`] is all that one has:
/// each new address takes one for that long.
const MAX_PLACES_FOR_NOTHING: usize = MAX_PLACES / 2;
/// Time without progress after which a transfer that is under way is not waited for, ...
const WAITED_NS: u64 = 10 * SECOND;
/// ... and without a word of a sender that is asked every [`ASK_INTERVAL_NS`]: it was killed, or the link is
/// gone.
const SILENCE_NS: u64 = PROGRESS_GRACE_NS;
/// Time of silence after which a sender is asked whether it is there, if what it sends is the only thing that
/// is waited for.
pub(crate) const ASK_INTERVAL_NS: u64 = SECOND;
/// Least of a transfer's files that is progress: less than that comes from whoever holds a place for its own
/// sake.
const MIN_PROGRESS_BYTES: u64 = 1024;
/// About what a file has in records beside its name and its payload. It counts, so that many small files are
/// progress, and refused ones as much as they take, and no more.
const RECORDS_BYTES: u64 = 40;
/// Time in which a connection that is proven must be a transfer, whether others want its place or not.
pub(crate) const OPENING_LIMIT_NS: u64 = 15 * SECOND;

/// Progress of a session.
#[derive(Debug)]
pub(crate) struct Progress {
    /// True once its opening was read, and announces a file.
    is_opened: Cell<bool>,
    /// True once it brought something.
    has_brought: Cell<bool>,
    /// Time of the last progress; at first, of its begin. Later by what files waited for this machine's disk.
    at: Cell<Instant>,
    /// Bytes that have come since.
    bytes: Cell<u64>,
    /// Payload that has moved in all.
    moved_bytes: Cell<u64>,
    /// Files that wait for this machine alone, and since when: that, or the result of one of them.
    finishing: RefCell<BTreeSet<u32>>,
    finishing_at: Cell<Instant>,
    /// Time at which its sender was last heard of, where that tells whether it is there: it is asked if it
    /// says nothing.
    heard_at: Cell<Option<Instant>>,
}

impl Progress {
    pub(crate) fn new(now: Instant) -> Rc<Self> {
        let (is_opened, has_brought, bytes, moved_bytes, finishing, heard_at) = Default::default();
        let (at, finishing_at) = (Cell::new(now), Cell::new(now));
        Rc::new(Self { is_opened, has_brought, at, bytes, moved_bytes, finishing, finishing_at, heard_at })
    }

    /// Takes what the session tells.
    pub(crate) fn observe(&self, event: &Event<'_>, now: Instant) {
        match event {
            Event::Started { files, .. } => {
                self.is_opened.set(*files > 0);
                self.at.set(now);
            }
            Event::File { name, .. } => self.bring(RECORDS_BYTES + name.as_bytes().len() as u64, now),
            Event::Moved { bytes, .. } => {
                let before_bytes = self.moved_bytes.replace(*bytes);
                self.bring(bytes.saturating_sub(before_bytes), now);
            }
            Event::Arrived { .. } => self.has_brought.set(true),
            Event::Whole { file } => {
                if self.finishing.borrow().is_empty() {
                    self.finishing_at.set(now);
                }
                self.finishing.borrow_mut().insert(*file);
            }
            Event::Settled { file, .. } if self.finishing.borrow_mut().remove(file) => {
                let disk_ns = now.since(self.finishing_at.replace(now));
                self.at.set(self.at.get().after(disk_ns).min(now));
            }
            _ => {}
        }
    }

    fn bring(&self, bytes: u64, now: Instant) {
        let bytes = self.bytes.get() + bytes;
        if bytes < MIN_PROGRESS_BYTES {
            self.bytes.set(bytes);
            return;
        }
        self.bytes.set(0);
        self.has_brought.set(true);
        self.at.set(now);
    }

    /// Takes in when the sender, who is asked while it says nothing, was last heard of.
    pub(crate) fn hear(&self, heard_at: Instant) {
        self.heard_at.set(Some(heard_at));
    }

    /// True if a sender that is asked has said nothing for this long.
    fn is_silent(&self, ns: u64, now: Instant) -> bool {
        self.heard_at.get().is_some_and(|heard_at| now.since(heard_at) >= ns)
    }

    /// Time for which nothing has come.
    pub(crate) fn idle_ns(&self, now: Instant) -> u64 {
        now.since(self.at.get())
    }

    /// True if its opening was read, and announces a file.
    pub(crate) fn is_opened(&self) -> bool {
        self.is_opened.get()
    }

    /// True if it may be asked to give way.
    fn is_idle(&self, now: Instant) -> bool {
        let grace_ns = if self.is_opened() { PROGRESS_GRACE_NS } else { OPENING_GRACE_NS };
        self.idle_ns(now) >= grace_ns
    }
}

/// Session that has a place.
#[derive(Debug)]
struct Holder {
    party: Party,
    progress: Rc<Progress>,
    leave: Rc<Notify>,
}

/// Places that are taken.
#[derive(Debug, Default)]
pub(crate) struct Places {
    holders: RefCell<BTreeMap<u64, Holder>>,
    next: Cell<u64>,
    /// Parties of sessions that had a place and brought nothing.
    fruitless: RefCell<Fruitless>,
    /// Sessions that began, whether they have a place or not, and when.
    begun: RefCell<Vec<(Rc<Progress>, Instant)>>,
    /// Party of each transfer that waits.
    waiting: RefCell<Vec<Party>>,
    /// Those that wait for farewells, and those that are told that there is no room.
    farewells: Leaving,
    turned_away: Leaving,
}

/// Parties of sessions without a place that are about to end, in the order in which that began.
type Leaving = RefCell<Vec<(Party, Rc<Notify>)>>;

/// A session, until it is dropped.
#[derive(Debug)]
pub(crate) struct Begun<'a> {
    places: &'a Places,
    progress: Rc<Progress>,
}

/// A place, until it is dropped or given to another.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    places: &'a Places,
    key: u64,
    leave: Rc<Notify>,
}

/// Room of a session that is about to end, until it is dropped or given to another.
#[derive(Debug)]
pub(crate) struct Farewell<'a> {
    leaving: &'a Leaving,
    leave: Rc<Notify>,
}

/// Turn of a transfer that waits for a place.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    places: &'a Places,
    party: Party,
}

impl Places {
    /// Takes in that a session has begun.
    pub(crate) fn begin(&self, progress: &Rc<Progress>, now: Instant) -> Begun<'_> {
        self.begun.borrow_mut().push((Rc::clone(progress), now));
        Begun { places: self, progress: Rc::clone(progress) }
    }

    /// A place for a session of this party; `None`: all are taken by transfers that make progress.
    pub(crate) fn take(&self, party: Party, progress: &Rc<Progress>, now: Instant) -> Option<Place<'_>> {
        if !self.is_free_for(party) {
            let is_party_full = count(&self.holders.borrow(), party) >= MAX_PLACES_OF_PARTY;
            let key = self.who_gives_way((party, is_party_full), now)?;
            let holder = self.holders.borrow_mut().remove(&key)?;
            holder.leave.notify_one();
            // It has had its time, and did not give way before that.
            if holder.progress.idle_ns(now) >= OPENING_GRACE_NS {
                self.take_in_end(&holder);
            }
        }
        Some(self.place(party, progress))
    }

    /// Session that gives way to one of `party`: to a party that has as many places as it may, one of its
    /// own. It is one that makes no progress; for one that has brought nothing yet less time is enough where
    /// many have not. Such a one gives way at once if its party has more places for nothing, now and of late,
    /// than `party`: whoever opens the most is not served the most. The first is one that has brought
    /// nothing, of the party with most such places of late; then without an opening; then the longest without
    /// progress.
    fn who_gives_way(&self, (party, is_own): (Party, bool), now: Instant) -> Option<u64> {
        let (holders, fruitless) = (self.holders.borrow(), self.fruitless.borrow());
        let has_brought = |holder: &Holder| holder.progress.has_brought.get();
        let for_nothing = || holders.values().filter(|holder| !has_brought(holder));
        let claims = |party: Party| {
            for_nothing().filter(|holder| holder.party == party).count() + fruitless.of(party, now)
        };
        let here = claims(party) + 1;
        let is_crowded = for_nothing().count() > MAX_PLACES_FOR_NOTHING;
        let is_late = |holder: &Holder| is_crowded && holder.progress.idle_ns(now) >= OPENING_GRACE_NS;
        let gives_way = |holder: &Holder| {
            let has_nothing = !has_brought(holder) && (is_late(holder) || claims(holder.party) > here);
            has_nothing || holder.progress.is_idle(now)
        };
        let candidates =
            holders.iter().filter(|(_, holder)| (!is_own || holder.party == party) && gives_way(holder));
        let order = |holder: &Holder| {
            let wasted = if has_brought(holder) { 0 } else { fruitless.of(holder.party, now) };
            (Reverse(wasted), holder.progress.is_opened(), holder.progress.at.get())
        };
        candidates.min_by_key(|(_, holder)| order(holder)).map(|(&key, _)| key)
    }

    /// Takes in that a session has its place no more.
    fn take_in_end(&self, Holder { party, progress, .. }: &Holder) {
        if !progress.has_brought.get() {
            self.fruitless.borrow_mut().add(*party, progress.at.get());
        }
    }

    /// True if a session of this party takes a place from nobody.
    fn is_free_for(&self, party: Party) -> bool {
        let holders = self.holders.borrow();
        holders.len() < MAX_PLACES && count(&holders, party) < MAX_PLACES_OF_PARTY
    }

    fn place(&self, party: Party, progress: &Rc<Progress>) -> Place<'_> {
        let (key, leave) = (self.next.get(), Rc::new(Notify::new()));
        self.next.set(key + 1);
        let (progress, leave_too) = (Rc::clone(progress), Rc::clone(&leave));
        self.holders.borrow_mut().insert(key, Holder { party, progress, leave: leave_too });
        Place { places: self, key, leave }
    }

    /// A turn for a transfer of this party; `None`: as many wait as may.
    pub(crate) fn wait(&self, party: Party) -> Option<Turn<'_>> {
        let mut waiting = self.waiting.borrow_mut();
        let of_party = waiting.iter().filter(|&&other| other == party).count();
        let may_wait = waiting.len() < MAX_WAITING && of_party < MAX_WAITING_OF_PARTY;
        may_wait.then(|| {
            waiting.push(party);
            Turn { places: self, party }
        })
    }

    /// Room to wait for a farewell of this party.
    pub(crate) fn farewell(&self, party: Party) -> Farewell<'_> {
        Farewell::begin(&self.farewells, MAX_FAREWELLS, party)
    }

    /// Room to tell this party that there is none for its transfer.
    pub(crate) fn turned_away(&self, party: Party) -> Farewell<'_> {
        Farewell::begin(&self.turned_away, MAX_TURNED_AWAY, party)
    }

    /// True if a transfer is under way that has made progress for the last [`WAITED_NS`], and whose sender is
    /// there. One that has no place, as its peer has not shown yet to be at its address, counts for as long
    /// after its begin.
    pub(crate) fn is_any_busy(&self, now: Instant) -> bool {
        let busy = |progress: &Progress| {
            progress.is_opened() && progress.idle_ns(now) < WAITED_NS && !progress.is_silent(SILENCE_NS, now)
        };
        let is_new = |begun_at: Instant| now.since(begun_at) < WAITED_NS;
        self.holders.borrow().values().any(|holder| busy(&holder.progress))
            || self.begun.borrow().iter().any(|(progress, begun_at)| is_new(*begun_at) && busy(progress))
    }
}

fn count(holders: &BTreeMap<u64, Holder>, party: Party) -> usize {
    holders.values().filter(|holder| holder.party == party).count()
}

impl Place<'_> {
    /// Ends when the place was given to another.
    pub(crate) async fn taken_away(&self) {
        self.leave.notified().await;
    }
}

impl<'a> Turn<'a> {
    /// A place, once there is one that nobody has.
    pub(crate) async fn place(&self, progress: &Rc<Progress>) -> Place<'a> {
        while !self.places.is_free_for(self.party) {
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
        self.places.place(self.party, progress)
    }
}

impl<'a> Farewell<'a> {
    /// Where as many leave as may, the oldest of the party of which there are most gives way.
    fn begin(leaving: &'a Leaving, most: usize, party: Party) -> Self {
        let leave = Rc::new(Notify::new());
        let mut parties = leaving.borrow_mut();
        parties.push((party, Rc::clone(&leave)));
        if parties.len() > most {
            let of_party = |party: Party| parties.iter().filter(|(other, _)| *other == party).count();
            let at = (0..parties.len()).rev().max_by_key(|&at| of_party(parties[at].0));
            parties.remove(at.unwrap_or_default()).1.notify_one();
        }
        Self { leaving, leave }
    }

    /// Ends when the room was given to another.
    pub(crate) async fn taken_away(&self) {
        self.leave.notified().await;
    }
}

impl Drop for Farewell<'_> {
    fn drop(&mut self) {
        self.leaving.borrow_mut().retain(|(_, leave)| !Rc::ptr_eq(leave, &self.leave));
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.places.begun.borrow_mut().retain(|(progress, _)| !Rc::ptr_eq(progress, &self.progress));
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut waiting = self.places.waiting.borrow_mut();
        if let Some(at) = waiting.iter().position(|&party| party == self.party) {
            waiting.swap_remove(at);
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let holder = self.places.holders.borrow_mut().remove(&self.key);
        if let Some(holder) = holder {
            self.places.take_in_end(&holder);
        }
    }
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;

//! Relay in real time: each connection that it accepts goes on as another one, of any protocol
//! (`docs/spec/petra.md`, 8). What moves what is [`skyhaul_petra::relay`]; here are its surroundings.

mod end;
mod pair;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use skyhaul_petra::relay::{Bounds, Control, Coupling, Record, Side};

use crate::{Listener, Protocol};
pub use end::RelayEnd;

/// Options of a relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelayOptions {
    /// Bounds of the buffer of each direction of a coupling.
    pub bounds: Bounds,
    /// Couplings at a time, at most: a further connection is refused, and counted.
    pub max_couplings: usize,
}

/// Bounds that are ample for a satellite link of some Mbit/s: senders are held from 64 KiB on.
impl Default for RelayOptions {
    fn default() -> Self {
        let bounds = Bounds { threshold_bytes: 64 << 10, size_bytes: 256 << 10, control: Control::Hold };
        Self { bounds, max_couplings: 1024 }
    }
}

/// Coupling that its task works at, and whoever counts looks at.
type Live = Arc<Mutex<Coupling>>;

#[derive(Debug, Default)]
struct Book {
    /// Of the couplings that are over, and of what was refused.
    record: Record,
    live: BTreeMap<u64, Live>,
    last: u64,
}

/// Relay. Clones are of one relay: they share its bounds and its counters. It holds at most
/// `max_couplings` times the buffers of both directions, beside what the connections hold themselves.
#[derive(Clone, Debug)]
pub struct Relay {
    options: RelayOptions,
    book: Arc<Mutex<Book>>,
}

impl Relay {
    /// Relay without couplings.
    pub fn new(options: RelayOptions) -> Self {
        Self { options, book: Arc::default() }
    }

    /// Couples each connection that peers open to `listener` with one that `onwards` opens, until the
    /// endpoint of the listener is closed. Must be awaited within a tokio runtime, whose tasks the couplings
    /// are: they go on without this future.
    pub async fn serve<P, F>(&self, mut listener: Listener<P>, mut onwards: impl FnMut() -> io::Result<F>)
    where
        P: Protocol,
        F: RelayEnd + 'static,
    {
        while let Some(near) = listener.accept().await {
            self.couple(near, &mut onwards);
        }
    }

    /// Couples a connection with the one that `onwards` opens. Both are refused where there are as many
    /// couplings as there may be, and the near one where the other cannot be opened. Must be called within a
    /// tokio runtime.
    pub fn couple<N, F>(&self, mut near: N, onwards: impl FnOnce() -> io::Result<F>)
    where
        N: RelayEnd + 'static,
        F: RelayEnd + 'static,
    {
        let Some((number, coupling)) = self.enter() else { return near.refuse() };
        if let Ok(far) = onwards() {
            tokio::spawn(self.clone().work(number, coupling, near, far));
        } else {
            self.leave(number, Record::with_refusal);
            near.refuse();
        }
    }

    async fn work(self, number: u64, coupling: Live, mut near: impl RelayEnd, mut far: impl RelayEnd) {
        let guard = Guard { relay: self, number };
        let is_clean = near.confirmed().await && pair::work(&coupling, &mut near, &mut far).await;
        if is_clean {
            near.part();
            far.part();
        }
        drop(guard);
    }

    /// Place for a coupling, if there is one.
    fn enter(&self) -> Option<(u64, Live)> {
        let mut book = self.book();
        if book.live.len() >= self.options.max_couplings {
            book.record = book.record.with_refusal();
            return None;
        }
        let bounds = self.options.bounds;
        let coupling = Arc::new(Mutex::new(Coupling::new(bounds, bounds)));
        book.last += 1;
        let number = book.last;
        book.live.insert(number, Arc::clone(&coupling));
        Some((number, coupling))
    }

    /// Takes a coupling out, which counts as `count` says.
    fn leave(&self, number: u64, count: impl FnOnce(Record) -> Record) {
        let mut book = self.book();
        book.live.remove(&number);
        book.record = count(book.record);
    }

    /// Counters until now, those of couplings at work included.
    pub fn record(&self) -> Record {
        let book = self.book();
        book.live.values().fold(book.record, |record, live| record.with(&lock(live)))
    }

    /// Couplings at work.
    pub fn coupling_count(&self) -> usize {
        self.book().live.len()
    }

    /// Octets in the buffers of the couplings at work that came from one side.
    pub fn occupancy_bytes(&self, from: Side) -> u64 {
        self.book().live.values().map(|live| lock(live).occupancy_bytes(from)).sum()
    }

    /// Counters are whole after each change: a panic elsewhere does not make them wrong.
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Coupling, also after a panic under its lock: what it holds fails with its task, and is counted alone.
fn lock(live: &Live) -> MutexGuard<'_, Coupling> {
    live.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a coupling out of the book when its task ends, however that is.
struct Guard {
    relay: Relay,
    number: u64,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let live = self.relay.book().live.get(&self.number).cloned();
        let Some(live) = live else { return };
        let mut coupling = lock(&live);
        if !coupling.is_over() {
            coupling.fail(); // the runtime goes, or the task has panicked
        }
        // Nothing waits in it any more. Whoever counts locks the book first.
        let last = coupling.clone();
        drop(coupling);
        self.relay.leave(self.number, |record| record.with(&last));
    }
}

//! Bookkeeper of a sealed endpoint: a task that has tokens and counters written down, and follows what
//! becomes of the peers.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use skyhaul_association::{Event, Name, PeerId};
use skyhaul_core::{Instant, SECOND};
use skyhaul_net::SealedEndpoint;
use skyhaul_store::{Book, Clerk, Counters, Roster};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use crate::output::note;

/// Time between two looks at what was written down, and at the file of peers.
const LOOK: Duration = Duration::from_millis(500);
/// Time that sessions have to tell their peers that they end, before the keys of these go.
const FAREWELL: Duration = Duration::from_millis(200);
/// Least time between two warnings of handshakes that came a second time.
const SPACING_NS: u64 = 60 * SECOND;

/// Bookkeeper; when it is dropped, everything that it was told is written down.
#[derive(Debug)]
pub(super) struct Bookkeeper {
    endpoint: SealedEndpoint,
    books: Arc<Mutex<Books>>,
    task: JoinHandle<()>,
}

/// Names of the peers that are heard, as they are from now on.
pub(super) type Names = watch::Receiver<BTreeMap<PeerId, Name>>;

impl Bookkeeper {
    /// Bookkeeper of an endpoint with these peers, and who of them is heard at any time.
    pub(super) fn start(
        endpoint: SealedEndpoint,
        counters: Counters,
        roster: Roster,
    ) -> io::Result<(Self, Names)> {
        let clerk = Clerk::start(counters, roster.keys())?;
        let books = Arc::new(Mutex::new(Books { clerk, copies: Copies::default() }));
        let (names, heard) = watch::channel(roster.names());
        let desk = Desk { endpoint: endpoint.clone(), books: Arc::clone(&books), roster, names };
        let task = tokio::spawn(desk.keep());
        Ok((Self { endpoint, books, task }, heard))
    }
}

/// What becomes of events.
#[derive(Debug)]
struct Books {
    clerk: Clerk,
    copies: Copies,
}

impl Books {
    fn take(&mut self, event: &Event, now: Instant) {
        if let Event::CounterTaken { .. } = event {
            self.copies.count += 1;
            self.copies.due(now).iter().for_each(|line| note(line));
        }
        self.clerk.take(event);
    }
}

/// Books whose user panicked have nothing by halves.
fn lock(books: &Mutex<Books>) -> MutexGuard<'_, Books> {
    books.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Handshakes that came a second time. Whoever copied some brings as many as he likes: little is told.
#[derive(Debug, Default)]
struct Copies {
    /// Those of which nothing is told yet.
    count: u64,
    told_at: Option<Instant>,
}

impl Copies {
    /// The warning, if it is time for one.
    fn due(&mut self, now: Instant) -> Option<String> {
        if self.count == 0 || self.told_at.is_some_and(|at| now.since(at) < SPACING_NS) {
            return None;
        }
        self.told_at = Some(now);
        let others = match std::mem::take(&mut self.count) - 1 {
            0 => String::new(),
            others => format!(" (and {others} more)"),
        };
        Some(format!(
            "WARNING: a peer's handshake{others} came a second time: somebody copied it, the peer's disk was put back \
             from a copy, or two machines have one identity"
        ))
    }
}

/// Work of the task.
struct Desk {
    endpoint: SealedEndpoint,
    books: Arc<Mutex<Books>>,
    roster: Roster,
    names: watch::Sender<BTreeMap<PeerId, Name>>,
}

impl Desk {
    /// Works for as long as the endpoint is open.
    async fn keep(mut self) {
        // Beside the turns, so that no rate of events puts a look off.
        let mut look = tokio::time::interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                event = self.endpoint.next_event() => match event {
                    Some(event) => lock(&self.books).take(&event, self.endpoint.clock().now()),
                    None => return,
                },
                _ = look.tick() => self.look().await,
            }
            let books = Arc::clone(&self.books);
            let report = |associations: &mut _| lock(&books).clerk.report(associations);
            super::warn(&self.endpoint.change_associations(report));
        }
    }

    /// Looks at the file of peers. One that cannot be used is told once, and changes nothing.
    async fn look(&mut self) {
        if !self.roster.is_out_of_date() {
            return;
        }
        match self.roster.read() {
            Ok(book) => self.follow(&book).await,
            Err(trouble) => super::warn(&[trouble]),
        }
    }

    async fn follow(&mut self, book: &Book) {
        let before = self.roster.names();
        let staying = self.roster.staying(book);
        if staying.len() < before.len() {
            self.names.send_replace(staying);
            tokio::time::sleep(FAREWELL).await;
        }
        let roster = &mut self.roster;
        let changes = self.endpoint.change_associations(|associations| roster.follow(book, associations));
        let names = self.roster.names();
        let books = lock(&self.books);
        changes.gone.iter().for_each(|&peer| books.clerk.forget(peer));
        changes.come.iter().for_each(|&(peer, key)| books.clerk.know(peer, key));
        drop(books);
        super::warn(&changes.troubles);
        let told = |verb: &str, name: &Name| note(&format!("{name} {verb} from now on"));
        changes.gone.iter().filter_map(|peer| before.get(peer)).for_each(|name| told("is not heard", name));
        changes.come.iter().filter_map(|(peer, _)| names.get(peer)).for_each(|name| told("is heard", name));
        if names.is_empty() {
            note("WARNING: no peer is left: nobody is heard");
        }
        self.names.send_replace(names);
    }
}

impl Drop for Bookkeeper {
    fn drop(&mut self) {
        self.task.abort();
        while let Some(event) = self.endpoint.take_event() {
            lock(&self.books).take(&event, self.endpoint.clock().now());
        }
    }
}

#[cfg(test)]
#[path = "bookkeeper_tests.rs"]
mod tests;

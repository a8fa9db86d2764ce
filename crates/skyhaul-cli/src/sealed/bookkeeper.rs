//! Bookkeeper of a sealed endpoint: a task that has tokens and counters written down, and follows what
//! becomes of the peers.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use skyhaul_association::{Event, Name, PeerId};
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

/// Bookkeeper; when it is dropped, everything that it was told is written down.
#[derive(Debug)]
pub(super) struct Bookkeeper {
    endpoint: SealedEndpoint,
    clerk: Arc<Mutex<Clerk>>,
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
        let clerk = Arc::new(Mutex::new(Clerk::start(counters, roster.keys())?));
        let (names, heard) = watch::channel(roster.names());
        let desk = Desk { endpoint: endpoint.clone(), clerk: Arc::clone(&clerk), roster, names };
        let task = tokio::spawn(desk.keep());
        Ok((Self { endpoint, clerk, task }, heard))
    }
}

/// A clerk whose user panicked has done nothing by halves.
fn lock(clerk: &Mutex<Clerk>) -> MutexGuard<'_, Clerk> {
    clerk.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Work of the task.
struct Desk {
    endpoint: SealedEndpoint,
    clerk: Arc<Mutex<Clerk>>,
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
                    Some(event) => take(&event, &self.clerk),
                    None => return,
                },
                _ = look.tick() => self.look().await,
            }
            let clerk = Arc::clone(&self.clerk);
            let report = |associations: &mut _| lock(&clerk).report(associations);
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
        let clerk = lock(&self.clerk);
        changes.gone.iter().for_each(|&peer| clerk.forget(peer));
        changes.come.iter().for_each(|&(peer, key)| clerk.know(peer, key));
        drop(clerk);
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

fn take(event: &Event, clerk: &Mutex<Clerk>) {
    if let Event::CounterTaken { .. } = event {
        note(
            "WARNING: a peer's handshake came a second time: somebody copied it, the peer's disk was put back from a \
             copy, or two machines have one identity",
        );
    }
    lock(clerk).take(event);
}

impl Drop for Bookkeeper {
    fn drop(&mut self) {
        self.task.abort();
        while let Some(event) = self.endpoint.take_event() {
            take(&event, &self.clerk);
        }
    }
}

#[cfg(test)]
#[path = "bookkeeper_tests.rs"]
mod tests;

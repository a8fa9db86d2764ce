//! Bookkeeper of a sealed endpoint: a task that has tokens and counters written down.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use skyhaul_association::{Event, PeerId, PublicKey};
use skyhaul_net::SealedEndpoint;
use skyhaul_store::{Clerk, Counters};
use tokio::task::JoinHandle;

use crate::output::note;

/// Time between two looks at what was written down.
const LOOK: Duration = Duration::from_millis(500);

/// Bookkeeper; when it is dropped, everything that it was told is written down.
#[derive(Debug)]
pub(super) struct Bookkeeper {
    endpoint: SealedEndpoint,
    clerk: Arc<Mutex<Clerk>>,
    task: JoinHandle<()>,
}

impl Bookkeeper {
    /// Bookkeeper of an endpoint whose peers have these keys.
    pub(super) fn start(
        endpoint: SealedEndpoint,
        counters: Counters,
        keys: BTreeMap<PeerId, PublicKey>,
    ) -> io::Result<Self> {
        let clerk = Arc::new(Mutex::new(Clerk::start(counters, keys)?));
        let task = tokio::spawn(keep(endpoint.clone(), Arc::clone(&clerk)));
        Ok(Self { endpoint, clerk, task })
    }
}

/// A clerk whose user panicked has done nothing by halves.
fn lock(clerk: &Mutex<Clerk>) -> MutexGuard<'_, Clerk> {
    clerk.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Works for as long as the endpoint is open.
async fn keep(endpoint: SealedEndpoint, clerk: Arc<Mutex<Clerk>>) {
    loop {
        tokio::select! {
            event = endpoint.next_event() => match event {
                Some(event) => take(&event, &clerk),
                None => return,
            },
            () = tokio::time::sleep(LOOK) => {}
        }
        let troubles = endpoint.change_associations(|associations| lock(&clerk).report(associations));
        super::warn(&troubles);
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

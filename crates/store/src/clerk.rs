//! Clerk: a thread of its own that writes down what associations ask for, so that nothing waits for a disk.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use skyhaul_association::{Associations, Event, PeerId, PublicKey, Token};

use crate::counters::Counters;
use crate::errors::StoreError;

/// Requests that wait for the disk. Further ones are dropped: the next handshake with that peer is not fresh,
/// which costs a round trip.
pub const MAX_REQUESTS: usize = 64;

/// What is to be written down.
#[derive(Debug)]
enum Request {
    Reserve(PeerId, u64),
    Token(PeerId, Token),
}

/// What came of it.
type Answer = Result<(PeerId, Range<u64>), StoreError>;

/// Thread that writes counters and tokens.
#[derive(Debug)]
pub struct Clerk {
    requests: Option<SyncSender<Request>>,
    answers: Receiver<Answer>,
    thread: Option<JoinHandle<()>>,
}

impl Clerk {
    /// Clerk for the peers with these keys.
    pub fn start(counters: Counters, keys: BTreeMap<PeerId, PublicKey>) -> io::Result<Self> {
        let (requests, orders) = sync_channel(MAX_REQUESTS);
        let (reports, answers) = sync_channel(MAX_REQUESTS);
        let work = move || serve(&counters, &keys, &orders, &reports);
        let thread = Builder::new().name("skyhaul-clerk".into()).spawn(work)?;
        Ok(Self { requests: Some(requests), answers, thread: Some(thread) })
    }

    /// Takes an event of the associations. Those that ask for nothing on a disk are nothing to it.
    pub fn take(&self, event: &Event) {
        let request = match *event {
            Event::Reserve { peer, up_to } => Request::Reserve(peer, up_to),
            Event::Token { peer, token } => Request::Token(peer, token),
            _ => return,
        };
        if let Some(requests) = &self.requests {
            let _ = requests.try_send(request);
        }
    }

    /// Hands in the counters that were written down since; without waiting. Gives what went wrong.
    pub fn report(&self, associations: &mut Associations) -> Vec<StoreError> {
        let mut troubles = Vec::new();
        for answer in self.answers.try_iter() {
            match answer {
                Ok((peer, counters)) => associations.reserved(peer, counters),
                Err(trouble) => troubles.push(trouble),
            }
        }
        troubles
    }

    /// Waits until everything is written that was asked for.
    pub fn finish(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so itself.
            let _ = thread.join();
        }
    }
}

impl Drop for Clerk {
    fn drop(&mut self) {
        self.end();
    }
}

/// Answers requests until nobody can make any.
fn serve(
    counters: &Counters,
    keys: &BTreeMap<PeerId, PublicKey>,
    orders: &Receiver<Request>,
    reports: &SyncSender<Answer>,
) {
    for order in orders {
        let report = match order {
            Request::Reserve(peer, up_to) => {
                keys.get(&peer).map(|&key| counters.claim(key, up_to).map(|granted| (peer, granted)))
            }
            Request::Token(peer, token) => {
                let kept = keys.get(&peer).map(|&key| counters.keep_token(key, token));
                kept.and_then(Result::err).map(Err)
            }
        };
        if let Some(report) = report {
            // Nobody may want to know any more: counters that are never used do no harm.
            let _ = reports.try_send(report);
        }
    }
}

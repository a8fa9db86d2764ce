//! Clerk: a thread of its own that writes down what associations ask for, so that nothing waits for a disk.
#![allow(clippy::disallowed_methods, reason = "the thread works in real time")]

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use skyhaul_association::{Associations, Event, PeerId, PublicKey, Token};

use crate::counters::Counters;
use crate::errors::StoreError;

/// Time after which a claim that failed is made again: a disk that was full may have room.
const AGAIN: Duration = Duration::from_secs(2);

/// Requests that wait for the disk. Further ones are dropped: the next handshake with that peer is not fresh,
/// which costs a round trip.
pub const MAX_REQUESTS: usize = 64;

/// What is to be written down.
#[derive(Clone, Copy, Debug)]
enum Request {
    Know(PeerId, PublicKey),
    Forget(PeerId),
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
        let desk = Desk { counters, keys, reports, owed: BTreeMap::new(), again_at: None };
        let work = move || desk.serve(&orders);
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
        self.ask(request);
    }

    /// Takes a peer that is known from now on.
    pub fn know(&self, peer: PeerId, key: PublicKey) {
        self.ask(Request::Know(peer, key));
    }

    /// Has a peer forgotten; what is on the disk stays.
    pub fn forget(&self, peer: PeerId) {
        self.ask(Request::Forget(peer));
    }

    fn ask(&self, request: Request) {
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

/// Work of the thread.
struct Desk {
    counters: Counters,
    keys: BTreeMap<PeerId, PublicKey>,
    reports: SyncSender<Answer>,
    /// Claims that failed: they are made again.
    owed: BTreeMap<PeerId, u64>,
    /// When that is, if one failed.
    again_at: Option<Instant>,
}

impl Desk {
    /// Answers requests until nobody can make any.
    fn serve(mut self, orders: &Receiver<Request>) {
        loop {
            let order = match self.again_at {
                None => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => orders.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            match order {
                Ok(order) => self.take(order),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.claim_again();
        }
    }

    fn take(&mut self, order: Request) {
        match order {
            Request::Know(peer, key) => drop(self.keys.insert(peer, key)),
            Request::Forget(peer) => {
                self.keys.remove(&peer);
                self.owed.remove(&peer);
            }
            Request::Reserve(peer, up_to) => self.claim(peer, up_to),
            Request::Token(peer, token) => {
                let kept = self.keys.get(&peer).map(|&key| self.counters.keep_token(key, token));
                if let Some(Err(trouble)) = kept {
                    self.report(Err(trouble));
                }
            }
        }
    }

    /// Claims counters; a failure is told when it is the first one.
    fn claim(&mut self, peer: PeerId, up_to: u64) {
        let Some(&key) = self.keys.get(&peer) else { return };
        match self.counters.claim(key, up_to) {
            Ok(granted) => {
                self.owed.remove(&peer);
                self.report(Ok((peer, granted)));
            }
            Err(trouble) => {
                if self.owed.insert(peer, up_to).is_none() {
                    self.report(Err(trouble));
                }
            }
        }
    }

    /// Claims again what failed, if it is time; requests that come meanwhile do not put it off.
    fn claim_again(&mut self) {
        if self.again_at.is_some_and(|at| at <= Instant::now()) {
            self.again_at = None;
            for (peer, up_to) in self.owed.clone() {
                self.claim(peer, up_to);
            }
        }
        self.again_at =
            if self.owed.is_empty() { None } else { self.again_at.or_else(|| Some(Instant::now() + AGAIN)) };
    }

    /// Nobody may want to know any more: counters that are never used do no harm.
    fn report(&self, answer: Answer) {
        let _ = self.reports.try_send(answer);
    }
}

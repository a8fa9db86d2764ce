//! State that streams, listeners and the driver share under one lock: the engine and who waits for it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::task::{Context, Poll, Waker};
use std::thread;

use skyhaul_core::endpoint::Stage;
use skyhaul_core::{ConnectionId, Instant, StreamEvent, host_number};

use crate::backlog::Backlog;
use crate::entry::{Entry, Proof};
use crate::{EndpointError, Protocol};

/// How far an endpoint's life has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    /// In use.
    Open,
    /// Nobody holds a handle any more: it ends with its last connection.
    Abandoned,
    /// Every connection was aborted: it ends when the peers were told.
    Closing,
    /// The driver is gone.
    Ended,
    /// A panic happened under the lock: nothing inside can be trusted.
    Failed,
}

/// Engine, connections and counters of an endpoint.
pub(crate) struct State<P: Protocol> {
    pub(crate) engine: P,
    pub(crate) entries: BTreeMap<ConnectionId, Entry>,
    /// Connections of which somebody waits for a proof of the peer's.
    awaiting_proof: BTreeSet<(ConnectionId, Proof)>,
    /// Connections of which somebody waits until what was written leaves, with the octets that had not.
    awaiting_departure: BTreeMap<ConnectionId, u64>,
    backlogs: BTreeMap<u16, Backlog>,
    /// Set while the driver sleeps.
    pub(crate) driver: Option<Waker>,
    life: Life,
    pub(crate) counters: P::Counters,
    accept_limit_bytes: u64,
}

impl<P: Protocol> State<P> {
    /// `accept_limit_bytes`: what an accepted connection holds for its reader, at most.
    pub(crate) fn new(engine: P, accept_limit_bytes: u64) -> Self {
        Self {
            accept_limit_bytes,
            engine,
            entries: BTreeMap::new(),
            awaiting_proof: BTreeSet::new(),
            awaiting_departure: BTreeMap::new(),
            backlogs: BTreeMap::new(),
            driver: None,
            life: Life::Open,
            counters: P::Counters::default(),
        }
    }

    /// Check that the endpoint may still be used.
    pub(crate) fn check(&self) -> Result<(), EndpointError> {
        match self.life {
            Life::Open | Life::Abandoned => Ok(()),
            Life::Closing | Life::Ended => Err(EndpointError::Closed),
            Life::Failed => Err(EndpointError::Failed),
        }
    }

    /// Access to the engine, if it can be used: it can tell what became of its connections also when the
    /// endpoint is closed, but not after a panic.
    pub(crate) fn check_engine(&self) -> Result<(), EndpointError> {
        if self.life == Life::Failed { Err(EndpointError::Failed) } else { Ok(()) }
    }

    /// Starts to accept on `port`; so many connections may wait to be taken.
    pub(crate) fn listen(&mut self, port: u16, limit: usize) -> Result<(), EndpointError> {
        self.check()?;
        if self.backlogs.contains_key(&port) {
            return Err(EndpointError::AlreadyListening);
        }
        self.engine.listen(port);
        self.backlogs.insert(port, Backlog::new(limit));
        Ok(())
    }

    /// Stops accepting; connections that nobody took are refused.
    pub(crate) fn unlisten(&mut self, port: u16, now: Instant) {
        let Some(backlog) = self.backlogs.remove(&port) else { return };
        self.engine.unlisten(port);
        for id in backlog.into_rest() {
            self.let_go(now, id, true);
        }
    }

    /// The next connection to hand out, with its peer; `None` when there will be none.
    pub(crate) fn poll_accept(
        &mut self,
        port: u16,
        cx: &Context<'_>,
    ) -> Poll<Option<(ConnectionId, SocketAddr)>> {
        let ended = self.check().is_err();
        let Some(backlog) = self.backlogs.get_mut(&port) else { return Poll::Ready(None) };
        if ended {
            return Poll::Ready(None);
        }
        while let Some(id) = backlog.next() {
            if let Some(peer) = self.engine.address(id) {
                return Poll::Ready(Some((id, peer)));
            }
        }
        backlog.wait(cx);
        Poll::Pending
    }

    /// Whether the peer of a connection has given a proof: false if the connection ended before.
    pub(crate) fn poll_proven(&mut self, id: ConnectionId, proof: Proof, cx: &Context<'_>) -> Poll<bool> {
        let is_proven = self.check_engine().is_ok() && has_proven(&self.engine, id, proof);
        match self.entries.get_mut(&id) {
            Some(entry) if !is_proven && entry.end.is_none() => entry.wait_for_proof(proof, cx),
            _ => return Poll::Ready(is_proven),
        }
        self.awaiting_proof.insert((id, proof));
        Poll::Pending
    }

    /// Wakes the task of `cx` at whatever happens next to a connection, what was written and leaves included.
    pub(crate) fn wait_for_anything(&mut self, id: ConnectionId, cx: &Context<'_>) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        entry.wait_to_read(cx);
        entry.wait_to_write(cx);
        let unsent_bytes = self.engine.unsent_bytes(id);
        if unsent_bytes > 0 {
            self.awaiting_departure.insert(id, unsent_bytes);
        }
    }

    /// The application has no more use for a connection; with `abort` the peer is told that it broke off.
    pub(crate) fn let_go(&mut self, now: Instant, id: ConnectionId, abort: bool) {
        if abort {
            self.engine.abort(id);
        }
        self.engine.release(now, id);
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.is_released = true;
        }
    }

    /// Hands out what the engine has to tell. Those to be woken are put into `wake`.
    pub(crate) fn dispatch(&mut self, now: Instant, wake: &mut Vec<Waker>) {
        while let Some(id) = self.engine.accept() {
            self.offer(now, id, wake);
        }
        while let Some((id, event)) = self.engine.poll_event() {
            self.tell(id, event, wake);
        }
        self.awaiting_proof.retain(|&(id, proof)| {
            let (engine, Some(entry)) = (&self.engine, self.entries.get_mut(&id)) else { return false };
            if entry.awaits_proof(proof) && has_proven(engine, id, proof) {
                wake.extend(entry.prove(proof));
            }
            entry.awaits_proof(proof)
        });
        self.awaiting_departure.retain(|&id, &mut unsent_bytes| {
            let is_unchanged = self.engine.unsent_bytes(id) == unsent_bytes;
            if let (false, Some(entry)) = (is_unchanged, self.entries.get_mut(&id)) {
                wake.extend(entry.departed());
            }
            is_unchanged
        });
        if self.engine.connection_count() < self.entries.len() {
            let engine = &self.engine;
            self.entries.retain(|&id, _| engine.state(id).is_some());
        }
    }

    fn offer(&mut self, now: Instant, id: ConnectionId, wake: &mut Vec<Waker>) {
        self.entries.insert(id, Entry::new(true, self.accept_limit_bytes));
        let (port, peer) = (self.engine.local_port(id), self.engine.address(id));
        let backlog = port.and_then(|port| self.backlogs.get_mut(&port));
        let Some((backlog, peer)) = backlog.zip(peer) else { return self.let_go(now, id, true) };
        let (waker, surplus) = backlog.put(id, host_number(peer.ip()));
        wake.extend(waker);
        if let Some(surplus) = surplus {
            self.let_go(now, surplus, true);
        }
    }

    fn tell(&mut self, id: ConnectionId, event: StreamEvent, wake: &mut Vec<Waker>) {
        if let Some(entry) = self.entries.get_mut(&id) {
            wake.extend(entry.on_event(event).into_iter().flatten());
        }
    }

    /// Takes note that nobody holds a handle any more.
    pub(crate) fn abandon(&mut self) {
        if self.life == Life::Open {
            self.life = Life::Abandoned;
        }
    }

    /// Aborts every connection; the endpoint ends when the peers were told.
    pub(crate) fn close(&mut self) {
        self.life = Life::Closing;
        self.abort_all();
    }

    /// Takes note of a panic under the lock.
    pub(crate) fn fail(&mut self) {
        self.life = Life::Failed;
    }

    /// Takes note that the driver goes, and puts all who wait for anything into `wake`.
    pub(crate) fn end(&mut self, now: Instant, wake: &mut Vec<Waker>) {
        if self.life != Life::Failed && !thread::panicking() {
            self.abort_all();
            self.dispatch(now, wake);
            self.life = Life::Ended;
        } else {
            self.fail();
        }
        self.everybody(wake);
    }

    /// True if the driver may go as soon as nothing is left to send.
    pub(crate) fn is_over(&self) -> bool {
        match self.life {
            Life::Open => false,
            Life::Abandoned => self.engine.connection_count() == 0,
            Life::Closing | Life::Ended | Life::Failed => true,
        }
    }

    /// True unless the driver is gone, or of no use any more.
    pub(crate) fn has_driver(&self) -> bool {
        !matches!(self.life, Life::Ended | Life::Failed)
    }

    /// Breaks off every connection that is not yet over on this side.
    fn abort_all(&mut self) {
        for &id in self.entries.keys() {
            if self.engine.stage(id).is_some_and(|stage| stage < Stage::Ended) {
                self.engine.abort(id);
            }
        }
    }

    /// All who wait for anything.
    fn everybody(&mut self, wake: &mut Vec<Waker>) {
        wake.extend(self.backlogs.values_mut().filter_map(Backlog::take_waker));
        wake.extend(self.entries.values_mut().flat_map(Entry::everybody).flatten());
    }

    /// True if no connection has anything left to do. Closed ones that a stream still holds have not.
    pub(crate) fn is_idle(&self) -> bool {
        self.entries.iter().all(|(&id, entry)| match self.engine.stage(id) {
            None => true,
            Some(Stage::Opening | Stage::Open) => false,
            Some(Stage::Ended) => !P::WORKS_WHEN_ENDED,
            Some(Stage::Closed) => !entry.is_released,
        })
    }

    /// True if no connection is open any more, or on its way to be.
    pub(crate) fn is_ended(&self) -> bool {
        let mut stages = self.entries.keys().filter_map(|&id| self.engine.stage(id));
        stages.all(|stage| stage >= Stage::Ended)
    }

    /// Takes the system's word that nobody receives at `peer`: connections that are being opened fail at
    /// once, and so do those for which only the peer's last words are missing. Others that are established
    /// are given up only if the reports `persist`. True if it came to that.
    pub(crate) fn on_refusal(&mut self, peer: P::Peer, persist: bool) -> bool {
        let mut stages = self.entries.keys().filter_map(|&id| self.engine.stage(id));
        let established = stages.any(|stage| matches!(stage, Stage::Open | Stage::Ended));
        let hit = !established || persist;
        self.engine.unreachable(peer, hit);
        hit
    }
}

fn has_proven<P: Protocol>(engine: &P, id: ConnectionId, proof: Proof) -> bool {
    match proof {
        Proof::Address => engine.is_proven(id),
        Proof::Origin => engine.is_confirmed(id),
    }
}

//! The task behind an endpoint: it carries bytes between the socket and the engine, and wakes the
//! streams. Work in one turn is bounded, so that neither sending nor receiving nor other tasks starve.

mod inbox;
mod outbox;
mod refusals;
mod sources;
mod wire;

use std::future::Future;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::pin::Pin;
use std::task::{Context, Poll};

use skyhaul_core::{Ecn, Engine as _};
use skyhaul_stp::Endpoint;

use crate::Protection;
use crate::keeper::{Keeper, Sent};
use inbox::Inbox;
use outbox::{Flushed, Outbox};
use refusals::Refusals;
use sources::Sources;
use wire::Wire;

/// Receiving system calls in a turn.
const MAX_RECEIVES: usize = 4;
/// Batches sent in a turn.
const MAX_SENDS: usize = 16;

/// The task behind an endpoint.
pub(crate) struct Driver {
    wire: Wire,
    inbox: Inbox,
    outbox: Outbox,
    sources: Sources,
    /// The one peer of a client endpoint.
    peer: Option<SocketAddr>,
    refusals: Refusals,
    /// Refusals reported and not judged yet.
    reported: u64,
    protection: Protection,
    /// Goes last: it tells that the socket is closed.
    keeper: Keeper<Endpoint>,
}

/// Where a driver's socket is, and whom it talks to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) local: SocketAddr,
    pub(crate) peer: Option<SocketAddr>,
}

impl Driver {
    pub(crate) fn new(
        keeper: Keeper<Endpoint>,
        socket: UdpSocket,
        place: Place,
        mtu_bytes: u32,
        protection: Protection,
    ) -> io::Result<Self> {
        let is_wild = place.local.ip().is_unspecified() && place.peer.is_none();
        Ok(Self {
            keeper,
            wire: Wire::new(socket, place.local)?,
            inbox: Inbox::new(),
            outbox: Outbox::new(mtu_bytes),
            sources: Sources::new(is_wild),
            peer: place.peer,
            refusals: Refusals::default(),
            reported: 0,
            protection,
        })
    }

    /// One turn: receive, send, set the timer. Ready when the endpoint has come to its end.
    fn turn(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.keeper.begin(cx)?;
        self.hear_of_trouble(cx);
        let received_all = self.receive(cx);
        if received_all {
            self.judge_refusals();
        }
        let sent = self.send(cx);
        self.keeper.conclude(cx, !received_all || self.reported > 0, sent)
    }

    /// Takes datagrams from the socket to the engine. False if there may be more.
    fn receive(&mut self, cx: &mut Context<'_>) -> bool {
        for _ in 0..MAX_RECEIVES {
            match self.inbox.poll(cx, &self.wire) {
                Poll::Pending => return true,
                Poll::Ready(Ok(messages)) => {
                    self.refusals.heard();
                    self.keeper.counters.receive_calls += 1;
                    for index in 0..messages {
                        self.deliver(index);
                    }
                    self.keeper.wake();
                }
                Poll::Ready(Err(error)) => self.receive_failed(&error),
            }
        }
        false
    }

    /// Hands a message - datagrams from one peer - to the engine.
    fn deliver(&mut self, index: usize) {
        let (message, datagrams) = self.inbox.message(index);
        self.sources.learn(message.peer, message.local_ip);
        let protection = self.protection;
        self.keeper.work(|state, now, sink, counters| {
            for datagram in datagrams {
                counters.received_datagrams += 1;
                counters.received_bytes += datagram.len() as u64;
                match protection.open(datagram) {
                    Ok(body) => state.engine.handle(now, message.peer, Ecn::NotEct, &datagram[body], sink),
                    Err(_) => counters.bad_envelopes += 1,
                }
            }
        });
    }

    fn hear_of_trouble(&mut self, cx: &mut Context<'_>) {
        while let Poll::Ready(error) = self.wire.poll_trouble(cx) {
            self.receive_failed(&error);
        }
    }

    fn receive_failed(&mut self, error: &io::Error) {
        if error.kind() == io::ErrorKind::ConnectionRefused {
            self.reported += 1;
        } else {
            self.keeper.counters.receive_failures += 1;
        }
    }

    /// The system said that nobody receives at the peer's address. It says so before it hands out what
    /// the peer sent earlier, so this is judged when all of that was received.
    fn judge_refusals(&mut self) {
        let times = std::mem::take(&mut self.reported);
        let (Some(peer), true) = (self.peer, times > 0) else { return };
        self.keeper.counters.refusals += times;
        let persist = self.refusals.refused(self.keeper.now(), times);
        if self.keeper.work(|state, _, _, _| state.on_refusal(peer, persist)) {
            self.refusals.heard();
        }
    }

    /// Takes batches from the engine to the socket.
    fn send(&mut self, cx: &mut Context<'_>) -> Sent {
        for _ in 0..MAX_SENDS {
            if self.outbox.is_empty() && !self.fill() {
                return Sent::All;
            }
            let flushed = self.outbox.flush(cx, &self.wire, &self.sources, &mut self.keeper.counters);
            let Flushed { refusals, is_blocked } = flushed;
            self.reported += refusals;
            if is_blocked {
                return Sent::Blocked;
            }
        }
        Sent::Part
    }

    /// Gets the next batch from the engine; false if there is none.
    fn fill(&mut self) -> bool {
        let (outbox, wire) = (&mut self.outbox, &self.wire);
        let filled = self.keeper.fill(|engine, now, sink| outbox.fill(now, engine, wire, sink));
        if filled {
            self.outbox.seal(self.protection);
        }
        filled
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // An error can only come from the timer or from the runtime as it shuts down.
        self.get_mut().turn(cx).map(drop)
    }
}

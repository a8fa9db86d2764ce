//! The task behind an endpoint: it carries bytes between the socket and the engine, and wakes the
//! streams. Work in one turn is bounded, so that neither sending nor receiving nor other tasks starve.

mod inbox;
mod outbox;
mod refusals;
mod sources;
mod wire;

use std::future::Future;
use std::io;
use std::net::UdpSocket;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;

use skyhaul_core::{Connections, Ecn, Engine, Instant};

use crate::shared::{Shared, wake_all};
use crate::state::{Life, State};
use crate::timer::Timer;
use crate::watch::Sink;
use crate::{Counters, Protection};
use inbox::Inbox;
use outbox::{Flushed, Outbox};
use refusals::Refusals;
use sources::Sources;
use wire::Wire;

/// Receiving system calls in a turn.
const MAX_RECEIVES: usize = 4;
/// Batches sent in a turn.
const MAX_SENDS: usize = 16;

/// How a turn's sending ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    /// Nothing is left to send.
    All,
    /// The socket takes nothing at present.
    Blocked,
    /// There may be more.
    Part,
}

/// The task behind an endpoint.
pub(crate) struct Driver {
    shared: Arc<Shared>,
    wire: Option<Wire>,
    timer: Timer,
    inbox: Inbox,
    outbox: Outbox,
    sources: Sources,
    refusals: Refusals,
    /// Refusals reported and not judged yet.
    reported: u64,
    protection: Protection,
    /// Where events go.
    sink: Sink,
    /// The original of the copy in [`State`].
    counters: Counters,
    wakers: Vec<Waker>,
}

impl Driver {
    pub(crate) fn new(
        shared: Arc<Shared>,
        socket: UdpSocket,
        mtu_bytes: u32,
        protection: Protection,
        sink: Sink,
    ) -> io::Result<Self> {
        let is_wild = shared.local.ip().is_unspecified() && shared.peer.is_none();
        Ok(Self {
            timer: Timer::new(shared.clock)?,
            wire: Some(Wire::new(socket, shared.local)?),
            shared,
            inbox: Inbox::new(),
            outbox: Outbox::new(mtu_bytes),
            sources: Sources::new(is_wild),
            refusals: Refusals::default(),
            reported: 0,
            protection,
            sink,
            counters: Counters::default(),
            wakers: Vec::new(),
        })
    }

    /// One turn: receive, send, set the timer. Ready when the endpoint has come to its end.
    fn turn(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.shared.lock().driver = Some(cx.waker().clone());
        while self.timer.poll(cx)?.is_ready() {}
        self.hear_of_trouble(cx);
        let received_all = self.receive(cx);
        if received_all {
            self.judge_refusals();
        }
        let sent = self.send(cx);
        self.conclude(cx, received_all, sent)
    }

    /// Takes datagrams from the socket to the engine. False if there may be more.
    fn receive(&mut self, cx: &mut Context<'_>) -> bool {
        for _ in 0..MAX_RECEIVES {
            let Some(wire) = &self.wire else { return true };
            match self.inbox.poll(cx, wire) {
                Poll::Pending => return true,
                Poll::Ready(Ok(messages)) => {
                    self.refusals.heard();
                    self.counters.receive_calls += 1;
                    for index in 0..messages {
                        self.deliver(index);
                    }
                    wake_all(&mut self.wakers);
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
        let mut state = self.shared.lock();
        let now = self.shared.now();
        for datagram in datagrams {
            self.counters.received_datagrams += 1;
            self.counters.received_bytes += datagram.len() as u64;
            match self.protection.open(datagram) {
                Ok(body) => {
                    state.engine.handle(now, message.peer, Ecn::NotEct, &datagram[body], &mut self.sink);
                }
                Err(_) => self.counters.bad_envelopes += 1,
            }
        }
        state.dispatch(now, &mut self.wakers);
    }

    fn hear_of_trouble(&mut self, cx: &mut Context<'_>) {
        while let Some(Poll::Ready(error)) = self.wire.as_mut().map(|wire| wire.poll_trouble(cx)) {
            self.receive_failed(&error);
        }
    }

    fn receive_failed(&mut self, error: &io::Error) {
        if error.kind() == io::ErrorKind::ConnectionRefused {
            self.reported += 1;
        } else {
            self.counters.receive_failures += 1;
        }
    }

    /// The system said that nobody receives at the peer's address. It says so before it hands out what
    /// the peer sent earlier, so this is judged when all of that was received.
    fn judge_refusals(&mut self) {
        let times = std::mem::take(&mut self.reported);
        let (Some(peer), true) = (self.shared.peer, times > 0) else { return };
        self.counters.refusals += times;
        let now = self.shared.now();
        let persist = self.refusals.refused(now, times);
        let mut state = self.shared.lock();
        if state.on_refusal(peer, persist) {
            self.refusals.heard();
        }
        state.dispatch(now, &mut self.wakers);
        drop(state);
        wake_all(&mut self.wakers);
    }

    /// Takes batches from the engine to the socket.
    fn send(&mut self, cx: &mut Context<'_>) -> Sent {
        for _ in 0..MAX_SENDS {
            if self.outbox.is_empty() && !self.fill() {
                return Sent::All;
            }
            let Some(wire) = &self.wire else { return Sent::All };
            let flushed = self.outbox.flush(cx, wire, &self.sources, &mut self.counters);
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
        let Some(wire) = &self.wire else { return false };
        let mut state = self.shared.lock();
        let now = self.shared.now();
        run_timers(now, &mut state, &mut self.sink);
        let filled = self.outbox.fill(now, &mut state.engine, wire, &mut self.sink);
        drop(state);
        if filled {
            self.outbox.seal(self.protection);
        }
        filled
    }

    /// Tells the streams, and decides when the next turn is.
    fn conclude(&mut self, cx: &mut Context<'_>, received_all: bool, sent: Sent) -> Poll<io::Result<()>> {
        let (now, mut state) = (self.shared.now(), self.shared.lock());
        if sent == Sent::Blocked {
            // Nothing is asked of the engine at present, but its patience still runs out.
            run_timers(now, &mut state, &mut self.sink);
        }
        state.counters = self.counters;
        state.dispatch(now, &mut self.wakers);
        let is_quiet = sent == Sent::All && state.is_idle();
        let is_over = sent == Sent::All
            && match state.life {
                Life::Open => false,
                Life::Abandoned => state.engine.connection_count() == 0,
                Life::Closing | Life::Ended | Life::Failed => true,
            };
        let deadline = state.deadline();
        drop(state);
        wake_all(&mut self.wakers);
        if is_quiet {
            self.shared.idle.notify_waiters();
        }
        if is_over {
            return Poll::Ready(Ok(()));
        }
        if !received_all || sent == Sent::Part || self.reported > 0 {
            cx.waker().wake_by_ref();
        } else {
            self.timer.arm(deadline)?;
        }
        Poll::Pending
    }
}

fn run_timers(now: Instant, state: &mut State, sink: &mut Sink) {
    if state.deadline().is_some_and(|at| at <= now) {
        state.engine.handle_timeout(now, sink);
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // An error can only come from the timer or from the runtime as it shuts down.
        self.get_mut().turn(cx).map(drop)
    }
}

impl Drop for Driver {
    /// However the driver ends - also when its runtime is dropped - nobody waits for it in vain.
    fn drop(&mut self) {
        self.wire = None;
        let mut state = self.shared.lock();
        if state.life != Life::Failed && !thread::panicking() {
            state.abort_all();
            state.dispatch(self.shared.now(), &mut self.wakers);
            state.life = Life::Ended;
        } else {
            state.life = Life::Failed;
        }
        state.everybody(&mut self.wakers);
        drop(state);
        wake_all(&mut self.wakers);
        self.shared.idle.notify_waiters();
        self.shared.ended.notify_waiters();
    }
}

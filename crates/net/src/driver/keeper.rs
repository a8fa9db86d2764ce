//! Part of the driver that needs no carrier: timers, waking the streams, and the end of the endpoint.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use skyhaul_core::Instant;

use crate::Protocol;
use crate::jump::JumpWatch;
use crate::shared::{Shared, wake_all};
use crate::state::State;
use crate::timer::Timer;
use crate::watch::Sink;

/// Outcome of a turn's sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// Nothing is left to send.
    All,
    /// The carrier takes nothing at present.
    Blocked,
    /// There may be more.
    Part,
}

/// The driver's hold on an endpoint.
pub(crate) struct Keeper<P: Protocol> {
    shared: Arc<Shared<P>>,
    timer: Timer,
    jumps: JumpWatch,
    /// Receiver of events.
    pub(crate) sink: Sink,
    /// The original of the copy in [`State`].
    pub(crate) counters: P::Counters,
    wakers: Vec<Waker>,
}

impl<P: Protocol> Keeper<P> {
    pub(crate) fn new(shared: Arc<Shared<P>>, sink: Sink) -> io::Result<Self> {
        let timer = Timer::new(shared.clock)?;
        let jumps = JumpWatch::new(shared.clock);
        Ok(Self { shared, timer, jumps, sink, counters: P::Counters::default(), wakers: Vec::new() })
    }

    pub(crate) fn now(&self) -> Instant {
        self.shared.now()
    }

    /// A turn begins: before anything leaves, clocks are compared.
    pub(super) fn begin(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        let has_jumped = self.jumps.has_jumped(self.shared.clock);
        let mut state = self.shared.lock();
        state.driver = Some(cx.waker().clone());
        if has_jumped {
            state.engine.wall_time_jumped(self.shared.now())?;
        }
        drop(state);
        while self.timer.poll(cx)?.is_ready() {}
        Ok(())
    }

    /// A turn begins to send: until [`Self::has_sent`], time stands still for the engine.
    pub(super) fn begins_to_send(&self) {
        self.shared.hold_time();
    }

    /// The turn has sent.
    pub(super) fn has_sent(&self) {
        self.shared.release_time();
    }

    /// Changes the state. Those whom it concerns are told by [`Self::wake`], or when the turn is concluded.
    pub(crate) fn work<T>(
        &mut self,
        work: impl FnOnce(&mut State<P>, Instant, &mut Sink, &mut P::Counters) -> T,
    ) -> T {
        let mut state = self.shared.lock();
        let result = work(&mut state, self.shared.now(), &mut self.sink, &mut self.counters);
        state.dispatch(self.shared.now(), &mut self.wakers);
        result
    }

    /// Changes the state so many times, by `work` of 0, 1, 2, ..., each at its own moment, and sees once at
    /// the end whom it concerns: most of what strangers send concerns nobody.
    pub(crate) fn work_through(
        &mut self,
        times: usize,
        mut work: impl FnMut(usize, &mut State<P>, Instant, &mut Sink, &mut P::Counters),
    ) {
        let mut state = self.shared.lock();
        for index in 0..times {
            work(index, &mut state, self.shared.now(), &mut self.sink, &mut self.counters);
        }
        state.dispatch(self.shared.now(), &mut self.wakers);
    }

    /// Tells the streams what has happened.
    pub(crate) fn wake(&mut self) {
        wake_all(&mut self.wakers);
    }

    /// Has `fill` get something to send from the engine, after timers that are due.
    pub(super) fn fill<T>(&mut self, fill: impl FnOnce(&mut P, Instant, &mut Sink) -> T) -> T {
        let mut state = self.shared.lock();
        let now = self.shared.now();
        run_timers(now, &mut state, &mut self.sink);
        fill(&mut state.engine, now, &mut self.sink)
    }

    /// Tells the streams, and decides when the next turn is: at once if `is_unfinished`. Ready when the
    /// endpoint has come to its end.
    pub(super) fn conclude(
        &mut self,
        cx: &Context<'_>,
        is_unfinished: bool,
        sent: Sent,
    ) -> Poll<io::Result<()>> {
        let mut state = self.shared.lock();
        if sent == Sent::Blocked {
            // Nothing is asked of the engine at present, but its patience still runs out.
            run_timers(self.shared.now(), &mut state, &mut self.sink);
        }
        state.counters = self.counters;
        state.dispatch(self.shared.now(), &mut self.wakers);
        let is_quiet = sent == Sent::All && state.is_idle();
        let is_parted = sent == Sent::All && state.is_ended();
        let is_over = sent == Sent::All && state.is_over();
        let has_news = state.engine.has_news();
        let deadline = state.engine.deadline();
        drop(state);
        wake_all(&mut self.wakers);
        if has_news {
            self.shared.news.notify_waiters();
        }
        if is_quiet {
            self.shared.idle.notify_waiters();
        }
        if is_parted {
            self.shared.parted.notify_waiters();
        }
        if is_over {
            return Poll::Ready(Ok(()));
        }
        if is_unfinished || sent == Sent::Part {
            cx.waker().wake_by_ref();
        } else {
            self.timer.arm(deadline)?;
        }
        Poll::Pending
    }
}

fn run_timers<P: Protocol>(now: Instant, state: &mut State<P>, sink: &mut Sink) {
    if state.engine.deadline().is_some_and(|at| at <= now) {
        state.engine.handle_timeout(now, sink);
    }
}

impl<P: Protocol> Drop for Keeper<P> {
    /// However the driver ends - also when its runtime is dropped - nobody waits for it in vain.
    fn drop(&mut self) {
        self.has_sent();
        let mut state = self.shared.lock();
        state.end(self.shared.now(), &mut self.wakers);
        drop(state);
        wake_all(&mut self.wakers);
        self.shared.idle.notify_waiters();
        self.shared.parted.notify_waiters();
        self.shared.news.notify_waiters();
        self.shared.ended.notify_waiters();
    }
}

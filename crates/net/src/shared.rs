//! The lock around an endpoint's state, and its handles.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::task::Waker;

use skyhaul_core::Instant;
use tokio::sync::Notify;

use crate::state::State;
use crate::{Clock, Protocol};

/// State that every part of an endpoint refers to. The lock is never held across an await, nor while a
/// task is woken or a system call made.
pub(crate) struct Shared<P: Protocol> {
    pub(crate) clock: Clock,
    /// Tells that no connection has anything left to do.
    pub(crate) idle: Notify,
    /// Tells that every connection has ended at both ends, and nothing is left to send at present.
    pub(crate) parted: Notify,
    /// Tells that something waits for whoever looks after the endpoint, or that nothing will any more.
    pub(crate) news: Notify,
    /// Tells that the driver is gone and the socket closed.
    pub(crate) ended: Notify,
    /// Moment of the turn that sends, in nanoseconds; 0 while none does.
    held_ns: AtomicU64,
    state: Mutex<State<P>>,
}

impl<P: Protocol> Shared<P> {
    pub(crate) fn new(state: State<P>) -> Self {
        Self {
            clock: Clock::start(),
            idle: Notify::new(),
            parted: Notify::new(),
            news: Notify::new(),
            ended: Notify::new(),
            held_ns: AtomicU64::new(0),
            state: Mutex::new(state),
        }
    }

    /// The state. A panic under the lock is remembered: what it left behind is not used.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State<P>> {
        self.state.lock().unwrap_or_else(|poisoned| {
            let mut state = poisoned.into_inner();
            state.fail();
            state
        })
    }

    /// Time for the engine, to be asked for under the lock: so it never goes back. It stands still while a
    /// turn sends ([`Self::hold_time`]).
    pub(crate) fn now(&self) -> Instant {
        match self.held_ns.load(Ordering::Relaxed) {
            0 => self.clock.now(),
            ns => Instant::from_ns(ns),
        }
    }

    /// A turn begins to send what is due now. What would become due meanwhile, a packet or two each time,
    /// waits for the next turn: each call of the system costs as much as some packets do.
    pub(crate) fn hold_time(&self) {
        let _state = self.lock();
        self.held_ns.store(self.clock.now().as_ns(), Ordering::Relaxed);
    }

    /// The turn has sent.
    pub(crate) fn release_time(&self) {
        let _state = self.lock();
        self.held_ns.store(0, Ordering::Relaxed);
    }
}

/// Gives the lock back and sends the driver to look at what was changed.
pub(crate) fn notify<P: Protocol>(mut state: MutexGuard<'_, State<P>>) {
    let waker = state.driver.take();
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// Wakes all of `wakers`; call it without the lock.
pub(crate) fn wake_all(wakers: &mut Vec<Waker>) {
    for waker in wakers.drain(..) {
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EndpointError, EndpointOptions};
    use std::sync::Arc;

    #[test]
    fn time_stands_still_while_a_turn_sends_and_never_goes_back() {
        let shared = Shared::new(State::new(EndpointOptions::default().engine(None).unwrap(), 1000));
        let before = shared.now();
        shared.hold_time();
        let held = shared.now();
        while shared.clock.now() < held.after(2 * skyhaul_core::MS) {}
        assert_eq!(shared.now(), held);
        shared.release_time();
        assert!(before <= held && held.after(skyhaul_core::MS) < shared.now());
    }

    #[test]
    fn a_panic_under_the_lock_is_remembered() {
        let state = State::new(EndpointOptions::default().engine(None).unwrap(), 1000);
        let shared = Arc::new(Shared::new(state));
        assert_eq!(shared.lock().check(), Ok(()));
        let inside = Arc::clone(&shared);
        let clumsy = std::thread::spawn(move || {
            let _state = inside.lock();
            panic!("a test drops its plates");
        });
        assert!(clumsy.join().is_err());
        assert_eq!(shared.lock().check(), Err(EndpointError::Failed));
        assert_eq!(shared.lock().check_engine(), Err(EndpointError::Failed));
    }
}

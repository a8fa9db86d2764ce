//! The lock around an endpoint's state, and its handles.

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

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
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

//! The lock around an endpoint's state, and its handles.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Waker;

use skyhaul_core::Instant;
use tokio::sync::Notify;

use crate::Clock;
use crate::state::{Life, State};

/// What every part of an endpoint refers to. The lock is never held across an await, nor while a
/// task is woken or a system call made.
pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) local: SocketAddr,
    /// The one peer of a client endpoint.
    pub(crate) peer: Option<SocketAddr>,
    /// Tells that no connection has anything left to do.
    pub(crate) idle: Notify,
    /// Tells that the driver is gone and the socket closed.
    pub(crate) ended: Notify,
    state: Mutex<State>,
}

impl Shared {
    pub(crate) fn new(state: State, clock: Clock, local: SocketAddr, peer: Option<SocketAddr>) -> Self {
        let (idle, ended) = (Notify::new(), Notify::new());
        Self { clock, local, peer, idle, ended, state: Mutex::new(state) }
    }

    /// The state. A panic under the lock is remembered: what it left behind is not used.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| {
            let mut state = poisoned.into_inner();
            state.life = Life::Failed;
            state
        })
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }
}

/// Gives the lock back and sends the driver to look at what was changed.
pub(crate) fn notify(mut state: MutexGuard<'_, State>) {
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

/// Held by everything that users of an endpoint have in hand. When the last is gone the endpoint
/// ends with its last connection.
pub(crate) struct Handle(pub(crate) Arc<Shared>);

impl Drop for Handle {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        if state.life == Life::Open {
            state.life = Life::Abandoned;
        }
        notify(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EndpointError, EndpointOptions};

    #[test]
    fn a_panic_under_the_lock_is_remembered() {
        let state = State::new(EndpointOptions::default()).unwrap();
        let shared = Arc::new(Shared::new(state, Clock::start(), ([127, 0, 0, 1], 1).into(), None));
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

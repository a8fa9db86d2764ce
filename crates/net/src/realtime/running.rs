//! A medium at work: the thread that runs it, and what its owner sees.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use skyhaul_core::Instant;

use super::relay::{self, Relay};
use super::shared::Shared;
use super::{Counted, Gates, Medium};
use crate::Clock;

/// A medium at work between gates, on a thread of its own. Dropping it ends the work.
#[derive(Debug)]
pub struct Running<M> {
    shared: Arc<Shared<M>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl<M: Medium + 'static> Running<M> {
    /// Starts `medium` between gates, one for each of its ports. Its time zero is now.
    pub fn start(medium: M, gates: impl Gates + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared::new(medium, gates.count())?);
        let relay = Relay::new(Arc::clone(&shared), gates);
        let thread = thread::Builder::new().name(relay::THREAD.into()).spawn(move || relay.run())?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// The clock of the medium: zero is its start.
    pub fn clock(&self) -> Clock {
        self.shared.clock
    }

    /// Looks at the medium at this moment.
    pub fn look<T>(&self, look: impl FnOnce(&M, Instant) -> T) -> T {
        look(&self.shared.lock().medium, self.shared.clock.now())
    }

    /// Changes the medium at this moment.
    pub fn change<T>(&self, change: impl FnOnce(&mut M, Instant) -> T) -> T {
        let done = change(&mut self.shared.lock().medium, self.shared.clock.now());
        self.shared.ring();
        done
    }

    /// The medium, what was counted at its gates, and the time.
    pub fn report<T>(&self, report: impl FnOnce(&M, &Counted, Instant) -> T) -> T {
        let desk = self.shared.lock();
        report(&desk.medium, &Counted::of(&desk.tallies, desk.processor_ns), self.shared.clock.now())
    }
}

impl<M> Running<M> {
    /// Ends the work; packets inside are lost. What was counted can still be asked for.
    pub fn stop(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            self.shared.end();
            let _ = thread.join();
        }
    }
}

impl<M> Drop for Running<M> {
    fn drop(&mut self) {
        self.stop();
    }
}

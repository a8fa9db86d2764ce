//! A medium at work: the thread that runs it, and what its owner sees.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rustix::event::{EventfdFlags, eventfd};
use skyhaul_core::Instant;

use super::relay::{self, Relay};
use super::tally::Tally;
use super::{Counted, Gates, Medium};
use crate::Clock;

/// A medium at work between gates, on a thread of its own. Dropping it ends the work.
#[derive(Debug)]
pub struct Running<M> {
    shared: Arc<Shared<M>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// State that the thread and its owner share.
#[derive(Debug)]
pub(super) struct Shared<M> {
    pub(super) clock: Clock,
    /// Wakes the thread.
    pub(super) bell: OwnedFd,
    is_over: AtomicBool,
    desk: Mutex<Desk<M>>,
}

/// The medium and what was counted at its gates.
#[derive(Debug)]
pub(super) struct Desk<M> {
    pub(super) medium: M,
    pub(super) tallies: Vec<Tally>,
}

impl<M: Medium + 'static> Running<M> {
    /// Starts `medium` between gates, one for each of its ports. Its time zero is now.
    pub fn start(medium: M, gates: impl Gates + 'static) -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let tallies = (0..gates.count()).map(|_| Tally::default()).collect();
        let desk = Mutex::new(Desk { medium, tallies });
        let shared = Arc::new(Shared { clock: Clock::start(), bell, is_over: AtomicBool::new(false), desk });
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
        report(&desk.medium, &Counted::of(&desk.tallies), self.shared.clock.now())
    }
}

impl<M> Running<M> {
    /// Ends the work; packets inside are lost. What was counted can still be asked for.
    pub fn stop(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            self.shared.is_over.store(true, Ordering::Release);
            self.shared.ring();
            let _ = thread.join();
        }
    }
}

impl<M> Drop for Running<M> {
    fn drop(&mut self) {
        self.stop();
    }
}

impl<M> Shared<M> {
    pub(super) fn lock(&self) -> MutexGuard<'_, Desk<M>> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self) {
        // Fails only if the thread has not listened 2^64 times.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }

    /// Silences the bell; whether the work is over.
    pub(super) fn answer(&self) -> bool {
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
        self.is_over.load(Ordering::Acquire)
    }
}

//! State that the thread of a medium and its owner share, and the bell between them.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::event::{EventfdFlags, eventfd};

use super::tally::Tally;
use crate::Clock;

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
    /// Processor time that the thread has taken, as of its last look.
    pub(super) processor_ns: u64,
}

impl<M> Shared<M> {
    /// State of a medium with so many gates, whose time zero is now.
    pub(super) fn new(medium: M, gates: usize) -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let tallies = (0..gates).map(|_| Tally::default()).collect();
        let desk = Mutex::new(Desk { medium, tallies, processor_ns: 0 });
        Ok(Self { clock: Clock::start(), bell, is_over: AtomicBool::new(false), desk })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Desk<M>> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn ring(&self) {
        // Fails only if the thread has not listened 2^64 times.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }

    /// Lets the thread come to its end.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Release);
        self.ring();
    }

    /// Silences the bell; true if the work is over.
    pub(super) fn answer(&self) -> bool {
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
        self.is_over.load(Ordering::Acquire)
    }
}

//! A link at work: the thread that runs it, and what its owner sees.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rustix::event::{EventfdFlags, eventfd};
use skyhaul_core::Instant;
use skyhaul_link::{Link, LinkConfig};

use super::relay::Relay;
use super::report::{LinkReport, Tally};
use super::{Gates, relay};
use crate::Clock;

/// A link at work. Dropping it ends the work.
#[derive(Debug)]
pub(crate) struct Running {
    shared: Arc<Shared>,
    bell: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread and its owner share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) clock: Clock,
    desk: Mutex<Desk>,
}

/// The link and what was counted around it, by the port at which a direction starts.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) link: Link,
    pub(super) tallies: [Tally; 2],
}

impl Running {
    /// Starts a link between two gates. Its time zero is now.
    pub(crate) fn start(config: LinkConfig, seed: u64, gates: impl Gates + 'static) -> io::Result<Self> {
        let link = Link::new(config, seed, 0).map_err(|e| io::Error::new(io::ErrorKind::InvalidInput, e))?;
        let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let desk = Mutex::new(Desk { link, tallies: Default::default() });
        let shared = Arc::new(Shared { clock: Clock::start(), desk });
        let relay = Relay::new(Arc::clone(&shared), gates, Arc::clone(&bell));
        let thread = thread::Builder::new().name(relay::THREAD.into()).spawn(move || relay.run())?;
        Ok(Self { shared, bell, thread: Some(thread) })
    }

    /// The clock of the link: zero is its start.
    pub(crate) fn clock(&self) -> Clock {
        self.shared.clock
    }

    /// Whether no outage covers this moment.
    pub(crate) fn is_up(&self) -> bool {
        self.shared.lock().link.is_up(self.shared.clock.now())
    }

    /// Everything counted, as of this moment.
    pub(crate) fn report(&self) -> LinkReport {
        self.shared.lock().report(self.shared.clock.now())
    }

    /// Stops the link and gives the final report. Packets inside are lost.
    pub(crate) fn stop(mut self) -> LinkReport {
        self.join();
        self.report()
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            // Cannot fail: the counter of the eventfd is far from full.
            let _ = rustix::io::write(&*self.bell, &1u64.to_ne_bytes());
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.join();
    }
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Desk {
    fn report(&self, at: Instant) -> LinkReport {
        let direction = |port: u32| {
            let tally = &self.tallies[port as usize];
            tally.report(self.link.counters(port, at), self.link.packets_inside(port))
        };
        LinkReport { at, is_up: self.link.is_up(at), forward: direction(0), reverse: direction(1) }
    }
}

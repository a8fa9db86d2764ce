//! A timer with the kernel's full precision: tokio's own is 1 ms coarse, too coarse for pacing.

use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, ready};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};
use skyhaul_core::{Instant, US};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::Clock;
use crate::clock::timespec;

/// Sleeps are not shorter than this: waking costs a few microseconds itself, and pacing catches up exactly
/// what a wake-up is late. 200 us would fill calls better, and answers of a LAN then come between two
/// turns: a path that takes less than the packets of the first flight was not found there.
const SHORTEST_SLEEP_NS: u64 = 50 * US;

/// A `timerfd` at absolute times of a [`Clock`].
pub(crate) struct Timer {
    clock: Clock,
    fd: AsyncFd<OwnedFd>,
    /// Time that it is set for, unless it has fired.
    armed: Option<Instant>,
}

impl Timer {
    pub(crate) fn new(clock: Clock) -> io::Result<Self> {
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        Ok(Self { clock, fd: register(fd, Interest::READABLE)?, armed: None })
    }

    /// Ready once for each time it fires; otherwise the task of `cx` is woken when it does. The
    /// descriptor is not read: setting it again clears it.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.fd.poll_read_ready(cx))?.clear_ready();
        self.armed = None;
        Poll::Ready(Ok(()))
    }

    /// Fires at `deadline` or earlier. Setting the timer is a system call, so an earlier setting is
    /// left: it costs one look at the engine.
    pub(crate) fn arm(&mut self, deadline: Option<Instant>) -> io::Result<()> {
        let Some(deadline) = deadline else { return Ok(()) };
        if self.armed.is_some_and(|armed| armed <= deadline) {
            return Ok(());
        }
        let soonest = self.clock.now().after(SHORTEST_SLEEP_NS);
        let value =
            Itimerspec { it_interval: timespec(0), it_value: self.clock.timespec(deadline.max(soonest)) };
        timerfd_settime(&self.fd, TimerfdTimerFlags::ABSTIME, &value)?;
        self.armed = Some(deadline);
        Ok(())
    }
}

/// Has tokio watch the descriptor.
#[expect(unsafe_code, reason = "tokio has no safe way to watch a descriptor")]
pub(crate) fn register(fd: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` is open for as long as it lives, always names the same descriptor, and is
    // not handed out. (tokio has no safe way to watch a descriptor.)
    Ok(unsafe { AsyncFd::register_with_interest(fd, interest) }?)
}

//! The thread of an embedded link: receives, lets the link decide, sends on time.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use skyhaul_core::{Instant, NullSink, US};

use super::running::{Desk, Shared};
use super::{Arrival, Gates};
use crate::clock::timespec;

/// Name of the thread.
pub(super) const THREAD: &str = "embedded-link";
/// Receiving system calls at a gate, and packets sent, in a turn.
const MAX_RECEIVES: usize = 4;
const MAX_SENDS: usize = 256;
/// The kernel may wake this thread so much late; 50 us is the default.
const TIMER_SLACK_NS: u64 = US;

/// The state of the thread.
pub(super) struct Relay<G> {
    shared: Arc<Shared>,
    gates: G,
    /// Gates at which nothing will arrive any more.
    is_shut: [bool; 2],
    bell: Arc<OwnedFd>,
}

/// Who has something for the thread.
#[derive(Clone, Copy, Debug)]
struct Woken {
    gates: [bool; 2],
    bell: bool,
}

impl<G: Gates> Relay<G> {
    pub(super) fn new(shared: Arc<Shared>, gates: G, bell: Arc<OwnedFd>) -> Self {
        Self { shared, gates, is_shut: [false; 2], bell }
    }

    /// Runs until the bell rings.
    pub(super) fn run(mut self) {
        // Without it wake-ups are some 50 us later, which the lateness report shows.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(TIMER_SLACK_NS));
        let mut deadline = None;
        while let Ok(woken) = self.sleep(deadline) {
            if woken.bell {
                return;
            }
            for (port, has_packets) in woken.gates.into_iter().enumerate() {
                if has_packets {
                    self.receive(port);
                }
            }
            deadline = self.deliver();
        }
    }

    /// Sleeps until `deadline`, or until somebody has something.
    fn sleep(&self, deadline: Option<Instant>) -> io::Result<Woken> {
        let bell = self.bell.as_fd();
        let fds = self.gates.fds();
        let [front, back] = [0, 1].map(|port| if self.is_shut[port] { bell } else { fds[port] });
        let mut fds = [front, back, bell].map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        let timeout = deadline.map(|at| timespec(at.since(self.shared.clock.now())));
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [front, back, bell] = fds.map(|fd| !fd.revents().is_empty());
        Ok(Woken { gates: [front, back], bell })
    }

    /// Lets into the link what arrived at a gate.
    fn receive(&mut self, port: usize) {
        for _ in 0..MAX_RECEIVES {
            let mut desk = self.shared.lock();
            let now = self.shared.clock.now();
            let entered = self.gates.receive(port, &mut |arrival| enter(&mut desk, now, port, arrival));
            if let Err(error) = entered {
                self.is_shut[port] = error.kind() == io::ErrorKind::UnexpectedEof;
                return;
            }
        }
    }

    /// Sends what is due; gives the time of what is not.
    fn deliver(&mut self) -> Option<Instant> {
        for _ in 0..MAX_SENDS {
            let mut desk = self.shared.lock();
            let due = desk.link.deadline()?;
            let Some((port, packet)) = desk.link.poll_transmit(self.shared.clock.now()) else {
                return Some(due);
            };
            let port = port as usize;
            let sent = self.gates.send(port, &packet);
            let tally = &mut desk.tallies[1 - port];
            match sent {
                Ok(()) => tally.lateness.record(self.shared.clock.now().since(due)),
                Err(_) => tally.send_failures += 1,
            }
        }
        Some(Instant::ZERO)
    }
}

fn enter(desk: &mut Desk, now: Instant, port: usize, arrival: Arrival) {
    match arrival {
        Arrival::Packet(packet) => {
            desk.tallies[port].first_packet.get_or_insert(now);
            desk.link.handle(now, port as u32, packet, &mut NullSink);
        }
        Arrival::Stray => desk.tallies[port].strays += 1,
    }
}

//! The thread of a medium: receives, lets the medium decide, sends on time.

use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::time::ClockId;
use skyhaul_core::Instant;

use super::early::Early;
use super::shared::{Desk, Shared};
use super::{Arrival, Gates, Medium, priority};
use crate::clock::timespec;

/// Name of the thread.
pub(super) const THREAD: &str = "medium";
/// Receiving system calls at a gate, and packets sent, in a turn.
const MAX_RECEIVES: usize = 4;
const MAX_SENDS: usize = 256;
/// Turns between two looks at the thread's processor time, which cost a system call each.
const TURNS_A_LOOK: u64 = 64;

/// The state of the thread.
pub(super) struct Relay<M, G> {
    shared: Arc<Shared<M>>,
    gates: G,
    /// Gates at which nothing will arrive any more.
    is_shut: Vec<bool>,
    early: Early,
}

/// Sources that have something for the thread.
#[derive(Clone, Debug, Default)]
struct Woken {
    gates: Vec<usize>,
    bell: bool,
}

impl<M: Medium, G: Gates> Relay<M, G> {
    pub(super) fn new(shared: Arc<Shared<M>>, gates: G) -> Self {
        let is_shut = vec![false; gates.count()];
        Self { shared, gates, is_shut, early: Early::default() }
    }

    /// Runs until the bell rings for the end.
    pub(super) fn run(mut self) {
        priority::raise();
        let (mut deadline, mut woken) = (None, Woken::default());
        for turn in 0u64.. {
            if self.sleep(deadline, &mut woken).is_err() || (woken.bell && self.shared.answer()) {
                break;
            }
            if turn.is_multiple_of(TURNS_A_LOOK) {
                self.book_processor();
            }
            for &port in &woken.gates {
                self.receive(port);
            }
            deadline = self.deliver();
        }
        self.book_processor();
    }

    fn book_processor(&self) {
        let spent = rustix::time::clock_gettime(ClockId::ThreadCPUTime);
        let spent_ns = Duration::try_from(spent).map_or(0, |spent| spent.as_nanos() as u64);
        self.shared.lock().processor_ns = spent_ns;
    }

    /// Sleeps until `deadline` or shortly before it, or until somebody has something.
    fn sleep(&mut self, deadline: Option<Instant>, woken: &mut Woken) -> io::Result<()> {
        let bell = self.shared.bell.as_fd();
        let fd = |port| if self.is_shut[port] { bell } else { self.gates.fd(port) };
        let mut fds: Vec<_> = (0..self.gates.count())
            .map(fd)
            .chain([bell])
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        let before = self.shared.clock.now();
        let wake_at = deadline.map(|due| self.early.wake_at(before, due));
        let timeout = wake_at.map(|at| timespec(at.since(before)));
        match poll(&mut fds, timeout.as_ref()) {
            Ok(0) => {
                if let Some(wanted) = wake_at.filter(|at| *at > before) {
                    self.early.woke(wanted, self.shared.clock.now());
                }
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        woken.bell = fds.pop().is_some_and(|bell| !bell.revents().is_empty());
        woken.gates.clear();
        let ready = fds.iter().enumerate().filter(|(_, fd)| !fd.revents().is_empty());
        woken.gates.extend(ready.map(|(port, _)| port).filter(|&port| !self.is_shut[port]));
        Ok(())
    }

    /// Lets into the medium what arrived at a gate.
    fn receive(&mut self, port: usize) {
        for _ in 0..MAX_RECEIVES {
            let (mut desk, clock) = (self.shared.lock(), self.shared.clock);
            // Each packet has a time of its own: the first of many must not lend its to the last.
            let mut take = |arrival| enter(&mut desk, clock.now(), port, arrival);
            let entered = self.gates.receive(port, &mut take);
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
            let Some(delivery) = desk.medium.poll_transmit(self.shared.clock.now()) else {
                return desk.medium.deadline();
            };
            let sent = self.gates.send(delivery.port, &delivery.packet);
            let tally = &mut desk.tallies[delivery.port];
            match sent {
                Ok(()) => tally.lateness.record(self.shared.clock.now().since(delivery.at)),
                Err(_) => tally.send_failures += 1,
            }
        }
        Some(Instant::ZERO)
    }
}

fn enter<M: Medium>(desk: &mut Desk<M>, now: Instant, port: usize, arrival: Arrival) {
    match arrival {
        Arrival::Packet(packet) => {
            desk.tallies[port].first_packet.get_or_insert(now);
            desk.medium.handle(now, port, packet);
        }
        Arrival::Stray => desk.tallies[port].strays += 1,
    }
}

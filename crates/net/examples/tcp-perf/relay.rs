//! Joins two devices, as cheaply as a program can without help of the kernel: a read and a write a packet.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::JoinHandle;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};

use crate::usage::Cpu;

/// Packets taken from one device before the other has its turn.
const MAX_TOGETHER: usize = 64;
const MAX_PACKET_BYTES: usize = 64 << 10;

/// A relay at work.
pub(crate) struct Relay {
    bell: Arc<OwnedFd>,
    thread: Option<JoinHandle<Cpu>>,
}

impl Relay {
    pub(crate) fn start(ends: [OwnedFd; 2]) -> io::Result<Self> {
        let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let its_bell = Arc::clone(&bell);
        let thread = std::thread::Builder::new().name("relay".into()).spawn(move || {
            let before = Cpu::of_this_thread();
            run(&ends, &its_bell);
            Cpu::of_this_thread() - before
        })?;
        Ok(Self { bell, thread: Some(thread) })
    }

    /// Ends it; what it cost.
    pub(crate) fn stop(mut self) -> Cpu {
        self.join()
    }

    fn join(&mut self) -> Cpu {
        let Some(thread) = self.thread.take() else { return Cpu::default() };
        // Cannot fail: the counter of the eventfd is far from full.
        let _ = rustix::io::write(&*self.bell, &1u64.to_ne_bytes());
        thread.join().unwrap_or_default()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.join();
    }
}

fn run(ends: &[OwnedFd; 2], bell: &OwnedFd) {
    let mut room = vec![0; MAX_PACKET_BYTES];
    loop {
        let mut fds = [&ends[0], &ends[1], bell].map(|fd| PollFd::new(fd, PollFlags::IN));
        let polled = poll(&mut fds, None);
        let [first, second, rung] = fds.map(|fd| !fd.revents().is_empty());
        if polled.is_err() || rung {
            return;
        }
        for (has_packets, from, to) in [(first, 0, 1), (second, 1, 0)] {
            if has_packets {
                carry(&ends[from], &ends[to], &mut room);
            }
        }
    }
}

fn carry(from: &OwnedFd, to: &OwnedFd, room: &mut [u8]) {
    for _ in 0..MAX_TOGETHER {
        match rustix::io::read(from, &mut *room) {
            // What the other device refuses is lost, as everywhere.
            Ok(length) => drop(rustix::io::write(to, &room[..length])),
            Err(_) => return,
        }
    }
}

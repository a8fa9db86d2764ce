//! The thread of an embedded link: receives, lets the link decide, sends on time.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use bytes::Bytes;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use skyhaul_core::{Instant, NullSink, Packet, PacketMeta, US, ip_udp_bytes};

use super::side::Side;
use super::{Desk, Shared};
use crate::clock::timespec;

/// Receiving system calls on a side, and packets sent, in a turn.
const MAX_RECEIVES: usize = 4;
const MAX_SENDS: usize = 256;
/// The kernel may wake this thread so much late; 50 us is the default.
const TIMER_SLACK_NS: u64 = US;

/// The state of the thread. Sides are numbered as the link's ports.
pub(super) struct Relay {
    shared: Arc<Shared>,
    sides: [Side; 2],
    /// Where side A last wrote from, and the address of side B.
    peers: [Option<SocketAddr>; 2],
    bell: Arc<OwnedFd>,
}

/// Who has something for the thread.
#[derive(Clone, Copy, Debug)]
struct Woken {
    sides: [bool; 2],
    bell: bool,
}

impl Relay {
    pub(super) fn new(shared: Arc<Shared>, sides: [Side; 2], far: SocketAddr, bell: Arc<OwnedFd>) -> Self {
        Self { shared, sides, peers: [None, Some(far)], bell }
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
            for (port, has_packets) in woken.sides.into_iter().enumerate() {
                if has_packets {
                    self.receive(port);
                }
            }
            deadline = self.deliver();
        }
    }

    /// Sleeps until `deadline`, or until somebody has something.
    fn sleep(&self, deadline: Option<Instant>) -> io::Result<Woken> {
        let [front, back] = &self.sides;
        let mut fds = [
            PollFd::new(front, PollFlags::IN),
            PollFd::new(back, PollFlags::IN),
            PollFd::new(&*self.bell, PollFlags::IN),
        ];
        let timeout = deadline.map(|at| timespec(at.since(self.shared.clock.now())));
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [front, back, bell] = fds.map(|fd| !fd.revents().is_empty());
        Ok(Woken { sides: [front, back], bell })
    }

    /// Lets into the link what arrived at a side.
    fn receive(&mut self, port: usize) {
        for _ in 0..MAX_RECEIVES {
            let Ok(messages) = self.sides[port].receive() else { return };
            let mut desk = self.shared.lock();
            let now = self.shared.clock.now();
            for (from, bytes) in self.sides[port].datagrams(messages) {
                if is_welcome(&mut self.peers, port, from) {
                    enter(&mut desk, now, port, from, bytes);
                } else {
                    desk.tallies[port].strays += 1;
                }
            }
        }
    }

    /// Sends what is due; gives the time of what is not.
    fn deliver(&self) -> Option<Instant> {
        for _ in 0..MAX_SENDS {
            let mut desk = self.shared.lock();
            let due = desk.link.deadline()?;
            let Some((port, packet)) = desk.link.poll_transmit(self.shared.clock.now()) else {
                return Some(due);
            };
            let port = port as usize;
            let sent = self.send(port, &packet);
            let tally = &mut desk.tallies[1 - port];
            match sent {
                Ok(()) => tally.lateness.record(self.shared.clock.now().since(due)),
                Err(_) => tally.send_failures += 1,
            }
        }
        Some(Instant::ZERO)
    }

    fn send(&self, port: usize, packet: &Packet) -> io::Result<()> {
        let to = self.peers[port].ok_or(io::ErrorKind::NotConnected)?;
        self.sides[port].send(to, &packet.bytes)
    }
}

/// Side B is known by its address; side A is whoever writes to the front, and B may answer only then.
fn is_welcome(peers: &mut [Option<SocketAddr>; 2], port: usize, from: SocketAddr) -> bool {
    if port == 0 {
        peers[0] = Some(from);
    }
    peers[0].is_some() && peers[port] == Some(from)
}

fn enter(desk: &mut Desk, now: Instant, port: usize, from: SocketAddr, bytes: Bytes) {
    desk.tallies[port].first_packet.get_or_insert(now);
    let wire_bytes = bytes.len() as u32 + ip_udp_bytes(from.ip());
    let packet = Packet { bytes, meta: PacketMeta { wire_bytes, ..PacketMeta::default() } };
    desk.link.handle(now, port as u32, packet, &mut NullSink);
}

//! An emulated link between two UDP sockets of this machine, in real time and without privileges.

mod lateness;
mod relay;
mod report;
mod side;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rustix::event::{EventfdFlags, eventfd};
use skyhaul_core::Instant;
use skyhaul_link::{Link, LinkConfig};

use crate::Clock;
use crate::address::normalised;
pub use lateness::LatenessReport;
use relay::Relay;
use report::Tally;
pub use report::{DirectionReport, LinkReport};
use side::Side;

/// A [`Link`] that runs in real time between two peers on this machine. Side A sends to
/// [`Self::front_addr`]; what the link delivers leaves from [`Self::back_addr`] for side B, whose
/// address is given at the start. B's answers to the back go the other way, to where A last wrote
/// from. A is at port 0 of the link, B at port 1.
///
/// One thread of its own does the work. Packets count as IP packets: their payload and 28 bytes,
/// or 48 over IPv6. Dropping the link stops it.
#[derive(Debug)]
pub struct EmbeddedLink {
    shared: Arc<Shared>,
    front: SocketAddr,
    back: SocketAddr,
    bell: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread and its owner share.
#[derive(Debug)]
struct Shared {
    clock: Clock,
    desk: Mutex<Desk>,
}

/// The link and what was counted around it, by the port at which a direction starts.
#[derive(Debug)]
struct Desk {
    link: Link,
    tallies: [Tally; 2],
}

impl EmbeddedLink {
    /// Starts the link on free loopback ports. The link's time zero, to which its outages refer, is
    /// now. `far` is side B's address, on loopback as well.
    pub fn start(config: LinkConfig, seed: u64, far: SocketAddr) -> io::Result<Self> {
        let far = normalised(far);
        let link = Link::new(config, seed, 0).map_err(|e| io::Error::new(io::ErrorKind::InvalidInput, e))?;
        let sides = [Side::on_loopback(loopback_of(far))?, Side::on_loopback(loopback_of(far))?];
        let (front, back) = (sides[0].local_addr()?, sides[1].local_addr()?);
        let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let desk = Mutex::new(Desk { link, tallies: Default::default() });
        let shared = Arc::new(Shared { clock: Clock::start(), desk });
        let relay = Relay::new(Arc::clone(&shared), sides, far, Arc::clone(&bell));
        let thread = thread::Builder::new().name("embedded-link".into()).spawn(move || relay.run())?;
        Ok(Self { shared, front, back, bell, thread: Some(thread) })
    }

    /// Where side A sends to.
    pub fn front_addr(&self) -> SocketAddr {
        self.front
    }

    /// Where side B sees packets come from.
    pub fn back_addr(&self) -> SocketAddr {
        self.back
    }

    /// The clock of the link: zero is its start.
    pub fn clock(&self) -> Clock {
        self.shared.clock
    }

    /// The link's time.
    pub fn now(&self) -> Instant {
        self.shared.clock.now()
    }

    /// Whether no outage covers this moment.
    pub fn is_up(&self) -> bool {
        self.shared.lock().link.is_up(self.now())
    }

    /// Everything counted, as of this moment.
    pub fn report(&self) -> LinkReport {
        self.shared.lock().report(self.now())
    }

    /// Stops the link and gives the final report. Packets inside are lost.
    pub fn stop(mut self) -> LinkReport {
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

impl Drop for EmbeddedLink {
    fn drop(&mut self) {
        self.join();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Desk> {
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

fn loopback_of(address: SocketAddr) -> IpAddr {
    match address {
        SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    }
}

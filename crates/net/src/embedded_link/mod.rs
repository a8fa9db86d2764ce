//! An emulated link between two sockets or devices of this machine, in real time and without privileges.

mod report;
mod side;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use skyhaul_core::Instant;
use skyhaul_link::{Link, LinkConfig};

use crate::Clock;
use crate::address::normalised;
use crate::realtime::Running;
pub(crate) use report::report;
pub use report::{DirectionReport, LinkReport};
use side::Side;
pub use side::UdpGates;

/// A [`Link`](skyhaul_link::Link) that runs in real time between two peers on this machine. Side A sends to
/// [`Self::front_addr`]; what the link delivers leaves from [`Self::back_addr`] for side B, whose
/// address is given at the start. B's answers to the back go the other way, to where A last wrote
/// from. A is at port 0 of the link, B at port 1.
///
/// One thread of its own does the work. Packets count as IP packets: their payload and 28 bytes,
/// or 48 over IPv6. Dropping the link stops it.
#[derive(Debug)]
pub struct EmbeddedLink {
    running: Running<Link>,
    front: SocketAddr,
    back: SocketAddr,
}

impl EmbeddedLink {
    /// Starts the link on free loopback ports. The link's time zero, to which its outages refer, is
    /// now. `far` is side B's address, on loopback as well.
    pub fn start(config: LinkConfig, seed: u64, far: SocketAddr) -> io::Result<Self> {
        let far = normalised(far);
        let sides = [Side::on_loopback(loopback_of(far))?, Side::on_loopback(loopback_of(far))?];
        let (front, back) = (sides[0].local_addr()?, sides[1].local_addr()?);
        let running = Running::start(link(config, seed)?, UdpGates::over(sides, [None, Some(far)]))?;
        Ok(Self { running, front, back })
    }

    /// Address that side A sends to.
    pub fn front_addr(&self) -> SocketAddr {
        self.front
    }

    /// Address that side B sees packets come from.
    pub fn back_addr(&self) -> SocketAddr {
        self.back
    }

    /// The clock of the link: zero is its start.
    pub fn clock(&self) -> Clock {
        self.running.clock()
    }

    /// The link's time.
    pub fn now(&self) -> Instant {
        self.clock().now()
    }

    /// True if no outage covers this moment.
    pub fn is_up(&self) -> bool {
        self.running.look(Link::is_up)
    }

    /// Everything counted, as of this moment.
    pub fn report(&self) -> LinkReport {
        self.running.report(report)
    }

    /// Stops the link and gives the final report. Packets inside are lost.
    pub fn stop(self) -> LinkReport {
        self.running.stop();
        self.report()
    }
}

/// The link itself, at its time zero.
pub(crate) fn link(config: LinkConfig, seed: u64) -> io::Result<Link> {
    Link::new(config, seed, 0).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
}

fn loopback_of(address: SocketAddr) -> IpAddr {
    match address {
        SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    }
}

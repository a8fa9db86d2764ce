//! Medium between the gates.

use skyhaul_core::{Instant, NullSink, Packet};
use skyhaul_link::Link;

/// A packet that leaves a medium.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// Where.
    pub port: usize,
    /// When it was to leave.
    pub at: Instant,
    /// The packet.
    pub packet: Packet,
}

/// Something with numbered ports that takes packets and gives them back later. A duplex link is the case of
/// two ports.
pub trait Medium: Send {
    /// A packet enters at `port`.
    fn handle(&mut self, now: Instant, port: usize, packet: Packet);

    /// The next packet whose time to leave has come.
    fn poll_transmit(&mut self, now: Instant) -> Option<Delivery>;

    /// When [`poll_transmit`](Self::poll_transmit) is to be called next; in the past if it has something now.
    fn deadline(&self) -> Option<Instant>;
}

impl Medium for Link {
    fn handle(&mut self, now: Instant, port: usize, packet: Packet) {
        Self::handle(self, now, port as u32, packet, &mut NullSink);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Delivery> {
        let at = Self::deadline(self)?;
        let (port, packet) = Self::poll_transmit(self, now)?;
        Some(Delivery { port: port as usize, at, packet })
    }

    fn deadline(&self) -> Option<Instant> {
        Self::deadline(self)
    }
}

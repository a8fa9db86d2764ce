//! The places where packets enter and leave a medium.

use std::io;
use std::os::fd::BorrowedFd;

use skyhaul_core::Packet;

/// Arrival at a gate.
#[derive(Debug)]
pub enum Arrival {
    /// It enters the medium.
    Packet(Packet),
    /// It does not: a stranger sent it, or it has nowhere to go.
    Stray,
}

/// Gates, numbered as the medium's ports. Nothing here blocks.
pub trait Gates: Send {
    /// How many there are.
    fn count(&self) -> usize;

    /// Descriptor to be watched for packets that arrive at a gate.
    fn fd(&self, port: usize) -> BorrowedFd<'_>;

    /// Receives some of what waits at a gate. `UnexpectedEof`: nothing will arrive there any more; every
    /// other error: nothing more at present.
    fn receive(&mut self, port: usize, take: &mut dyn FnMut(Arrival)) -> io::Result<()>;

    /// Sends what the medium delivers at a gate.
    fn send(&mut self, port: usize, packet: &Packet) -> io::Result<()>;
}

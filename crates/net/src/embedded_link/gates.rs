//! The two places where packets enter and leave an emulated link.

use std::io;
use std::os::fd::BorrowedFd;

use skyhaul_core::Packet;

/// What came to a gate.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// It enters the link.
    Packet(Packet),
    /// It does not: a stranger sent it.
    Stray,
}

/// Two gates, numbered as the link's ports. Nothing here blocks.
pub(crate) trait Gates: Send {
    /// What to watch for packets that arrive.
    fn fds(&self) -> [BorrowedFd<'_>; 2];

    /// Receives some of what waits at a gate. `UnexpectedEof`: nothing will arrive there any more; every
    /// other error: nothing more at present.
    fn receive(&mut self, port: usize, take: &mut dyn FnMut(Arrival)) -> io::Result<()>;

    /// Sends what the link delivers at a gate.
    fn send(&mut self, port: usize, packet: &Packet) -> io::Result<()>;
}

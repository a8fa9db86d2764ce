//! A descriptor that gives one packet a read and takes one a write: a TUN device, or one end of a pair of sockets
//! that keep packets apart.

use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, ready};

use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::descriptor::register;

/// Packets in and out.
pub(super) struct PacketWire {
    fd: AsyncFd<OwnedFd>,
}

impl PacketWire {
    /// `fd` must not block.
    pub(super) fn new(fd: OwnedFd) -> io::Result<Self> {
        Ok(Self { fd: register(fd, Interest::READABLE | Interest::WRITABLE)? })
    }

    /// Reads a packet; gives its size. 0: the other end is gone.
    pub(super) fn poll_receive(&self, cx: &mut Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            let mut ready = ready!(self.fd.poll_read_ready(cx))?;
            match rustix::io::read(self.fd.get_ref(), &mut *room) {
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(Errno::INTR) => {}
                done => return Poll::Ready(done.map_err(Into::into)),
            }
        }
    }

    /// Writes the packet that `parts` are.
    pub(super) fn poll_send(&self, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<()>> {
        loop {
            let mut ready = ready!(self.fd.poll_write_ready(cx))?;
            match rustix::io::writev(self.fd.get_ref(), parts) {
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(Errno::INTR) => {}
                done => return Poll::Ready(done.map(drop).map_err(Into::into)),
            }
        }
    }
}

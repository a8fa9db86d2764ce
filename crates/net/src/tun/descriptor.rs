//! A descriptor that gives one packet a read and takes one a write: a TUN device, or one end of a pair of
//! sockets that keep packets apart.

use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::timer::register;

/// Packets in and out.
pub(super) struct PacketDescriptor {
    fd: Arc<AsyncFd<OwnedFd>>,
    /// Waits for an error: a device that vanishes is neither readable nor writable.
    trouble: Trouble,
}

type Trouble = Pin<Box<dyn Future<Output = ()> + Send>>;

impl PacketDescriptor {
    /// `fd` must not block.
    pub(super) fn new(fd: OwnedFd) -> io::Result<Self> {
        let fd = Arc::new(register(fd, Interest::READABLE | Interest::WRITABLE | Interest::ERROR)?);
        let watched = Arc::clone(&fd);
        let trouble = Box::pin(async move { drop(watched.ready(Interest::ERROR).await.map(|_| ())) });
        Ok(Self { fd, trouble })
    }

    /// Ready when the device has gone.
    pub(super) fn poll_trouble(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.trouble.as_mut().poll(cx)
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

    /// Writes the packet that `parts` are. It is tried first, whatever is known of the device: one that is
    /// down never says that it can be written to, and loses what is.
    pub(super) fn poll_send(&self, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<()>> {
        loop {
            match rustix::io::writev(self.fd.get_ref(), parts) {
                Err(Errno::AGAIN) => ready!(self.fd.poll_write_ready(cx))?.clear_ready(),
                Err(Errno::INTR) => {}
                done => return Poll::Ready(done.map(drop).map_err(Into::into)),
            }
        }
    }
}

//! Streams that damage, cut, record.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Changes octets on their way: `change(offset, octet)`.
pub(crate) struct Tampered<R, F> {
    inner: R,
    offset: u64,
    change: F,
}

impl<R, F: FnMut(u64, u8) -> u8> Tampered<R, F> {
    pub(crate) fn new(inner: R, change: F) -> Self {
        Self { inner, offset: 0, change }
    }
}

impl<R: AsyncRead + Unpin, F: FnMut(u64, u8) -> u8 + Unpin> AsyncRead for Tampered<R, F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        let this = &mut *self;
        for octet in &mut buf.filled_mut()[before..] {
            *octet = (this.change)(this.offset, *octet);
            this.offset += 1;
        }
        Poll::Ready(Ok(()))
    }
}

/// Flips bits once, at these offsets.
pub(crate) fn flip_at<R>(inner: R, offsets: &'static [u64]) -> Tampered<R, impl FnMut(u64, u8) -> u8> {
    Tampered::new(inner, |offset, octet| if offsets.contains(&offset) { octet ^ 0x10 } else { octet })
}

/// Sixteen octets that a tampering stream recognises.
pub(crate) const MARK: [u8; 16] = [0xA5; 16];

/// Damages the first `times` of the [`MARK`]s that pass.
pub(crate) fn damage_marks<R>(inner: R, times: usize) -> Tampered<R, impl FnMut(u64, u8) -> u8> {
    let (mut run, mut left) = (0, times);
    Tampered::new(inner, move |_, octet| {
        run = if octet == 0xA5 { run + 1 } else { 0 };
        if run == 16 && left > 0 {
            (run, left) = (0, left - 1);
            return 0;
        }
        octet
    })
}

/// Ends after so many octets: as if the other side had closed, or with an error.
pub(crate) struct Cut<S> {
    pub(crate) inner: S,
    pub(crate) left: usize,
    pub(crate) error: bool,
}

impl<S> Cut<S> {
    fn end(&self) -> io::Result<()> {
        if self.error { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok(()) }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Cut<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.left == 0 {
            return Poll::Ready(self.end());
        }
        let room = buf.initialize_unfilled_to(self.left.min(buf.remaining()));
        let mut part = ReadBuf::new(room);
        ready!(Pin::new(&mut self.inner).poll_read(cx, &mut part))?;
        let read = part.filled().len();
        buf.advance(read);
        self.left -= read;
        Poll::Ready(Ok(()))
    }
}

/// Keeps a copy of everything that is written.
pub(crate) struct Recorded<W> {
    inner: W,
    pub(crate) octets: Arc<Mutex<Vec<u8>>>,
}

impl<W> Recorded<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, octets: Arc::default() }
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Recorded<W> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.inner).poll_write(cx, octets))?;
        self.octets.lock().unwrap().extend_from_slice(&octets[..written]);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

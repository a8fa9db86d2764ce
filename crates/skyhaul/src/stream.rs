//! Connections as byte streams for tokio.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

#[doc(inline)]
pub use skyhaul_core::{Limit, LimitTimes, Stats, Weight};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::errors::CloseReason;

/// Connection as a byte stream in both directions.
///
/// `shutdown` ends our direction and resolves when the peer has *confirmed* all data and the end; the other
/// direction stays open. Dropping the stream before a shutdown was begun breaks the connection off and tells
/// the peer, so that a writer that fails never looks like one that has finished. Dropped after that, the
/// connection finishes in the background. `flush` does nothing: what was written leaves as soon as the
/// protocol lets it.
///
/// A write waits while [`Buffers::send_limit_bytes`](crate::config::Buffers::send_limit_bytes) are held; a
/// reader that does not read makes the peer wait once
/// [`Buffers::receive_limit_bytes`](crate::config::Buffers::receive_limit_bytes) are there. Errors carry a
/// [`CloseReason`], see [`crate::errors`].
#[derive(Debug)]
pub struct Stream(pub(crate) skyhaul_net::Stream);

/// Reading half of a [`Stream`].
#[derive(Debug)]
pub struct ReadHalf(skyhaul_net::OwnedReadHalf);

/// Writing half of a [`Stream`].
#[derive(Debug)]
pub struct WriteHalf(skyhaul_net::OwnedWriteHalf);

/// Look at a connection while its stream is in use elsewhere: for progress bars and metrics. Costs one short
/// lock a look, and keeps nothing alive.
#[derive(Clone, Debug)]
pub struct Monitor(skyhaul_net::Monitor);

macro_rules! inspect {
    ($($handle:ident),*) => {$(
        impl $handle {
            /// Counters of the connection.
            pub fn stats(&self) -> Stats {
                self.0.stats()
            }

            /// Look at the counters from elsewhere.
            pub fn monitor(&self) -> Monitor {
                Monitor(self.0.monitor())
            }

            /// Address of the other end.
            pub fn peer_addr(&self) -> SocketAddr {
                self.0.peer_addr()
            }

            /// Reason why the connection is gone, if it is, and not by both sides finishing.
            pub fn close_reason(&self) -> Option<CloseReason> {
                self.0.close_reason()
            }
        }
    )*};
}

inspect!(Stream, ReadHalf, WriteHalf);

impl Stream {
    /// Gives what is written here so much of the path's rate, from now on, beside other connections of the
    /// endpoint to the same peer. Every connection begins with a weight of 1.
    pub fn set_weight(&self, weight: Weight) {
        self.0.set_weight(weight);
    }

    /// Waits until what the peer sent is known to be its own, and of now; false if the connection is gone
    /// before. Of a connection that a peer opened, what was read before that may be a copy which somebody
    /// else sends again: who overwrites, deletes or forwards waits for this, a round trip at most.
    pub async fn confirmed(&self) -> bool {
        self.0.confirmed().await
    }

    /// Halves for two tasks. The connection is let go when both are dropped, by the rules of [`Stream`].
    pub fn into_split(self) -> (ReadHalf, WriteHalf) {
        let (reader, writer) = self.0.into_split();
        (ReadHalf(reader), WriteHalf(writer))
    }
}

impl WriteHalf {
    /// Gives what is written here so much of the path's rate, as [`Stream::set_weight`].
    pub fn set_weight(&self, weight: Weight) {
        self.0.set_weight(weight);
    }
}

impl Monitor {
    /// Waits until what the peer sent is known to be its own, and of now: as [`Stream::confirmed`]. One task
    /// may wait at a time.
    pub async fn confirmed(&self) -> bool {
        self.0.confirmed().await
    }

    /// Counters of the connection; `None` once its stream is dropped.
    pub fn stats(&self) -> Option<Stats> {
        self.0.stats()
    }
}

macro_rules! reads {
    ($($handle:ident),*) => {$(
        impl AsyncRead for $handle {
            fn poll_read(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                out: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                Pin::new(&mut self.0).poll_read(cx, out)
            }
        }
    )*};
}

macro_rules! writes {
    ($($handle:ident),*) => {$(
        impl AsyncWrite for $handle {
            fn poll_write(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                data: &[u8],
            ) -> Poll<io::Result<usize>> {
                Pin::new(&mut self.0).poll_write(cx, data)
            }

            fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                Pin::new(&mut self.0).poll_flush(cx)
            }

            fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                Pin::new(&mut self.0).poll_shutdown(cx)
            }
        }
    )*};
}

reads!(Stream, ReadHalf);
writes!(Stream, WriteHalf);

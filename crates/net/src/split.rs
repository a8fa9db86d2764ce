//! The two directions of a stream, for two tasks.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connection::Connection;
use crate::{Monitor, Protocol};
use skyhaul_core::{CloseReason, Stats, Weight};

/// Reading half: what the peer sends. See [`Stream::into_split`](crate::Stream::into_split).
#[derive(Debug)]
pub struct OwnedReadHalf<P: Protocol = skyhaul_stp::Endpoint>(Arc<Connection<P>>);

/// Writing half: what is sent to the peer. See [`Stream::into_split`](crate::Stream::into_split).
#[derive(Debug)]
pub struct OwnedWriteHalf<P: Protocol = skyhaul_stp::Endpoint>(Arc<Connection<P>>);

macro_rules! inspect {
    ($half:ident) => {
        impl<P: Protocol> $half<P> {
            pub(crate) fn new(connection: Arc<Connection<P>>) -> Self {
                Self(connection)
            }

            /// Counters of the connection.
            pub fn stats(&self) -> Stats {
                self.0.stats()
            }

            /// Reads the counters while the halves are in use elsewhere.
            pub fn monitor(&self) -> Monitor<P> {
                Monitor::new(&self.0)
            }

            /// The other end.
            pub fn peer_addr(&self) -> SocketAddr {
                self.0.peer
            }

            /// Why the connection is gone, if it is, and not by both sides finishing.
            pub fn close_reason(&self) -> Option<CloseReason> {
                self.0.close_reason()
            }
        }
    };
}

inspect!(OwnedReadHalf);
inspect!(OwnedWriteHalf);

impl<P: Protocol> OwnedWriteHalf<P> {
    /// As [`Stream::set_weight`](crate::Stream::set_weight).
    pub fn set_weight(&self, weight: Weight) {
        self.0.set_weight(weight);
    }
}

impl<P: Protocol> AsyncRead for OwnedReadHalf<P> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.0.poll_read(cx, out)
    }
}

impl<P: Protocol> AsyncWrite for OwnedWriteHalf<P> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        self.0.poll_write(cx, data)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.poll_shutdown(cx)
    }
}

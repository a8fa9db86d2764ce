//! Socket with the kernel's offloads: batches in, batches out.

use std::future::Future;
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use quinn_udp::{EcnCodepoint, RecvMeta, UdpSocketState};
use skyhaul_core::{Ecn, Transmit};
use socket2::SockRef;
use tokio::io::{Interest, Ready};

use super::reports::{self, Report};
use super::{drops, fragments};
use crate::address::for_family;

/// A socket with the kernel's segmentation offloads.
pub(super) struct Socket {
    io: Arc<tokio::net::UdpSocket>,
    state: UdpSocketState,
    is_v6: bool,
    /// Waits for the system to report an error; `None` on sockets to which none is reported.
    trouble: Option<Watcher>,
    /// The system keeps reports in a queue: the socket is not connected.
    has_queue: bool,
    /// There may be reports in it.
    may_tell: bool,
    /// True while what is sent may be cut by IP.
    cuts: bool,
}

type Watcher = Pin<Box<dyn Future<Output = io::Result<Ready>> + Send>>;

/// What the system says about earlier datagrams.
pub(super) enum Trouble {
    /// Error about one to the only peer that it talks to.
    Error(io::Error),
    /// Report about one to whomever.
    Report(Report),
}

impl Socket {
    /// Socket at `local`. `is_told`: the system reports errors to it, since it is connected or keeps reports.
    pub(super) fn new(socket: UdpSocket, local: SocketAddr, is_told: bool) -> io::Result<Self> {
        let is_v6 = socket.local_addr().unwrap_or(local).is_ipv6();
        let io = Arc::new(tokio::net::UdpSocket::from_std(socket)?);
        let trouble = is_told.then(|| watch(&io));
        let has_queue = is_told && io.peer_addr().is_err();
        let state = UdpSocketState::new((&*io).into())?;
        drop_timestamps(&*io)?;
        Ok(Self { io, state, is_v6, trouble, has_queue, may_tell: false, cuts: false })
    }

    /// An error that the system reports about earlier datagrams. Nothing else tells of it: such a
    /// socket is neither readable nor newly writable.
    pub(super) fn poll_trouble(&mut self, cx: &mut Context<'_>) -> Poll<Trouble> {
        loop {
            if self.may_tell {
                match reports::next(&*self.io) {
                    Some(report) => return Poll::Ready(Trouble::Report(report)),
                    None => self.may_tell = false,
                }
            }
            let Some(trouble) = &mut self.trouble else { return Poll::Pending };
            let is_alive = ready!(trouble.as_mut().poll(cx)).is_ok();
            self.trouble = is_alive.then(|| watch(&self.io));
            self.may_tell = self.has_queue;
            let take = || SockRef::from(&*self.io).take_error()?.ok_or(ErrorKind::WouldBlock.into());
            match self.io.try_io(Interest::ERROR, take) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // The queue says more.
                _ if self.has_queue => {}
                Ok(error) | Err(error) => return Poll::Ready(Trouble::Error(error)),
            }
        }
    }

    /// True if errors of calls are told with more by [`Self::poll_trouble`].
    pub(super) fn has_queue(&self) -> bool {
        self.has_queue
    }

    /// Lets IP cut what is sent from now on, or not: IPv4 by the flag DF, IPv6 at this machine.
    pub(super) fn set_cuts(&mut self, cuts: bool) -> io::Result<()> {
        if self.cuts != cuts {
            fragments::set_cuts(&*self.io, self.is_v6, cuts)?;
            self.cuts = cuts;
        }
        Ok(())
    }

    /// Largest packet that the system takes the route of a connected socket to carry.
    pub(super) fn route_mtu_bytes(&self) -> Option<u32> {
        fragments::route_mtu_bytes(&*self.io)
    }

    /// Datagrams that the system has dropped since the receive buffer was full, modulo 2^32; `None`: it does
    /// not tell.
    pub(super) fn drops(&self) -> Option<u32> {
        drops::counted(&*self.io)
    }

    /// Datagrams that one system call sends at most; less when the device turns out not to help.
    pub(super) fn max_segments(&self) -> usize {
        self.state.max_gso_segments()
    }

    /// Receives messages; each is one datagram, or several of one size from one peer.
    pub(super) fn poll_receive(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        loop {
            if self.io.poll_recv_ready(cx)?.is_pending() {
                return Poll::Pending;
            }
            let receive = || self.state.recv((&*self.io).into(), buffers, metas);
            match self.io.try_io(Interest::READABLE, receive) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }

    /// Sends `datagrams`, part of the batch `transmit`, in one system call. `source`: our address to send
    /// from.
    pub(super) fn poll_send(
        &self,
        cx: &mut Context<'_>,
        transmit: &Transmit<SocketAddr>,
        source: Option<IpAddr>,
        datagrams: &[u8],
    ) -> Poll<io::Result<()>> {
        let transmit = quinn_udp::Transmit {
            destination: for_family(transmit.peer, self.is_v6),
            ecn: codepoint(transmit.fields.ecn),
            contents: datagrams,
            segment_size: Some(transmit.segment_bytes),
            src_ip: source,
        };
        loop {
            let send = || self.state.try_send((&*self.io).into(), &transmit);
            match self.io.try_io(Interest::WRITABLE, send) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
            if self.io.poll_send_ready(cx)?.is_pending() {
                return Poll::Pending;
            }
        }
    }
}

/// Has the kernel tell no times of arrival. `quinn-udp` asks for them, and then the room that it has for the
/// kernel's words does not suffice for the ECN field of datagrams that the kernel has joined.
fn drop_timestamps(io: &impl AsRawFd) -> io::Result<()> {
    fragments::set_option(io, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 0)
}

fn watch(io: &Arc<tokio::net::UdpSocket>) -> Watcher {
    let io = Arc::clone(io);
    Box::pin(async move { io.ready(Interest::ERROR).await })
}

/// ECN field of a datagram that arrived.
pub(super) fn ecn(codepoint: Option<EcnCodepoint>) -> Ecn {
    match codepoint {
        None => Ecn::NotEct,
        Some(EcnCodepoint::Ect0) => Ecn::Ect0,
        Some(EcnCodepoint::Ect1) => Ecn::Ect1,
        Some(EcnCodepoint::Ce) => Ecn::Ce,
    }
}

fn codepoint(ecn: Ecn) -> Option<EcnCodepoint> {
    match ecn {
        Ecn::NotEct => None,
        Ecn::Ect0 => Some(EcnCodepoint::Ect0),
        Ecn::Ect1 => Some(EcnCodepoint::Ect1),
        Ecn::Ce => Some(EcnCodepoint::Ce),
    }
}

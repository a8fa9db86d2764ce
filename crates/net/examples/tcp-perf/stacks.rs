//! The two TCPs, behind one face.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::process::Command;

use skyhaul_net::Monitor;
use skyhaul_net::tun::{TunDevice, TunHost, TunOptions};
use skyhaul_tcp::{Config, ControllerKind, Endpoint};
use socket2::{Domain, Socket, Type};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket};

use crate::netns::{enter, ip, sysctl};

const DEVICE: &str = "sky0";
pub(crate) const PORT: u16 = 7;
/// Packets that wait in the device for whoever reads it: more than a window holds.
const DEVICE_QUEUE: u32 = 20_000;
/// Defaults of the kernel on a machine with enough memory; this one may be tuned.
const BUFFERS: [(&str, &str); 2] = [("tcp_rmem", "4096 131072 6291456"), ("tcp_wmem", "4096 16384 4194304")];

/// Stack of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tcp {
    Kernel,
    Ours,
}

impl Tcp {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Ours => "ours",
        }
    }
}

/// The address of the sender (0) or of the receiver (1).
pub(crate) fn address(end: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, 0, 1 + end as u8)
}

/// A bytestream.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A host: the kernel in this thread's namespace, or ours on a descriptor.
pub(crate) enum Host {
    Kernel,
    Ours(Box<TunHost>),
}

/// Look at a connection.
pub(crate) enum Look {
    Kernel,
    Ours(Monitor<Endpoint>),
}

/// Makes a namespace for this thread, with a device that has this address; what is at the device's other end.
pub(crate) fn kernel(address: Ipv4Addr, mtu_bytes: u32) -> io::Result<OwnedFd> {
    enter()?;
    for (name, value) in BUFFERS {
        sysctl(name, value)?;
    }
    let device = TunDevice::create(DEVICE)?;
    ip(&format!("address add {address}/24 dev {DEVICE}"))?;
    ip(&format!("link set {DEVICE} up txqueuelen {DEVICE_QUEUE} mtu {mtu_bytes}"))?;
    Ok(device.into())
}

/// Our host at this end of a wire or device.
pub(crate) fn ours(fd: OwnedFd, address: Ipv4Addr, mtu_bytes: u32) -> io::Result<Host> {
    let options = TunOptions { mtu_bytes, seed: Some(1), ..TunOptions::new(vec![IpAddr::V4(address)]) };
    Ok(Host::Ours(Box::new(TunHost::over(fd, options)?)))
}

impl Host {
    pub(crate) async fn connect(
        &self,
        peer: SocketAddr,
        controller: &str,
    ) -> io::Result<(Box<dyn Stream>, Look)> {
        match self {
            Self::Kernel => {
                let socket = Socket::new(Domain::for_address(peer), Type::STREAM, None)?;
                socket.set_tcp_congestion(controller.as_bytes()).map_err(|error| {
                    io::Error::new(error.kind(), format!("the kernel has no '{controller}': {error}"))
                })?;
                socket.set_nonblocking(true)?;
                let stream = TcpSocket::from_std_stream(socket.into()).connect(peer).await?;
                Ok((Box::new(stream), Look::Kernel))
            }
            Self::Ours(host) => {
                let controller = ControllerKind::from_name(controller).unwrap_or(ControllerKind::Cubic);
                let stream = host.connect(peer, Config { controller, ..Config::standard() }).await?;
                let look = Look::Ours(stream.monitor());
                Ok((Box::new(stream), look))
            }
        }
    }

    /// Takes the first connection; says when it can come.
    pub(crate) async fn accept(&self, at: SocketAddr, ready: impl FnOnce()) -> io::Result<Box<dyn Stream>> {
        match self {
            Self::Kernel => {
                let listener = TcpListener::bind(at).await?;
                ready();
                Ok(Box::new(listener.accept().await?.0))
            }
            Self::Ours(host) => {
                let mut listener = host.listen(at.port(), 1)?;
                ready();
                let stream = listener.accept().await.ok_or_else(|| io::Error::other("the host is closed"))?;
                Ok(Box::new(stream))
            }
        }
    }
}

impl Look {
    /// Segments sent again, if that is known.
    pub(crate) fn retransmitted(&self) -> Option<u64> {
        match self {
            Self::Ours(monitor) => monitor.stats().map(|stats| stats.retransmitted_packets),
            // `retrans:` of ss(8) has those under way and all; it is left out where there were none.
            Self::Kernel => {
                let text = ss()?;
                let field = text.split_whitespace().find_map(|word| word.strip_prefix("retrans:"));
                field.map_or(Some(0), |field| field.split('/').nth(1)?.parse().ok())
            }
        }
    }

    /// Everything, in a line.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Ours(monitor) => monitor.stats().map(|stats| format!("{stats:?}")).unwrap_or_default(),
            Self::Kernel => ss().unwrap_or_default(),
        }
    }
}

/// Knowledge of the kernel about the only connection in this namespace.
fn ss() -> Option<String> {
    let output = Command::new("ss").args(["-tinHO", "state", "connected"]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_string();
    (output.status.success() && !text.is_empty()).then_some(text)
}

//! Opening and accepting connections of whatever transport.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use skyhaul_net::{Endpoint, EndpointOptions, Listener};
use skyhaul_scenario::EndConfig;
use skyhaul_stp::Config;
use socket2::{Domain, SockRef, Socket, Type};
use tokio::net::{TcpListener, TcpSocket};

use super::snmp::retransmitted_segments;
use super::stream::{ByteStream, CounterSource};
use crate::race::racer::Racer;

/// Port of STP; that of UDP and TCP is the address'.
const STP_PORT: u16 = 7;
/// Connections that may wait: more than are ever open.
const BACKLOG: i32 = 64;

/// End that opens connections.
pub(super) enum Dial {
    Stp { endpoint: Endpoint, peer: SocketAddr, config: Box<Config> },
    Kernel { controller: &'static str, mss_bytes: u16, peer: SocketAddr },
}

/// End that accepts them.
pub(super) enum Listen {
    Stp(Listener),
    Kernel(TcpListener),
}

impl Dial {
    pub(super) fn new(racer: Racer, config: &EndConfig, peer: SocketAddr) -> io::Result<Self> {
        if let Some(config) = config.get::<Config>() {
            let endpoint = Endpoint::client(peer, EndpointOptions::default())?;
            return Ok(Self::Stp { endpoint, peer, config: Box::new(config.clone()) });
        }
        Ok(Self::Kernel { controller: controller(racer), mss_bytes: mss_bytes(config), peer })
    }

    /// Opens a connection. With TCP this takes the handshake, with STP no time: the opening goes with the
    /// first bytes.
    pub(super) async fn connect(&self) -> io::Result<(ByteStream, CounterSource)> {
        match self {
            Self::Stp { endpoint, peer, config } => {
                let stream = endpoint.open(*peer, STP_PORT, (**config).clone())?;
                let look = CounterSource::Stp(stream.monitor());
                Ok((Box::pin(stream), look))
            }
            Self::Kernel { controller, mss_bytes, peer } => {
                let retransmitted_before = retransmitted_segments().unwrap_or(0);
                let socket = kernel_socket(controller, *mss_bytes, *peer)?;
                let stream = TcpSocket::from_std_stream(socket.into()).connect(*peer).await?;
                Ok((Box::pin(stream), CounterSource::Kernel { controller, retransmitted_before }))
            }
        }
    }

    /// Waits for the last words of connections that are closed; the kernel sees to its own.
    pub(super) async fn wait(&self, patience: Duration) {
        if let Self::Stp { endpoint, .. } = self {
            endpoint.wait_idle(patience).await;
        }
    }
}

impl Listen {
    pub(super) fn new(racer: Racer, config: &EndConfig, at: SocketAddr) -> io::Result<Self> {
        if let Some(config) = config.get::<Config>() {
            let options = EndpointOptions { accept: config.clone(), ..EndpointOptions::default() };
            let endpoint = Endpoint::bind(at, options)?;
            return Ok(Self::Stp(endpoint.listen(STP_PORT)?));
        }
        let socket = kernel_socket(controller(racer), mss_bytes(config), at)?;
        socket.bind(&at.into())?;
        socket.listen(BACKLOG)?;
        Ok(Self::Kernel(TcpListener::from_std(socket.into())?))
    }

    pub(super) async fn accept(&mut self) -> io::Result<ByteStream> {
        match self {
            Self::Stp(listener) => {
                let stream = listener.accept().await;
                Ok(Box::pin(stream.ok_or_else(|| io::Error::other("the socket failed"))?))
            }
            Self::Kernel(listener) => {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Ok(Box::pin(stream))
            }
        }
    }
}

/// Segment size for the kernel, which carries whatever is not STP.
fn mss_bytes(config: &EndConfig) -> u16 {
    u16::try_from(config.protocol().max_payload_bytes(config)).unwrap_or(u16::MAX)
}

fn controller(racer: Racer) -> &'static str {
    racer.name().strip_prefix("tcp-").unwrap_or("reno") // names of TCPs begin like that
}

fn kernel_socket(controller: &str, mss_bytes: u16, address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    socket.set_reuse_address(true)?;
    socket.set_tcp_nodelay(true)?;
    socket.set_tcp_congestion(controller.as_bytes()).map_err(|error| explained(controller, &error))?;
    limit_segments(&socket, mss_bytes)?;
    Ok(socket)
}

fn explained(controller: &str, error: &io::Error) -> io::Error {
    let text = match error.kind() {
        ErrorKind::NotFound => {
            format!("this kernel has no '{controller}' (as root: modprobe tcp_{controller})")
        }
        ErrorKind::PermissionDenied => format!("this user may not use the kernel's '{controller}'"),
        _ => format!("the kernel's '{controller}' cannot be used: {error}"),
    };
    io::Error::new(error.kind(), text)
}

/// Segments that are smaller than what the kernel would choose.
fn limit_segments(socket: &Socket, mss_bytes: u16) -> io::Result<()> {
    /// The kernel takes no more.
    const MAX_MSS_BYTES: u16 = 32_767;
    if mss_bytes > MAX_MSS_BYTES { Ok(()) } else { SockRef::from(socket).set_tcp_mss(u32::from(mss_bytes)) }
}

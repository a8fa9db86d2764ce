//! Opening and accepting connections of whatever transport.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use skyhaul_net::association::PublicKey;
use skyhaul_net::{Config, Endpoint, EndpointOptions, Listener, SealedEndpoint, SealedStp};
use skyhaul_scenario::EndConfig;
use socket2::{Domain, SockRef, Socket, Type};
use tokio::net::{TcpListener, TcpSocket};

use super::keys;
use super::snmp::retransmitted_segments;
use super::stream::{ByteStream, CounterSource};
use crate::race::error::RaceError;
use crate::race::racer::Racer;

/// Port within our own endpoint; that of UDP and TCP is the address'.
const OWN_PORT: u16 = 7;
/// Connections that may wait: more than are ever open.
const BACKLOG: i32 = 64;

/// Player of a racer in real time.
pub(in crate::race) enum Player {
    /// The kernel's TCP with this controller, and segments of this size at most.
    Kernel { controller: &'static str, mss_bytes: u16 },
    /// Our own endpoint over UDP.
    Own(Box<Config>),
    /// Our own endpoint over UDP, under a seal.
    Sealed(Box<Config>),
}

impl Player {
    /// Player of this racer with the parameters of one of its ends.
    pub(in crate::race) fn new(racer: Racer, config: &EndConfig) -> Result<Self, RaceError> {
        if let Some(controller) = racer.kernel_controller() {
            let mss_bytes = config.protocol().max_payload_bytes(config);
            return Ok(Self::Kernel { controller, mss_bytes: u16::try_from(mss_bytes).unwrap_or(u16::MAX) });
        }
        let own = config.get::<Config>().cloned().map(Box::new);
        let own = own.map(|config| if racer.is_sealed() { Self::Sealed(config) } else { Self::Own(config) });
        own.ok_or(RaceError::NotInRealTime(racer.name()))
    }
}

/// End that opens connections.
pub(super) enum Dial {
    Own { endpoint: Endpoint, peer: SocketAddr, config: Box<Config> },
    Sealed { endpoint: SealedEndpoint, key: PublicKey, peer: SocketAddr, config: Box<Config> },
    Kernel { controller: &'static str, mss_bytes: u16, peer: SocketAddr },
}

/// End that accepts them.
pub(super) enum Listen {
    Own(Listener),
    Sealed(Listener<SealedStp>),
    Kernel(TcpListener),
}

impl Dial {
    /// End of a run whose signs are in this folder.
    pub(super) fn new(player: Player, peer: SocketAddr, signs: &Path) -> io::Result<Self> {
        Ok(match player {
            Player::Sealed(config) => {
                let (associations, key) = keys::found(signs)?;
                let endpoint = SealedEndpoint::client_sealed(peer, EndpointOptions::default(), associations)?;
                Self::Sealed { endpoint, key, peer, config }
            }
            Player::Own(config) => {
                let endpoint = Endpoint::client(peer, EndpointOptions::default())?;
                Self::Own { endpoint, peer, config }
            }
            Player::Kernel { controller, mss_bytes } => Self::Kernel { controller, mss_bytes, peer },
        })
    }

    /// Opens a connection. With TCP this takes the handshake, with our own endpoint no time: the opening goes
    /// with the first bytes.
    pub(super) async fn connect(&self) -> io::Result<(ByteStream, CounterSource)> {
        match self {
            Self::Own { endpoint, peer, config } => {
                let stream = endpoint.open(*peer, OWN_PORT, (**config).clone())?;
                let look = CounterSource::Own(stream.monitor());
                Ok((Box::pin(stream), look))
            }
            Self::Sealed { endpoint, key, peer, config } => {
                let stream = endpoint.open_to(*key, *peer, OWN_PORT, (**config).clone())?;
                let look = CounterSource::Sealed(stream.monitor());
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
        match self {
            Self::Own { endpoint, .. } => drop(endpoint.wait_idle(patience).await),
            Self::Sealed { endpoint, .. } => drop(endpoint.wait_idle(patience).await),
            Self::Kernel { .. } => {}
        }
    }
}

impl Listen {
    /// End of a run whose signs are in this folder, and whose opener is at `from`.
    pub(super) fn new(player: Player, at: SocketAddr, (from, signs): (IpAddr, &Path)) -> io::Result<Self> {
        match player {
            Player::Sealed(config) => {
                let options = EndpointOptions { accept: *config, ..EndpointOptions::default() };
                let endpoint = SealedEndpoint::bind_sealed(at, options, keys::made(signs, from)?)?;
                Ok(Self::Sealed(endpoint.listen(OWN_PORT)?))
            }
            Player::Own(config) => {
                let endpoint =
                    Endpoint::bind(at, EndpointOptions { accept: *config, ..EndpointOptions::default() })?;
                Ok(Self::Own(endpoint.listen(OWN_PORT)?))
            }
            Player::Kernel { controller, mss_bytes } => {
                let socket = kernel_socket(controller, mss_bytes, at)?;
                socket.bind(&at.into())?;
                socket.listen(BACKLOG)?;
                Ok(Self::Kernel(TcpListener::from_std(socket.into())?))
            }
        }
    }

    pub(super) async fn accept(&mut self) -> io::Result<ByteStream> {
        match self {
            Self::Own(listener) => Ok(Box::pin(listener.accept().await.ok_or_else(lost)?)),
            Self::Sealed(listener) => Ok(Box::pin(listener.accept().await.ok_or_else(lost)?)),
            Self::Kernel(listener) => {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Ok(Box::pin(stream))
            }
        }
    }
}

fn lost() -> io::Error {
    io::Error::other("the socket failed")
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

//! Opening and accepting connections of whatever transport.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use skyhaul_net::association::PublicKey;
use skyhaul_net::tun::{TcpConfig, TcpListener as OwnTcpListener, TunHost};
use skyhaul_net::{Config, Endpoint, EndpointOptions, Listener, SealedEndpoint, SealedStp};
use skyhaul_scenario::EndConfig;
use socket2::{Domain, SockRef, Socket, Type};
use tokio::net::{TcpListener, TcpSocket};

use super::keys;
use super::own_host::{SENDING, SERVING, ip};
use super::snmp::retransmitted_segments;
use super::stream::{ByteStream, CounterSource};
use crate::race::error::RaceError;
use crate::race::racer::Racer;

/// Port within our own endpoint; that of UDP and TCP is the address'.
const OWN_PORT: u16 = 7;
/// Device to the emulated link in the namespace of an end.
const EMULATED_DEVICE: &str = "sky0";
/// Connections that may wait: more than are ever open.
const BACKLOG: i32 = 64;

/// Player of a racer in real time.
pub(in crate::race) enum Player {
    /// The kernel's TCP with this controller, segments of this size at most, and a window of its own choice
    /// or of so many octets.
    Kernel { controller: &'static str, mss_bytes: u16, window_bytes: Option<u64> },
    /// Our own TCP or SCPS-TP on a device.
    OwnTcp(Box<TcpConfig>),
    /// Our own endpoint over UDP.
    Own(Box<Config>),
    /// Our own endpoint over UDP, under a seal.
    Sealed(Box<Config>),
}

impl Player {
    /// Player of this racer with the parameters of one of its ends.
    pub(in crate::race) fn new(racer: Racer, config: &EndConfig) -> Result<Self, RaceError> {
        if let Some(controller) = racer.kernel_controller() {
            let mss_bytes = u16::try_from(config.protocol().max_payload_bytes(config)).unwrap_or(u16::MAX);
            let tcp = config.get::<TcpConfig>().filter(|_| racer.keeps_window());
            let window_bytes = tcp.map(|tcp| tcp.receive_limit_bytes);
            return Ok(Self::Kernel { controller, mss_bytes, window_bytes });
        }
        if racer.is_simulated_alone() {
            return Err(RaceError::NotInRealTime(racer.name()));
        }
        if let Some(tcp) = config.get::<TcpConfig>() {
            return Ok(Self::OwnTcp(Box::new(tcp.clone())));
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
    OwnTcp { host: TunHost, peer: SocketAddr, config: Box<TcpConfig> },
    Kernel { controller: &'static str, mss_bytes: u16, peer: SocketAddr },
}

/// End that accepts them.
pub(super) enum Listen {
    Own(Listener),
    Sealed(Listener<SealedStp>),
    OwnTcp { listener: OwnTcpListener, _host: TunHost },
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
            Player::OwnTcp(config) => {
                let peer = SocketAddr::from((SERVING.host, peer.port()));
                Self::OwnTcp { host: SENDING.host((*config).clone())?, peer, config }
            }
            Player::Kernel { controller, mss_bytes, window_bytes } => {
                limit_window(peer.ip(), window_bytes)?;
                Self::Kernel { controller, mss_bytes, peer }
            }
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
            Self::OwnTcp { host, peer, config } => {
                let stream = host.open(*peer, (**config).clone())?;
                let look = CounterSource::OwnTcp(stream.monitor());
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
            Self::OwnTcp { host, .. } => _ = host.wait_idle(patience).await,
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
            Player::OwnTcp(config) => {
                let host = SERVING.host(*config)?;
                let listener = host.listen(at.port(), usize::try_from(BACKLOG).unwrap_or(1))?;
                Ok(Self::OwnTcp { listener, _host: host })
            }
            Player::Kernel { controller, mss_bytes, window_bytes } => {
                limit_window(from, window_bytes)?;
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
            Self::OwnTcp { listener, .. } => Ok(Box::pin(listener.accept().await.ok_or_else(lost)?)),
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

/// Window that the kernel tells the other end, in the network of an emulation, at most.
fn limit_window(other: IpAddr, window_bytes: Option<u64>) -> io::Result<()> {
    let Some(window_bytes) = window_bytes else { return Ok(()) };
    ip(&format!("route add {other} dev {EMULATED_DEVICE} window {window_bytes}\n"))
}

/// Segments that are smaller than what the kernel would choose.
fn limit_segments(socket: &Socket, mss_bytes: u16) -> io::Result<()> {
    /// The kernel takes no more.
    const MAX_MSS_BYTES: u16 = 32_767;
    if mss_bytes > MAX_MSS_BYTES { Ok(()) } else { SockRef::from(socket).set_tcp_mss(u32::from(mss_bytes)) }
}

//! A TCP host in user space: one device, one driver task, many connections.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use skyhaul_core::{ConnectionId, Connections as _};
use skyhaul_tcp::scps::Agreement;
use skyhaul_tcp::segment::Way;
use skyhaul_tcp::{Config, Endpoint, EndpointStats, FastOpenFacts};

use super::carrier::Tun;
use super::options::refuse_gaps;
use super::{TcpListener, TcpStream, TunCounters, TunDevice, TunOptions};
use crate::Clock;
use crate::driver::{Outlook, start};
use crate::handle::Handle;
use crate::shared::Shared;

/// A host with addresses and TCP of its own, in user space. Clones refer to the same host. Its work is done
/// by a task of the tokio runtime in which it was made, of either flavour, with I/O enabled.
///
/// Packets come and go through a descriptor: a TUN device, behind which is the kernel with all its routes, or
/// one end of a pair of sockets. The host lives until the last clone, listener and stream is dropped and its
/// last connection has come to an end, or until [`Self::close`].
#[derive(Clone)]
pub struct TunHost {
    handle: Arc<Handle<Endpoint>>,
    addresses: Arc<[IpAddr]>,
}

impl TunHost {
    /// A host on a TUN device, with packets no larger than that takes; a device that takes less than the
    /// smallest is refused. Must be called within a tokio runtime.
    pub fn on_device(device: TunDevice, options: TunOptions) -> io::Result<Self> {
        refuse_the_kernels(&options.addresses)?;
        for &address in &options.addresses {
            device.check_takes(address, options.accept.min_mtu_bytes(address.is_ipv4()))?;
        }
        let mtu_bytes = options.mtu_bytes.min(device.mtu_bytes());
        Self::over(device.into(), TunOptions { mtu_bytes, ..options })
    }

    /// A host whose packets come and go through `fd`: one a read, one a write, never blocking. Must be called
    /// within a tokio runtime.
    pub fn over(fd: OwnedFd, options: TunOptions) -> io::Result<Self> {
        if options.addresses.is_empty() {
            return Err(io::Error::new(
                ErrorKind::InvalidInput,
                "the host has no address: give it at least one",
            ));
        }
        let engine = options.engine()?;
        let TunOptions { addresses, accept, watch, capture, signals, .. } = options;
        let outlook =
            Outlook { watch, capture, accept_limit_bytes: accept.receive_limit_bytes, tells_all: true };
        let shared = start(engine, || Tun::new(fd, &addresses, signals), outlook)?;
        let addresses: Arc<[IpAddr]> = addresses.into();
        Ok(Self { handle: Arc::new(Handle(shared)), addresses })
    }

    /// Accepts connections to `port` from now on, until the listener is dropped. Up to `backlog` of them (at
    /// least 1) may wait to be taken; further ones are reset.
    pub fn listen(&self, port: u16, backlog: usize) -> io::Result<TcpListener> {
        TcpListener::begin(&self.handle, port, backlog)
    }

    /// A stream to `peer`, at once: what is written leaves when the peer has answered. Refusals show in the
    /// stream's operations.
    pub fn open(&self, peer: SocketAddr, config: Config) -> io::Result<TcpStream> {
        refuse_gaps(&config)?;
        let way = self.way_to(peer.ip())?;
        let limit_bytes = config.receive_limit_bytes;
        TcpStream::begin(&self.handle, peer, limit_bytes, |engine, now| {
            engine.connect(now, way, peer.port(), None, config)
        })
    }

    /// A stream to `peer`, when the peer has answered. How long that may take is a matter of the parameters
    /// (`max_syn_repeats`), or of [`Self::connect_within`].
    pub async fn connect(&self, peer: SocketAddr, config: Config) -> io::Result<TcpStream> {
        let stream = self.open(peer, config)?;
        stream.connected().await?;
        Ok(stream)
    }

    /// Connects, but fails if it takes longer than `patience`. Needs the runtime's timer.
    pub async fn connect_within(
        &self,
        peer: SocketAddr,
        config: Config,
        patience: Duration,
    ) -> io::Result<TcpStream> {
        let late = |_| {
            let text = format!("{peer} did not answer within {} s", patience.as_secs_f64());
            io::Error::new(ErrorKind::TimedOut, text)
        };
        tokio::time::timeout(patience, self.connect(peer, config)).await.map_err(late)?
    }

    /// Facts about a peer that Fast Open goes by. Those of a program's earlier run are to be told
    /// ([`Self::assume_fast_open`]).
    pub fn fast_open(&self, peer: IpAddr) -> io::Result<FastOpenFacts> {
        let way = self.way_to(peer)?;
        let state = self.shared().lock();
        Ok(state.engine.fast_open(self.shared().now(), way))
    }

    /// Takes facts about a peer that Fast Open goes by, in the place of those that there are.
    pub fn assume_fast_open(&self, peer: IpAddr, facts: FastOpenFacts) -> io::Result<()> {
        let way = self.way_to(peer)?;
        let mut state = self.shared().lock();
        state.engine.assume_fast_open(self.shared().now(), way, facts);
        Ok(())
    }

    fn way_to(&self, peer: IpAddr) -> io::Result<Way> {
        Ok(Way { local: self.address_towards(peer)?, remote: peer })
    }

    /// Our address of the peer's family.
    fn address_towards(&self, peer: IpAddr) -> io::Result<IpAddr> {
        if peer.is_unspecified() || peer.is_multicast() || self.addresses.contains(&peer) {
            let text = format!("{peer} is no address of another host");
            return Err(io::Error::new(ErrorKind::InvalidInput, text));
        }
        let ours = self.addresses.iter().find(|ours| ours.is_ipv4() == peer.is_ipv4());
        ours.copied().ok_or_else(|| {
            let family = if peer.is_ipv4() { "IPv4" } else { "IPv6" };
            let text = format!("this host has no {family} address to reach {peer} from: give it one");
            io::Error::new(ErrorKind::AddrNotAvailable, text)
        })
    }

    /// Agreement on SCPS-TP of a connection ([`Config::scps`]); `None`: it is one of plain TCP, as the peer
    /// speaks nothing else or has not answered, or it is gone.
    pub fn scps_agreement(&self, id: ConnectionId) -> Option<Agreement> {
        self.shared().lock().engine.scps_agreement(id)
    }

    /// Waits until no connection has anything left to do - all data confirmed and the end of either side told
    /// - but no longer than `patience`. False if that was not enough. Needs the runtime's timer.
    pub async fn wait_idle(&self, patience: Duration) -> bool {
        self.handle.wait_idle(patience).await
    }

    /// Resets every connection and closes the device. Streams fail from now on. Needs the runtime's timer.
    pub async fn close(&self) {
        self.handle.close().await;
    }

    /// The host's addresses.
    pub fn addresses(&self) -> &[IpAddr] {
        &self.addresses
    }

    /// The clock by which this host's connections tell time.
    pub fn clock(&self) -> Clock {
        self.shared().clock
    }

    /// Counters below the connections.
    pub fn counters(&self) -> TunCounters {
        self.shared().lock().counters
    }

    /// Counters of the engine for segments that belong to no connection.
    pub fn stats(&self) -> EndpointStats {
        self.shared().lock().engine.endpoint_stats()
    }

    /// Connections held, closed ones that a stream still holds included.
    pub fn connection_count(&self) -> usize {
        self.shared().lock().engine.connection_count()
    }

    fn shared(&self) -> &Shared<Endpoint> {
        &self.handle.0
    }
}

impl std::fmt::Debug for TunHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TunHost").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

/// Packets for the kernel's own addresses never come to the device.
fn refuse_the_kernels(addresses: &[IpAddr]) -> io::Result<()> {
    // It lets sockets have its own addresses only.
    let is_kernels = |address: &&IpAddr| UdpSocket::bind((**address, 0)).is_ok();
    let Some(address) = addresses.iter().find(is_kernels) else { return Ok(()) };
    let text = format!(
        "{address} is an address of this machine's own kernel; choose another one of the device's network, which nobody has"
    );
    Err(io::Error::new(ErrorKind::AddrInUse, text))
}

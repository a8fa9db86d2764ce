//! Carriers of files: STP over UDP, or TCP over a TUN device.

use std::convert::Infallible;
use std::future::pending;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use clap::ValueEnum;
use skyhaul_capture::Inlet;
use skyhaul_net::tun::{TunDevice, TunHost, TunOptions};
use skyhaul_net::{Clock, Endpoint, Limits, Monitor, Protocol};
use skyhaul_tcp::{AcceleratedOpen, Config};

use crate::args::MORE;
use crate::errors::ErrorCode;
use crate::failure::Failure;
use crate::parameters::{CommonArgs, ProbingSwitch, SenderArgs};
use crate::protection::Protection;
use crate::receive::MAX_EARLY;

/// Words where a switch makes no sense.
const STP_ONLY: &str = "is for --transport stp";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TransportName {
    /// The Satellite Transport Protocol, over UDP
    Stp,
    /// TCP of our own, over a TUN device
    Tcp,
}

/// Transport that the files go over.
#[derive(Debug, clap::Args)]
pub(crate) struct TransportArgs {
    /// What carries the files: stp (over UDP), or tcp, which needs a TUN device (docs/guide/tcp.md). Both
    /// sides must say the same
    #[arg(long, value_enum, default_value_t = TransportName::Stp, hide_possible_values = true, value_name = "stp|tcp", help_heading = MORE)]
    transport: TransportName,
    /// TUN device for --transport tcp; `ip tuntap add` makes one that needs no root
    #[arg(long, value_name = "NAME", help_heading = MORE)]
    tun: Option<String>,
    /// TCP Fast Open, with --transport tcp: the first data goes with the opening, from the second transfer to
    /// a receiver on; it may arrive twice (docs/guide/tcp.md). Both sides must say so
    #[arg(long, help_heading = MORE)]
    fast_open: bool,
}

/// Largest packet of links within this machine, and of TCP (a device may have less), where nothing else is
/// said.
pub(crate) const USUAL_MTU_BYTES: u32 = 1500;

/// Choice of TCP, with its device and parameters.
#[derive(Debug)]
pub(crate) struct TcpChoice {
    device: String,
    pub(crate) config: Config,
    mtu_bytes: u32,
}

impl TransportArgs {
    /// Option by which protection was done without: `--plain`, if `is_plain`, or TCP, which has none.
    pub(crate) fn unprotected(&self, is_plain: bool) -> Option<&'static str> {
        match self.transport {
            TransportName::Tcp => Some("--transport tcp"),
            TransportName::Stp => is_plain.then_some("--plain"),
        }
    }

    /// True if data may go with an opening of TCP.
    pub(crate) fn opens_fast(&self) -> bool {
        self.fast_open
    }

    /// Choice of TCP; `None`: STP carries the files.
    pub(crate) fn tcp(&self, common: &CommonArgs) -> Result<Option<TcpChoice>, Failure> {
        if self.fast_open && self.transport == TransportName::Stp {
            return Err(Failure::usage(
                "--fast-open is for --transport tcp: add that, or leave it out: STP's first data goes at once anyway",
            ));
        }
        let device = match (self.transport, &self.tun) {
            (TransportName::Stp, None) => return Ok(None),
            (TransportName::Stp, Some(_)) => {
                return Err(Failure::usage("--tun is for --transport tcp: add that"));
            }
            (TransportName::Tcp, None) => {
                return Err(Failure::usage(
                    "--transport tcp needs --tun NAME, a TUN device; docs/guide/tcp.md says how to make one",
                ));
            }
            (TransportName::Tcp, Some(device)) => device.clone(),
        };
        if common.give_up.is_some() {
            return Err(Failure::usage(format!("--give-up {STP_ONLY}: TCP counts its repeats")));
        }
        Ok(Some(TcpChoice {
            device,
            config: Config {
                accelerated_open: self.fast_open.then_some(AcceleratedOpen::FastOpen),
                ..common.tcp_config()
            },
            mtu_bytes: common.mtu.unwrap_or(USUAL_MTU_BYTES),
        }))
    }
}

impl TcpChoice {
    /// The sender's part.
    pub(crate) fn sending(mut self, sender: &SenderArgs) -> Result<Self, Failure> {
        if sender.rate.is_some() {
            return Err(Failure::usage(format!("--rate {STP_ONLY}: TCP finds its rate out")));
        }
        if sender.probing == ProbingSwitch::Off {
            return Err(Failure::usage(format!("--probing {STP_ONLY}: TCP does not probe")));
        }
        if let Some(controller) = sender.tcp_controller()? {
            self.config.controller.clone_from(controller);
        }
        Ok(self)
    }

    /// A host with this address on the device.
    pub(crate) fn host(&self, address: IpAddr, capture: Option<Inlet>) -> Result<TunHost, Failure> {
        let usual = TunOptions::new(vec![address]);
        let limits = Limits { max_early: MAX_EARLY, ..usual.limits };
        let (mtu_bytes, accept) = (self.mtu_bytes, self.config.clone());
        let options = TunOptions { mtu_bytes, accept, limits, capture, ..usual };
        let device = TunDevice::attach(&self.device).and_then(|device| device.check_up().map(|()| device));
        let host = device.and_then(|device| TunHost::on_device(device, options));
        host.map_err(|error| {
            let message = format!("cannot use TCP with {address} on '{}': {error}", self.device);
            Failure::of(ErrorCode::DeviceFailed, message)
        })
    }
}

/// The address that a receiver waits at must be one of the device's network that nobody has.
pub(crate) fn host_address(listen: SocketAddr) -> Result<IpAddr, Failure> {
    let ip = listen.ip().to_canonical();
    if ip.is_unspecified() || ip.is_loopback() || ip.is_multicast() {
        return Err(Failure::usage(format!(
            "--transport tcp needs --listen ADDRESS:PORT with an address of its own: one of the TUN device's network \
             that nobody has, not {ip}"
        )));
    }
    Ok(ip)
}

/// This end, whatever the transport.
pub(crate) trait TransportEnd {
    /// Protocol of its streams.
    type Protocol: Protocol;
    /// The name of that in results.
    const TRANSPORT: &'static str;
    /// True if nobody else reads or changes what it carries.
    const IS_SEALED: bool = false;
    /// Name of a peer at this end; nobody has one where nothing is sealed.
    type PeerName: Copy + 'static;
    /// Words when there will be no connections any more.
    const LOST: &'static str;
    /// The code of that.
    const LOST_CODE: ErrorCode;

    /// The clock of its connections.
    fn clock(&self) -> Clock;

    /// Protection of a connection, and who is at its other end.
    fn protection(&self, monitor: &Monitor<Self::Protocol>) -> (Protection, Option<Self::PeerName>);

    /// Waits until this peer is not to be heard any more.
    async fn dismissed(&self, peer: Option<Self::PeerName>);

    /// Breaks everything off, and tells the peers.
    async fn close(&self);

    /// Datagrams that the system dropped as its socket was full; `None`: it has none.
    fn socket_drops(&self) -> Option<u64>;

    /// Waits until nothing is left to do; false after `patience`.
    async fn wait_idle(&self, patience: Duration) -> bool;

    /// Waits until every connection has ended at both ends; false after `patience`. Late repeats of a peer
    /// that misses nothing but our last words are not answered any more.
    async fn wait_ended(&self, patience: Duration) -> bool;
}

impl TransportEnd for Endpoint {
    type Protocol = skyhaul_stp::Endpoint;
    type PeerName = Infallible;
    const TRANSPORT: &'static str = "stp";
    const LOST: &'static str = "the socket failed";
    const LOST_CODE: ErrorCode = ErrorCode::SocketFailed;

    fn clock(&self) -> Clock {
        self.clock()
    }

    fn socket_drops(&self) -> Option<u64> {
        Some(self.counters().socket_drops)
    }

    fn protection(&self, _: &Monitor<Self::Protocol>) -> (Protection, Option<Infallible>) {
        (Protection::plain(), None)
    }

    async fn dismissed(&self, _: Option<Infallible>) {
        pending::<()>().await;
    }

    async fn close(&self) {
        self.close().await;
    }

    async fn wait_idle(&self, patience: Duration) -> bool {
        self.wait_idle(patience).await
    }

    async fn wait_ended(&self, patience: Duration) -> bool {
        self.wait_ended(patience).await
    }
}

impl TransportEnd for TunHost {
    type Protocol = skyhaul_tcp::Endpoint;
    type PeerName = Infallible;
    const TRANSPORT: &'static str = "tcp";
    const LOST: &'static str = "the TUN device is gone; make it again, then start this command again";
    const LOST_CODE: ErrorCode = ErrorCode::DeviceFailed;

    fn clock(&self) -> Clock {
        self.clock()
    }

    fn socket_drops(&self) -> Option<u64> {
        None
    }

    fn protection(&self, _: &Monitor<Self::Protocol>) -> (Protection, Option<Infallible>) {
        (Protection::plain(), None)
    }

    async fn dismissed(&self, _: Option<Infallible>) {
        pending::<()>().await;
    }

    async fn close(&self) {
        self.close().await;
    }

    async fn wait_idle(&self, patience: Duration) -> bool {
        self.wait_idle(patience).await
    }

    async fn wait_ended(&self, patience: Duration) -> bool {
        self.wait_idle(patience).await
    }
}

//! Carriers of files: STP over UDP, or TCP or SCPS-TP over a TUN device.

use std::convert::Infallible;
use std::future::pending;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use clap::ValueEnum;
use skyhaul_net::{Clock, Endpoint, Monitor, Protocol};
use skyhaul_tcp::{AcceleratedOpen, Config};

use crate::args::MORE;
use crate::errors::ErrorCode;
use crate::failure::Failure;
use crate::over_tun::TcpChoice;
use crate::parameters::CommonArgs;
use crate::places::Party;
use crate::protection::Protection;
use crate::routes::rate_to;
use crate::scps::{ScpsArgs, ScpsResult};

/// Words where a switch makes no sense.
pub(crate) const STP_ONLY: &str = "is for --transport stp";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TransportName {
    /// The Satellite Transport Protocol, over UDP
    Stp,
    /// TCP of our own, over a TUN device
    Tcp,
    /// SCPS-TP on that TCP
    ScpsTp,
}

impl TransportName {
    /// The name in arguments and results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stp => "stp",
            Self::Tcp => "tcp",
            Self::ScpsTp => "scps-tp",
        }
    }

    /// Option that says how long a peer is waited for, where there is one.
    pub(crate) fn patience_option(self) -> Option<&'static str> {
        matches!(self, Self::Stp | Self::Tcp).then_some("--give-up")
    }
}

/// Transport that the files go over.
#[derive(Debug, clap::Args)]
pub(crate) struct TransportArgs {
    /// What carries the files: stp (over UDP), or tcp or scps-tp, which need a TUN device (docs/guide/tcp.md,
    /// docs/guide/scps-tp.md). Both sides must say the same; scps-tp and tcp meet as plain TCP
    #[arg(long, value_enum, default_value_t = TransportName::Stp, hide_possible_values = true, value_name = "stp|tcp|scps-tp", help_heading = MORE)]
    transport: TransportName,
    /// TUN device for --transport tcp and scps-tp; `ip tuntap add` makes one that needs no root
    #[arg(long, value_name = "NAME", help_heading = MORE)]
    tun: Option<String>,
    /// TCP Fast Open, with --transport tcp: the first data goes with the opening, from the second transfer to
    /// a receiver on; it may arrive twice (docs/guide/tcp.md). Both sides must say so
    #[arg(long, help_heading = MORE)]
    fast_open: bool,
    #[command(flatten)]
    scps: ScpsArgs,
}

/// Largest packet of links within this machine, and of TCP (a device may have less), where nothing else is
/// said.
pub(crate) const USUAL_MTU_BYTES: u32 = 1500;

impl TransportArgs {
    /// Option by which protection was done without: `--plain`, if `is_plain`, or a transport that has none.
    pub(crate) fn unprotected(&self, is_plain: bool) -> Option<&'static str> {
        match self.transport {
            TransportName::Tcp => Some("--transport tcp"),
            TransportName::ScpsTp => Some("--transport scps-tp"),
            TransportName::Stp => is_plain.then_some("--plain"),
        }
    }

    /// True if no device is needed.
    pub(crate) fn is_stp(&self) -> bool {
        self.transport == TransportName::Stp
    }

    /// True if data may go with an opening of TCP.
    pub(crate) fn opens_fast(&self) -> bool {
        self.fast_open
    }

    /// Rate that a route to this peer has, in bit/s.
    pub(crate) fn rate_to(&self, peer: IpAddr) -> Option<u64> {
        rate_to(&self.scps.routes().ok()?, peer)
    }

    /// Choice of a receiver, whose way back has this rate, if it declares one.
    pub(crate) fn tcp_with(
        &self,
        common: &CommonArgs,
        rate_bps: Option<u64>,
    ) -> Result<Option<TcpChoice>, Failure> {
        if rate_bps.is_some() && self.transport != TransportName::ScpsTp {
            return Err(Failure::usage("--rate of `receive` is for --transport scps-tp: add that"));
        }
        self.tcp(common)?.map(|choice| choice.declaring(rate_bps, None)).transpose()
    }

    /// Choice of TCP or SCPS-TP; `None`: STP carries the files.
    pub(crate) fn tcp(&self, common: &CommonArgs) -> Result<Option<TcpChoice>, Failure> {
        let (transport, name) = (self.transport, self.transport.name());
        if transport != TransportName::ScpsTp {
            self.scps.check_unused()?;
        }
        if self.fast_open && transport != TransportName::Tcp {
            let instead = match transport {
                TransportName::Stp => ": STP's first data goes at once anyway",
                _ => "",
            };
            return Err(Failure::usage(format!(
                "--fast-open is for --transport tcp: add that, or leave it out{instead}"
            )));
        }
        let device = match (transport, &self.tun) {
            (TransportName::Stp, None) => {
                common.check_stp()?;
                return Ok(None);
            }
            (TransportName::Stp, Some(_)) => {
                return Err(Failure::usage("--tun is for --transport tcp and scps-tp: add one of them"));
            }
            (_, None) => {
                return Err(Failure::usage(format!(
                    "--transport {name} needs --tun NAME, a TUN device; docs/guide/tcp.md says how to make one"
                )));
            }
            (_, Some(device)) => device.clone(),
        };
        if common.give_up.is_some() && transport.patience_option().is_none() {
            return Err(Failure::usage(format!("--give-up {STP_ONLY} and tcp: SCPS-TP counts its repeats")));
        }
        let config = match transport {
            TransportName::ScpsTp => {
                let (scps, routes) = (Some(self.scps.config()), self.scps.routes()?);
                Config { scps, routes, ..common.scps_config()? }
            }
            _ => Config {
                accelerated_open: self.fast_open.then_some(AcceleratedOpen::FastOpen),
                ..common.tcp_config()
            },
        };
        let mtu_bytes = common.mtu.unwrap_or(USUAL_MTU_BYTES);
        common.check_mtu(config.min_mtu_bytes(true))?;
        let signals = self.scps.signals();
        Ok(Some(TcpChoice { transport, device, config, mtu_bytes, signals, has_controller: false }))
    }
}

/// This end, whatever the transport.
pub(crate) trait TransportEnd {
    /// Protocol of its streams.
    type Protocol: Protocol;
    /// True if nobody else reads or changes what it carries.
    const IS_SEALED: bool = false;
    /// True if `receive --once` asks senders that say nothing whether they are there.
    const ASKS_SENDERS: bool = true;
    /// True if it has a word for a receiver that has no room.
    const TELLS_BUSY: bool = true;
    /// Name of a peer at this end; nobody has one where nothing is sealed.
    type PeerName: Copy + 'static;
    /// Words when there will be no connections any more.
    const LOST: &'static str;
    /// The code of that.
    const LOST_CODE: ErrorCode;

    /// Name of its transport in results.
    fn transport(&self) -> &'static str;

    /// The clock of its connections.
    fn clock(&self) -> Clock;

    /// Agreement on SCPS-TP of a connection; `None`: that was not wanted.
    fn scps_tp(&self, _: &Monitor<Self::Protocol>) -> Option<ScpsResult> {
        None
    }

    /// Protection of a connection, and who is at its other end.
    fn protection(&self, monitor: &Monitor<Self::Protocol>) -> (Protection, Option<Self::PeerName>);

    /// Option that says how long a peer is waited for, where there is one.
    fn patience_option(&self) -> Option<&'static str> {
        TransportName::Stp.patience_option()
    }

    /// Party that is at the other end of a connection, whose address this is.
    fn party(&self, _: &Monitor<Self::Protocol>, address: SocketAddr) -> Party {
        Party::at(address.ip())
    }

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
    const LOST: &'static str = "the socket failed";
    const LOST_CODE: ErrorCode = ErrorCode::SocketFailed;

    fn transport(&self) -> &'static str {
        TransportName::Stp.name()
    }

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

//! Ends of TCP and SCPS-TP on a TUN device.

use std::convert::Infallible;
use std::future::pending;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use skyhaul_capture::Inlet;
use skyhaul_net::tun::{TunDevice, TunHost, TunOptions};
use skyhaul_net::{Clock, Limits, Monitor};
use skyhaul_tcp::scps::Scps;
use skyhaul_tcp::{Config, ControllerKind, SignalNumbers};

use crate::errors::ErrorCode;
use crate::failure::Failure;
use crate::parameters::{ProbingSwitch, SenderArgs};
use crate::places::MAX_EARLY;
use crate::protection::Protection;
use crate::routes::rate_to;
use crate::scps::{ScpsResult, declaring};
use crate::transport::{STP_ONLY, TransportEnd, TransportName};

/// Choice of TCP or SCPS-TP, with its device and parameters.
#[derive(Debug)]
pub(crate) struct TcpChoice {
    pub(crate) transport: TransportName,
    pub(crate) device: String,
    pub(crate) config: Config,
    pub(crate) mtu_bytes: u32,
    /// Numbers of the signals that it hears of routers.
    pub(crate) signals: SignalNumbers,
    /// A controller was named: a declared rate does not decide alone.
    pub(crate) has_controller: bool,
}

impl TcpChoice {
    /// Name of the transport.
    pub(crate) fn name(&self) -> &'static str {
        self.transport.name()
    }

    /// The sender's part.
    pub(crate) fn sending(self, sender: &SenderArgs) -> Result<Self, Failure> {
        if sender.probing == ProbingSwitch::Off {
            return Err(Failure::usage(format!("--probing {STP_ONLY}: TCP does not probe")));
        }
        let controller = sender.tcp_controller()?;
        if self.transport == TransportName::ScpsTp {
            return self.declaring(sender.rate, controller);
        }
        if sender.rate.is_some() {
            return Err(Failure::usage("--rate is for --transport stp and scps-tp: TCP finds its rate out"));
        }
        let controller = controller.cloned().unwrap_or_else(|| self.config.controller.clone());
        Ok(Self { config: Config { controller, ..self.config }, ..self })
    }

    /// The part of an end that sends at a declared rate, if there is one. Plain TCP, where the other end
    /// speaks nothing else, keeps to that as well.
    pub(crate) fn declaring(
        self,
        rate_bps: Option<u64>,
        controller: Option<&ControllerKind>,
    ) -> Result<Self, Failure> {
        let scps = self.config.scps.map(|scps| declaring(scps, rate_bps, controller)).transpose()?;
        let has_controller = controller.is_some();
        Ok(Self { config: Config { rate_bps, scps, ..self.config }, has_controller, ..self })
    }

    /// Parameters of a connection to this peer. The rate of a route to it is a declared one.
    pub(crate) fn config_to(&self, peer: IpAddr) -> Config {
        let config = self.config.clone();
        let rate_bps = rate_to(&config.routes, peer);
        let controller = |scps: Scps| match rate_bps {
            Some(_) if !self.has_controller => Scps { controller: ControllerKind::Off, ..scps },
            _ => scps,
        };
        Config { scps: config.scps.map(controller), rate_bps: rate_bps.or(config.rate_bps), ..config }
    }

    /// A host with this address on the device.
    pub(crate) fn host(&self, address: IpAddr, capture: Option<Inlet>) -> Result<TunEnd, Failure> {
        let usual = TunOptions::new(vec![address]);
        let limits = Limits { max_early: MAX_EARLY, ..usual.limits };
        let (mtu_bytes, accept) = (self.mtu_bytes, self.config.clone());
        let least_bytes = accept.min_mtu_bytes(address.is_ipv4());
        let signals = self.signals;
        let options = TunOptions { mtu_bytes, accept, limits, signals, capture, ..usual };
        let leads = |device: TunDevice| device.check_leads_here(address).map(|()| device);
        // A device too small for IPv6 has no routes of it either: that is the lesser word.
        let takes = |device: TunDevice| device.check_takes(address, least_bytes).map(|()| device);
        let device = TunDevice::attach(&self.device).and_then(|device| device.check_up().map(|()| device));
        let device = device.and_then(takes).and_then(leads);
        let host = device.and_then(|device| TunHost::on_device(device, options));
        host.map(|host| TunEnd { host, transport: self.transport }).map_err(|error| {
            let message = format!("cannot use TCP with {address} on '{}': {error}", self.device);
            Failure::of(ErrorCode::DeviceFailed, message)
        })
    }

    /// The address that a receiver waits at must be one of the device's network that nobody has.
    pub(crate) fn host_address(&self, listen: SocketAddr) -> Result<IpAddr, Failure> {
        let ip = listen.ip().to_canonical();
        if ip.is_unspecified() || ip.is_loopback() || ip.is_multicast() {
            let name = self.name();
            return Err(Failure::usage(format!(
                "--transport {name} needs --listen ADDRESS:PORT with an address of its own: one of the TUN device's \
                 network that nobody has, not {ip}"
            )));
        }
        Ok(ip)
    }
}

/// Host on a TUN device, as an end that speaks TCP or SCPS-TP.
#[derive(Clone, Debug)]
pub(crate) struct TunEnd {
    pub(crate) host: TunHost,
    transport: TransportName,
}

impl TransportEnd for TunEnd {
    type Protocol = skyhaul_tcp::Endpoint;
    type PeerName = Infallible;
    const ASKS_SENDERS: bool = false;
    const TELLS_BUSY: bool = false;
    const LOST: &'static str = "the TUN device is gone; make it again, then start this command again";
    const LOST_CODE: ErrorCode = ErrorCode::DeviceFailed;

    fn transport(&self) -> &'static str {
        self.transport.name()
    }

    fn patience_option(&self) -> Option<&'static str> {
        self.transport.patience_option()
    }

    fn scps_tp(&self, monitor: &Monitor<Self::Protocol>) -> Option<ScpsResult> {
        let agreement = monitor.id().and_then(|id| self.host.scps_agreement(id));
        (self.transport == TransportName::ScpsTp).then(|| ScpsResult::new(agreement))
    }

    fn clock(&self) -> Clock {
        self.host.clock()
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
        self.host.close().await;
    }

    async fn wait_idle(&self, patience: Duration) -> bool {
        self.host.wait_idle(patience).await
    }

    async fn wait_ended(&self, patience: Duration) -> bool {
        self.host.wait_idle(patience).await
    }
}

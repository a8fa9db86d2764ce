//! Options of a host.

use std::io;
use std::net::IpAddr;

use skyhaul_capture::Inlet;
use skyhaul_tcp::{Config, EndpointConfig, SignalNumbers};

use crate::options::random;
use crate::{Limits, Watch};

/// Options of a [`TunHost`](super::TunHost).
#[derive(Clone, Debug)]
pub struct TunOptions {
    /// Addresses of the host: at least one, of either family. The kernel, or whoever is at the other end of
    /// the device, sends packets for them here.
    pub addresses: Vec<IpAddr>,
    /// Largest IP packet that is sent.
    pub mtu_bytes: u32,
    /// Parameters of the connections that peers open.
    pub accept: Config,
    /// Types and codes of the signals of routers that connections of SCPS-TP go by.
    pub signals: SignalNumbers,
    /// Bounds of the number of connections.
    pub limits: Limits,
    /// Seed of random values (initial numbers, ports), for tests that must repeat, or
    /// else the operating system.
    pub seed: Option<u64>,
    /// Receiver of events ([`watch`](crate::watch())), if somebody wants to see them.
    pub watch: Option<Watch>,
    /// Capture that gets every packet with its events. It has one interface, this host.
    pub capture: Option<Inlet>,
}

impl TunOptions {
    /// A host with these addresses, and otherwise the defaults.
    pub fn new(addresses: Vec<IpAddr>) -> Self {
        let engine = EndpointConfig::default();
        let EndpointConfig { max_connections, max_unproven, max_early, .. } = engine;
        let limits = Limits { max_connections, max_unproven, max_early, ..Limits::default() };
        Self {
            addresses,
            mtu_bytes: engine.mtu_bytes,
            accept: engine.accept,
            signals: SignalNumbers::default(),
            limits,
            seed: None,
            watch: None,
            capture: None,
        }
    }

    /// The engine that these options ask for.
    pub(super) fn engine(&self) -> io::Result<skyhaul_tcp::Endpoint> {
        refuse_gaps(&self.accept)?;
        let config = EndpointConfig {
            accept: self.accept.clone(),
            mtu_bytes: self.mtu_bytes,
            max_connections: self.limits.max_connections,
            max_unproven: self.limits.max_unproven,
            max_early: self.limits.max_early,
        };
        Ok(skyhaul_tcp::Endpoint::new(config, random(self.seed, "net/tun")?))
    }
}

/// A stream of octets has no word for a gap: whoever read it would wait there for ever.
pub(super) fn refuse_gaps(config: &Config) -> io::Result<()> {
    if config.leaves_gaps() {
        let text = "streams here deliver everything: leave `best_effort_ns` out";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    Ok(())
}

//! Streams of whatever transport, and the counters of their connections.

use std::pin::Pin;

use skyhaul_net::tun::TcpMonitor;
use skyhaul_net::{Monitor, SealedStp};
use tokio::io::{AsyncRead, AsyncWrite};

use super::report::EndCounters;
use super::snmp::retransmitted_segments;

/// Stream of bytes in both directions.
pub(super) type ByteStream = Pin<Box<dyn Both>>;

/// Reader and writer in one.
pub(super) trait Both: AsyncRead + AsyncWrite + Send {}
impl<S: AsyncRead + AsyncWrite + Send> Both for S {}

/// Place of a connection's counters.
pub(super) enum CounterSource {
    /// Our own engine.
    Own(Monitor),
    /// Our own engine, under a seal.
    Sealed(Monitor<SealedStp>),
    /// Our own engine of TCP.
    OwnTcp(TcpMonitor),
    /// The kernel, whose counters are those of the namespace: they were so many before.
    Kernel { controller: &'static str, retransmitted_before: u64 },
}

impl CounterSource {
    pub(super) fn counted(&self) -> Option<EndCounters> {
        match self {
            Self::Own(monitor) => monitor.stats().map(|stats| EndCounters::from(&stats)),
            Self::Sealed(monitor) => monitor.stats().map(|stats| EndCounters::from(&stats)),
            Self::OwnTcp(monitor) => monitor.stats().map(|stats| EndCounters::from(&stats)),
            Self::Kernel { controller, retransmitted_before } => Some(EndCounters {
                controller: (*controller).to_string(),
                retransmitted_packets: retransmitted_segments()?.saturating_sub(*retransmitted_before),
                own: None,
            }),
        }
    }
}

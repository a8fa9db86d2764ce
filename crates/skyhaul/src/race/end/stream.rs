//! A stream of whatever transport, and what can be known of its connection.

use std::pin::Pin;

use skyhaul_net::Monitor;
use tokio::io::{AsyncRead, AsyncWrite};

use super::report::Counted;
use super::snmp::retransmitted_segments;

/// A bytestream.
pub(super) type Stream = Pin<Box<dyn Both>>;

pub(super) trait Both: AsyncRead + AsyncWrite + Send {}
impl<S: AsyncRead + AsyncWrite + Send> Both for S {}

/// Where the counters of a connection are.
pub(super) enum Look {
    Stp(Monitor),
    /// The kernel's are those of the namespace: they were so many before.
    Kernel {
        controller: &'static str,
        retransmitted_before: u64,
    },
}

impl Look {
    pub(super) fn counted(&self) -> Option<Counted> {
        match self {
            Self::Stp(monitor) => monitor.stats().map(|stats| Counted::from(&stats)),
            Self::Kernel { controller, retransmitted_before } => Some(Counted {
                controller: (*controller).to_string(),
                retransmitted_packets: retransmitted_segments()?.saturating_sub(*retransmitted_before),
                own: None,
            }),
        }
    }
}

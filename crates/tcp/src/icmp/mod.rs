//! ICMP about TCP: what its messages mean, how those that hosts and routers send look, and what those say
//! that arrive [RFC 792, RFC 4443].

mod family;
mod numbers;
mod report;
mod signal;

pub use family::{Family, HEADER_BYTES, is_intact, message};
pub use report::{Quoted, report};
pub use signal::signal;
pub use skyhaul_core::{MessageNumbers, SignalNumbers};

/// A message about a packet that this host sent, or that was sent to it [RFC 792, RFC 4443].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpMessage {
    /// The packet did not fit a link (`ICMPv4`: fragmentation needed and DF set).
    PacketTooBig {
        /// Largest IP packet of that link; 0 from routers older than RFC 1191.
        mtu_bytes: u32,
    },
    /// The packet could not be delivered.
    Unreachable(Unreachable),
    /// It was too long under way, or its fragments were.
    TimeExceeded,
    /// Something in its header was not understood.
    ParameterProblem,
    /// The link behind a router damages packets for this host, one of which is quoted [SCPS-TP 3.1.2].
    CorruptionExperienced,
    /// The link behind a router is down, which the packet that is quoted was to take [SCPS-TP 3.1.3].
    LinkOutage,
    /// That link is back [SCPS-TP 3.1.3].
    LinkRestored,
    /// A router has more to forward than it can [RFC 792]. Nobody sends this any more [RFC 6633], but where
    /// SCPS-TP is spoken on purpose [SCPS-TP 3.1.1].
    SourceQuench,
}

/// Part of the way that could not be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreachable {
    /// The network: no route.
    Net,
    /// The host.
    Host,
    /// The host does not speak TCP.
    Protocol,
    /// Nothing listens at the port.
    Port,
    /// Somebody forbids it.
    Prohibited,
}

impl IcmpMessage {
    /// True if the packet that is quoted came from the peer: was on its way here.
    pub const fn quotes_the_peer(self) -> bool {
        matches!(self, Self::CorruptionExperienced)
    }

    /// True if asking again is of no use. Everything else may pass by itself [RFC 1122 4.2.3.9].
    pub(crate) fn is_hard(self) -> bool {
        use Unreachable::{Port, Prohibited, Protocol};
        matches!(self, Self::Unreachable(Protocol | Port | Prohibited))
    }
}

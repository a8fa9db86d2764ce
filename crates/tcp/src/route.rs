//! Routes: what is known of the ways to all peers behind a prefix [SCPS-TP 3.1, 3.1.2].

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;
use core::str::FromStr;

use skyhaul_core::{DeclaredRate, MS, Peak, SECOND, Verdict};

/// Routes of an endpoint at most.
pub const MAX_ROUTES: usize = 256;

/// Time in which what a bucket saves leaves by no more than a burst: the reference implementation fills its
/// buckets so often.
const BURST_TICK_NS: u64 = 10 * MS;
/// Ticks that a bucket saves, packets that it saves at least, and packets of a burst, unless something is
/// said: the reference implementation's.
const DEPTH_TICKS: u64 = 5;
const DEPTH_PACKETS: u64 = 5;
const BURST_PACKETS: u64 = 4;

/// Addresses that have their first bits in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix {
    address: IpAddr,
    bits: u8,
}

impl Prefix {
    /// Addresses that have the first `bits` bits of `address`.
    ///
    /// # Errors
    /// There are not so many bits, or further ones are set.
    pub fn new(address: IpAddr, bits: u8) -> Result<Self, RouteError> {
        let length = address_bits(address);
        if bits > length {
            return Err(RouteError::Length { bits, most: length });
        }
        let prefix = Self { address: first_of(address, bits), bits };
        if prefix.address == address { Ok(prefix) } else { Err(RouteError::HostBits { address, prefix }) }
    }

    /// True if an address is one of them. One of IPv4 is in no prefix of IPv6.
    pub fn contains(self, address: IpAddr) -> bool {
        address.is_ipv4() == self.address.is_ipv4() && first_of(address, self.bits) == self.address
    }
}

fn address_bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// Address whose first `bits` bits these are, and whose others are zero.
fn first_of(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(ip) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            IpAddr::V4((ip.to_bits() & mask).into())
        }
        IpAddr::V6(ip) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            IpAddr::V6((ip.to_bits() & mask).into())
        }
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

impl FromStr for Prefix {
    type Err = RouteError;

    /// `ADDRESS/BITS`, or an address alone.
    fn from_str(text: &str) -> Result<Self, RouteError> {
        let (address, bits) = text.split_once('/').map_or((text, None), |(a, b)| (a, Some(b)));
        let address: IpAddr = address.parse().map_err(|_| RouteError::Syntax)?;
        let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit());
        let bits = bits.map_or(Ok(address_bits(address)), |bits| {
            let number = Some(bits).filter(is_number).and_then(|bits| bits.parse().ok());
            number.ok_or(RouteError::Syntax)
        })?;
        Self::new(address, bits)
    }
}

/// Token bucket of a route. All connections to all peers behind its prefix leave by it, and every IP byte
/// counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteRate {
    /// Bit/s, at least 1.
    pub rate_bps: u64,
    /// Octets that are saved while nothing is sent; no more leaves in any time beyond what the rate brings.
    /// Less than a packet counts as one. `None`: what the rate brings in 50 ms, and five packets at least.
    pub depth_bytes: Option<u64>,
    /// Octets of these that leave at once; as many leave every 10 ms after that, if the rate brings no more.
    /// Less than a packet counts as one. `None`: four packets.
    pub burst_bytes: Option<u64>,
}

impl RouteRate {
    /// Declaration for a path whose largest packets have `mtu_bytes`.
    pub(crate) fn declared(self, mtu_bytes: u32) -> DeclaredRate {
        let (rate_bps, mtu_bytes) = (self.rate_bps.max(1), u64::from(mtu_bytes));
        let tick_bytes = |rate_bps: u64| rate_bps / (8 * (SECOND / BURST_TICK_NS));
        let depth_bytes = self
            .depth_bytes
            .unwrap_or_else(|| (DEPTH_TICKS * tick_bytes(rate_bps)).max(DEPTH_PACKETS * mtu_bytes))
            .max(mtu_bytes);
        let burst_bytes = self.burst_bytes.unwrap_or(BURST_PACKETS * mtu_bytes).max(mtu_bytes);
        let peak_bps = burst_bytes.saturating_mul(8 * (SECOND / BURST_TICK_NS)).max(rate_bps);
        // A pacer lets the packet leave that is due, and its credit beside that.
        let credit_ns = |bytes: u64, rate_bps| duration_ns(bytes - mtu_bytes, rate_bps);
        let peak = Peak { rate_bps: peak_bps, burst_ns: credit_ns(burst_bytes, peak_bps) };
        DeclaredRate { rate_bps, burst_ns: credit_ns(depth_bytes, rate_bps), peak: Some(peak) }
    }
}

/// Time that so many octets take at a rate, no longer than it is.
fn duration_ns(bytes: u64, rate_bps: u64) -> u64 {
    let bits_ns = u128::from(bytes) * 8 * u128::from(SECOND);
    u64::try_from(bits_ns / u128::from(rate_bps)).unwrap_or(u64::MAX)
}

/// Signals about a way that senders obey, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signals {
    /// Marks of congestion: they are asked for [RFC 3168].
    pub ecn: bool,
    /// Word of the peer that routers damage what it gets, option 23: losses are damage then
    /// [SCPS-TP 3.1.2].
    pub corruption: bool,
    /// Word of routers that a link is down [SCPS-TP 3.1.3].
    pub outage: bool,
    /// Source quench of routers, where connections take that for a mark [SCPS-TP 3.1.1].
    pub source_quench: bool,
}

impl Signals {
    /// All there are.
    pub const ALL: Self = Self { ecn: true, corruption: true, outage: true, source_quench: true };
}

/// Facts about the ways to all peers behind a prefix, for connections that are opened here, and for what
/// accepted ones send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Peers.
    pub prefix: Prefix,
    /// Rate that they share, in place of what connections declare; `None`: there is none.
    pub rate: Option<RouteRate>,
    /// Cause of losses where nobody says otherwise and SCPS-TP is spoken; `None`: that of the connection.
    pub loss_cause: Option<Verdict>,
    /// Bandwidth times delay, where slow start ends at the latest and SCPS-TP is spoken; `None`: that of the
    /// connection.
    pub bandwidth_delay_bytes: Option<u64>,
    /// Signals that are obeyed.
    pub obeys: Signals,
}

impl Route {
    /// Route of which nothing is known.
    pub const fn to(prefix: Prefix) -> Self {
        let obeys = Signals::ALL;
        Self { prefix, rate: None, loss_cause: None, bandwidth_delay_bytes: None, obeys }
    }
}

/// Routes of an endpoint. A peer has the one with the longest prefix that it is in, or none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes(Arc<[Route]>);

impl Routes {
    /// These routes, in whatever order.
    ///
    /// # Errors
    /// Two have one prefix, or there are more than [`MAX_ROUTES`].
    pub fn new(mut routes: Vec<Route>) -> Result<Self, RouteError> {
        if routes.len() > MAX_ROUTES {
            return Err(RouteError::TooMany);
        }
        routes.sort_by_key(|route| (core::cmp::Reverse(route.prefix.bits), route.prefix));
        if let Some(pair) = routes.windows(2).find(|pair| pair[0].prefix == pair[1].prefix) {
            return Err(RouteError::Twice(pair[0].prefix));
        }
        Ok(Self(routes.into()))
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Routes, those with the longest prefix first.
    pub fn iter(&self) -> impl Iterator<Item = &Route> {
        self.0.iter()
    }
}

/// Reason why there is no such route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteError {
    /// No `ADDRESS/BITS`.
    Syntax,
    /// Addresses have fewer bits.
    Length {
        /// Bits asked for.
        bits: u8,
        /// Bits that there are.
        most: u8,
    },
    /// The address has bits behind the prefix.
    HostBits {
        /// What was said.
        address: IpAddr,
        /// What is meant, perhaps.
        prefix: Prefix,
    },
    /// Two routes have this prefix.
    Twice(Prefix),
    /// There are more than [`MAX_ROUTES`].
    TooMany,
}

impl fmt::Display for RouteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax => write!(f, "write ADDRESS/BITS, as 10.88.0.0/16 or fd00:88::/32"),
            Self::Length { bits, most } => write!(f, "an address has {most} bits, not {bits}"),
            Self::HostBits { address, prefix } => {
                write!(f, "{address} has bits behind the first {}; write {prefix}", prefix.bits)
            }
            Self::Twice(prefix) => {
                write!(f, "{prefix} is there twice; of prefixes within each other the longest counts")
            }
            Self::TooMany => write!(f, "more than {MAX_ROUTES} routes"),
        }
    }
}

impl core::error::Error for RouteError {}

#[cfg(test)]
#[path = "route_tests.rs"]
mod tests;

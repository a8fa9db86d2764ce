//! Path header: what a sender asks of the routers on its path, and what they grant it. Its octets on the wire
//! are `skyhaul_xcp`'s.

use crate::SECOND;

/// Gain of the spare capacity in a router's feedback, a, for each loop [XCP 4.2.2].
pub const SPARE_GAIN: f64 = 0.4;
/// Gain of the standing queue, b = a^2 sqrt(2).
pub const QUEUE_GAIN: f64 = 0.226;

/// Fraction bits of times in the header, which count seconds [XCP 3.2].
const FRACTION_BITS: u32 = 28;

/// Time as the header has it: unsigned, in units of 2^-28 s, up to 15.99 s. Zero means that it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeaderTime(u32);

impl HeaderTime {
    /// Not known.
    pub const UNKNOWN: Self = Self(0);
    /// Longest time.
    pub const MAX: Self = Self(u32::MAX);

    /// Time of so many units.
    pub const fn from_units(units: u32) -> Self {
        Self(units)
    }

    /// Time of so many nanoseconds, rounded down; the longest one if it is longer. A time of less than a
    /// unit, unless it is 0, is one unit: it is known.
    pub const fn from_ns(ns: u64) -> Self {
        if ns >= 16 * SECOND {
            return Self::MAX;
        }
        let units = (ns << FRACTION_BITS) / SECOND; // below 2^62
        Self(if units == 0 && ns > 0 { 1 } else { units as u32 })
    }

    /// Units of 2^-28 s.
    pub const fn units(self) -> u32 {
        self.0
    }

    /// Nanoseconds, rounded down.
    pub const fn as_ns(self) -> u64 {
        (self.0 as u64 * SECOND) >> FRACTION_BITS
    }

    /// True if it is not 0.
    pub const fn is_known(self) -> bool {
        self.0 > 0
    }
}

/// Congestion header of explicit rate control [XCP 3.2], as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathHeader {
    /// Time from one packet of the flow to the next, X.
    pub inter_packet: HeaderTime,
    /// Round-trip time that the sender sees.
    pub rtt: HeaderTime,
    /// Sum of the changes that arrived from the other side since the last one told, in octets a second.
    pub reverse_bytes_per_s: i32,
    /// Change of the rate that the sender wants with this packet, lowered by the routers that it has passed,
    /// in octets a second.
    pub delta_bytes_per_s: i32,
    /// Routers that this packet has passed, [`Self::MAX_ROUTERS`] at most.
    pub routers: u8,
    /// Routers that the last packet from the other side had passed.
    pub reverse_routers: u8,
    /// Who the header is for.
    pub format: HeaderFormat,
    /// Octets by which it makes the packet longer: its own, or none where sizes are told with it.
    pub wire_bytes: u8,
}

impl Default for PathHeader {
    /// One that asks for nothing and tells nothing.
    fn default() -> Self {
        Self {
            inter_packet: HeaderTime::UNKNOWN,
            rtt: HeaderTime::UNKNOWN,
            reverse_bytes_per_s: 0,
            delta_bytes_per_s: 0,
            routers: 0,
            reverse_routers: 0,
            format: HeaderFormat::Standard,
            wire_bytes: Self::BYTES,
        }
    }
}

/// Format of a path header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeaderFormat {
    /// With data: for routers and receiver.
    #[default]
    Standard,
    /// Without data: for the receiver alone. X, RTT and the wanted change are 0, and routers leave it as it
    /// is.
    Minimal,
}

/// Use of a rate, as its sender knows it when a packet leaves. Octets are of one kind throughout: all of the
/// packets, or their payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathUse {
    /// Round trip in which the sender hears what became of a packet, in ns, at least 1.
    pub rtt_ns: u64,
    /// Octets of the packet, at least 1.
    pub packet_bytes: u64,
    /// Octets that leave in a round trip, at least 1.
    pub window_bytes: u64,
    /// Octets that could be used in one.
    pub wanted_bytes: u64,
}

impl PathUse {
    /// Change that the packet is to ask for: (desired - actual throughput) / packets of a round trip
    /// [XCP 4.1.1].
    pub fn wanted_bytes_per_s(self) -> i32 {
        let more_bytes = self.wanted_bytes.saturating_sub(self.window_bytes);
        let more_bytes_per_s = u128::from(more_bytes) * u128::from(SECOND) / u128::from(self.rtt_ns.max(1));
        let each = more_bytes_per_s.saturating_mul(self.packet_bytes.into());
        i32::try_from(each / u128::from(self.window_bytes.max(1))).unwrap_or(i32::MAX)
    }

    /// Header that asks for it.
    pub fn header(self) -> PathHeader {
        let interval_ns =
            u128::from(self.rtt_ns) * u128::from(self.packet_bytes) / u128::from(self.window_bytes.max(1));
        PathHeader {
            inter_packet: HeaderTime::from_ns(u64::try_from(interval_ns).unwrap_or(u64::MAX).max(1)),
            rtt: HeaderTime::from_ns(self.rtt_ns.max(1)),
            delta_bytes_per_s: self.wanted_bytes_per_s(),
            ..PathHeader::default()
        }
    }
}

/// Sum of the changes that a sender asked for and was not told yet, in octets a second: a peer cannot tell
/// more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenRequests(i64);

impl OpenRequests {
    /// Takes in what one packet asks for.
    pub fn ask(&mut self, bytes_per_s: i32) {
        self.0 = self.0.saturating_add(bytes_per_s.max(0).into());
    }

    /// Part of what a peer tells that may be believed: taking away needs nobody's asking.
    pub fn believe(&mut self, told_bytes_per_s: i32) -> i32 {
        let bytes_per_s = told_bytes_per_s.min(self.0.clamp(0, i32::MAX.into()) as i32);
        self.0 -= i64::from(bytes_per_s.max(0)); // no more than it is
        bytes_per_s
    }
}

impl PathHeader {
    /// Octets on the wire.
    pub const BYTES: u8 = 20;

    /// Most routers that are counted.
    pub const MAX_ROUTERS: u8 = 15;

    /// True if routers read and write it.
    pub fn is_for_routers(&self) -> bool {
        self.format == HeaderFormat::Standard
    }
}

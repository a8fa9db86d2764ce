//! Versions of ICMP: types and codes have different numbers, and checksums cover different octets.

use alloc::vec::Vec;
use core::net::IpAddr;

use skyhaul_core::packet::ip_protocol;
use skyhaul_core::{internet_checksum, internet_sum, pseudo_header_sum};

/// Octets in front of what a message quotes.
pub const HEADER_BYTES: usize = 8;

/// The two protocols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// ICMP.
    V4,
    /// ICMP for IPv6.
    V6,
}

impl Family {
    /// That of hosts with such addresses.
    pub fn of(address: IpAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }

    /// IP protocol number.
    pub fn protocol(self) -> u8 {
        match self {
            Self::V4 => ip_protocol::ICMP,
            Self::V6 => ip_protocol::ICMPV6,
        }
    }

    /// True of types of messages that nobody is told errors about.
    pub fn is_error(self, kind: u8) -> bool {
        match self {
            Self::V4 => matches!(kind, 3 | 4 | 5 | 11 | 12),
            Self::V6 => kind < 128,
        }
    }

    /// Types of an echo request and of its reply.
    pub fn echo(self) -> (u8, u8) {
        match self {
            Self::V4 => (8, 0),
            Self::V6 => (128, 129),
        }
    }
}

/// Message of these `parts` from one host to another. The first one has type and code, and two zeros where
/// the checksum comes.
pub fn message(source: IpAddr, destination: IpAddr, parts: &[&[u8]]) -> Vec<u8> {
    let mut message = parts.concat();
    let checksum = internet_checksum(sum(source, destination, &message));
    if let Some(place) = message.get_mut(2..4) {
        place.copy_from_slice(&checksum.to_be_bytes());
    }
    message
}

/// True if the body of a packet is a whole message.
pub fn is_intact(source: IpAddr, destination: IpAddr, message: &[u8]) -> bool {
    message.len() >= HEADER_BYTES && internet_checksum(sum(source, destination, message)) == 0
}

fn sum(source: IpAddr, destination: IpAddr, message: &[u8]) -> u64 {
    let pseudo_header = match Family::of(source) {
        Family::V4 => 0,
        Family::V6 => pseudo_header_sum(source, destination, ip_protocol::ICMPV6, message.len()),
    };
    pseudo_header + internet_sum(message)
}

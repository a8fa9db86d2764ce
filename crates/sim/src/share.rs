//! The physical limit of a realised link, and the share of it that a transfer reached.

use skyhaul_core::Instant;
use skyhaul_link::{LinkConfig, carried_packets};

use crate::engines::Protocol;

/// Size of the packets that the limit is counted in.
pub const PACKET_BYTES: u32 = 1500;
/// IPv4, UDP, envelope and STP's common header.
const STP_HEADERS_BYTES: u32 = 20 + 8 + 1 + 12;
/// IPv4 and TCP without options.
const TCP_HEADERS_BYTES: u32 = 20 + 20;

/// Payload of a full packet: of STP over UDP over IPv4, or of TCP over IPv4.
pub fn payload_per_packet(protocol: Protocol) -> u64 {
    let headers_bytes = match protocol {
        Protocol::Stp => STP_HEADERS_BYTES,
        Protocol::Tcp => TCP_HEADERS_BYTES,
    };
    u64::from(PACKET_BYTES - headers_bytes)
}

/// Payload bytes that the link of this configuration and seed could have carried by `protocol` from `port`, from
/// `start` on, so that they arrive by `end`: full packets that leave in [start, end - one-way delay],
/// less its own losses. `None` for a link without a rate.
pub fn limit_bytes(
    protocol: Protocol,
    config: &LinkConfig,
    seed: u64,
    port: u32,
    start: Instant,
    end: Instant,
) -> Option<u64> {
    let packets = carried_packets(config, seed, port, start, end, PACKET_BYTES)?;
    Some(packets * payload_per_packet(protocol))
}

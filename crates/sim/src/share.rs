//! The physical limit of a realised link, and the share of it that a transfer reached.

use skyhaul_core::Instant;
use skyhaul_link::{LinkConfig, carried_packets};

use skyhaul_scenario::{MTU_BYTES, Protocol, payload_per_packet};

/// Size of the packets that the limit is counted in.
pub const PACKET_BYTES: u32 = MTU_BYTES;
/// Payload bytes that the link of this configuration and seed could have carried by `protocol` from `port`,
/// from `start` on, so that they arrive by `end`: full packets that leave in [start, end - one-way delay],
/// less its own losses. `None` for a link without a rate.
pub fn limit_bytes(
    protocol: &dyn Protocol,
    config: &LinkConfig,
    seed: u64,
    port: u32,
    start: Instant,
    end: Instant,
) -> Option<u64> {
    let packets = carried_packets(config, seed, port, start, end, PACKET_BYTES)?;
    Some(packets * payload_per_packet(protocol))
}

//! Invariants of everything that a host sends and receives, at any time.

mod stp;
mod tcp;

use crate::common::family::{Family, Parameters};
use skyhaul_core::{Instant, Packet};

use super::air::envelope_bytes;

/// Watches one host.
#[derive(Clone, Debug)]
pub(crate) enum Watch {
    Stp(stp::Watch),
    Tcp(tcp::Watch),
}

impl Watch {
    /// A watch over a host with this largest packet and these parameters.
    pub(crate) fn new(mtu_bytes: u32, config: &Parameters) -> Self {
        match config {
            Parameters::Stp(config) => {
                let rate = config.rate_bps.map(|rate| (rate, config.budget_burst_ns));
                Self::Stp(stp::Watch::new(mtu_bytes, rate))
            }
            Parameters::Tcp(_) => Self::Tcp(tcp::Watch::new(mtu_bytes)),
        }
    }

    /// A packet to host `to` arrives; what cannot be decoded says nothing.
    pub(crate) fn received(&mut self, to: usize, packet: &Packet) {
        match self {
            Self::Stp(watch) => {
                if let Ok(segment) =
                    skyhaul_stp::segment::decode(&packet.bytes[envelope_bytes(Family::Stp)..])
                {
                    watch.received(&segment, packet.meta.wire_bytes);
                }
            }
            Self::Tcp(watch) => {
                let (way, fields) = (super::world::way(to), packet.meta.fields);
                if let Ok(segment) = skyhaul_tcp::segment::decode_packet(way, fields, &packet.bytes) {
                    watch.received(&segment);
                }
            }
        }
    }

    /// A packet leaves host `from`.
    pub(crate) fn sent(&mut self, now: Instant, from: usize, packet: &Packet) -> Result<(), String> {
        let undecodable = |why: String| format!("sent what cannot be decoded: {why}");
        match self {
            Self::Stp(watch) => {
                let segment = skyhaul_stp::segment::decode(&packet.bytes[envelope_bytes(Family::Stp)..]);
                watch.sent(
                    now,
                    &segment.map_err(|error| undecodable(error.to_string()))?,
                    packet.meta.wire_bytes,
                )
            }
            Self::Tcp(watch) => {
                let (way, fields) = (super::world::way(1 - from), packet.meta.fields);
                let segment = skyhaul_tcp::segment::decode_packet(way, fields, &packet.bytes);
                watch.sent(&segment.map_err(|error| undecodable(error.to_string()))?, packet.meta)
            }
        }
    }
}

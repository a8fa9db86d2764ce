//! Built-in links.

use alloc::string::ToString;
use alloc::vec::Vec;

use skyhaul_core::{MS, SECOND};

use crate::{DirectionConfig, LinkConfig, QueueLimit};

/// Names of the built-in links, each with a line for `--help`.
pub const PRESETS: &[(&str, &str)] = &[
    ("geo", "geostationary: 10 Mbit/s both ways, 275 ms one way"),
    ("geo-noisy", "geo with a bit error rate of 1e-5 both ways (11% of full packets)"),
    ("thin-return", "geo with 10 Mbit/s out and 10 kbit/s back"),
    ("geo-noisy-thin", "geo-noisy with 10 Mbit/s out and 10 kbit/s back"),
];

const FAST_BPS: u64 = 10_000_000;
const THIN_BPS: u64 = 10_000;
const NOISE: f64 = 1e-5;
const DELAY_NS: u64 = 275 * MS;
const RTT_NS: u64 = 2 * DELAY_NS;
/// Ten packets of 1500 bytes: one bandwidth-delay product of a thin direction is not even a packet.
const MIN_QUEUE_BYTES: u64 = 10 * 1500;

/// The built-in link of this name, see [`PRESETS`]. Port 0 is the side that sends the data. The
/// queue of each direction holds one bandwidth-delay product (its own rate times the round-trip
/// time of 550 ms), at least ten packets of 1500 bytes.
pub fn preset(name: &str) -> Option<LinkConfig> {
    let (reverse_bps, bit_error_rate) = match name {
        "geo" => (FAST_BPS, 0.0),
        "geo-noisy" => (FAST_BPS, NOISE),
        "thin-return" => (THIN_BPS, 0.0),
        "geo-noisy-thin" => (THIN_BPS, NOISE),
        _ => return None,
    };
    Some(LinkConfig {
        name: name.to_string(),
        forward: direction(FAST_BPS, bit_error_rate),
        reverse: direction(reverse_bps, bit_error_rate),
        outages: Vec::new(),
    })
}

fn direction(rate_bps: u64, bit_error_rate: f64) -> DirectionConfig {
    let product_bytes = rate_bps * (RTT_NS / MS) / (8 * SECOND / MS);
    DirectionConfig {
        rate_bps: Some(rate_bps),
        delay_ns: DELAY_NS,
        queue: QueueLimit::Bytes(product_bytes.max(MIN_QUEUE_BYTES)),
        bit_error_rate,
        ..DirectionConfig::default()
    }
}

//! Built-in links.

use alloc::string::ToString;

use skyhaul_core::{MS, SECOND};

use crate::{ChannelConfig, ChannelState, DirectionConfig, LinkConfig, QueueLimit, StateConfig};

/// Names of the built-in links, each with a line for `--help`.
pub const PRESETS: &[(&str, &str)] = &[
    ("geo", "geostationary: 10 Mbit/s both ways, 275 ms one way"),
    ("geo-noisy", "geo with a bit error rate of 1e-5 both ways (11% of full packets)"),
    ("thin-return", "geo with 10 Mbit/s out and 10 kbit/s back"),
    ("geo-noisy-thin", "geo-noisy with 10 Mbit/s out and 10 kbit/s back"),
    ("leo-handoff", "low orbit: 10 Mbit/s both ways, 100 or 150 ms one way, gone for 1 s every 10 s or so"),
    ("leo-passes", "leo-handoff seen through gaps: there for 5 s, then gone for 12 s, more or less"),
];

const FAST_BPS: u64 = 10_000_000;
const THIN_BPS: u64 = 10_000;
const NOISE: f64 = 1e-5;
const GEO_DELAY_NS: u64 = 275 * MS;
/// Without and with congestion somewhere on the way [XSTP 5].
const LEO_DELAYS_NS: [u64; 2] = [100 * MS, 150 * MS];
/// Ten packets of 1500 bytes: one bandwidth-delay product of a thin direction is not even a packet.
const MIN_QUEUE_BYTES: u64 = 10 * 1500;

/// The built-in link of this name, see [`PRESETS`]. Port 0 is the side that sends the data. The
/// queue of each direction holds one bandwidth-delay product (its own rate times the round-trip
/// time, the longer one if it changes), at least ten packets of 1500 bytes.
pub fn preset(name: &str) -> Option<LinkConfig> {
    let link = match name {
        "geo" => geo(FAST_BPS, 0.0),
        "geo-noisy" => geo(FAST_BPS, NOISE),
        "thin-return" => geo(THIN_BPS, 0.0),
        "geo-noisy-thin" => geo(THIN_BPS, NOISE),
        // Gone 10% of the time.
        "leo-handoff" => leo(9 * SECOND, SECOND),
        // There 30% of the time.
        "leo-passes" => leo(5 * SECOND, 5 * SECOND * 70 / 30),
        _ => return None,
    };
    Some(LinkConfig { name: name.to_string(), ..link })
}

fn geo(reverse_bps: u64, bit_error_rate: f64) -> LinkConfig {
    let direction = |rate_bps| DirectionConfig {
        delay_ns: GEO_DELAY_NS,
        bit_error_rate,
        ..direction(rate_bps, 2 * GEO_DELAY_NS)
    };
    LinkConfig { forward: direction(FAST_BPS), reverse: direction(reverse_bps), ..LinkConfig::default() }
}

/// There and gone in turn, for so long on average [XSTP 5].
fn leo(there_ns: u64, gone_ns: u64) -> LinkConfig {
    let [min_delay_ns, max_delay_ns] = LEO_DELAYS_NS;
    let state = |mean_stay_ns, loss| StateConfig { mean_stay_ns, loss, min_delay_ns, max_delay_ns };
    let direction = direction(FAST_BPS, 2 * max_delay_ns);
    LinkConfig {
        forward: direction.clone(),
        reverse: direction,
        channel: Some(ChannelConfig {
            good: state(there_ns, 0.0),
            bad: state(gone_ns, 1.0),
            start: ChannelState::Good,
        }),
        ..LinkConfig::default()
    }
}

/// A rate, and a queue of one bandwidth-delay product.
fn direction(rate_bps: u64, rtt_ns: u64) -> DirectionConfig {
    let product_bytes = rate_bps * (rtt_ns / MS) / (8 * SECOND / MS);
    let queue = QueueLimit::Bytes(product_bytes.max(MIN_QUEUE_BYTES));
    DirectionConfig { rate_bps: Some(rate_bps), queue, ..DirectionConfig::default() }
}

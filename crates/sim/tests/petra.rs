//! STPP over a plain link, beside [PETRA (20)]: R-10's efficiencies of the hop.

use std::collections::BTreeMap;

use skyhaul_petra::dimensioning::Pdus;
use skyhaul_scenario::{File, Register};
use skyhaul_sim::{STPP, simulate};

/// Rate of the hop, bit/s, and its round trip, s [PETRA Figs 10 to 13].
const RATE_BPS: f64 = 384_000.0;
const RTT_S: f64 = 0.5;
/// Header and CRC of a PDU, bits.
const OVERHEAD_BITS: f64 = 160.0;
/// Part of an SDU that is the stream's: 1000 of 1040 octets.
const STREAM_PART: f64 = 1000.0 / 1040.0;

/// One transfer over the hop.
#[derive(Clone, Copy, Debug)]
struct Hop {
    rate_bps: f64,
    bit_error_rate: f64,
    payload_bytes: u64,
    /// Window as a multiple of (1).
    windows: u64,
    status_interval_ms: f64,
}

impl Hop {
    const STANDARD: Self = Self {
        rate_bps: RATE_BPS,
        bit_error_rate: 0.0,
        payload_bytes: 600,
        windows: 12,
        status_interval_ms: 500.0,
    };

    fn pdus(&self) -> Pdus {
        Pdus { payload_bits: (self.payload_bytes * 8) as f64, overhead_bits: OVERHEAD_BITS }
    }

    fn window_pdus(&self) -> u64 {
        self.windows * (self.rate_bps * RTT_S / self.pdus().length_bits()).ceil() as u64
    }

    fn text(&self) -> String {
        let Self { rate_bps, bit_error_rate, payload_bytes, status_interval_ms, .. } = *self;
        let window_pdus = self.window_pdus();
        format!(
            r#"
[run]
goal = "done"
[nodes]
west = {{ kind = "host" }}
east = {{ kind = "host" }}
[links.satellite]
between = ["west", "east"]
forward = {{ rate = "{rate_bps}bit/s", delay = "250ms", bit_error_rate = {bit_error_rate:?} }}
reverse = {{ rate = "{rate_bps}bit/s", delay = "250ms" }}
[transports.hop]
protocol = "stpp"
payload = "{payload_bytes}B"
window_pdus = {window_pdus}
rate = "{rate_bps}bit/s"
status_interval = "{status_interval_ms}ms"
send_limit = "8MB"
receive_limit = "8MB"
[flows.file]
from = "west"
to = "east"
transport = "hop"
workload = {{ kind = "bulk", size = "4MB" }}
"#
        )
    }

    /// Metrics of the run with this seed.
    fn run(&self, seed: u64) -> BTreeMap<String, f64> {
        let file = File::parse(&Register::new(&[&STPP]), "hop.toml", &self.text())
            .unwrap_or_else(|error| panic!("{error}"));
        let scenario = file.first_scenario().unwrap_or_else(|error| panic!("{error}"));
        let measured = simulate(&scenario, seed).unwrap_or_else(|error| panic!("{error}"));
        assert!((measured.metrics["completed"] - 1.0).abs() < 1e-9, "{self:?}");
        measured.metrics
    }

    /// Part of the rate that the stream has.
    fn throughput(&self, seed: u64) -> f64 {
        self.run(seed)["goodput_bps"] / self.rate_bps
    }

    /// Part that it can have.
    fn bound(&self) -> f64 {
        self.pdus().efficiency(self.bit_error_rate) * STREAM_PART
    }
}

/// Fails unless the throughput is that of (20) but for 5 %.
fn check(hop: Hop) {
    let (bound, throughput) = (hop.bound(), hop.throughput(1));
    println!("{hop:?}: {throughput:.4} of {bound:.4}");
    assert!((throughput / bound - 1.0).abs() < 0.05, "{hop:?}: {throughput} of {bound}");
}

#[test]
fn a_fixed_size_with_an_ample_window_has_what_20_says_whatever_the_statuses() {
    for bit_error_rate in [0.0, 1e-6, 1e-5, 1e-4] {
        for status_interval_ms in [500.0, 250.0, 62.5] {
            check(Hop { bit_error_rate, status_interval_ms, ..Hop::STANDARD });
        }
    }
}

#[test]
fn a_pdu_may_be_larger_than_a_packet_of_ip() {
    for (bit_error_rate, payload_bytes) in [(1e-6, 1571), (1e-7, 4990)] {
        let best = Pdus::best(OVERHEAD_BITS, bit_error_rate, 1e9);
        assert_eq!((best.payload_bits / 8.0).round() as u64, payload_bytes);
        check(Hop { bit_error_rate, payload_bytes, status_interval_ms: 62.5, ..Hop::STANDARD });
    }
}

#[test]
fn the_best_size_has_what_20_says() {
    for (bit_error_rate, payload_bytes) in [(1e-5, 490), (1e-4, 148), (1e-3, 41)] {
        let best = Pdus::best(OVERHEAD_BITS, bit_error_rate, 1e9);
        assert_eq!((best.payload_bits / 8.0).round() as u64, payload_bytes);
        for status_interval_ms in [500.0, 62.5] {
            check(Hop { bit_error_rate, payload_bytes, status_interval_ms, ..Hop::STANDARD });
        }
    }
}

/// Over a thin link a PDU takes longer than its timer waits; statuses that leave while a repeat arrives call
/// it missing.
#[test]
fn a_pdu_that_is_still_leaving_does_not_go_again() {
    let thin = Hop { rate_bps: 9600.0, payload_bytes: 1480, status_interval_ms: 62.5, ..Hop::STANDARD };
    for bit_error_rate in [0.0, 1e-5] {
        let hop = Hop { bit_error_rate, ..thin };
        let metrics = hop.run(1);
        let twice = metrics["duplicates"];
        assert!(twice < 0.5, "{hop:?}: {twice} of {} came twice", metrics["forward.packets"]);
    }
}

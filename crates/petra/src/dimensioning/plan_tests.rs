//! What makes a set of values, and what is refused.

use super::{Pdus, Plan, PlanError, Satellite, Segments, SplitPath, Wire};
use std::string::ToString as _;

/// PDUs of 600 + 20 octets [PETRA Fig. 10].
pub(super) fn fixed_pdus() -> Pdus {
    Pdus { payload_bits: 4800.0, overhead_bits: 160.0 }
}

/// Segments of 1000 + 40 octets, window 32 [PETRA Fig. 6].
pub(super) fn segments() -> Segments {
    Segments { payload_bits: 8000.0, header_bits: 320.0, relay_header_bits: 0.0, window_segments: 32 }
}

fn path(satellite_bps: f64, wire_bps: f64, bit_error_rate: f64) -> SplitPath {
    let wire = Wire { rate_bps: wire_bps, rtt_s: 0.1 };
    let satellite = Satellite { rate_bps: satellite_bps, rtt_s: 0.5, bit_error_rate };
    SplitPath { wires: [wire, wire], satellite }
}

/// The paper's path: wires of 100 ms, a satellite link of 0.5 s.
pub(super) fn plan(satellite_bps: f64, wire_bps: f64, bit_error_rate: f64) -> Plan {
    Plan::new(path(satellite_bps, wire_bps, bit_error_rate), segments(), fixed_pdus()).unwrap()
}

#[test]
fn a_segment_has_as_many_bits_on_the_satellite_link_as_its_pdus() {
    assert!((plan(128e3, 2e6, 0.0).carried_bits() - 8320.0 * 620.0 / 600.0).abs() < 1e-6);
}

#[test]
fn a_satellite_link_that_is_no_bottleneck_is_refused() {
    for (satellite_bps, wire_bps) in [(2e6, 2e6), (4e6, 2e6)] {
        let refused = Plan::new(path(satellite_bps, wire_bps, 0.0), segments(), fixed_pdus());
        assert_eq!(refused, Err(PlanError::SatelliteNotSlower { wire: 0 }));
    }
    let mut path = path(1e6, 2e6, 0.0);
    path.wires[1].rate_bps = 0.5e6;
    let refused = Plan::new(path, segments(), fixed_pdus()).unwrap_err();
    assert_eq!(refused, PlanError::SatelliteNotSlower { wire: 1 });
    assert!(refused.to_string().contains("receiver"));
}

#[test]
fn values_that_no_link_has_are_refused_by_name() {
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
        let refused = Plan::new(path(value, 2e6, 0.0), segments(), fixed_pdus()).unwrap_err();
        assert!(refused.to_string().contains("rate of the satellite link"), "{refused}");
    }
    let absurd = Segments { window_segments: 0, ..segments() };
    let refused = Plan::new(path(1e5, 2e6, 0.0), absurd, fixed_pdus()).unwrap_err();
    assert!(refused.to_string().contains("window"), "{refused}");
}

#[test]
fn pdus_of_which_hardly_any_arrives_are_refused() {
    let refused = Plan::new(path(1e5, 2e6, 1e-2), segments(), fixed_pdus()).unwrap_err();
    assert!(matches!(refused, PlanError::PduTooLong { .. }), "{refused}");
}

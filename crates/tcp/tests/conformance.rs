//! `docs/spec/tcp-conformance.md` and `docs/spec/scps-tp.md` name tests that exist, and every trace test.

const PAGE: &str = include_str!("../../../docs/spec/tcp-conformance.md");
const TRACES: &[&str] = &[
    include_str!("cookies.rs"),
    include_str!("ecn.rs"),
    include_str!("fast_open.rs"),
    include_str!("lifetime.rs"),
    include_str!("loss_causes.rs"),
    include_str!("mechanisms.rs"),
    include_str!("mtu_search.rs"),
    include_str!("path_mtu.rs"),
    include_str!("rack.rs"),
    include_str!("repairs.rs"),
    include_str!("states.rs"),
    include_str!("ttcp.rs"),
];
const SCPS_PAGE: &str = include_str!("../../../docs/spec/scps-tp.md");
const SCPS_TRACES: &[&str] = &[
    include_str!("routes.rs"),
    include_str!("scps.rs"),
    include_str!("scps_best_effort.rs"),
    include_str!("scps_compression.rs"),
    include_str!("scps_mtu.rs"),
    include_str!("scps_pairs.rs"),
    include_str!("scps_records.rs"),
    include_str!("scps_reference_peer.rs"),
    include_str!("scps_signals.rs"),
];
const SCPS_OTHERS: &[&str] = &[
    include_str!("../../fuzz-harness/tests/mutations.rs"),
    include_str!("../../sim/tests/network_swarm.rs"),
    include_str!("../../link/src/signals/signals_tests.rs"),
    include_str!("../../sim/tests/scps_signals.rs"),
    include_str!("../src/icmp/signal.rs"),
    include_str!("../../sim/tests/best_effort.rs"),
    include_str!("../src/receive/best_effort.rs"),
    include_str!("../src/receive/echoed.rs"),
    include_str!("../src/endpoint/routes.rs"),
    include_str!("../src/route_tests.rs"),
    include_str!("../../sim/tests/scps.rs"),
    include_str!("../src/scps/mod.rs"),
    include_str!("../src/scps/compress_tests.rs"),
    include_str!("../src/scps/numbers_tests.rs"),
    include_str!("../src/send/rto.rs"),
    include_str!("../src/ack_policy.rs"),
    include_str!("../src/scps/snack_tests.rs"),
    include_str!("../../sim/tests/swarm.rs"),
    include_str!("../../emulator/tests/signals.rs"),
    include_str!("../../skyhaul-cli/tests/emulate/relay.rs"),
    include_str!("../../skyhaul-cli/tests/emulate/signals.rs"),
];
/// Where SCPS-TP goes over a device.
const SCPS_MEETINGS: &[&str] = &[
    include_str!("../../net/src/tun/stack_tests.rs"),
    include_str!("../../net/tests/kernel/scps.rs"),
    include_str!("../../net/tests/tun/scps.rs"),
    include_str!("path_mtu.rs"),
    include_str!("../../skyhaul-cli/src/routes.rs"),
    include_str!("../../skyhaul-cli/src/scps.rs"),
    include_str!("../../skyhaul-cli/tests/scps.rs"),
];
const OTHERS: &[&str] = &[
    include_str!("explicit.rs"),
    include_str!("../src/accelerated/facts.rs"),
    include_str!("../src/endpoint/cookies.rs"),
    include_str!("../src/endpoint/secrets.rs"),
    include_str!("../src/ack_policy.rs"),
    include_str!("adversary.rs"),
    include_str!("transfer.rs"),
    include_str!("../src/send/rack_tests.rs"),
    include_str!("../src/send/reduction.rs"),
    include_str!("../src/send/rto.rs"),
    include_str!("../src/receive/assembly_tests.rs"),
    include_str!("../../core/src/internet_checksum.rs"),
    include_str!("../src/segment/kernel_vectors.rs"),
    include_str!("../src/segment/segment_tests.rs"),
    include_str!("../src/segment/vectors.rs"),
    include_str!("../src/send/buffer.rs"),
    include_str!("../src/send/scoreboard.rs"),
    include_str!("../src/sequence.rs"),
    include_str!("controllers.rs"),
    include_str!("../../congestion/src/bbr/bbr_tests.rs"),
    include_str!("../../congestion/src/cubic/cubic_tests.rs"),
    include_str!("../../congestion/src/delivery_tests.rs"),
    include_str!("../../congestion/src/cubic/formulas.rs"),
    include_str!("../../congestion/src/reno_tests.rs"),
    include_str!("../../congestion/src/window_tests.rs"),
    include_str!("../../sim/tests/exploration/main.rs"),
    include_str!("../../sim/tests/swarm.rs"),
];

/// Where the host meets other stacks.
const MEETINGS: &[&str] = &[
    include_str!("../../net/tests/kernel/bulk.rs"),
    include_str!("../../net/tests/kernel/capture.rs"),
    include_str!("../../net/tests/kernel/closing.rs"),
    include_str!("../../net/tests/kernel/congestion.rs"),
    include_str!("../../net/tests/kernel/crowd.rs"),
    include_str!("../../net/tests/kernel/devices.rs"),
    include_str!("../../net/tests/kernel/fast_open.rs"),
    include_str!("../../net/tests/kernel/icmp.rs"),
    include_str!("../../net/tests/kernel/negotiated.rs"),
    include_str!("../../net/tests/kernel/troubled.rs"),
    include_str!("../../net/tests/kernel/windows.rs"),
    include_str!("../../net/tests/tun/against_smoltcp/data.rs"),
    include_str!("../../net/tests/tun/against_smoltcp/ends.rs"),
    include_str!("../../net/tests/tun/against_smoltcp/silent.rs"),
    include_str!("../../net/tests/tun/against_smoltcp/troubled.rs"),
    include_str!("../../net/tests/tun/against_smoltcp/windows.rs"),
    include_str!("../../net/tests/tun/devices.rs"),
    include_str!("../../net/tests/tun/hostile.rs"),
    include_str!("../../net/tests/tun/pairs.rs"),
    include_str!("../../net/src/backlog.rs"),
    include_str!("../../net/src/tun/stack_tests.rs"),
    include_str!("../../skyhaul-cli/tests/tcp.rs"),
];

/// Names of the test functions in a source: those behind `#[test]` and `#[tokio::test]`.
fn tests(source: &'static str) -> impl Iterator<Item = &'static str> {
    source
        .split("test]\n")
        .skip(1)
        .filter_map(|rest| rest.split_once("fn ")?.1.split_once('('))
        .map(|(name, _)| name)
}

/// Number of tests that a page names, all of which must be known.
fn named(page: &'static str, name_of_page: &str, known: &[&str]) -> usize {
    let quoted = page
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| name.contains('_') && !name.contains([' ', '/', ':']));
    let mut count = 0;
    for name in quoted {
        let is_file_or_field = name.contains('.')
            || [
                "accelerated_open",
                "max_early",
                "max_snacks",
                "pacing_percent",
                "scps_compressed",
                "scps_mtu",
                "scps_pairs",
                "scps_reference_peer",
                "source_quench",
            ]
            .contains(&name);
        assert!(is_file_or_field || known.contains(&name), "{name_of_page} names {name}, which is no test");
        count += 1;
    }
    count
}

#[test]
fn the_page_names_tests_that_exist() {
    let known: Vec<&str> = TRACES.iter().chain(OTHERS).chain(MEETINGS).copied().flat_map(tests).collect();
    let count = named(PAGE, "docs/spec/tcp-conformance.md", &known);
    assert!(count > 50, "the page was not understood: {count} names");
}

#[test]
fn the_page_of_scps_names_tests_that_exist() {
    let sources = SCPS_TRACES.iter().chain(SCPS_OTHERS).chain(SCPS_MEETINGS);
    let known: Vec<&str> = sources.copied().flat_map(tests).collect();
    let count = named(SCPS_PAGE, "docs/spec/scps-tp.md", &known);
    assert!(count > 30, "the page was not understood: {count} names");
}

#[test]
fn every_trace_test_is_on_the_page() {
    for name in TRACES.iter().copied().flat_map(tests) {
        assert!(PAGE.contains(&format!("`{name}`")), "docs/spec/tcp-conformance.md does not name {name}");
    }
    for name in SCPS_TRACES.iter().copied().flat_map(tests) {
        assert!(SCPS_PAGE.contains(&format!("`{name}`")), "docs/spec/scps-tp.md does not name {name}");
    }
}

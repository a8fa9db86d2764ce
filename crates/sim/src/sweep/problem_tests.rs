//! What is said of runs that are not what the scenario asked for.

use super::pool::run_one;
use super::*;
use skyhaul_scenario::File;

/// What the only run of a transfer by TCP over a link with this direction says.
fn problem(forward: &str) -> String {
    let text = include_str!("sweep_tests.toml");
    let text = text.split("[sweep]").next().unwrap().replace("\"60kB\"", "\"3MB\"").replace("60s", "30min");
    let text = text.replace("protocol = \"stp\"\nrate = \"1Mbit/s\"", "protocol = \"tcp\"");
    let direction = format!("rate = \"20Mbit/s\", delay = \"20ms\", {forward}");
    let text = text.replace("rate = \"2Mbit/s\", delay = \"20ms\", queue = \"100packets\"", &direction);
    let file = File::parse(&crate::standard(), "short.toml", &text).unwrap_or_else(|error| panic!("{error}"));
    let sweep = Sweep::new(file).unwrap();
    let id = sweep.runs(None).next().unwrap();
    run_one(&sweep, id, |_| {}).problem.unwrap_or_default()
}

#[test]
fn a_sender_whose_packets_are_larger_than_a_links_mtu_is_said_to_have_given_up_and_why() {
    let said = problem("mtu = \"300B\"");
    assert!(
        said.starts_with("stuck: flow file failed: the peer gave no sign of life for too long"),
        "{said}"
    );
    assert!(
        said.contains("link space dropped") && said.contains("larger than its mtu of 300 bytes"),
        "{said}"
    );
}

#[test]
fn damage_that_a_checksum_lets_pass_is_no_defect() {
    let said = problem("bit_error_rate = 1e-4, damage = \"deliver\"");
    assert!(said.contains("packets that links delivered with wrong bits"), "{said}");
    assert!(!said.contains("defect"), "{said}");
}

#[test]
fn a_run_that_is_as_the_scenario_asks_has_no_problem() {
    assert_eq!(problem("queue = \"100packets\""), "");
}

//! Every command of the guide's page about captures does what the page says.

use crate::pages::every_command_works;
use crate::tshark::is_missing;

#[test]
fn every_command_of_the_guide_works() {
    if is_missing() {
        return;
    }
    let needs_namespaces = |text: &str| text.contains("skyhaul emulate");
    let can_emulate =
        crate::common::run(&["emulate", "--rate", "1M", "--quiet", "--", "true"]).code == Some(0);
    if !can_emulate {
        crate::common::skipped("namespaces: the commands with `emulate` are left out");
    }
    let page = include_str!("../../../../docs/guide/capture.md");
    let possible = |text: &str| can_emulate || !needs_namespaces(text);
    let ports = ["4722", "4723"].map(|port| (port, crate::common::free_port().to_string()));
    let changed = |text: &str| ports.iter().fold(text.to_string(), |text, (from, to)| text.replace(from, to));
    every_command_works(page, possible, changed, (5, 0), &["send.pcapng", "geo.pcapng"]);
}

//! `simulate --capture`: one run, in virtual time.

use std::fs;
use std::path::Path;

use crate::common::{Said, run};
use crate::tshark::{columns, is_missing, tshark};

fn ready(name: &str) -> String {
    format!("{}/../../scenarios/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A transfer of 500 kB over `geo-noisy`, captured.
fn simulate(capture: &Path, extra: &[&str]) -> Said {
    let scenario = ready("geo-noisy.toml");
    let own = ["simulate", &scenario, "--set", "flows.file.workload.size=\"500kB\"", "--json", "--capture"];
    run(&[&own[..], &[capture.to_str().unwrap()], extra].concat())
}

#[test]
fn a_run_captured_twice_gives_equal_octets_and_the_results_of_one_without() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
    let first = simulate(&one, &["--replications", "3", "--jobs", "1"]);
    let second = simulate(&two, &["--replications", "3", "--jobs", "2"]);
    assert_eq!((first.code, second.code), (Some(0), Some(0)), "{first:?}");
    assert!(first.err.contains("the capture is of the first run alone: point 0, seed 1"), "{first:?}");
    assert!(fs::read(&one).unwrap() == fs::read(&two).unwrap(), "equal octets");
    let scenario = ready("geo-noisy.toml");
    let set = "flows.file.workload.size=\"500kB\"";
    let without = run(&["simulate", &scenario, "--set", set, "--json", "--replications", "3"]);
    assert_eq!(first.out, without.out);
}

/// A router quotes packets in its messages, and a run that is captured has octets where another one has their
/// description.
#[test]
fn a_capture_changes_no_result_where_routers_send_signals() {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("x.pcapng");
    let scenario = format!("{}/../../papers/scps-tp/outage-ladder.toml", env!("CARGO_MANIFEST_DIR"));
    let plain = ["simulate", &scenario, "--json"];
    let captured = run(&[&plain[..], &["--capture", capture.to_str().unwrap()]].concat());
    let without = run(&plain);
    assert_eq!((captured.code, without.code), (Some(0), Some(0)), "{captured:?}");
    assert_eq!(captured.out, without.out);
}

#[test]
fn each_end_of_a_link_is_an_interface_and_drops_have_their_cause() {
    if is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.pcapng");
    let said = simulate(&path, &["--replications", "1"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let damaged = "skystp.damaged || skystp.malformed || !skystp";
    assert_eq!(tshark(&path, &["-Y", damaged]), "", "every packet is read");
    let at = |place: &str, direction: u8, more: &str| {
        let filter = format!(
            "frame.interface_name == \"geo-noisy at {place}\" && frame.packet_flags_direction == {direction}{more}"
        );
        columns(&path, &filter, &["frame.number"]).len()
    };
    let (left, arrived) = (at("sender", 2, ""), at("receiver", 1, ""));
    let dropped = at("sender", 2, " && frame.comment contains \"dropped: bit errors\"");
    assert!(dropped > 0 && left == arrived + dropped, "{left} left, {dropped} dropped, {arrived} arrived");
    let judged = columns(&path, "frame.comment contains \"verdict: corruption\"", &["skystp.types"]);
    assert!(!judged.is_empty() && judged.iter().all(|types| types[0].contains("STAT")), "{judged:?}");
    let repeats = columns(&path, "frame.comment contains \"sent again\"", &["skystp.types"]);
    assert!(!repeats.is_empty() && repeats.iter().all(|types| types[0] == "SD"), "{repeats:?}");
}

#[test]
fn what_is_captured_can_be_chosen_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.pcapng");
    let said = simulate(&path, &["--capture-at", "nobody"]);
    assert!(said.code == Some(2) && said.err.contains("nodes are sender, receiver"), "{said:?}");
    assert!(!path.exists());
    let said = simulate(&path, &["--replications", "1", "--capture-at", "receiver"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let said = run(&["simulate", &ready("geo.toml"), "--capture-at", "receiver"]);
    assert_eq!(said.code, Some(2), "it says nothing without --capture: {said:?}");
    if is_missing() {
        return;
    }
    let elsewhere = "frame.interface_name != \"geo-noisy at receiver\"";
    assert_eq!(tshark(&path, &["-Y", elsewhere]), "");
}

#[test]
fn a_finished_run_in_a_folder_is_done_again_for_its_capture() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
    for path in [&one, &two] {
        let said = simulate(path, &["--replications", "1", "--out", out.to_str().unwrap()]);
        assert_eq!(said.code, Some(0), "{said:?}");
    }
    assert!(fs::read(one).unwrap() == fs::read(two).unwrap());
}

#[test]
fn a_full_disk_ends_the_capture_of_a_simulation_alone() {
    let said = simulate(Path::new("/dev/full"), &["--replications", "1"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(said.err.matches("No space left on device").count(), 1, "{said:?}");
}

/// Openings with data of papers/stp/short.toml, as tshark reads them: who wrote it knows T/TCP and Fast Open
/// from elsewhere.
#[test]
fn tshark_reads_counts_and_cookies_of_openings_with_data() {
    if is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let scenario = format!("{}/../../papers/stp/short.toml", env!("CARGO_MANIFEST_DIR"));
    for (kind, value) in [("ttcp", "tcp.options.cc_value"), ("tfo", "tcp.options.tfo.cookie")] {
        let path = folder.path().join(kind);
        let axis = format!(
            "sweep.together.exchange={{labels=[\"one\"], \"flows.page.transport\"=[\"{kind}\"], \
             \"flows.page.workload.closes\"=[\"after-response\"]}}"
        );
        let few = "flows.page.workload.requests=4";
        let said = run(&[
            &["simulate", &scenario, "--replications", "1", "--set", &axis, "--set", few, "--json"][..],
            &["--capture", path.to_str().unwrap()],
        ]
        .concat());
        assert_eq!(said.code, Some(0), "{said:?}");
        assert_eq!(tshark(&path, &["-Y", "_ws.malformed"]), "", "{kind}");
        let with_data =
            "frame.packet_flags_direction == 2 && tcp.flags.syn == 1 && tcp.flags.ack == 0 && tcp.len > 0";
        let openings = columns(&path, with_data, &["tcp.len", value]);
        assert_eq!(openings.len(), 3, "{kind}: all but the first: {openings:?}");
        assert!(openings.iter().all(|opening| opening[0] == "320" && !opening[1].is_empty()), "{openings:?}");
        let answers =
            "frame.packet_flags_direction == 2 && tcp.flags.syn == 1 && tcp.flags.ack == 1 && tcp.len > 0";
        assert_eq!(columns(&path, answers, &["tcp.len"]).len(), 3, "{kind}: answered with data");
    }
}

/// Capabilities, negative acknowledgements and word of damage, by their kinds. A record mark (22) is in no
/// simulated flow, and has its test in `records.rs`. tshark calls negative acknowledgements of six octets
/// malformed: its fault (`contrib/wireshark/README.md`).
#[test]
fn tshark_reads_the_options_of_scps_tp() {
    if is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.pcapng");
    let scenario = format!("{}/../../papers/scps-tp/damage-ladder.toml", env!("CARGO_MANIFEST_DIR"));
    let said = run(&["simulate", &scenario, "--replications", "1", "--capture", path.to_str().unwrap()]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let with = |filter: &str| columns(&path, filter, &["frame.number"]).len();
    let openings = with("tcp.flags.syn == 1");
    assert!(openings >= 2 && with("tcp.option_kind == 20 && tcp.flags.syn == 1") == openings, "{openings}");
    for kind in [21, 23] {
        assert!(with(&format!("tcp.option_kind == {kind} && tcp.flags.syn == 0")) > 0, "{kind}");
    }
}

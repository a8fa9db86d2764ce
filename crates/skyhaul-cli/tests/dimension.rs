//! `dimension`, as the built binary does it.
#![allow(clippy::disallowed_methods, reason = "real processes")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;
#[path = "common/pages.rs"]
mod pages;

use common::{Said, run};
use pages::every_command_works;

const PAPER: [&str; 9] =
    ["dimension", "--satellite", "128k", "--wire", "2M", "--pdu", "600B", "--batch", "100"];

fn with(more: &[&str]) -> Said {
    run(&[&PAPER[..], more].concat())
}

/// Value of this name in the object of `--json`.
fn value(said: &Said, name: &str) -> f64 {
    let object: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let rows = object["dimensions"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap()["value"].as_f64().unwrap()
}

#[test]
fn every_command_of_the_page_about_dimensions_works() {
    let page = include_str!("../../../docs/guide/dimension.md");
    every_command_works(page, |_| true, str::to_owned, (6, 0), &["split.toml"]);
}

/// [PETRA Fig. 4]: 10.01 s with a threshold of two.
#[test]
fn the_papers_set_has_the_papers_values() {
    let said = with(&["--threshold", "2", "--json"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!((value(&said, "utl_rtt_s") - 10.01).abs() < 0.01, "{said:?}");
    assert!((value(&said, "buffer_segments") - 34.0).abs() < 1e-9, "{said:?}");
}

/// Values of `docs/spec/petra.md` 4: margins of ours are no result of a formula of the paper's.
#[test]
fn a_formulas_number_stands_beside_its_own_result() {
    for (satellite, wire, window, threshold) in
        [("128k", "2M", 13.0, 2.0), ("384k", "2M", 39.0, 5.0), ("2M", "4M", 202.0, 24.0)]
    {
        let said = run(&["dimension", "--satellite", satellite, "--wire", wire, "--pdu", "600B", "--json"]);
        let object: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        let rows = object["dimensions"].as_array().unwrap();
        for (formula, value, recommended) in
            [("1", window, "stpp_window_pdus"), ("16", threshold, "threshold_segments")]
        {
            let of: Vec<f64> = rows
                .iter()
                .filter(|row| row["formula"] == formula)
                .filter_map(|row| row["value"].as_f64())
                .collect();
            assert_eq!(of, [value], "({formula}): {said:?}");
            assert!(self::value(&said, recommended) >= value, "({formula}): {said:?}");
        }
        for row in rows {
            let words = |name: &str| row[name].as_str().is_some_and(|words| !words.is_empty());
            assert!(words("below") && words("above"), "{row}");
        }
    }
}

/// What somebody chose is not said to be ours.
#[test]
fn a_value_that_was_given_is_called_given() {
    let formula = |said: &Said, name: &str| {
        let object: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        let row = object["dimensions"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
        row["formula"].as_str().unwrap().to_string()
    };
    let said = run(&["dimension", "--satellite", "128k", "--wire", "2M", "--json"]);
    assert_eq!(formula(&said, "threshold_segments"), "ours, by 16");
    assert_eq!(formula(&said, "pdu_payload_bytes"), "ours, by 22");
    let said = with(&["--threshold", "5", "--json"]);
    for name in ["threshold_segments", "pdu_payload_bytes"] {
        assert_eq!(formula(&said, name), "given", "{said:?}");
    }
}

/// Longest time for which a sender sends nothing new within the first three seconds, s.
fn simulated_pause_s(dir: &std::path::Path, file: &str) -> f64 {
    let out = dir.join("out").to_str().unwrap().to_string();
    let ran = run(&["simulate", file, "--set", "metrics.series=\"10ms\"", "--out", &out]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let series = dir.join("out/series/point-0-replication-0.jsonl");
    let (mut sent, mut since_s, mut longest_s) = (0.0, 0.0, 0.0_f64);
    for line in std::fs::read_to_string(series).unwrap().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let (t_s, new) =
            (line["t_s"].as_f64().unwrap(), line["metrics"]["flows.file.new_packets"].as_f64().unwrap());
        if t_s > 3.0 {
            break;
        }
        if new > sent {
            longest_s = longest_s.max(t_s - since_s);
            (sent, since_s) = (new, t_s);
        }
    }
    longest_s
}

/// [PETRA Fig. 6]: the warning, the row and the simulation agree. Whether the timer ends in a pause of 1.34 s
/// hangs on where the ticks of its clock of 500 ms fall: by when the connection begins.
#[test]
fn a_first_pause_is_as_long_as_told_and_ends_a_timer_where_it_may() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pause.toml").to_str().unwrap().to_string();
    for (threshold, is_told) in [("20", true), ("5", false)] {
        let said = with(&["--threshold", threshold, "--scenario", &file, "--json"]);
        assert_eq!(said.err.contains("(11)") && said.err.contains("may repeat"), is_told, "{said:?}");
        let (pause_s, timeout_s) = (value(&said, "first_pause_s"), value(&said, "tcp_timeout_s"));
        assert_eq!(pause_s > timeout_s, is_told, "{said:?}");
        let timeouts = |start: &str| {
            let ran = run(&["simulate", &file, "--set", &format!("flows.file.start=\"{start}\""), "--json"]);
            ran.json()["points"][0]["metrics"]["timeouts"]["mean"].as_f64().unwrap() > 0.0
        };
        let ended = ["0ms", "100ms", "200ms", "300ms", "400ms"].map(timeouts);
        assert_eq!(ended.contains(&true), is_told, "threshold {threshold}: {ended:?}");
        assert!(ended.contains(&false), "threshold {threshold}: {ended:?}");
        if is_told {
            let simulated_s = simulated_pause_s(dir.path(), &file);
            assert!((simulated_s - pause_s).abs() < 0.05, "{simulated_s:.3} for {pause_s:.3} s");
        }
    }
}

/// A relay in the local network: a segment takes longer than the round trip of the wire.
#[test]
fn a_first_pause_over_a_local_network_is_as_long_as_told_and_ends_a_timer() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pause.toml").to_str().unwrap().to_string();
    let path = ["dimension", "--satellite", "128k", "--wire", "10M", "--wire-rtt", "500us", "--pdu", "600B"];
    let said = run(&[&path[..], &["--threshold", "20", "--scenario", &file, "--json"]].concat());
    assert!(said.code == Some(1) && said.err.contains("(11)"), "{said:?}");
    let (pause_s, simulated_s) = (value(&said, "first_pause_s"), simulated_pause_s(dir.path(), &file));
    assert!((simulated_s - pause_s).abs() < 0.05, "{simulated_s:.3} for {pause_s:.3} s");
    let ran = run(&["simulate", &file, "--json"]).json();
    assert!(ran["points"][0]["metrics"]["timeouts"]["mean"].as_f64().unwrap() > 0.5, "{ran}");
}

/// 26 segments come in a round trip of the last wire, whose window begins with one.
#[test]
fn a_transfer_over_a_long_last_wire_is_not_given_up_while_its_window_opens() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("long.toml").to_str().unwrap().to_string();
    let rates = ["--satellite", "365471bit/s", "--wire", "383745bit/s", "--far-wire", "1096413bit/s"];
    let rest = ["--wire-rtt", "300ms", "--far-wire-rtt", "600ms", "--window", "34", "--batch", "10"];
    let said = run(&[&["dimension", "--scenario", &file], &rates[..], &rest[..]].concat());
    assert_eq!(said.code, Some(0), "{said:?}");
    let ran = run(&["simulate", &file, "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn what_a_value_breaks_is_told_by_the_number_of_its_formula() {
    for (given, words) in [
        (["--threshold", "1"], "(16)"),
        (["--threshold", "20"], "(11)"),
        (["--buffer", "30"], "(19)"),
        (["--utl-timeout", "5s"], "(10)"),
        (["--utl-window", "1"], "(14)"),
        (["--stpp-window", "12"], "(1)"),
        (["--window", "1"], "(16): a window of 1 segments"),
        (
            ["--far-wire-rtt", "3s"],
            "(16): a window of 32 segments (--window) on the last wire is below the 45",
        ),
    ] {
        let said = with(&given);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.err.contains(words), "{given:?}: {}", said.err);
        assert!(said.out.contains("timeout of the end-to-end layer"), "{said:?}");
    }
}

#[test]
fn sets_that_cannot_be_are_refused_with_a_reason() {
    for (given, words) in [
        (
            vec!["--satellite", "2M", "--wire", "2M"],
            "not slower than the wire at the sender: formulas (2) to (19)",
        ),
        (vec!["--satellite", "128k", "--wire", "2M", "--bit-error-rate", "0.4", "--pdu", "600B"], "(22)"),
        (vec!["--satellite", "128k", "--wire", "2M", "--bit-error-rate", "NaN"], "(20)"),
        (vec!["--satellite", "128k", "--wire", "2M", "--window", "0"], "(7): window of the segments"),
        (vec!["--satellite", "128k", "--wire", "2M", "--batch", "0"], "(9): segments of a batch"),
        (vec!["--satellite", "128k", "--wire", "2M", "--largest-pdu", "20B"], "(22): --largest-pdu"),
        (
            vec!["--satellite", "128k", "--wire", "2M", "--satellite-rtt", "2h"],
            "(1): round-trip time of the satellite",
        ),
        (vec!["--satellite", "128", "--wire", "2M"], "no unit"),
        (vec!["--satellite", "0", "--wire", "2M"], "(3): '0' is no rate"),
        (vec!["--satellite", "-1", "--wire", "2M"], "(3): "),
        (vec!["--satellite", "128k", "--wire", "0"], "(2): '0' is no rate"),
        (vec!["--satellite", "128k", "--wire", "2M", "--far-wire", "0"], "(2): '0' is no rate"),
        (vec!["--satellite", "128k", "--wire", "2M", "--threshold", "0"], "(16): threshold of a relay"),
        (
            vec!["--satellite", "128k", "--wire", "2M", "--threshold", "4000000000"],
            "(16): threshold of a relay",
        ),
        (vec!["--satellite", "128k", "--wire", "2M", "--threshold", "99999999999999999999"], "(16): "),
        (vec!["--satellite", "128k", "--wire", "2M", "--buffer", "-1"], "(19): '-1' is no whole number"),
        (vec!["--satellite", "128k", "--wire", "2M", "--utl-window", "x"], "(14): 'x' is no whole number"),
        (vec!["--satellite", "128k", "--wire", "2M", "--satellite-rtt", "0s"], "(1): round-trip time"),
        (vec!["--satellite", "128k", "--wire", "2M", "--wire-rtt", "0s"], "(5): round-trip time"),
        (vec!["--satellite", "128k", "--wire", "2M", "--segment", "0B"], "(4): payload of a segment"),
        (vec!["--satellite", "128k", "--wire", "2M", "--pdu", "0B"], "(20): payload of a PDU"),
        (vec!["--satellite", "128k", "--wire", "2M", "--status-interval", "0s"], "(25): --status-interval"),
        (
            vec!["--satellite", "128k", "--wire", "2M", "--status-interval", "1000h"],
            "(25): --status-interval",
        ),
        (vec!["--satellite", "128k", "--wire", "2M", "--pdu-overhead", "0B"], "(20): --pdu-overhead"),
        (
            vec!["--satellite", "128k", "--wire", "2M", "--pdu-overhead", "1GB", "--pdu", "1B"],
            "(20): --pdu-overhead",
        ),
        (vec!["--satellite", "128k", "--wire", "2M", "--relay-header", "1GB"], "(4): --relay-header"),
        (vec!["--satellite", "128k", "--wire", "2M", "--acknowledgement", "1TB"], "(13): --acknowledgement"),
        (vec!["--satellite", "128k", "--wire", "2M", "--alpha", "-1"], "(23): --alpha"),
        (vec!["--satellite", "128k", "--wire", "2M", "--bit-error-rate", "-1"], "(20): --bit-error-rate"),
    ] {
        let said = run(&[&["dimension"], &given[..]].concat());
        assert_eq!(said.code, Some(2), "{given:?}: {said:?}");
        assert!(said.err.contains(words), "{given:?}: {}", said.err);
        assert!(said.out.is_empty() && !said.err.contains("panicked"), "{said:?}");
    }
}

/// Draws numbers of a test, from a seed.
struct Draws(u64);

impl Draws {
    /// A number from 0 to below 1.
    fn part(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number between both, each magnitude alike.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        (low.ln() + (high / low).ln() * self.part()).exp()
    }
}

/// Set of values, drawn.
struct Drawn {
    options: Vec<String>,
    satellite_rtt_s: f64,
    wire_rtt_s: f64,
    has_errors: bool,
}

fn drawn(draws: &mut Draws) -> Drawn {
    let satellite = draws.between(64e3, 4e6).round();
    let wire = (satellite * draws.between(1.3, 15.0)).round();
    let (satellite_ms, wire_ms) = (draws.between(100.0, 800.0).round(), draws.between(5.0, 200.0).round());
    let errors = if draws.part() < 0.5 { 0.0 } else { draws.between(1e-7, 1e-4) };
    let in_a_round_trip = satellite * wire_ms / 1000.0 / 8320.0;
    let window = (2.0 * in_a_round_trip).ceil().max(24.0) + 8.0;
    let batch = [10, 50, 100][(3.0 * draws.part()) as usize];
    let options = [
        ("--satellite", format!("{satellite}bit/s")),
        ("--wire", format!("{wire}bit/s")),
        ("--satellite-rtt", format!("{satellite_ms}ms")),
        ("--wire-rtt", format!("{wire_ms}ms")),
        ("--bit-error-rate", format!("{errors:e}")),
        ("--window", window.to_string()),
        ("--batch", batch.to_string()),
    ];
    Drawn {
        options: options.into_iter().flat_map(|(name, value)| [name.to_string(), value]).collect(),
        satellite_rtt_s: satellite_ms / 1000.0,
        wire_rtt_s: wire_ms / 1000.0,
        has_errors: errors > 0.0,
    }
}

/// Sets that are dimensioned, written and run.
const SETS: usize = 50;
/// Time after which a flow has begun in every set, s.
const STARTED_S: f64 = 20.0;

#[test]
fn drawn_sets_run_as_dimensioned_nothing_overflows_or_waits_or_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("drawn.toml").to_str().unwrap().to_string();
    let mut draws = Draws(1);
    for set in 0..SETS {
        let drawn = drawn(&mut draws);
        let options: Vec<&str> = drawn.options.iter().map(String::as_str).collect();
        let said = run(&[&["dimension", "--json", "--scenario", &file], &options[..]].concat());
        assert!(said.code == Some(0) || said.err.contains("(11)"), "set {set}, {options:?}: {said:?}");
        let size_bytes = 1000.0 * value(&said, "buffer_segments");
        let ran = run(&["simulate", &file, "--set", "run.warm_up=\"20s\"", "--json"]);
        let told = format!("set {set}: {options:?}: {ran:?}");
        let result = ran.json();
        let mean = |name: &str| {
            let mean = &result["points"][0]["metrics"][name]["mean"];
            mean.as_f64().unwrap_or_else(|| panic!("no {name}: {told}"))
        };
        assert!(mean("completed") > 0.5 && mean("failed") < 0.5, "{told}");
        assert!(mean("relays.west.buffer_bytes.max") <= size_bytes, "{told}");
        // The link idles once everything has left, and repeats of the last PDUs come one after the other.
        let idle_s = (1.0 - mean("links.satellite.forward.utilisation")) * mean("elapsed_s");
        let rounds = if drawn.has_errors { 6.0 } else { 1.0 };
        let end_s = rounds * drawn.satellite_rtt_s + 2.0 * drawn.wire_rtt_s + 0.1;
        assert!(
            mean("elapsed_s") > STARTED_S && idle_s < end_s,
            "idle for {idle_s:.2} of {end_s:.2} s, {told}"
        );
    }
}

#[test]
fn a_written_scenario_is_checked_and_keeps_every_constraint() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("path.toml").to_str().unwrap().to_string();
    assert_eq!(with(&["--threshold", "5", "--scenario", &file]).code, Some(0));
    let said = run(&["dimension", "--check", &file, "--json"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!((value(&said, "threshold_segments") - 5.0).abs() < 1e-9, "{said:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    for (right, wrong, words) in [
        ("threshold = \"5000B\"", "threshold = \"1000B\"", "(16): flows.file.via.0.threshold"),
        ("size = \"37000B\"", "size = \"30000B\"", "(19): flows.file.via.0.size"),
        ("window_pdus = ", "window_pdus = 1 # ", "(1): transports.hop.window_pdus 1"),
        ("timeout = \"", "timeout = \"5s\" } # ", "(10): flows.file.utl.timeout"),
        (
            "window_batches = ",
            "window_batches = 1, timeout = \"60s\" } # ",
            "(14): flows.file.utl.window_batches",
        ),
        ("rate = \"2000000bit/s\", delay", "rate = \"100000bit/s\", delay", "formulas (2) to (19)"),
        ("[[flows.file.via]]\nrelay = \"east\"", "[[flows.file.vie]]\nrelay = \"east\"", "vie"),
    ] {
        std::fs::write(&file, text.replace(right, wrong)).unwrap();
        let said = run(&["dimension", "--check", &file]);
        assert!(said.code == Some(1) || said.code == Some(2), "{wrong}: {said:?}");
        assert!(said.err.contains(words), "{wrong}: {}", said.err);
    }
}

/// The file of the guide, with one key changed at a time.
#[test]
fn a_file_with_one_key_that_breaks_a_rule_does_not_pass() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("split.toml").to_str().unwrap().to_string();
    let written = run(&[
        "dimension",
        "--satellite",
        "384k",
        "--wire",
        "2M",
        "--bit-error-rate",
        "1e-5",
        "--scenario",
        &file,
    ]);
    assert_eq!(written.code, Some(0), "{written:?}");
    let said = run(&["dimension", "--check", &file]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    for (right, wrong, words) in [
        ("\nrate = \"384000bit/s\"", "\nrate = \"100kbit/s\"", "(3): transports.hop.rate of 100"),
        ("\nrate = \"384000bit/s\"", "\nrate = \"500kbit/s\"", "(3): transports.hop.rate of 500"),
        (
            "send_limit = \"64000B\"",
            "send_limit = \"1000B\"",
            "(16): a window of 1 segments (transports.ltl.send_limit)",
        ),
        (
            "receive_limit = \"32000B\"",
            "receive_limit = \"3000B\"",
            "(transports.ltl.receive_limit) on the last wire",
        ),
        ("status_interval = \"62500000ns\"", "status_interval = \"5s\"", "(1): transports.hop.window_pdus"),
        ("rtt = \"500000000ns\"", "rtt = \"50ms\"", "(1), III-F 3: transports.hop.rtt of 0.05 s"),
        ("\nsdu = ", "\ntimeout = \"300ms\"\nsdu = ", "III-F 3: transports.hop.timeout of 0.3 s"),
        ("transport = \"hop\"\n", "transport = \"hop\"\ncontrol = \"window\"\n", "flows.file.via.0.control"),
        (
            "sdu_header = \"40B\"\nsend_limit = \"",
            "sdu_header = \"40B\"\nsend_limit = \"9kB\" #",
            "(1): transports.hop.send_limit",
        ),
    ] {
        assert!(text.contains(right), "{right} is not in {text}");
        std::fs::write(&file, text.replace(right, wrong)).unwrap();
        let said = run(&["dimension", "--check", &file]);
        assert_eq!(said.code, Some(1), "{wrong}: {said:?}");
        assert!(said.err.contains(words), "{wrong}: {}", said.err);
    }
}

/// What `--check` says of this text, and the exit code.
fn checked(file: &str, text: &str) -> Said {
    std::fs::write(file, text).unwrap();
    run(&["dimension", "--check", file])
}

/// The file of a noisy link, in which a window arrives at once behind a PDU that goes again.
fn noisy(file: &str) -> String {
    let options = ["--satellite", "384k", "--wire", "2M", "--bit-error-rate", "1e-5", "--scenario", file];
    let written = run(&[&["dimension"][..], &options].concat());
    assert_eq!(written.code, Some(0), "{written:?}");
    std::fs::read_to_string(file).unwrap()
}

/// Three flows share what the file was written for one of: each has a third of the rate, and (10) is longer.
#[test]
fn flows_that_share_the_satellite_link_are_held_against_their_part_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("three.toml").to_str().unwrap().to_string();
    let written = run(&["dimension", "--satellite", "384k", "--wire", "2M", "--scenario", &file]);
    assert_eq!(written.code, Some(0), "{written:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    let (_, flow) = text.split_once("[flows.file]").unwrap();
    let named =
        |name: &str| format!("\n[flows.{name}]{}", flow.replace("flows.file", &format!("flows.{name}")));
    let three = format!("{text}{}{}", named("second"), named("third"));
    let said = checked(&file, &three);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("(10): flows.third.utl.timeout"), "{}", said.err);
    assert!(said.err.contains("with 3 connections on the satellite link"), "{}", said.err);
    assert_ne!(run(&["simulate", &file]).code, Some(0), "they are given up");
    // With the timeout that is asked for, and more for the openings, nobody is.
    let (ample, timeout) = (three.replace("timeout = \"", "timeout = \"20s\" } # "), "(10)");
    let said = checked(&file, &ample);
    assert!(!said.err.contains(timeout), "{}", said.err);
    assert_eq!(run(&["simulate", &file]).code, Some(0));
    // Against each other they share nothing.
    let back = flow.replace("from = \"sender\"\nto = \"receiver\"", "from = \"receiver\"\nto = \"sender\"");
    let back = back.replace("west", "first").replace("east", "west").replace("first", "east");
    let both = format!("{text}\n[flows.back]{}", back.replace("flows.file", "flows.back"));
    let said = checked(&file, &both);
    assert_eq!(said.code, Some(0), "{said:?}");
}

#[test]
fn frames_that_a_link_does_not_take_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mtu.toml").to_str().unwrap().to_string();
    let written = run(&["dimension", "--satellite", "384k", "--wire", "2M", "--scenario", &file]);
    assert_eq!(written.code, Some(0), "{written:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    for (link, mtu, words) in [
        (
            "[\"west\", \"east\"]",
            1400,
            "(22): transports.hop.payload with its header has 1500 B, and links.satellite",
        ),
        (
            "[\"sender\", \"west\"]",
            600,
            "(4): transports.ltl.mss with its header has 1040 B, and links.wire1",
        ),
        (
            "[\"east\", \"receiver\"]",
            600,
            "(4): transports.ltl.mss with its header has 1040 B, and links.wire2",
        ),
    ] {
        let right = format!("between = {link}\nforward = {{ ");
        assert!(text.contains(&right), "{text}");
        let said = checked(&file, &text.replace(&right, &format!("{right}mtu = \"{mtu}B\", ")));
        assert_eq!(said.code, Some(1), "{link}: {said:?}");
        assert!(said.err.contains(words), "{link}: {}", said.err);
    }
}

/// Octets of a key such as `size = "64B"` in this part of a file.
fn octets_of(part: &str, key: &str) -> u64 {
    let (_, rest) = part.split_once(&format!("\n{key} = \"")).unwrap();
    rest.split_once("B\"").unwrap().0.parse().unwrap()
}

#[test]
fn the_second_relay_of_a_written_file_has_room_for_a_window_that_comes_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("split.toml").to_str().unwrap().to_string();
    let text = noisy(&file);
    let (_, hop) = text.split_once("[transports.hop]").unwrap();
    let (_, pdus) = hop.split_once("window_pdus = ").unwrap();
    let window = pdus.lines().next().unwrap().parse::<u64>().unwrap() * octets_of(hop, "payload");
    let (_, east) = text.split_once("relay = \"east\"").unwrap();
    let (threshold, size) = (octets_of(east, "threshold"), octets_of(east, "size"));
    assert!(threshold >= window && size >= threshold + window, "{threshold}, {size} of {window}");
}

#[test]
fn a_second_relay_that_breaks_a_rule_is_told_by_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("split.toml").to_str().unwrap().to_string();
    let text = noisy(&file);
    let (before, east) = text.split_once("relay = \"east\"").unwrap();
    let (threshold, size) = (octets_of(east, "threshold"), octets_of(east, "size"));
    let (threshold, size) = (format!("threshold = \"{threshold}B\""), format!("size = \"{size}B\""));
    for (right, wrong, words) in [
        (
            &threshold,
            "threshold = \"9kB\"",
            "(1), III-F: flows.file.via.1.threshold (relay east) of 9000 B is below",
        ),
        (&size, &threshold.replace("threshold", "size"), "(19): flows.file.via.1.size (relay east) of"),
        (
            &threshold,
            "control = \"window\"",
            "(15) to (19): flows.file.via.1.control (relay east) is `window`",
        ),
    ] {
        let east = east.replace(right.as_str(), wrong);
        let said = checked(&file, &[before, "relay = \"east\"", &east].concat());
        assert_eq!(said.code, Some(1), "{wrong}: {said:?}");
        assert!(said.err.contains(words), "{wrong}: {}", said.err);
        assert!(!said.err.contains("west"), "{wrong}: {}", said.err);
    }
    // Without errors nothing waits behind a PDU, and no window comes at once.
    let clean = text.replace("bit_error_rate = 1e-5", "bit_error_rate = 0");
    assert_ne!(clean, text);
    let small = |text: &str| text.replace(&threshold, "threshold = \"9kB\"");
    assert_eq!(checked(&file, &small(&clean)).code, Some(0));
}

#[test]
fn every_pair_of_relays_is_checked() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("split.toml").to_str().unwrap().to_string();
    let text = noisy(&file);
    let (before, flow) = text.split_once("\n[flows.file]").unwrap();
    // A second flow over the same relays, with a buffer of its own.
    let second = flow.replace("flows.file", "flows.second");
    let both = |second: &str| [&text, "\n[flows.second]", second].concat();
    let said = checked(&file, &both(&second));
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
    let threshold = format!("threshold = \"{}B\"", octets_of(flow, "threshold"));
    let said = checked(&file, &both(&second.replace(&threshold, "threshold = \"1000B\"")));
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.err.contains("(16): flows.second.via.0.threshold (relay west) in segments, 1"),
        "{}",
        said.err
    );
    assert!(!said.err.contains("flows.file"), "{}", said.err);
    // Two satellite links in a row: a second pair on the way of one flow.
    let (_, west) = flow.split_once("[[flows.file.via]]").unwrap();
    let pair = west.replace("\"west\"", "\"third\"").replace("\"east\"", "\"fourth\"");
    let (_, links) = before.split_once("\n[links.satellite]").unwrap();
    let (satellite, wire) = links.split_once("\n[links.wire2]").unwrap();
    let (wire, _) = wire.split_once("\n[transports.ltl]").unwrap();
    let longer = before
        .replace(
            "east = { kind = \"relay\" }",
            "east = { kind = \"relay\" }\nthird = { kind = \"relay\" }\nfourth = { kind = \"relay\" }",
        )
        .replace("[\"east\", \"receiver\"]", "[\"east\", \"third\"]");
    let satellite = satellite.replace("\"west\", \"east\"", "\"third\", \"fourth\"");
    let wire = wire.replace("\"east\", \"receiver\"", "\"fourth\", \"receiver\"");
    let links = ["\n[links.satellite2]", &satellite, "\n[links.wire3]", &wire].concat();
    let chain = |pair: &str| [&longer, &links, "\n[flows.file]", flow, "\n[[flows.file.via]]", pair].concat();
    let said = checked(&file, &chain(&pair));
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
    let said = checked(&file, &chain(&pair.replace(&threshold, "threshold = \"1000B\"")));
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.err.contains("(16): flows.file.via.2.threshold (relay third) in segments, 1"),
        "{}",
        said.err
    );
    assert!(!said.err.contains("west"), "{}", said.err);
}

#[test]
fn magnitudes_that_no_engine_has_are_told_with_the_formulas_number() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("none.toml").to_str().unwrap().to_string();
    for (given, code, words) in [
        (["--pdu", "4GB"], 2, "(22): --pdu"),
        (["--largest-pdu", "4GB"], 2, "(22): --largest-pdu"),
        (["--segment", "1TB"], 2, "(4): --segment"),
        (["--status-interval", "1h"], 1, "(1): the window of the satellite hop, 1"),
        (["--stpp-window", "100000"], 1, "(1): --stpp-window 100000 PDUs, is above the 16384"),
        (["--buffer", "4000000000000"], 1, "(19): --buffer 4000000000000 is above 16777216"),
        (["--utl-window", "4000000000000"], 1, "(14): --utl-window 4000000000000 is above 16777216"),
    ] {
        let set = ["dimension", "--satellite", "384k", "--wire", "2M"];
        let said = run(&[&set[..], &given].concat());
        assert_eq!(said.code, Some(code), "{given:?}: {said:?}");
        assert!(said.err.contains(words), "{given:?}: {}", said.err);
        // What is written runs, and what would not is not written.
        let said = run(&[&set[..], &given, &["--scenario", &file]].concat());
        let is_there = std::path::Path::new(&file).exists();
        // What is only told, and does not enter the file, is no reason to write none.
        let is_told = ["--stpp-window", "--buffer", "--utl-window"].contains(&given[0]);
        assert_eq!(is_there, is_told, "{given:?}: {said:?}");
        if is_there {
            std::fs::remove_file(&file).unwrap();
        }
    }
}

#[test]
fn what_is_written_is_read_again_or_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("large.toml").to_str().unwrap().to_string();
    for given in [["--segment", "9000B"], ["--batch", "16000000"], ["--window", "16000000"]] {
        let set = ["dimension", "--satellite", "384k", "--wire", "2M", "--scenario", &file];
        let said = run(&[&set[..], &given].concat());
        if said.code == Some(2) {
            assert!(said.err.contains("no scenario can be written"), "{given:?}: {}", said.err);
            assert!(!std::path::Path::new(&file).exists(), "{given:?}");
        } else {
            let checked = run(&["dimension", "--check", &file]);
            assert_ne!(checked.code, Some(2), "{given:?}: {checked:?}");
            std::fs::remove_file(&file).unwrap();
        }
    }
}

#[test]
fn what_no_scenario_can_have_is_refused_with_the_formulas_number() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("none.toml").to_str().unwrap().to_string();
    for (given, words) in [
        (["--pdu-overhead", "8B"], "(20): no scenario can be written"),
        (["--segment-header", "20B"], "(4): no scenario can be written"),
        (["--segment", "87B"], "(4): no scenario can be written"),
        (["--satellite-rtt", "1000s"], "(1): no scenario can be written"),
    ] {
        let said = with(&[&given[..], &["--scenario", &file]].concat());
        assert_eq!(said.code, Some(2), "{given:?}: {said:?}");
        assert!(said.err.contains(words), "{given:?}: {}", said.err);
        assert!(!std::path::Path::new(&file).exists(), "{given:?}");
    }
    let said = run(&["dimension", "--check", "geo"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("via two relays"), "{}", said.err);
}

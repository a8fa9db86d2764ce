//! The demo, end to end over the embedded link.
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]

mod common;

use common::{Said, file, noise, run};
use serde_json::Value;

#[test]
fn every_field_of_the_result_is_there() {
    let said = run(&["demo", "--size", "300kB", "--rate", "10M", "--json"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(said.out.lines().count(), 1);
    let json = said.json();
    for field in [
        "transport",
        "controller",
        "payload_bytes",
        "elapsed_s",
        "confirmed_s",
        "goodput_bps",
        "limit_bps",
        "share",
        "retransmitted_packets",
        "digest",
    ] {
        assert!(!json[field].is_null(), "{field}: {json}");
    }
    for (object, fields) in [
        ("forward", &["packets", "bytes"][..]),
        ("reverse", &["packets", "bytes"]),
        ("losses", &["congestion", "corruption", "outage", "unknown"]),
        ("probing", &["cycles", "congestion", "link", "aborted"]),
        ("rtt_ms", &["min", "smoothed"]),
    ] {
        for field in fields {
            assert!(json[object][field].is_number(), "{object}.{field}: {json}");
        }
    }
    assert_eq!(json["payload_bytes"], 300_000);
    assert!(json["rtt_ms"]["min"].as_f64().unwrap() >= 550.0, "not faster than light: {json}");
    assert!(json["elapsed_s"].as_f64().unwrap() >= 0.275 + 0.24, "{json}");
}

#[test]
fn a_router_at_the_link_tells_the_rate() {
    let said = run(&["demo", "--size", "3MB", "--controller", "p-xcp", "--json"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let json = said.json();
    assert_eq!((&json["controller"], &json["declared_rate_bps"]), (&"p-xcp".into(), &Value::Null));
    // A loop, in which nothing is granted, and some to come to the rate: the model is there in one.
    let share = json["share"].as_f64().unwrap();
    assert!((0.2..0.7).contains(&share), "{json}");
}

#[test]
fn the_file_is_sealed_and_costs_no_round_trip_more() {
    let said = run(&["demo", "--size", "1kB", "--json"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let json = said.json();
    assert_eq!(
        (&json["protection"]["mode"], &json["protection"]["peer"]),
        (&"encrypted".into(), &Value::Null)
    );
    assert!(json["protection"]["aead"].is_string(), "{json}");
    // The way there takes 275 ms; what is withheld until keys are proven comes after 825.
    let elapsed_s = json["elapsed_s"].as_f64().unwrap();
    assert!((0.275..0.7).contains(&elapsed_s), "{json}");
}

#[test]
fn a_path_is_remembered_from_one_run_to_the_next_if_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("state/paths");
    let memory = |size: &str, extra: &[&str]| {
        let said = run(&[&["demo", "--size", size, "--json"], extra].concat());
        assert_eq!(said.code, Some(0), "{said:?}");
        (said.json()["path_memory"].clone(), said.err)
    };
    assert!(
        memory("10kB", &[]).0.is_null()
            && memory("10kB", &["--rate", "10M", "--memory", place.to_str().unwrap()]).0.is_null()
    );
    assert!(!place.exists(), "a declared rate is not found out");
    let asked = ["--memory", place.to_str().unwrap()];
    let (first, _) = memory("4MB", &asked);
    assert!(first["used"].is_null() && first["kept"]["rate_bps"].is_number(), "{first}");
    let (second, _) = memory("4MB", &asked);
    assert_eq!(second["used"]["rate_bps"], first["kept"]["rate_bps"], "{second}");
    // On a machine that stalls, the queue may have looked full.
    assert!(["confirmed", "contradicted"].contains(&second["outcome"].as_str().unwrap()), "{second}");
    std::fs::write(&place, "skyhaul-paths 1\n127.0.0.1 127.0.0.1 9999777 55041").unwrap();
    let (torn, err) = memory("4MB", &asked);
    assert!(torn["used"].is_null() && torn["trouble"].as_str().unwrap().contains("damaged"), "{torn}");
    assert!(err.contains("not used") && err.contains("damaged"), "{err}");
    assert!(torn["kept"]["rate_bps"].is_number(), "{torn}");
    assert!(std::fs::read_to_string(&place).unwrap().contains("\nend 1 "), "replaced");
}

#[test]
fn what_there_is_none_of_is_null() {
    let said = run(&["demo", "--size", "0", "--json"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let json = said.json();
    let object = json.as_object().unwrap();
    assert!(object.contains_key("limit_bps") && object.contains_key("share"), "{json}");
    assert!(json["share"].is_null(), "{json}");
}

#[test]
fn an_interrupted_demo_tells_what_it_knows() {
    let child = common::skyhaul(&["demo", "--size", "5MB", "--rate", "1M", "--json"]).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(2));
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let said = Said::from(child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(1), "{said:?}");
    let json = said.json();
    assert!(json["elapsed_s"].is_null() && json["share"].is_null(), "{json}");
    assert!(json["forward"]["packets"].as_u64().unwrap() > 0, "{json}");
}

#[test]
fn an_interrupted_demo_shows_a_person_what_it_knows() {
    let child = common::skyhaul(&["demo", "--size", "5MB", "--rate", "1M"]).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(2));
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let said = Said::from(child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("interrupted"), "{said:?}");
    for line in ["link              geo", "  sent  ", "demo.bin  FAILED"] {
        assert!(said.out.contains(line), "{line}: {said:?}");
    }
    assert!(!said.out.contains("speed"), "nothing is said of what is not known: {said:?}");
}

#[test]
fn a_file_of_the_user_crosses_a_noisy_link() {
    let folder = tempfile::tempdir().unwrap();
    let contents = noise(400_000);
    let path = file(folder.path(), "mine", &contents);
    let said = run(&[
        "demo",
        "--link",
        "geo-noisy",
        "--rate",
        "10M",
        "--seed",
        "3",
        "--json",
        "--file",
        path.to_str().unwrap(),
    ]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(said.json()["digest"], blake3::hash(&contents).to_hex().as_str());
    assert!(said.json()["retransmitted_packets"].as_u64().unwrap() > 0);
}

#[test]
fn the_table_is_for_people() {
    let said = run(&["demo", "--size", "20kB", "--link", "thin-return", "--rate", "10M"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    for word in ["speed", "the link allows", "lost on the way", "verified", "thin-return"] {
        assert!(said.out.contains(word), "{word}: {}", said.out);
    }
}

/// A low orbit whose link goes 0.8 s after its start, for 1.9 s: however late a busy machine hears of it.
fn with_an_outage(extra: &[&str]) -> Said {
    let link = ["demo", "--link", "leo-passes", "--seed", "1292", "--size", "1500kB", "--rate", "10M"];
    let said = run(&[&link, extra].concat());
    assert_eq!(said.code, Some(0), "{said:?}");
    said
}

#[test]
fn an_outage_is_found_out_and_set_beside_the_truth() {
    let json = with_an_outage(&["--json"]).json();
    let gone = &json["truth"]["gone"][0];
    assert!((gone["duration_s"].as_f64().unwrap() - 1.9).abs() < 0.01, "{json}");
    assert!(gone["at_s"].as_f64().unwrap() < 0.83, "{json}");
    assert!(json["truth"]["gone_s"].as_f64().unwrap() >= 1.8, "{json}");
    assert!(json["truth"]["dropped"]["outage"].as_u64().unwrap() > 0, "{json}");
    assert!(json["losses"]["outage"].as_u64().unwrap() > 0, "{json}");
    assert!(json["probing"]["link"].as_u64().unwrap() >= 1, "{json}");
    assert_eq!(json["verdicts_left_out"], 0, "{json}");
    let verdicts = json["verdicts"].as_array().unwrap();
    let found = verdicts.iter().find(|v| v["verdict"] == "outage").unwrap_or_else(|| panic!("{json}"));
    assert_eq!(found["alarm"], "silence", "{json}");
    for field in ["at_s", "duration_s", "probes", "answers", "loss_rtt_ms", "worst_rtt_ms", "alarm_rtt_ms"] {
        assert!(found[field].is_number(), "{field}: {json}");
    }
    assert_eq!(found["rtts_ms"][0], found["worst_rtt_ms"], "one answer decides at a declared rate: {json}");
    assert!(found["row_packets"].as_u64() <= found["missing_packets"].as_u64(), "{json}");
    assert!(found["missing_packets"].as_u64() <= found["listed_packets"].as_u64(), "{json}");
    assert!(found["at_s"].as_f64() > gone["at_s"].as_f64(), "noticed before it happened: {json}");
    assert!(json["share"].as_f64().unwrap() <= 1.0, "{json}");
}

#[test]
fn a_person_reads_what_became_of_the_link() {
    let said = with_an_outage(&[]);
    for line in
        ["link was gone     ", "noticed           ", "taken for: the link being gone", "really lost       "]
    {
        assert!(said.out.contains(line), "{line}: {}", said.out);
    }
}

#[test]
fn without_probing_nobody_asks() {
    let json = with_an_outage(&["--probing", "off", "--json"]).json();
    assert_eq!(json["probing"]["cycles"], 0, "{json}");
    assert_eq!(json["verdicts"].as_array().map(Vec::len), Some(0), "{json}");
    assert_eq!(json["losses"]["outage"], 0, "{json}");
    assert!(json["losses"]["unknown"].as_u64().unwrap() > 0, "{json}");
    assert!(json["truth"]["dropped"]["outage"].as_u64().unwrap() > 0, "{json}");
}

#[test]
fn handoffs_are_survived_without_a_declared_rate() {
    let said = run(&["demo", "--link", "leo-handoff", "--seed", "307", "--size", "500kB", "--json"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let json = said.json();
    assert_eq!(json["truth"]["gone_times"], 1, "{json}");
    let cycles = json["verdicts"].as_array().unwrap().len() as u64;
    assert_eq!(json["probing"]["cycles"].as_u64(), Some(cycles), "{json}");
}

#[test]
fn a_quiet_demo_tells_nothing_and_with_json_its_result_alone() {
    for (switch, lines) in [(&["-q"][..], 0), (&["--quiet", "--json"], 1)] {
        let said = run(&[&["demo", "--size", "30kB", "--rate", "10M"], switch].concat());
        assert_eq!((said.code, said.out.lines().count()), (Some(0), lines), "{said:?}");
        assert!(said.err.is_empty(), "{said:?}");
    }
    let said = run(&["demo", "-q", "--file", "/no/such/file"]);
    assert!(said.code == Some(1) && said.err.contains("/no/such/file"), "{said:?}");
}

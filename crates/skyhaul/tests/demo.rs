//! The demo, end to end over the embedded link.
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]

mod common;

use common::{file, noise, run};

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

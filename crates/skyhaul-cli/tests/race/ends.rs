//! Both ends of a run in real time, over the loopback interface.

use std::net::TcpListener;

use serde_json::Value;

use crate::common::{run, skyhaul, until};
use crate::scenario::Place;

/// Outputs of both ends of a run: the one that sends, the one that serves.
fn ends(racer: &str, work: &str, more: &[&str]) -> [Value; 2] {
    let place = Place::new();
    // Free for TCP; for UDP most likely, too.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let at = format!("127.0.0.1:{port}");
    let signs = place.path("signs");
    std::fs::create_dir(&signs).unwrap();
    let ready = signs.join("ready");
    let common =
        ["race-end", &place.file, "--with", racer, "--work", work, "--at", &at, "--from", "127.0.0.1"];
    let common = [&common[..], more].concat();
    let common = [&common[..], &["--signs", signs.to_str().unwrap()]].concat();
    let serving = skyhaul(&[&common[..], &["--role", "serve"]].concat()).spawn().unwrap();
    until("listening", || ready.exists());
    let sent = run(&[&common[..], &["--role", "send"]].concat());
    std::fs::write(signs.join("over"), "").unwrap();
    let served: crate::common::Said = serving.wait_with_output().unwrap().into();
    for said in [&sent, &served] {
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{racer} {work}: {said:?}");
    }
    [sent.json(), served.json()]
}

fn ns(end: &Value, field: &str) -> u64 {
    end[field].as_u64().unwrap_or_else(|| panic!("{field}: {end}"))
}

#[test]
fn a_transfer_by_every_transport_is_timed_by_one_clock() {
    for racer in ["skyhaul", "xstp-declared", "stp-undeclared", "tcp-cubic", "tcp-reno"] {
        let [sent, received] = ends(racer, "bulk", &["--size", "2MB"]);
        assert_eq!(
            (ns(&received, "received_bytes"), ns(&received, "wrong_bytes")),
            (2_000_000, 0),
            "{racer}"
        );
        let order = [
            ns(&sent, "started_at_ns"),
            ns(&received, "last_byte_at_ns"),
            ns(&sent, "confirmed_at_ns"),
            ns(&sent, "ended_at_ns"),
        ];
        assert!(order.is_sorted(), "{racer}: {order:?}");
        let own = &sent["counted"]["own"];
        assert_eq!(own.is_null(), racer.starts_with("tcp"), "{sent}");
        let controller = sent["counted"]["controller"].as_str().unwrap();
        assert!(
            ["model", "fixed-rate", "slow-start-avoidance", "cubic", "reno"].contains(&controller),
            "{controller}"
        );
    }
}

#[test]
fn exchanges_by_every_transport_over_fresh_and_kept_connections() {
    for racer in ["skyhaul", "xstp-undeclared", "tcp-cubic"] {
        for work in ["fresh", "kept"] {
            let [asked, answered] = ends(racer, work, &["--requests", "4"]);
            assert_eq!(asked["exchanges_ms"].as_array().unwrap().len(), 4, "{racer} {work}: {asked}");
            assert_eq!((ns(&asked, "wrong_bytes"), ns(&answered, "wrong_bytes")), (0, 0));
        }
    }
}

#[test]
fn a_run_that_takes_too_long_tells_how_far_it_came() {
    let [sent, received] =
        ends("xstp-declared", "bulk", &["--rate", "1M", "--size", "50MB", "--time-limit", "1s"]);
    assert!(ns(&received, "received_bytes") < 50_000_000 && received["error"].is_null(), "{received}");
    assert!(ns(&received, "ended_at_ns") - ns(&sent, "started_at_ns") < 30_000_000_000, "{sent}");
    assert!(sent["confirmed_at_ns"].is_null() && !sent["counted"].is_null(), "{sent}");
}

#[test]
fn segments_are_as_small_as_the_scenario_has_them() {
    let small = ["--set", "transports.stp.max_payload=512B"];
    for racer in ["xstp-declared", "tcp-cubic"] {
        let [_, received] = ends(racer, "bulk", &small);
        assert_eq!(ns(&received, "received_bytes"), 300_000);
    }
}

#[test]
fn nobody_there_is_an_error_with_a_reason() {
    let place = Place::new();
    let args = [
        "race-end",
        &place.file,
        "--with",
        "tcp-reno",
        "--work",
        "bulk",
        "--role",
        "send",
        "--at",
        "127.0.0.1:1",
        "--from",
        "127.0.0.1",
        "--signs",
        ".",
    ];
    let said = run(&args);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.json()["error"].as_str().unwrap().contains("refused"), "{said:?}");
}

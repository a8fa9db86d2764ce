//! Best effort service of SCPS-TP in scenarios: gaps are counted, and only where somebody counts them.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;

use skyhaul_scenario::{File, Register};
use skyhaul_sim::{SCPS_TP, TCP, simulate};

/// A megabyte over 200 ms and a loss of 2 %. `keys`: of the transport.
fn text(keys: &str, workload: &str) -> String {
    format!(
        "[run]\ngoal = \"done\"\nduration = \"120s\"\n[nodes]\na = {{ kind = \"host\" }}\nb = {{ kind = \"host\" }}\n\
         [links.space]\nbetween = [\"a\", \"b\"]\nforward = {{ rate = \"2Mbit/s\", delay = \"100ms\", loss = 0.02 }}\n\
         reverse = {{ rate = \"2Mbit/s\", delay = \"100ms\" }}\n\
         [transports.space]\nprotocol = \"scps-tp\"\ncontroller = \"none\"\nrate = \"1.9Mbit/s\"\n{keys}\n\
         [flows.file]\nfrom = \"a\"\nto = \"b\"\ntransport = \"space\"\n{workload}\n"
    )
}

const BULK: &str = "workload = { kind = \"bulk\", size = \"1MB\" }";

fn file(text: &str) -> Result<File, String> {
    File::parse(&Register::new(&[&TCP, &SCPS_TP]), "best_effort.toml", text)
        .map_err(|error| error.to_string())
}

fn metrics(text: &str) -> BTreeMap<String, f64> {
    let scenario = file(text).unwrap().first_scenario().unwrap();
    simulate(&scenario, 1).unwrap().metrics
}

#[test]
fn what_is_missing_is_counted_and_the_transfer_is_complete() {
    let hasty = metrics(&text("best_effort = \"50ms\"", BULK));
    let (missing, payload) = (hasty["missing_bytes"], hasty["payload_bytes"]);
    assert_eq!((missing + payload, hasty["completed"], hasty["failed"]), (1e6, 1.0, 0.0));
    // A gap for each loss, but where two are side by side or nothing comes behind.
    let lost = hasty["links.space.forward.drops.random_loss"];
    assert!(hasty["gaps"] > 8.0 && hasty["gaps"] <= lost, "{} of {lost}", hasty["gaps"]);
    let patient = metrics(&text("best_effort = \"5s\"", BULK));
    assert_eq!((patient["gaps"], patient["missing_bytes"], patient["payload_bytes"]), (0.0, 0.0, 1e6));
    assert!(hasty["elapsed_s"] < patient["elapsed_s"]);
    assert!(!metrics(&text("", BULK)).contains_key("gaps"), "nobody asked for it");
}

#[test]
fn where_one_end_does_not_ask_for_it_everything_arrives() {
    let keys = "best_effort = \"50ms\"\nacceptor = { best_effort = \"none\" }";
    let one = metrics(&text(keys, BULK));
    assert_eq!((one["payload_bytes"], one.contains_key("gaps")), (1e6, false));
}

#[test]
fn flows_that_need_everything_are_refused_over_it() {
    let requests = "workload = { kind = \"requests\", request = \"1kB\", response = \"1kB\", requests = 3 }";
    for (keys, workload, is_refused) in [
        ("best_effort = \"1s\"", BULK.to_string(), false),
        ("", requests.to_string(), false),
        ("best_effort = \"1s\"", requests.to_string(), true),
        ("acceptor = { best_effort = \"1s\" }", requests.to_string(), true),
        ("best_effort = \"1s\"", format!("{BULK}\nutl = {{ batch = \"50kB\" }}"), true),
    ] {
        let text = text(keys, &workload);
        let found =
            file(&text).and_then(|file| file.first_scenario().map(drop).map_err(|error| error.to_string()));
        let told = found.err().unwrap_or_default();
        assert_eq!(told.contains("a transport that leaves gaps"), is_refused, "{keys}, {workload}: {told}");
        assert!(is_refused || told.is_empty(), "{told}");
    }
}

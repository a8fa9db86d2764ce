//! `reproduce`, as the built binary does it.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;

use std::path::Path;

use common::{names, run};

fn at(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_string()
}

#[test]
fn a_quick_reproduction_writes_the_same_report_twice_and_judges_every_claim() {
    let dir = tempfile::tempdir().unwrap();
    let mut pages = Vec::new();
    for (name, jobs) in [("one", "1"), ("two", "2")] {
        let out = at(dir.path(), name);
        let said =
            run(&["reproduce", "stp", "S-5.7", "S-5.8", "--quick", "--json", "--jobs", jobs, "--out", &out]);
        assert_eq!(said.code, Some(0), "{said:?}");
        let json = said.json();
        let claims = json["claims"].as_array().unwrap();
        assert_eq!(claims.len(), 4, "{json}");
        let sum = ["reproduced", "differ", "undecided", "not_testable", "ours"]
            .map(|key| json[key].as_u64().unwrap())
            .iter()
            .sum::<u64>();
        assert_eq!(sum, 4);
        assert_eq!(json["ours"], 1, "the bound of selective repeat is not the paper's");
        assert!(claims.iter().all(|claim| claim["fails_if"].is_string()), "{json}");
        assert!(claims.iter().all(|claim| !claim["measured"].as_str().unwrap().is_empty()));
        let there = names(Path::new(&out));
        assert_eq!(there, ["claims.csv", "figures", "report.html", "report.md", "results"]);
        pages.push(std::fs::read(Path::new(&out).join("report.html")).unwrap());
    }
    assert_eq!(pages[0], pages[1]);
}

#[test]
fn single_items_are_made_alone_and_ladders_come_from_the_packets_of_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let out = at(dir.path(), "out");
    let said = run(&["reproduce", "xstp", "X-2", "X-4", "--quick", "--out", &out]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("2 claims: 2 reproduced"), "{}", said.out);
    assert_eq!(names(&Path::new(&out).join("results")), ["early-timeout", "false-timeout"]);
    let figures = names(&Path::new(&out).join("figures"));
    assert_eq!(figures, ["X-2.pdf", "X-2.png", "X-2.svg", "X-4.pdf", "X-4.png", "X-4.svg"]);
}

#[test]
fn a_second_run_uses_what_is_there_and_a_quick_one_can_become_a_full_one() {
    let dir = tempfile::tempdir().unwrap();
    let out = at(dir.path(), "out");
    let first = run(&["reproduce", "xstp", "X-1", "X-5", "--quick", "--json", "--out", &out]);
    assert_eq!(first.code, Some(0), "{first:?}");
    let results = Path::new(&out).join("results/early-timeout/results.jsonl");
    let before = std::fs::metadata(&results).unwrap().modified().unwrap();
    let second = run(&["reproduce", "xstp", "X-1", "X-5", "--quick", "--json", "--out", &out]);
    assert_eq!(first.out, second.out);
    assert_eq!(std::fs::metadata(&results).unwrap().modified().unwrap(), before);
}

#[test]
fn formulas_are_computed_and_exact_values_decide_by_themselves() {
    let dir = tempfile::tempdir().unwrap();
    let out = at(dir.path(), "out");
    let said = run(&["reproduce", "petra", "R-4", "R-9", "R-14", "--quick", "--json", "--out", &out]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let json = said.json();
    let claims = json["claims"].as_array().unwrap();
    assert!(claims.len() > 50, "{}", claims.len());
    let others: Vec<_> = claims.iter().filter(|claim| claim["verdict"] != "reproduced").collect();
    assert!(others.is_empty(), "{others:?}");
    assert_eq!(names(&Path::new(&out).join("results")), ["formula-14", "formula-4", "formula-9"]);
}

/// Formats and states come from the engine's tables, networks from scenario files.
#[test]
fn drawings_of_the_stp_chapter_need_no_run_and_show_what_it_states() {
    let dir = tempfile::tempdir().unwrap();
    let out = at(dir.path(), "out");
    let said = run(&["reproduce", "stp", "S-5.1", "S-5.4", "S-5.5", "S-5.6", "--json", "--out", &out]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let json = said.json();
    let claims = json["claims"].as_array().unwrap();
    let others: Vec<_> = claims.iter().filter(|claim| claim["verdict"] != "reproduced").collect();
    assert!(claims.len() == 17 && others.is_empty(), "{} {others:?}", claims.len());
    let results = names(&Path::new(&out).join("results"));
    assert_eq!(results, ["formats", "states", "topology-geo", "topology-leo", "way-geo", "way-leo"]);
}

/// Packets of a run, in the order in which they left: "name of the sender: label", those that were lost
/// marked.
fn trace(out: &str, name: &str) -> Vec<String> {
    let path = Path::new(out).join(format!("results/{name}/ladders/point-0-replication-0.jsonl"));
    let text = std::fs::read_to_string(path).unwrap();
    let packet = |line: &str| {
        let packet: serde_json::Value = serde_json::from_str(line).unwrap();
        let (from, label) = (packet.get("from")?.as_str()?, packet["label"].as_str()?);
        Some(format!("{from}: {label}{}", if packet["arrived_s"].is_null() { " lost" } else { "" }))
    };
    text.lines().filter_map(packet).collect()
}

/// The chapter's two examples, figures 5.2 and 5.3 [STP 5.1.1]: every packet of the runs that are drawn, and
/// the claims about them.
#[test]
fn the_two_examples_of_the_stp_chapter_as_packet_traces() {
    let dir = tempfile::tempdir().unwrap();
    let out = at(dir.path(), "out");
    let said = run(&["reproduce", "stp", "S-5.2", "S-5.3", "--quick", "--out", &out]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("3 claims: 3 reproduced"), "{}", said.out);
    let bulk = trace(&out, "bulk-ladder");
    let loss = bulk.iter().position(|packet| packet.ends_with("lost")).unwrap();
    assert_eq!(
        bulk[loss..loss + 12],
        [
            "transmitter: SD 8 lost",
            "receiver: STAT",
            "transmitter: SD 9",
            "transmitter: SD 10",
            "transmitter: SD 11 + POLL",
            "receiver: USTAT",
            "transmitter: SD 12",
            "transmitter: SD 13",
            "receiver: STAT",
            "transmitter: SD 8 again",
            "transmitter: SD 14",
            "transmitter: SD 15 + POLL",
        ]
    );
    assert_eq!(bulk.iter().filter(|packet| packet.ends_with("again")).count(), 1, "the STAT repeats nothing");
    assert_eq!(
        trace(&out, "short-ladder"),
        [
            "client: BGN",
            "server: BGNAK + POLL",
            "client: SD 1 + POLL + STAT",
            "server: SD 1 + POLL + STAT",
            "client: STAT",
            "server: SD 2 + POLL",
            "client: STAT",
            "server: SD 3",
            "server: SD 4 + POLL",
            "client: STAT",
            "server: SD 5",
            "server: SD 6 + POLL",
            "client: STAT",
            "server: POLL + END",
            "client: POLL + STAT + END + ENDAK",
            "server: STAT + ENDAK",
        ]
    );
}

#[test]
fn a_cycle_of_a_relays_buffer_is_drawn_from_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let out = at(dir.path(), "out");
    let said = run(&["reproduce", "petra", "R-3", "R-6", "--quick", "--json", "--out", &out]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let json = said.json();
    let verdict = |id: &str| {
        let claim = json["claims"].as_array().unwrap().iter().find(|claim| claim["id"] == id);
        claim.unwrap()["verdict"].as_str().unwrap().to_string()
    };
    for id in ["R-3-a", "R-3-b", "R-3-c", "R-3-d", "R-3-e", "R-3-f", "R-6-b", "R-6-c"] {
        assert_eq!(verdict(id), "reproduced", "{id}: {json}");
    }
}

#[test]
fn signals_compressed_headers_and_large_segments_of_the_scps_paper_are_as_stated() {
    let dir = tempfile::tempdir().unwrap();
    let out = at(dir.path(), "out");
    let said = run(&["reproduce", "scps-tp", "T-hdr", "T-ratio", "T-1", "T-2", "--quick", "--out", &out]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(
        said.out.contains("7 claims: 7 reproduced, 0 differ, 0 undecided, 0 not testable"),
        "{}",
        said.out
    );
}

#[test]
fn wrong_papers_and_items_are_wrong_usage_and_the_right_ones_are_told() {
    for (args, told) in [
        (&["reproduce", "tcp"][..], "possible values: xstp, stp, petra, scps-tp, p-xcp"),
        (&["reproduce", "stp", "X-6"][..], "its items are S-5.1, S-5.10, S-5.11, S-5.2, S-5.3, S-5.4, S-5.5"),
    ] {
        let said = run(args);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.err.contains(told), "{}", said.err);
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = common::file(dir.path(), "taken", b"a file");
    let out = file.to_str().unwrap();
    let said = run(&["reproduce", "stp", "--quick", "--out", out]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("taken"), "{}", said.err);
}

#[test]
fn what_cannot_run_in_real_time_is_wrong_usage() {
    let dir = tempfile::tempdir().unwrap();
    let out = at(dir.path(), "out");
    for (words, why) in [
        (&["xstp"][..], "xstp has nothing that runs in real time; leave --real out"),
        (&["scps-tp", "T-8"], "scps-tp has no item 'T-8'; its items are T-3, T-4, T-7"),
    ] {
        let said = run(&[&["reproduce"], words, &["--real", "--quick", "--out", &out]].concat());
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.err.contains(why), "{said:?}");
    }
}

/// Skipped, aloud, where there can be no network namespaces.
#[test]
fn a_figure_in_real_time_has_a_table_a_page_and_the_simulator_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let out = at(dir.path(), "out");
    let words = ["reproduce", "scps-tp", "T-4", "--real", "--quick", "--jobs", "8", "--out", &out];
    let said = run(&words);
    if said.code == Some(1) && said.err.contains("leave --real out") {
        return common::skipped("figures in real time need root (or user namespaces), /dev/net/tun and `ip`");
    }
    assert_eq!(said.code, Some(0), "{said:?}");
    let guide = std::fs::read_to_string(Path::new(&out).join("guide.md")).unwrap();
    assert!(said.out.contains(&guide), "{said:?}");
    for word in ["Made by `skyhaul reproduce scps-tp T-4 --real --quick`", "| regular TCP |", "| 1e-5 |"] {
        assert!(guide.contains(word), "{word}: {guide}");
    }
    // The first column of numbers is SCPS-TP's, the last one what that is of the simulator's.
    for row in guide.lines().filter(|line| line.starts_with("| 1e-")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [own, quotient] = [cells[2], cells[cells.len() - 2]].map(|cell| cell.parse::<f64>().unwrap());
        assert!(own > 600.0 && (0.5..1.1).contains(&quotient), "{row}");
    }
    let results = Path::new(&out).join("results/T-4/results.jsonl");
    let before = std::fs::metadata(&results).unwrap().modified().unwrap();
    assert_eq!(run(&words).out, said.out, "nothing is left to do");
    assert_eq!(std::fs::metadata(&results).unwrap().modified().unwrap(), before);
}

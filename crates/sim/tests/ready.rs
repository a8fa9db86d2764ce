//! The scenario files that come with the project.

use std::path::{Path, PathBuf};

use skyhaul_core::SECOND;

use skyhaul_scenario::{File, Flow, Register, Workload};
use skyhaul_sim::{SCPS_TP, SEALED_STP, STP, STPP, TCP};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All `.toml` files in `folder` and below.
fn toml_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.expect("it can be listed").path()) {
        if path.is_dir() {
            files.extend(toml_files(&path));
        } else if path.extension().is_some_and(|ending| ending == "toml") {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn open(path: &Path) -> File {
    let text = std::fs::read_to_string(path).expect("it can be read");
    File::parse(
        &Register::new(&[&STP, &TCP, &STPP, &SCPS_TP, &SEALED_STP]),
        &path.display().to_string(),
        &text,
    )
    .unwrap_or_else(|error| panic!("{error}"))
}

fn ready(name: &str) -> File {
    open(&root().join("scenarios").join(format!("{name}.toml")))
}

#[test]
fn every_scenario_of_the_project_makes_sense_and_says_what_it_shows() {
    let files = toml_files(&root().join("scenarios"));
    assert!(files.len() >= 8, "{files:?}");
    for path in files {
        let file = open(&path);
        assert_ne!(file.settings().title, file.name(), "{path:?} has no title");
        assert!(file.settings().description.is_some(), "{path:?} has no description");
    }
}

/// Beside figure definitions, papers have scenarios: those that have nodes.
#[test]
fn every_scenario_of_a_paper_makes_sense() {
    for path in toml_files(&root().join("papers")) {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        if text.contains("[nodes") {
            open(&path);
        }
    }
}

#[test]
fn the_links_of_demo_are_written_out_as_they_are_built_in() {
    for name in ["geo", "geo-noisy", "thin-return", "leo-handoff", "leo-passes"] {
        let file = ready(name);
        for point in file.points() {
            let scenario = file.scenario_at(&point).unwrap();
            assert_eq!(scenario.links.len(), 1, "{name}");
            assert_eq!(scenario.links[0].config, skyhaul_link::preset(name).unwrap(), "{name}");
            assert_eq!(scenario.links[0].ends, [scenario.flows[0].from, scenario.flows[0].to], "{name}");
            let Workload::Bulk { bytes, rate_bps: None, .. } = scenario.flows[0].workload else {
                panic!("{name}: {:?}", scenario.flows[0].workload)
            };
            assert_eq!(bytes, Some(10_000_000), "{name}");
        }
        let first = file.scenario_at(&file.points().next().unwrap()).unwrap();
        assert_eq!(
            first.flows[0].transport.opener.get::<skyhaul_stp::Config>().unwrap().rate_bps,
            Some(10_000_000),
            "{name}"
        );
    }
}

#[test]
fn one_sets_a_table_of_its_own_in_each_file() {
    let file = ready("starlink");
    assert_eq!(file.points().count(), 3);
    let scenario = file.scenario_at(&file.points().last().unwrap()).unwrap();
    let outages = &scenario.links[0].config.outages;
    assert_eq!(outages.len(), 39, "at 15 s, 30 s, ... 585 s");
    assert_eq!(outages[38].to.as_ns(), 585_500_000_000);
    let scps = ready("scps");
    let rates: Vec<_> =
        scps.points().map(|point| scps.scenario_at(&point).unwrap().links[0].config.clone()).collect();
    assert!(
        rates
            .iter()
            .all(|link| link.forward.bit_error_rate.to_bits() == link.reverse.bit_error_rate.to_bits())
    );
    assert_eq!(rates.len(), 4);
}

/// Not how well: what comes out is for figures. That the simulator takes it.
#[test]
fn every_scenario_of_the_project_runs() {
    for path in toml_files(&root().join("scenarios")) {
        let whole = open(&path);
        let flows = whole.scenario_at(&whole.points().next().unwrap()).unwrap().flows;
        let last_start = |flow: &Flow| flow.start_ns + flow.stagger_ns * u64::from(flow.count - 1);
        let seconds = flows.iter().map(last_start).max().unwrap_or(0) / SECOND + 3;
        let shorter = [
            ("run.duration", format!("{seconds}s")),
            ("run.warm_up", "0s".to_string()),
            ("metrics.verdicts", "true".to_string()),
        ];
        let file = whole.with(&shorter.map(|(key, value)| (key.to_string(), value))).unwrap();
        let scenario = file.scenario_at(&file.points().next().unwrap()).unwrap();
        let measured = skyhaul_sim::simulate(&scenario, file.settings().seed)
            .unwrap_or_else(|e| panic!("{path:?}: {e}"));
        assert!(measured.metrics["goodput_bps"] > 0.0, "{path:?}: {:?}", measured.metrics);
    }
}

//! Names of cases, and the files that the binary has.

use std::collections::BTreeSet;
use std::path::Path;

use super::*;
use crate::scoreboard::ready::FILES;

#[test]
fn every_ready_scenario_is_on_the_board_or_left_out_for_a_reason() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let there: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    // How a TCP of the papers repairs its losses: there is no place for another transport. What is remembered
    // of `geo`: the others would be as on that.
    let left_out = ["tcp-geo.toml", "remembered.toml"].map(String::from);
    let embedded = FILES.iter().map(|(name, _)| (*name).to_string());
    assert_eq!(embedded.chain(left_out).collect::<BTreeSet<_>>(), there);
    for file in FILES.iter().filter_map(|(name, _)| name.strip_suffix(".toml")) {
        assert!(CASES.iter().any(|case| case.file == file), "{file} has no case");
    }
}

#[test]
fn names_are_unique_and_a_file_stands_for_all_its_cases() {
    let names: BTreeSet<&str> = CASES.iter().map(|case| case.name).collect();
    assert_eq!(names.len(), CASES.len());
    let meant = |word: &str| {
        let named: CaseName = word.parse().unwrap();
        CASES.iter().filter(|case| named.means(case)).map(|case| case.name).collect::<Vec<_>>()
    };
    assert_eq!(meant("geo-noisy"), ["geo-noisy"]);
    assert_eq!(meant("beside-tcp"), ["beside-cubic", "beside-bbr"]);
    let error = "geo-nosy".parse::<CaseName>().unwrap_err().to_string();
    assert!(error.contains("did you mean `geo-noisy`?") && error.contains("deep-queue"), "{error}");
}

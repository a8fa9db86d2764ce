//! Names of cases, and the files that the binary has.

use std::collections::BTreeSet;

use super::*;
use crate::ready_names;

#[test]
fn every_ready_scenario_is_on_the_board_or_left_out_for_a_reason() {
    // How a TCP of the papers repairs its losses: there is no place for another transport. What is remembered
    // of `geo`: the others would be as on that. A hop whose frames have no IP header, for one
    // transport, and a path that nothing crosses whole. Routers, which tell some of them their rate.
    let left_out = ["tcp-geo", "remembered", "petra-hop", "petra", "explicit", "explicit-stp"];
    for file in ready_names() {
        let has_case = CASES.iter().any(|case| case.file == file);
        assert_eq!(has_case, !left_out.contains(&file), "{file}");
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

//! Boards in real time, between network namespaces: skipped, aloud, where there can be none.

use crate::common::{Said, run, skipped};

/// Unless namespaces are not permitted here.
pub fn possible(said: Said) -> Option<Said> {
    if said.code == Some(1) && said.err.contains("needs nothing of that: --simulated") {
        skipped("a scoreboard in real time needs root (or user namespaces), /dev/net/tun and `ip`");
        return None;
    }
    Some(said)
}

#[test]
fn runs_against_the_kernel_have_the_metrics_of_simulated_ones() {
    let small =
        ["--scenarios", "starlink,steps", "--with", "skyhaul,tcp-cubic", "--runs", "1", "--size", "50kB"];
    let Some(said) = possible(run(&[&["scoreboard", "--real", "--json"], &small[..]].concat())) else {
        return;
    };
    assert_eq!(said.code, Some(0), "{said:?}");
    let object = said.json();
    assert!(object["title"].as_str().unwrap().contains("in real time, skyhaul sealed"), "{object}");
    let metrics = |object: &serde_json::Value| -> Vec<Vec<String>> {
        let points = object["points"].as_array().unwrap().clone();
        points.iter().map(|point| point["metrics"].as_object().unwrap().keys().cloned().collect()).collect()
    };
    let simulated = run(&[&["scoreboard", "--json"], &small[..]].concat());
    assert_eq!(metrics(&object), metrics(&simulated.json()));
    let share = object["points"][2]["metrics"]["share"]["median"].as_f64().unwrap();
    assert!(share > 0.0 && share < 1.2, "{object}");
}

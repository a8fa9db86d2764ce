//! Every command of the page about racing does what the page says.

use crate::common::skipped;
use crate::live::possible;
use crate::pages::every_command_works;

use crate::scenario::Place;

/// Options of the page that would take too long for a test, and what is said instead.
const LONG: [&str; 3] = ["--runs", "--size", "--requests"];
const SHORT: &str = "skyhaul race --runs 1 --size 100kB --requests 1 ";

/// A race in real time is short; where it is not possible, it is one in virtual time.
fn short(text: &str, in_real_time: bool) -> String {
    let lines = text.lines().map(|line| {
        if !line.starts_with("skyhaul race ") || line.contains("--simulated") {
            return line.to_string();
        }
        let mut words = line.strip_prefix("skyhaul race ").unwrap().split(' ');
        let mut kept = vec![if in_real_time { SHORT.trim() } else { "skyhaul race --simulated" }];
        while let Some(word) = words.next() {
            if LONG.contains(&word) {
                words.next();
            } else {
                kept.push(word);
            }
        }
        kept.join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_command_of_the_page_about_races_works() {
    let place = Place::new();
    let args = ["race", &place.file, "--runs", "1", "--requests", "0", "--with", "tcp-reno", "--size", "1kB"];
    let in_real_time = possible(crate::common::run(&args)).is_some();
    if !in_real_time {
        skipped("its races in real time are run in virtual time");
    }
    every_command_works(
        include_str!("../../../../docs/guide/race.md"),
        |_| true,
        |text| short(text, in_real_time),
        (6, 0),
        &[
            "handoff/figures/race.svg",
            "handoff/figures/race.png",
            "handoff/summary.csv",
            "shares/report.html",
        ],
    );
}

#[test]
fn what_takes_long_is_left_out_of_a_command() {
    let long = "skyhaul race a.toml --runs 5 --set x=1 --size 1GB\nskyhaul race b.toml --simulated --runs 9";
    let short = short(long, true);
    assert_eq!(short, format!("{SHORT}a.toml --set x=1\nskyhaul race b.toml --simulated --runs 9"));
}

//! Every command of the page about the scoreboard does what the page says.

use crate::common::{run, skipped};
use crate::pages::every_command_works;
use crate::real::possible;

/// Options of the page that would take too long for a test, and what is said instead.
const LONG: [&str; 3] = ["--runs", "--size", "--scenarios"];

/// One seed of what is over soon; in real time only where that is possible.
fn short(text: &str, in_real_time: bool) -> String {
    let lines = text.lines().map(|line| {
        let Some(words) = line.strip_prefix("skyhaul scoreboard") else { return line.to_string() };
        let is_real = words.contains("--real") && in_real_time;
        let scenarios = if is_real { "starlink" } else { "starlink,deep-queue,fairness-rtt" };
        let mut kept = vec!["skyhaul scoreboard --runs 1 --size 50kB --scenarios", scenarios];
        let mut words = words.split_whitespace();
        while let Some(word) = words.next() {
            if LONG.contains(&word) {
                words.next();
            } else if word != "--real" || is_real {
                kept.push(word);
            }
        }
        kept.join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_command_of_the_page_about_the_scoreboard_works() {
    let args = ["--real", "--runs", "1", "--scenarios", "starlink", "--with", "tcp-reno", "--size", "1kB"];
    let in_real_time = possible(run(&[&["scoreboard"], &args[..]].concat())).is_some();
    if !in_real_time {
        skipped("its runs in real time are run in virtual time");
    }
    every_command_works(
        include_str!("../../../../docs/guide/scoreboard.md"),
        |_| true,
        |text| short(text, in_real_time),
        (4, 0),
        &["board/figures/share.svg", "board/figures/share.png", "board/summary.csv", "board.csv"],
    );
}

#[test]
fn what_takes_long_is_left_out_of_a_command() {
    let long = "skyhaul scoreboard --real --scenarios geo --runs 5 --out x\nskyhaul report x";
    assert_eq!(
        short(long, true),
        "skyhaul scoreboard --runs 1 --size 50kB --scenarios starlink --real --out x\nskyhaul report x"
    );
    assert!(short(long, false).contains("fairness-rtt --out x"));
}

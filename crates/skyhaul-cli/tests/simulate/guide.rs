//! Every command of the guide's pages about simulation does what the page says.

use crate::pages::every_command_works;

#[test]
fn every_command_of_the_guide_works() {
    every_command_works(
        include_str!("../../../../docs/guide/simulate.md"),
        |_| true,
        ToString::to_string,
        (9, 2),
        &["own/results.jsonl", "own/summary.csv", "own/figures/goodput_bps.svg", "page/figures/goodput.png"],
    );
}

#[test]
fn every_command_of_the_page_about_explicit_rates_works() {
    every_command_works(
        include_str!("../../../../docs/guide/explicit.md"),
        |_| true,
        |text| {
            text.replace(
                "skyhaul simulate ",
                "skyhaul simulate --set run.duration=30s --set run.warm_up=10s ",
            )
            .replace("--size 20MB --runs 3", "--size 200kB --runs 1")
        },
        (4, 0),
        &["shares/figures/links.hop.forward.utilisation.svg", "limited/claims.csv", "beside/summary.csv"],
    );
}

#[test]
fn every_command_of_the_page_about_fairness_works() {
    every_command_works(
        include_str!("../../../../docs/guide/fairness.md"),
        |_| true,
        |text| {
            text.replace(
                "skyhaul simulate ",
                "skyhaul simulate --set run.duration=30s --set run.warm_up=10s ",
            )
        },
        (3, 1),
        &["fairness/summary.csv", "fairness-page/figures/shares.png", "without-bbr.csv", "long-queue.csv"],
    );
}

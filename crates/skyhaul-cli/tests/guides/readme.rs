//! The README.

use std::path::Path;

use crate::namespace::inside;
use crate::pages::every_command_works;
use crate::two_machines::{SET_UP, at_their_machines};

const README: &str = include_str!("../../../../README.md");

/// Commands that take too long for a test: `.ci/run` runs the tests, `contrib/package.sh` builds by the
/// profile of the installation, of which the last test here checks the names.
fn is_elsewhere(line: &str) -> bool {
    line.starts_with("cargo test ") || line.starts_with("cargo install ")
}

/// A block as it is run: by the binary that is there, and over soon.
fn short(text: &str) -> String {
    if text.contains("# on the ship") {
        return at_their_machines(text);
    }
    let lines = text.lines().filter(|line| !is_elsewhere(line)).map(|line| {
        line.replace("cargo run --release -- demo", "skyhaul demo --size 300kB --rate 10M")
            .replace("--runs 10", "--runs 1 --size 50kB")
            .replace("geo,geo-noisy,thin-return,leo-handoff,starlink,scps-noisy", "geo,starlink")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_command_of_the_readme_works() {
    inside(SET_UP, || {
        let leaves = ["inbox/report.pdf", "inbox/photos.tar", "results"];
        every_command_works(README, |_| true, short, (5, 0), &leaves);
    });
}

#[test]
fn the_install_command_names_a_package_with_the_binary_and_a_profile_that_exists() {
    let line = README.lines().find(|line| line.starts_with("cargo install ")).unwrap();
    let after = |switch: &str| line.split_whitespace().skip_while(|word| *word != switch).nth(1).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let package = std::fs::read_to_string(root.join(after("--path")).join("Cargo.toml")).unwrap();
    assert!(package.contains("[[bin]]\nname = \"skyhaul\""), "{package}");
    let workspace = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    assert!(workspace.contains(&format!("[profile.{}]", after("--profile"))), "{line}");
}

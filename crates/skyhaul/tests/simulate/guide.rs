//! Every command of the guide's pages about simulation does what the page says.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::common::Said;

/// Blocks of code with what stands behind their first fence: `sh`, or `toml FILE`.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let all = page.split("\n```").collect::<Vec<_>>();
    let opened = all.iter().skip(1).step_by(2);
    opened.filter_map(|block| block.split_once('\n')).collect()
}

/// Runs every command of a page that has so many blocks of commands and of files, and leaves these files.
/// `simulate` gets these options, too.
fn every_command_works(page: &str, simulate_too: &str, blocks_of: (usize, usize), leaves: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    symlink(root.join("scenarios"), dir.path().join("scenarios")).unwrap();
    let folder = Path::new(env!("CARGO_BIN_EXE_skyhaul")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let (mut commands, mut files) = (0, 0);
    for (kind, text) in blocks(page) {
        if let Some(name) = kind.strip_prefix("toml ") {
            std::fs::write(dir.path().join(name), text).unwrap();
            files += 1;
        } else if kind == "sh" {
            let mut shell = Command::new("sh");
            let text = text.replace("skyhaul simulate ", &format!("skyhaul simulate {simulate_too} "));
            shell.args(["-euc", &text]).env("PATH", &path).current_dir(dir.path());
            let said: Said = shell.output().unwrap().into();
            assert_eq!(said.code, Some(0), "{text}\n{said:?}");
            commands += 1;
        }
    }
    assert_eq!((commands, files), blocks_of, "blocks of commands, files");
    for name in leaves {
        assert!(dir.path().join(name).exists(), "{name}");
    }
}

#[test]
fn every_command_of_the_guide_works() {
    every_command_works(
        include_str!("../../../../docs/guide/simulate.md"),
        "",
        (9, 2),
        &["own/results.jsonl", "own/summary.csv", "own/figures/goodput_bps.svg", "page/figures/goodput.png"],
    );
}

#[test]
fn every_command_of_the_page_about_fairness_works() {
    every_command_works(
        include_str!("../../../../docs/guide/fairness.md"),
        "--set run.duration=30s --set run.warm_up=10s",
        (3, 1),
        &["fairness/summary.csv", "fairness-page/figures/shares.png", "without-bbr.csv", "long-queue.csv"],
    );
}

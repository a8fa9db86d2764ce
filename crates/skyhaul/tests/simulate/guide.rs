//! Every command of `docs/guide/simulate.md` does what the page says.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::common::Said;

const PAGE: &str = include_str!("../../../../docs/guide/simulate.md");

/// Blocks of code with what stands behind their first fence: `sh`, or `toml FILE`.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let all = PAGE.split("\n```").collect::<Vec<_>>();
    let opened = all.iter().skip(1).step_by(2);
    opened.filter_map(|block| block.split_once('\n')).collect()
}

#[test]
fn every_command_of_the_guide_works() {
    let dir = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    symlink(root.join("scenarios"), dir.path().join("scenarios")).unwrap();
    let folder = Path::new(env!("CARGO_BIN_EXE_skyhaul")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let (mut commands, mut files) = (0, 0);
    for (kind, text) in blocks() {
        if let Some(name) = kind.strip_prefix("toml ") {
            std::fs::write(dir.path().join(name), text).unwrap();
            files += 1;
        } else if kind == "sh" {
            let mut shell = Command::new("sh");
            shell.args(["-euc", text]).env("PATH", &path).current_dir(dir.path());
            let said: Said = shell.output().unwrap().into();
            assert_eq!(said.code, Some(0), "{text}\n{said:?}");
            commands += 1;
        }
    }
    assert!(commands >= 8 && files >= 2, "{commands} blocks of commands, {files} files");
    for name in
        ["own/results.jsonl", "own/summary.csv", "own/figures/goodput_bps.svg", "page/figures/goodput.png"]
    {
        assert!(dir.path().join(name).exists(), "{name}");
    }
}

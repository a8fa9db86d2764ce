//! Pages of the guide whose commands are run.

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
/// Blocks of commands that are not `possible` here are left out; the others are run as `changed`.
pub fn every_command_works(
    page: &str,
    possible: impl Fn(&str) -> bool,
    changed: impl Fn(&str) -> String,
    blocks_of: (usize, usize),
    leaves: &[&str],
) {
    let dir = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for name in ["scenarios", "contrib", "maps"] {
        symlink(root.join(name), dir.path().join(name)).unwrap();
    }
    let folder = Path::new(env!("CARGO_BIN_EXE_skyhaul")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let (mut commands, mut files) = (0, 0);
    for (kind, text) in blocks(page) {
        if let Some(name) = kind.strip_prefix("toml ") {
            std::fs::write(dir.path().join(name), text).unwrap();
            files += 1;
        } else if kind == "sh" {
            commands += 1;
            if !possible(text) {
                continue;
            }
            let mut shell = Command::new("sh");
            let text = changed(text);
            shell.args(["-euc", &text]).env("PATH", &path).current_dir(dir.path());
            shell.env("XDG_STATE_HOME", dir.path().join("state"));
            let said: Said = shell.output().unwrap().into();
            assert_eq!(said.code, Some(0), "{text}\n{said:?}");
        }
    }
    assert_eq!((commands, files), blocks_of, "blocks of commands, files");
    for name in leaves {
        assert!(dir.path().join(name).exists(), "{name}");
    }
}

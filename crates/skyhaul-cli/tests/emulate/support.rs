//! A short path, and whether namespaces can be made here.

use std::path::PathBuf;
use std::process::Child;

use tempfile::TempDir;

use crate::common::{Said, file, skyhaul};
use crate::namespaces::is_impossible;

/// 10 Mbit/s and 40 ms one way, between `ship` and `ground`.
pub const SCENARIO: &str = r#"
[run]
duration = "1h"
[nodes]
ship = { kind = "host" }
ground = { kind = "host" }
[links.space]
between = ["ship", "ground"]
forward = { rate = "10Mbit/s", delay = "40ms", queue = "200kB" }
reverse = { rate = "10Mbit/s", delay = "40ms", queue = "200kB" }
[transports.tcp]
protocol = "tcp"
[flows.file]
from = "ship"
to = "ground"
transport = "tcp"
workload = { kind = "bulk" }
"#;

/// A folder with that scenario.
pub fn scenario() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "space.toml", SCENARIO.as_bytes());
    (folder, path.to_str().unwrap().to_string())
}

/// A ready scenario.
pub fn ready(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    root.join(name).to_str().unwrap().to_string()
}

/// Output of `emulate` with these arguments, unless it cannot be here.
pub fn emulate(args: &[&str]) -> Option<Said> {
    let said: Said = skyhaul(&[&["emulate"], args].concat()).output().unwrap().into();
    (!is_impossible(&said.err)).then_some(said)
}

/// Starts it.
pub fn start(args: &[&str]) -> Child {
    skyhaul(&[&["emulate"], args].concat()).spawn().unwrap()
}

/// Processes with this word in their command line.
pub fn processes(word: &str) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap();
    let numbers = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let has_word = |pid: &u32| {
        std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
            let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
            words.contains(&word.as_bytes())
        })
    };
    numbers.filter(has_word).collect()
}

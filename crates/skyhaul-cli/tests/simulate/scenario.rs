//! A sweep that is short in virtual and in real time.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

const TEXT: &str = r#"title = "A short transfer"
[run]
goal = "done"
duration = "600s"
replications = 3
[nodes]
ground = { kind = "host" }
ship = { kind = "host" }
[links.space]
between = ["ground", "ship"]
forward = { rate = "2Mbit/s", delay = "20ms", queue = "100packets" }
reverse = { rate = "2Mbit/s", delay = "20ms", queue = "100packets" }
[transports]
stp = { protocol = "stp", rate = "2Mbit/s" }
[flows.file]
from = "ground"
to = "ship"
transport = "stp"
workload = { kind = "bulk", size = "60kB" }
[sweep]
"links.space.forward.loss" = [0, 0.02]
"links.space.forward.delay" = ["20ms", "50ms"]
"#;

/// A folder with the scenario in it.
pub struct Place {
    pub dir: TempDir,
    /// The file.
    pub file: String,
}

impl Place {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = crate::common::file(dir.path(), "short.toml", TEXT.as_bytes());
        Self { dir, file: file.to_str().unwrap().to_string() }
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Path as text.
    pub fn at(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_string()
    }

    pub fn read(&self, name: &str) -> String {
        read(&self.path(name))
    }
}

pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

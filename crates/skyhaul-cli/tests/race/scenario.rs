//! A scenario that is over soon.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::common::file;

const SHORT: &str = r#"
title = "A short race"
[run]
goal = "done"
duration = "60s"
seed = 7
[nodes]
west = { kind = "host" }
east = { kind = "host" }
[links.space]
between = ["west", "east"]
forward = { rate = "4Mbit/s", delay = "20ms", queue = "40kB", loss = 0.01 }
reverse = { rate = "4Mbit/s", delay = "20ms", queue = "40kB" }
[transports.stp]
protocol = "stp"
[flows.talk]
from = "east"
to = "west"
transport = "stp"
workload = { kind = "requests", request = "100B", response = "100B", requests = 2 }
[flows.file]
from = "west"
to = "east"
transport = "stp"
workload = { kind = "bulk", size = "300kB" }
"#;

/// A folder with the file.
pub struct Place {
    pub dir: TempDir,
    pub file: String,
}

impl Place {
    pub fn new() -> Self {
        Self::with(str::to_string)
    }

    /// Scenario with a change.
    pub fn with(change: impl Fn(&str) -> String) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = file(dir.path(), "short.toml", change(SHORT).as_bytes());
        Self { file: file.to_str().unwrap().to_string(), dir }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

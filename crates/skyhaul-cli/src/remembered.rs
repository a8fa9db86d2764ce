//! Memory of `send` and `demo` about paths, from one run to the next (docs/spec/remembered-paths.md).

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use skyhaul_congestion::memory::verdict;
use skyhaul_core::event::ResumePhase;
use skyhaul_core::{MS, SECOND, Stats};
use skyhaul_net::{CookieMemory, PathKey, PathMemory};
use skyhaul_store::FileError;
use skyhaul_stp::{Config, ControllerKind, SavedPath};

use crate::args::MORE;
use crate::output::note;

/// Which file, or none.
#[derive(Debug, clap::Args)]
pub(crate) struct MemoryArgs {
    /// Where what is found out about paths is kept from one transfer to the next [default: skyhaul/paths in
    /// `$XDG_STATE_HOME` or ~/.local/state; paths within this machine only if FILE is given]. Cookies of
    /// --fast-open are kept in FILE.cookies [default: skyhaul/cookies there]
    #[arg(long, value_name = "FILE", conflicts_with = "no_memory", help_heading = MORE)]
    memory: Option<PathBuf>,
    /// Neither use what earlier transfers found out about the path, nor keep what this one does
    #[arg(long, help_heading = MORE)]
    no_memory: bool,
}

impl MemoryArgs {
    /// Memory of Fast Open's cookies: beside the file of paths. `None`: there is to be none.
    pub(crate) fn cookies(&self) -> Option<CookieMemory> {
        let beside = |mut paths: PathBuf| {
            paths.as_mut_os_string().push(".cookies");
            CookieMemory::at(paths)
        };
        if self.no_memory {
            return None;
        }
        self.memory.clone().map(beside).or_else(CookieMemory::of_user)
    }

    /// Memory of the path between the two, for a connection with this configuration: only one
    /// that has to find out its rate uses it.
    pub(crate) fn recall(&self, local: SocketAddr, peer: SocketAddr, config: &Config) -> Option<Recalled> {
        let is_within = local.ip().to_canonical().is_loopback() && self.memory.is_none();
        if self.no_memory || is_within {
            return None;
        }
        let memory = self.memory.clone().map(PathMemory::at).or_else(PathMemory::of_user)?;
        Recalled::new(memory, PathKey::new(local, peer), config)
    }
}

/// Memory of a path, while a connection uses it.
#[derive(Debug)]
pub(crate) struct Recalled {
    memory: PathMemory,
    key: PathKey,
    saved: Option<SavedPath>,
    mtu_bytes: Option<u32>,
    trouble: Option<String>,
}

impl Recalled {
    /// Looks the path up; a file that cannot be used is none, and that is said.
    pub(crate) fn new(memory: PathMemory, key: PathKey, config: &Config) -> Option<Self> {
        if config.rate_bps.is_some() || config.controller != ControllerKind::Model {
            return None;
        }
        let mut recalled = Self { memory, key, saved: None, mtu_bytes: None, trouble: None };
        match recalled.memory.recall(key, now_unix_s()) {
            Ok(saved) => {
                recalled.saved = saved;
                recalled.mtu_bytes = recalled.memory.recall_mtu(key, now_unix_s()).unwrap_or(None);
            }
            Err(error) => recalled.complain("not used", &error),
        }
        Some(recalled)
    }

    /// Path that the connection begins with.
    pub(crate) fn saved(&self) -> Option<SavedPath> {
        self.saved
    }

    /// Largest packet of that path, which the connection tries first.
    pub(crate) fn mtu_bytes(&self) -> Option<u32> {
        self.mtu_bytes
    }

    /// Keeps what the connection found out, and tells what became of all that.
    pub(crate) fn finish(mut self, stats: &Stats) -> PathMemoryResult {
        let found = verdict(stats.resume, stats.path_estimate);
        let kept = found.and_then(|found| {
            match self.memory.keep(self.key, found, stats.path_mtu_bytes, now_unix_s()) {
                Ok(()) => found,
                Err(error) => {
                    self.complain("not kept", &error);
                    None
                }
            }
        });
        PathMemoryResult {
            used: self.saved.map(|saved| KnownPath {
                rate_bps: saved.rate_bps,
                rtt_ms: saved.rtt_min_ns as f64 / MS as f64,
                age_s: Some(saved.age_ns / SECOND),
            }),
            outcome: stats.resume.map(ResumePhase::name),
            kept: kept.map(|kept| KnownPath {
                rate_bps: kept.rate_bps,
                rtt_ms: kept.rtt_min_ns as f64 / MS as f64,
                age_s: None,
            }),
            trouble: self.trouble,
        }
    }

    /// Says it once: a file that cannot be read cannot be replaced either, for the same reason.
    fn complain(&mut self, what: &str, error: &FileError) {
        if self.trouble.is_none() {
            self.trouble = Some(trouble("of paths", what, self.memory.place(), error));
        }
    }
}

/// Memory of a path in a result: before, after, and its use.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct PathMemoryResult {
    /// Path that the connection began with.
    pub(crate) used: Option<KnownPath>,
    /// Step in which it stood at the end with that.
    pub(crate) outcome: Option<&'static str>,
    /// Path that it kept.
    pub(crate) kept: Option<KnownPath>,
    /// Reason why the file could not be used or written.
    pub(crate) trouble: Option<String>,
}

/// A path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct KnownPath {
    pub(crate) rate_bps: u64,
    pub(crate) rtt_ms: f64,
    /// Age of the knowledge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) age_s: Option<u64>,
}

/// Words for a file of memory that could not be used or written, which are said, too.
pub(crate) fn trouble(of: &str, what: &str, place: &Path, error: &FileError) -> String {
    let (place, advice) =
        (place.display(), if matches!(error, FileError::Damaged) { "; it will be replaced" } else { "" });
    let text = format!("what is remembered {of} is {what}: '{place}': {error}{advice}");
    note(&format!("skyhaul: {text}"));
    text
}

/// Seconds since 1970.
pub(crate) fn now_unix_s() -> u64 {
    u64::try_from(clock_gettime(ClockId::Realtime).tv_sec).unwrap_or(0)
}

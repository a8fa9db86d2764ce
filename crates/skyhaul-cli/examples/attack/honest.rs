//! Honest senders.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::machines::{GROUND, Machines};
use crate::process::{Process, skyhaul};

/// Time that a newcomer has to get in.
const NEWCOMER_PATIENCE: Duration = Duration::from_secs(20);
/// Between two of its tries.
const TRY_AGAIN: Duration = Duration::from_millis(250);
/// Octets of its file.
const NEWCOMER_BYTES: usize = 10_000;

/// Way to the receiver: where packets go, and between whom, if they are sealed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way<'a> {
    pub(crate) to: SocketAddr,
    pub(crate) machines: Option<&'a Machines>,
}

impl Way<'_> {
    /// `send` of a file along it.
    fn send(self, binary: &Path, options: &[&str], path: &Path) -> io::Result<Process> {
        let (path, to) = (path.display().to_string(), self.to.to_string());
        let to = if self.machines.is_some() { format!("{GROUND}@{to}") } else { to };
        let plain: &[&str] = if self.machines.is_some() { &[] } else { &["--plain"] };
        let words = [&["send", "--no-memory"], plain, options, &[&path, &to]].concat();
        let mut command = skyhaul(binary, &words);
        if let Some(machines) = self.machines {
            machines.ship.runs(&mut command);
        }
        Process::start(&mut command)
    }
}

/// A transfer at a declared rate.
#[derive(Debug)]
pub(crate) struct Transfer {
    process: Process,
    contents: Vec<u8>,
    name: &'static str,
}

/// Newcomer's way in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// From the first try to the end of the one that succeeded; `None`: none did in time.
    pub(crate) took: Option<Duration>,
    pub(crate) tries: u32,
}

impl Transfer {
    /// Begins one of so many octets.
    pub(crate) fn start(
        binary: &Path,
        folder: &Path,
        way: Way<'_>,
        bytes: u64,
        rate_bps: u64,
    ) -> io::Result<Self> {
        let (name, contents) = ("honest.bin", noise(bytes as usize));
        let path = file(folder, name, &contents)?;
        let process = way.send(binary, &["--json", "--rate", &format!("{rate_bps}bit/s")], &path)?;
        Ok(Self { process, contents, name })
    }

    /// Goodput in bit/s, if the file was stored in time and is what was sent.
    pub(crate) fn finish(mut self, inbox: &Path, patience: Duration) -> io::Result<Option<f64>> {
        if self.process.ended_within(patience)?.is_none() {
            return Ok(None);
        }
        let output = self.process.output()?;
        let stored = std::fs::read(inbox.join(self.name)).unwrap_or_default();
        if !output.status.success() || stored != self.contents {
            eprint!("{}", String::from_utf8_lossy(&output.stderr));
            return Ok(None);
        }
        Ok(json(&output.stdout)["goodput_bps"].as_f64())
    }
}

/// The object on the last line.
pub(crate) fn json(output: &[u8]) -> serde_json::Value {
    let text = String::from_utf8_lossy(output);
    text.lines().last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default()
}

/// A newcomer who tries until it gets in; `takes_a_while`: its file takes half a second.
pub(crate) fn newcomer(binary: &Path, folder: &Path, way: Way<'_>, takes_a_while: bool) -> io::Result<Entry> {
    let options: &[&str] = if takes_a_while { &["-q", "--rate", "200k"] } else { &["-q"] };
    let path = file(folder, "newcomer.bin", &noise(NEWCOMER_BYTES))?;
    let (begun, mut tries) = (Instant::now(), 0);
    loop {
        tries += 1;
        let mut process = way.send(binary, options, &path)?;
        let left = NEWCOMER_PATIENCE.saturating_sub(begun.elapsed());
        if process.ended_within(left)?.is_some_and(|status| status.success()) {
            return Ok(Entry { took: Some(begun.elapsed()), tries });
        }
        if begun.elapsed() + TRY_AGAIN >= NEWCOMER_PATIENCE {
            return Ok(Entry { took: None, tries });
        }
        std::thread::sleep(TRY_AGAIN);
    }
}

/// A file with this name and contents.
pub(crate) fn file(folder: &Path, name: &str, contents: &[u8]) -> io::Result<PathBuf> {
    let path = folder.join(name);
    std::fs::write(&path, contents)?;
    Ok(path)
}

/// Octets that differ from each other.
pub(crate) fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x1234_5678_9ABC_DEF0_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..bytes).map(|_| next()).collect()
}

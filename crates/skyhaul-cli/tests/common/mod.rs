//! Runs the built binary.
// A test that meets an error has failed; clippy's exemption covers test functions, not their helpers.
#![allow(clippy::unwrap_used)]

use std::io::Write as _;
use std::net::UdpSocket;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A command of the built binary. Files go unprotected: most tests are not about who may send to whom.
pub fn skyhaul(args: &[&str]) -> Command {
    as_written(&unprotected(args))
}

/// Words of a command with `--plain`, if it sends or receives files.
pub fn unprotected<'a>(args: &[&'a str]) -> Vec<&'a str> {
    let mut words = args.to_vec();
    if matches!(args, ["send" | "receive", ..]) {
        words.insert(1, "--plain");
    }
    words
}

/// A command of the built binary, with these words alone.
pub fn as_written(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skyhaul"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Output of a finished command.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Said {
    /// The JSON object on the last line of standard output.
    pub fn json(&self) -> serde_json::Value {
        let line = self.out.lines().last().unwrap_or_else(|| panic!("no output: {self:?}"));
        serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }
}

/// Runs to the end.
pub fn run(args: &[&str]) -> Said {
    skyhaul(args).output().unwrap().into()
}

/// A free UDP port of this machine.
pub fn free_port() -> u16 {
    UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A process that ends with whoever holds it: nothing stays behind when a test panics.
pub struct Kept(Option<Child>);

impl Kept {
    pub fn new(child: Child) -> Self {
        Self(Some(child))
    }

    /// Waits until it ends by itself.
    pub fn wait_with_output(mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

impl Deref for Kept {
    type Target = Child;

    fn deref(&self) -> &Child {
        self.0.as_ref().unwrap() // there until it is waited for, which consumes
    }
}

impl DerefMut for Kept {
    fn deref_mut(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A running receiver and its folder. It ends with its owner.
pub struct Receiver {
    pub child: Kept,
    pub folder: TempDir,
    pub address: String,
}

impl Receiver {
    /// Starts one with these further arguments and waits until it listens.
    pub fn start(extra: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), extra)
    }

    pub fn start_in(folder: TempDir, extra: &[&str]) -> Self {
        Self::listening(folder, &[&["--json"], extra].concat())
    }

    /// One that prints the table.
    pub fn for_people(extra: &[&str]) -> Self {
        Self::listening(tempfile::tempdir().unwrap(), extra)
    }

    fn listening(folder: TempDir, extra: &[&str]) -> Self {
        Self::at(&format!("127.0.0.1:{}", free_port()), folder, extra)
    }

    /// One that waits at this address.
    pub fn at(address: &str, folder: TempDir, extra: &[&str]) -> Self {
        let dir = folder.path().to_str().unwrap().to_string();
        let mut args = vec!["receive", "--dir", &dir, "--listen", address];
        args.extend(extra);
        let mut child = Kept::new(skyhaul(&args).spawn().unwrap());
        wait_for_line(&mut child);
        Self { child, folder, address: address.to_string() }
    }

    pub fn wait(self) -> (Said, TempDir) {
        (self.child.wait_with_output().into(), self.folder)
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// True if some of a file has arrived that is not finished, be it without a name.
    pub fn holds_a_file(&self) -> bool {
        let inside = self.path().join("");
        let Ok(open) = std::fs::read_dir(format!("/proc/{}/fd", self.child.id())) else { return false };
        open.flatten().map(|entry| entry.path()).any(|open| {
            let is_inside = std::fs::read_link(&open).is_ok_and(|path| path.starts_with(&inside));
            is_inside && std::fs::metadata(&open).is_ok_and(|file| file.is_file() && file.len() > 0)
        })
    }
}

/// Reads standard error up to its first line: "waiting for files at ...".
fn wait_for_line(child: &mut Child) {
    use std::io::Read as _;
    let err = child.stderr.as_mut().unwrap();
    let mut byte = [0; 1];
    while err.read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {}
}

/// Says that a test was skipped: aloud, past the test harness, which hides what a passing test prints.
pub fn skipped(why: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_string();
    // In one piece: the harness writes between the pieces of a line.
    let _ = std::io::stderr().write_all(format!("SKIPPED {test}: {why}\n").as_bytes());
}

/// A file with this name and contents.
pub fn file(folder: &Path, name: &str, contents: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, contents).unwrap();
    path
}

/// Bytes that no compression or zero page makes easy.
pub fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x1234_5678_9abc_def0u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..bytes).map(|_| next()).collect()
}

/// Names in a folder, hidden ones included.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Waits until `ready` or fails after 20 s.
pub fn until(what: &str, mut ready: impl FnMut() -> bool) {
    let start = Instant::now();
    while !ready() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what} did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

//! The receiver under attack, and what it takes.

use std::io::{self, PipeReader, PipeWriter, Read, Write as _};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::attack::Scene;
use crate::machines::Machines;
use crate::process::{Process, skyhaul};

/// Octets that a pipe takes.
const PIPE_BYTES: usize = 64 * 1024;
/// Time in which a receiver listens.
const PATIENCE: Duration = Duration::from_secs(10);

/// A receiver, its folder, and the ends of its outputs.
#[derive(Debug)]
pub(crate) struct Receiver {
    pub(crate) process: Process,
    pub(crate) folder: TempDir,
    pub(crate) address: SocketAddr,
    output_bytes: Arc<AtomicU64>,
    /// Ends that nobody reads.
    _unread: Vec<PipeReader>,
}

/// What a receiver took until now. Of one that has ended, what was read last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    /// Most that was resident.
    pub(crate) memory_bytes: u64,
    pub(crate) cpu_s: f64,
    /// Written to standard output and error.
    pub(crate) output_bytes: u64,
}

impl Receiver {
    /// One that waits at a free port; with machines, sealed.
    pub(crate) fn start(binary: &Path, scene: Scene, machines: Option<&Machines>) -> io::Result<Self> {
        let address = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        Self::run(address, binary, scene, machines)
    }

    /// One that waits at this address.
    pub(crate) fn at(address: SocketAddr, binary: &Path, scene: Scene) -> io::Result<Self> {
        Self::run(address, binary, scene, None)
    }

    fn run(
        address: SocketAddr,
        binary: &Path,
        scene: Scene,
        machines: Option<&Machines>,
    ) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut command = command(binary, scene, folder.path(), address);
        if let Some(machines) = machines {
            machines.ground.runs(&mut command);
        }
        let (read, unread, output_bytes) = (!scene.is_blocked, Vec::new(), Arc::new(AtomicU64::new(0)));
        let mut receiver = if read {
            let process = Process::start(&mut command)?;
            Self { process, folder, address, output_bytes, _unread: unread }
        } else {
            let (reader, writer) = full_pipe()?;
            let process = Process::start(command.stdout(writer.try_clone()?).stderr(writer))?;
            Self { process, folder, address, output_bytes, _unread: vec![reader] }
        };
        receiver.count_output()?;
        receiver.listens()?;
        Ok(receiver)
    }

    fn count_output(&mut self) -> io::Result<()> {
        let child = self.process.child()?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let outputs =
            [out.map(|out| Box::new(out) as Box<dyn Read + Send>), err.map(|err| Box::new(err) as _)];
        for mut output in outputs.into_iter().flatten() {
            let count = Arc::clone(&self.output_bytes);
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(bytes @ 1..) = output.read(&mut buffer) {
                    count.fetch_add(bytes as u64, Ordering::Relaxed);
                }
            });
        }
        Ok(())
    }

    fn listens(&mut self) -> io::Result<()> {
        let begun = Instant::now();
        while UdpSocket::bind(self.address).is_ok() {
            if let Some(status) = self.process.child()?.try_wait()? {
                return Err(io::Error::other(format!("the receiver ended at once: {status}")));
            }
            if begun.elapsed() > PATIENCE {
                return Err(io::Error::other("the receiver does not listen"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// True as soon as it holds some of a file that is not whole yet, within this time.
    pub(crate) fn holds_a_part(&mut self, patience: Duration) -> bool {
        let (begun, inside) = (Instant::now(), self.folder.path().join(""));
        let is_part = |open: PathBuf| {
            let is_inside = std::fs::read_link(&open).is_ok_and(|path| path.starts_with(&inside));
            is_inside && std::fs::metadata(&open).is_ok_and(|file| file.is_file() && file.len() > 0)
        };
        let Ok(id) = self.process.child().map(|child| child.id()) else { return false };
        loop {
            let open = std::fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
            if open.map(|entry| entry.path()).any(is_part) {
                return true;
            }
            if begun.elapsed() >= patience {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// What it took until now, or `last` if it has ended.
    pub(crate) fn read(&mut self, last: Reading) -> Reading {
        let output_bytes = self.output_bytes.load(Ordering::Relaxed);
        let read = self.process.child().ok().and_then(|child| {
            Some(Reading { memory_bytes: peak_bytes(child.id())?, cpu_s: cpu_s(child.id())?, output_bytes })
        });
        read.unwrap_or(Reading { output_bytes, ..last })
    }
}

fn command(binary: &Path, scene: Scene, folder: &Path, address: SocketAddr) -> Command {
    let (folder, address) = (folder.display().to_string(), address.to_string());
    let mut words = vec!["receive", "--dir", &folder, "--listen", &address];
    if !scene.is_sealed {
        words.push("--plain");
    }
    if scene.is_once {
        words.push("--once");
    }
    if scene.is_json {
        words.push("--json");
    }
    if scene.is_verbose {
        words.push("--verbose");
    }
    if !scene.has_few_descriptors {
        return skyhaul(binary, &words);
    }
    let binary = binary.display().to_string();
    let limited = ["-c", "ulimit -n 256 && exec \"$0\" \"$@\"", &binary];
    skyhaul(Path::new("sh"), &[&limited[..], &words].concat())
}

/// A pipe that takes nothing more.
fn full_pipe() -> io::Result<(PipeReader, PipeWriter)> {
    let (reader, mut writer) = io::pipe()?;
    writer.write_all(&vec![b'\n'; PIPE_BYTES])?;
    Ok((reader, writer))
}

/// Most that a process had resident, in bytes.
fn peak_bytes(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kib| kib << 10)
}

/// CPU time of a process, of all its threads, in seconds.
fn cpu_s(id: u32) -> Option<f64> {
    /// What the kernel counts in, whatever its own tick is: `sysconf(_SC_CLK_TCK)` is 100 on Linux.
    const TICKS_PER_S: f64 = 100.0;
    // After the name in brackets, which may contain anything: fields 14 and 15 of proc_pid_stat(5).
    let line = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let fields = line.rsplit(')').next()?.split_whitespace().skip(11).take(2);
    Some(fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / TICKS_PER_S)
}

//! Processes that end with whoever holds them.

use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

/// Between two looks at a process.
const NAP: Duration = Duration::from_millis(5);

/// A process that is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Process(Option<Child>);

impl Process {
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        Ok(Self(Some(command.spawn()?)))
    }

    /// The process; it is there until its output is waited for, which consumes.
    pub(crate) fn child(&mut self) -> io::Result<&mut Child> {
        self.0.as_mut().ok_or_else(|| io::Error::other("the process is gone"))
    }

    /// Its end, if that comes in time.
    pub(crate) fn ended_within(&mut self, patience: Duration) -> io::Result<Option<ExitStatus>> {
        let begun = Instant::now();
        loop {
            let status = self.child()?.try_wait()?;
            if status.is_some() || begun.elapsed() >= patience {
                return Ok(status);
            }
            std::thread::sleep(NAP);
        }
    }

    /// Asks it to stop, as Ctrl-C does.
    pub(crate) fn interrupt(&mut self) -> io::Result<()> {
        signal(self.child()?.id(), "-INT")
    }

    /// What it wrote; it has ended.
    pub(crate) fn output(mut self) -> io::Result<Output> {
        let child = self.0.take().ok_or_else(|| io::Error::other("the process is gone"))?;
        child.wait_with_output()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

pub(crate) fn signal(id: u32, name: &str) -> io::Result<()> {
    Command::new("kill").args([name, &id.to_string()]).stderr(Stdio::null()).status().map(drop)
}

/// A command of the binary whose output is kept.
pub(crate) fn skyhaul(binary: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(binary);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

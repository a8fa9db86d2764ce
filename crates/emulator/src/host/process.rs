//! A host as the emulation sees it.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;
use std::process::Stdio;

use rustix::io::{FdFlags, fcntl_setfd};
use tokio::process::{Child, Command};

use super::{HOST_COMMAND, HostSetup, TestbedError, messages};

/// A process that was told what to be.
pub(crate) struct HostProcess {
    child: Child,
    socket: OwnedFd,
}

/// Standard streams of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Streams {
    pub(crate) has_stdin: bool,
    pub(crate) is_captured: bool,
}

impl HostProcess {
    /// Starts `program` as a host. It is killed when this thread ends: see [`Testbed`](crate::Testbed).
    pub(crate) fn start(program: &Path, plan: &HostSetup, streams: Streams) -> Result<Self, TestbedError> {
        let cannot = |error: io::Error| {
            TestbedError::other(format!("the host {} cannot be started: {error}", plan.name))
        };
        let (socket, theirs) = messages::pair().map_err(cannot)?;
        fcntl_setfd(&theirs, FdFlags::empty()).map_err(|error| cannot(error.into()))?;
        let mut command = Command::new(program);
        command.arg(HOST_COMMAND).arg(theirs.as_raw_fd().to_string()).kill_on_drop(true);
        command.stdin(if streams.has_stdin { Stdio::inherit() } else { Stdio::null() });
        command.stdout(if streams.is_captured { Stdio::piped() } else { Stdio::inherit() });
        if plan.command.is_none() {
            // What a terminal sends to all of its programs is not for it.
            command.process_group(0);
        }
        let child = command.spawn().map_err(cannot)?;
        messages::send(&socket, plan, None).map_err(cannot)?;
        Ok(Self { child, socket })
    }

    /// Its device, when it has one.
    pub(crate) fn device(&self, name: &str) -> Result<OwnedFd, TestbedError> {
        match messages::receive::<Result<(), TestbedError>>(&self.socket) {
            Ok((Ok(()), Some(device))) => Ok(device),
            Ok((Err(error), _)) => Err(error),
            Ok((Ok(()), None)) => Err(TestbedError::other(format!("the host {name} has sent no device"))),
            Err(error) => Err(TestbedError::other(format!("the host {name} has failed: {error}"))),
        }
    }

    /// Its parts: the process, and what lets it begin, without which it ends.
    pub(crate) fn into_parts(self) -> (Child, Cue) {
        (self.child, Cue(self.socket))
    }
}

/// Lets a host begin with its command. A host without a command ends with it.
#[derive(Debug)]
pub(crate) struct Cue(OwnedFd);

impl Cue {
    pub(crate) fn give(&self) -> io::Result<()> {
        messages::send(&self.0, &(), None)
    }
}

//! The process of a host.

use std::io;
use std::os::fd::{AsFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::process::{Command, Stdio};

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Signal, set_parent_process_death_signal};

use super::supervise::{Charge, Supervisor};
use super::{
    Home, HostSetup, INIT_COMMAND, PARENT_VARIABLE, TERMINAL_FLAG, TestbedError, device, messages, namespaces,
};

const FAILED: u8 = 125;

/// Lives as a host, told what to be by what comes over the socket with this number, which the process was
/// started with; gives the exit code of its command. For a program's subcommand
/// [`HOST_COMMAND`](crate::HOST_COMMAND). The process must have one thread.
pub fn host_main(socket: RawFd) -> u8 {
    // As the emulation dies, so does this process: whatever happens.
    if set_parent_process_death_signal(Some(Signal::KILL)).is_err() {
        return FAILED;
    }
    match open(socket).and_then(|socket| live(&socket)) {
        Ok(code) => code,
        // The emulation is gone.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => 0,
        Err(error) => {
            eprintln!("skyhaul: a host of the emulation has failed: {error}");
            FAILED
        }
    }
}

#[expect(unsafe_code, reason = "a descriptor inherited from the parent has no safe owner")]
fn open(socket: RawFd) -> io::Result<OwnedFd> {
    if socket <= 2 || std::fs::symlink_metadata(format!("/proc/self/fd/{socket}")).is_err() {
        return Err(io::Error::other("this is not for people: `skyhaul emulate` starts it"));
    }
    // SAFETY: the descriptor is open, as was just seen, and nothing else in this process knows of it: it was
    // inherited.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
    Ok(socket)
}

fn live(socket: &OwnedFd) -> io::Result<u8> {
    let (plan, _): (HostSetup, _) = messages::receive(socket)?;
    match settle(&plan) {
        Ok(device) => messages::send(socket, &Ok::<(), TestbedError>(()), Some(device.as_fd()))?,
        Err(error) => {
            messages::send(socket, &Err::<(), _>(error), None)?;
            return Ok(FAILED);
        }
    }
    let ((), _) = messages::receive(socket)?;
    match &plan.command {
        Some(command) => run(&plan, command),
        None => messages::receive(socket).map(|((), _)| 0),
    }
}

/// Enters its home; the device in it.
fn settle(plan: &HostSetup) -> Result<OwnedFd, TestbedError> {
    match &plan.home {
        Home::New => namespaces::enter_new()?,
        Home::Existing { namespace: Some(name), .. } => namespaces::enter_existing(name)?,
        Home::Existing { namespace: None, .. } | Home::Device { .. } => {}
    }
    device::make(plan).map(OwnedFd::from).map_err(|error| match (&plan.home, error) {
        (Home::Existing { namespace: Some(name), .. }, TestbedError::Exists(text)) => {
            TestbedError::Exists(format!("in the namespace '{name}': {text}"))
        }
        (_, error) => error,
    })
}

fn run(plan: &HostSetup, command: &[String]) -> io::Result<u8> {
    namespaces::enclose_children()?;
    let mut init = Command::new("/proc/self/exe");
    init.args([INIT_COMMAND, &plan.name, &plan.hosts_file]);
    if plan.takes_terminal {
        init.arg(TERMINAL_FLAG);
    }
    init.arg("--").args(command);
    init.envs(plan.environment.iter().cloned()).stdin(Stdio::inherit());
    init.env(PARENT_VARIABLE, std::process::id().to_string());
    let supervisor = Supervisor::new()?;
    supervisor.supervise(init.spawn()?.id(), Charge::Init)
}

//! The first process of a process namespace: it dresses the host, runs the command, and takes everything with
//! it.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_change, unmount,
};
use rustix::process::{Pid, Signal, set_parent_process_death_signal};

use super::supervise::{Charge, Supervisor};
use crate::terminal;

/// Exit codes of a shell when there is no such command, and when it cannot be run.
const NOT_FOUND: u8 = 127;
const NOT_RUN: u8 = 126;

/// Runs `command` as the only thing in this process namespace, on a host called `name` that knows these names
/// of others; gives its exit code. `takes_terminal`: what is typed is for the command alone. For a program's
/// subcommand [`INIT_COMMAND`](crate::INIT_COMMAND).
pub fn init_main(name: &str, hosts_file: &str, takes_terminal: bool, command: &[String]) -> u8 {
    if set_parent_process_death_signal(Some(Signal::KILL)).is_err() {
        return NOT_RUN;
    }
    // Who dies before that is asked for sends no signal.
    if is_orphan(std::env::var(super::PARENT_VARIABLE).ok().as_deref()) {
        return NOT_RUN;
    }
    // An init that hears no SIGTERM yet loses it.
    let Ok(supervisor) = Supervisor::new() else { return NOT_RUN };
    let _ = rustix::system::sethostname(name.as_bytes());
    if let Err(error) = dress(hosts_file) {
        eprintln!("skyhaul: names of hosts do not resolve on {name} (addresses work): {error}");
    }
    let Some((program, arguments)) = command.split_first() else { return NOT_RUN };
    let mut command = Command::new(program);
    command.env_remove(super::PARENT_VARIABLE);
    if takes_terminal {
        command.process_group(0);
    }
    let child = match command.args(arguments).spawn() {
        Ok(child) => child,
        Err(error) => {
            eprintln!("skyhaul: '{program}' cannot be run on {name}: {error}");
            return if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { NOT_RUN };
        }
    };
    if let Some(leader) = Pid::from_raw(child.id() as i32).filter(|_| takes_terminal) {
        terminal::give(leader);
    }
    supervisor.supervise(child.id(), Charge::Command { has_terminal: takes_terminal }).unwrap_or(NOT_RUN)
}

/// True if the process that started this one is gone. In a process namespace of its own only the `/proc` from
/// outside knows: it must not have been replaced yet. What it does not say counts as no.
fn is_orphan(parent: Option<&str>) -> bool {
    let Ok(status) = fs::read_to_string("/proc/self/status") else { return false };
    let now = status.lines().find_map(|line| line.strip_prefix("PPid:")).map(str::trim);
    matches!((parent, now), (Some(parent), Some(now)) if parent != now)
}

/// The names of hosts, and the processes of this namespace, where programs look for them.
fn dress(hosts_file: &str) -> io::Result<()> {
    // What is mounted from here on is seen here alone.
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
    let done = name_hosts(hosts_file);
    // A container may forbid it; then tools like ps show the processes outside.
    let _ = mount("proc", "/proc", "proc", MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, None);
    done
}

/// Puts a file in memory over the system's: nothing has to be taken away later.
fn name_hosts(text: &str) -> io::Result<()> {
    let over = Path::new("/tmp");
    mount("skyhaul", over, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, None)?;
    let file = over.join("hosts");
    let done = fs::write(&file, text).and_then(|()| Ok(mount_bind(&file, "/etc/hosts")?));
    unmount(over, UnmountFlags::DETACH)?;
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_started_by_somebody_who_is_gone_is_an_orphan() {
        let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
        assert!(!is_orphan(Some(&parent.to_string())));
        assert!(is_orphan(Some("4194305")), "no process has such a number");
        assert!(!is_orphan(None), "nobody said who it was");
    }
}

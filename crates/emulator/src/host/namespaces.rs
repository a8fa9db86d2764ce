//! Entering namespaces.

use std::fs;
use std::io;
use std::os::fd::AsFd as _;

use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

use super::TestbedError;

/// Puts this process into a network, a mount and a host name namespace of its own: as root, or else in a user
/// namespace, in which this user is root. The process must have one thread.
pub(super) fn enter_new() -> Result<(), TestbedError> {
    let wanted = UnshareFlags::NEWNET | UnshareFlags::NEWNS | UnshareFlags::NEWUTS;
    match unshare(wanted) {
        Err(Errno::PERM) => enter_as_user(wanted),
        done => {
            done.map_err(|error| TestbedError::other(format!("a network namespace cannot be made: {error}")))
        }
    }
}

/// Puts the children of this process into a process namespace. It lasts for as long as the first of them.
pub(super) fn enclose_children() -> io::Result<()> {
    Ok(unshare(UnshareFlags::NEWPID)?)
}

fn enter_as_user(wanted: UnshareFlags) -> Result<(), TestbedError> {
    let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    unshare(wanted | UnshareFlags::NEWUSER).map_err(|error| not_permitted(&error))?;
    // Without the first, groups may not be mapped.
    let maps = [
        ("setgroups", "deny".to_string()),
        ("uid_map", format!("0 {uid} 1")),
        ("gid_map", format!("0 {gid} 1")),
    ];
    for (file, text) in maps {
        fs::write(format!("/proc/self/{file}"), text).map_err(|error| not_permitted(&error))?;
    }
    Ok(())
}

fn not_permitted(error: &dyn std::fmt::Display) -> TestbedError {
    TestbedError::NotPermitted(format!(
        "network namespaces need root, or user namespaces, which this system does not permit ({error}); be root, or \
         allow them: sysctl -w user.max_user_namespaces=10000 kernel.unprivileged_userns_clone=1 \
         kernel.apparmor_restrict_unprivileged_userns=0 (those of them that it has)"
    ))
}

#[expect(deprecated, reason = "what replaces it is unsafe for the sake of a flag that is not used here")]
fn unshare(flags: UnshareFlags) -> Result<(), Errno> {
    rustix::thread::unshare(flags)
}

/// Puts this process into the namespace that `ip netns` calls `name`.
pub(super) fn enter_existing(name: &str) -> Result<(), TestbedError> {
    let path = format!("/run/netns/{name}");
    let is_fit = !name.is_empty() && !name.contains('/') && name != "." && name != "..";
    let file = if is_fit { fs::File::open(&path) } else { Err(io::ErrorKind::NotFound.into()) };
    let file = file.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if !is_fit => TestbedError::Missing(format!(
            "'{name}' is no name of a network namespace; `ip netns` lists them"
        )),
        io::ErrorKind::NotFound => TestbedError::Missing(format!(
            "there is no network namespace '{name}' here; make it by: ip netns add {name}"
        )),
        _ => TestbedError::other(format!("{path}: {error}")),
    })?;
    move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network)).map_err(|error| match error {
        Errno::PERM => TestbedError::NotPermitted(format!(
            "this user may not enter the network namespace '{name}': be root"
        )),
        _ => TestbedError::other(format!("the network namespace '{name}' cannot be entered: {error}")),
    })
}

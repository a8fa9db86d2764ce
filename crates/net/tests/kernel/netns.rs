//! A network namespace of one's own, for tests and for the developer tool `tcp-perf`. It belongs to one
//! thread, and goes with it, however that ends.

use std::io;
use std::path::Path;
use std::process::Command;

use rustix::thread::UnshareFlags;

/// Puts this thread into a new namespace. There must be TUN devices.
pub(crate) fn enter() -> io::Result<()> {
    // Only the flag for files makes this unsafe: descriptors would differ between threads.
    #[expect(deprecated, reason = "what replaces it is unsafe for the sake of another flag")]
    let entered = rustix::thread::unshare(UnshareFlags::NEWNET);
    entered.map_err(|error| text(format!("a network namespace cannot be made: {error}: be root")))?;
    if Path::new("/dev/net/tun").exists() {
        return Ok(());
    }
    Err(text("there is no /dev/net/tun: load the kernel's module by: modprobe tun"))
}

/// Runs `ip` in this thread's namespace.
pub(crate) fn ip(arguments: &str) -> io::Result<()> {
    let output = Command::new("ip").args(arguments.split(' ')).output().map_err(|error| {
        let advice = "the command `ip` cannot be run (it is in the package iproute2)";
        io::Error::new(error.kind(), format!("{advice}: {error}"))
    })?;
    if output.status.success() {
        return Ok(());
    }
    Err(text(format!("ip {arguments}: {}", String::from_utf8_lossy(&output.stderr).trim())))
}

/// Sets a switch of this thread's namespace.
pub(crate) fn sysctl(name: &str, value: &str) -> io::Result<()> {
    std::fs::write(format!("/proc/sys/net/ipv4/{name}"), value).map_err(|e| text(format!("{name}: {e}")))
}

fn text(text: impl Into<String>) -> io::Error {
    io::Error::other(text.into())
}

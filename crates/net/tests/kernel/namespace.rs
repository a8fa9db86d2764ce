//! A network namespace for a test. It belongs to one thread, and goes with it, however that ends. (The tests of the
//! command line use this file, too.)

use std::io::{ErrorKind, Write as _};
use std::process::Command;
use std::thread;

use rustix::thread::UnshareFlags;

/// Runs `test` on a thread in a namespace of its own, after these commands of `ip`; skips it, aloud, where that is not
/// permitted or not possible.
pub(crate) fn inside(set_up: &'static [&'static str], test: impl FnOnce() + Send + 'static) {
    let name = thread::current().name().unwrap_or("a test").to_string();
    let work = move || {
        if !enter() || !set_up.iter().all(|command| ip(command)) {
            return skipped("a network namespace with a TUN device needs root, /dev/net/tun and `ip`");
        }
        test();
    };
    let thread = thread::Builder::new().name(name).spawn(work).unwrap();
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn enter() -> bool {
    // Only the flag for files makes this unsafe: descriptors would differ between threads.
    #[expect(deprecated, reason = "what replaces it is unsafe for the sake of another flag")]
    let entered = rustix::thread::unshare(UnshareFlags::NEWNET);
    entered.is_ok() && std::path::Path::new("/dev/net/tun").exists()
}

/// Runs `ip` in this namespace; false if there is no such command.
pub(crate) fn ip(arguments: &str) -> bool {
    match Command::new("ip").args(arguments.split(' ')).output() {
        Ok(output) if output.status.success() => true,
        Ok(output) => panic!("ip {arguments}: {}", String::from_utf8_lossy(&output.stderr)),
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => panic!("ip: {error}"),
    }
}

/// Says that a test was skipped: aloud, past the test harness, which hides what a passing test prints.
pub(crate) fn skipped(why: &str) {
    let test = thread::current().name().unwrap_or("a test").to_string();
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {why}");
}

//! A network namespace for a test, or word that there is none. (The tests of the command line use this file,
//! too.)

use std::io::{ErrorKind, Write as _};
use std::thread;

#[path = "netns.rs"]
pub(crate) mod netns;

/// Runs `test` on a thread in a namespace of its own, after these commands of `ip`; skips it, aloud, where
/// that is not permitted or not possible.
pub(crate) fn inside(set_up: &'static [&'static str], test: impl FnOnce() + Send + 'static) {
    let name = thread::current().name().unwrap_or("a test").to_string();
    let work = move || {
        if netns::enter().is_err() || !set_up.iter().all(|command| ip(command)) {
            return skipped("a network namespace with a TUN device needs root, /dev/net/tun and `ip`");
        }
        test();
    };
    let thread = thread::Builder::new().name(name).spawn(work).unwrap();
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Runs `ip` in this namespace; false if there is no such command.
pub(crate) fn ip(arguments: &str) -> bool {
    match netns::ip(arguments) {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => panic!("{error}"),
    }
}

/// Says that a test was skipped: aloud, past the test harness, which hides what a passing test prints.
pub(crate) fn skipped(why: &str) {
    let test = thread::current().name().unwrap_or("a test").to_string();
    // In one piece: the harness writes between the pieces of a line.
    let _ = std::io::stderr().write_all(format!("SKIPPED {test}: {why}\n").as_bytes());
}

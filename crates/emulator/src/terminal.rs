//! Owner of the terminal: what is typed there is for one group of processes at a time.

use std::io::IsTerminal as _;

use rustix::process::{Pid, Signal, getpgrp, kill_process_group};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

/// True if standard input is a terminal, and this process's.
pub(crate) fn is_ours() -> bool {
    let input = std::io::stdin();
    input.is_terminal() && tcgetpgrp(&input).is_ok_and(|group| group == getpgrp())
}

/// Gives the terminal to a process that leads a group of its own: what is typed is for it, Ctrl-C and Ctrl-\
/// included.
pub(crate) fn give(leader: Pid) {
    if tcsetpgrp(std::io::stdin(), leader).is_ok() {
        // It may have asked for it before it was given, and was stopped for that.
        let _ = kill_process_group(leader, Signal::CONT);
    }
}

/// Takes the terminal back.
pub(crate) fn take_back() {
    let _blocked = Blocked::new();
    let _ = tcsetpgrp(std::io::stdin(), getpgrp());
}

/// While this is there, SIGTTOU does not stop this thread, which is what a terminal does to others who want
/// it.
struct Blocked(libc::sigset_t);

impl Blocked {
    #[expect(unsafe_code, reason = "masks of signals have no safe wrapper")]
    fn new() -> Self {
        // SAFETY: all zeroes is a value of this plain structure; the calls write to sets that are here, and
        // keep no pointers. (There is no safe wrapper.)
        unsafe {
            let (mut set, mut before): (libc::sigset_t, libc::sigset_t) =
                (std::mem::zeroed(), std::mem::zeroed());
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, libc::SIGTTOU);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, &raw mut before);
            Self(before)
        }
    }
}

impl Drop for Blocked {
    #[expect(unsafe_code, reason = "masks of signals have no safe wrapper")]
    fn drop(&mut self) {
        // SAFETY: the set is one that the kernel wrote; it keeps no pointer.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut());
        }
    }
}

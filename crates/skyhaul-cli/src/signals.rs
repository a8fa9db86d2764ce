//! Ctrl-C, SIGTERM, and SIGHUP: a terminal that was closed.

use std::future::poll_fn;
use std::task::Poll;

use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};

/// Numbers of the signals that ask to stop.
const HANGUP: u8 = 1;
const INTERRUPT: u8 = 2;
const TERMINATE: u8 = 15;

/// Has a write beyond the largest size of a file (`ulimit -f`, `LimitFSIZE=`) fail as on a full disk, from
/// now on: the signal that comes with it would end the program.
pub(crate) fn let_writes_fail() {
    let _ = signal(SignalKind::from_raw(Signal::XFSZ.as_raw()));
}

/// Resolves when the user or the system asks to stop. What comes between this call and the waiting is heard:
/// whoever announces that something runs calls it before.
pub(crate) fn stop_requested() -> impl Future<Output = ()> {
    let signal = stop_signal();
    async {
        signal.await;
    }
}

/// Resolves as [`stop_requested`], with the number of the signal.
pub(crate) fn stop_signal() -> impl Future<Output = u8> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let hangup = (!ignores_hangup(&status)).then_some((SignalKind::hangup(), HANGUP));
    let all = [(SignalKind::interrupt(), INTERRUPT), (SignalKind::terminate(), TERMINATE)];
    let all = all.into_iter().chain(hangup);
    let mut heard: Vec<_> = all.filter_map(|(kind, number)| Some((signal(kind).ok()?, number))).collect();
    poll_fn(move |cx| {
        let number =
            heard.iter_mut().find_map(|(signal, number)| signal.poll_recv(cx).is_ready().then_some(*number));
        number.map_or(Poll::Pending, Poll::Ready)
    })
}

/// True if the first bit of the ignored signals, that of SIGHUP, is set in this `/proc/self/status`: the
/// program was started so, as by `nohup`.
fn ignores_hangup(status: &str) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_hangup_stays_ignored() {
        assert!(ignores_hangup("SigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\n"));
        assert!(!ignores_hangup("SigBlk:\t0000000000000001\nSigIgn:\t0000000000001000\n"));
        assert!(!ignores_hangup(""));
    }

    #[test]
    fn a_signal_before_the_waiting_is_heard() {
        let own = std::env::current_exe().unwrap();
        let alone = ["--exact", "signals::tests::who_asks_before_it_waits_hears", "--ignored"];
        let done = std::process::Command::new(own).args(alone).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        assert!(String::from_utf8_lossy(&done.stdout).contains("1 passed"), "{done:?}");
    }

    /// Where it fails the signal ends its process.
    #[test]
    #[ignore = "the test above runs it in a process of its own"]
    fn who_asks_before_it_waits_hears() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (asked, with_number) = (stop_requested(), stop_signal());
            rustix::process::kill_process(rustix::process::getpid(), Signal::TERM).unwrap();
            asked.await;
            assert_eq!(with_number.await, TERMINATE);
        });
    }
}

//! Ctrl-C, SIGTERM, and SIGHUP: a terminal that was closed.

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

/// Resolves when the user or the system asks to stop.
pub(crate) async fn stop_requested() {
    stop_signal().await;
}

/// Resolves as [`stop_requested`], with the number of the signal.
pub(crate) async fn stop_signal() -> u8 {
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => INTERRUPT,
        _ = terminate.recv() => TERMINATE,
        () = hung_up() => HANGUP,
    }
}

/// Resolves at SIGHUP, unless the program was started to ignore it, as `nohup` does: then never.
async fn hung_up() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if !ignores_hangup(&status)
        && let Ok(mut hangup) = signal(SignalKind::hangup())
    {
        hangup.recv().await;
    } else {
        std::future::pending::<()>().await;
    }
}

/// True if the first bit of the ignored signals, that of SIGHUP, is set in this `/proc/self/status`.
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
}

//! Waiting for a child, passing on what this process is asked to do.

use std::io;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, kill_process_group, wait};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;

/// The exit code of process `pid`, a child, when it has ended: 128 and the signal, if one ended it. All other
/// children that end are reaped. SIGTERM is passed on; what has not ended `grace` later is killed. What a
/// terminal sends to all of its programs is left to the child. `goes_on`: a child that is stopped, as by
/// Ctrl-Z, goes on, since nobody else could have it do so.
pub(super) fn supervise(pid: u32, grace: Duration, goes_on: bool) -> io::Result<u8> {
    let pid = Pid::from_raw(pid as i32).ok_or(io::ErrorKind::InvalidInput)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let [mut child, mut end, mut interrupt, mut hangup, mut quit] = [
            SignalKind::child(),
            SignalKind::terminate(),
            SignalKind::interrupt(),
            SignalKind::hangup(),
            SignalKind::quit(),
        ]
        .map(signal);
        let mut is_ending = false;
        loop {
            if let Some(code) = reap(pid, goes_on)? {
                return Ok(code);
            }
            let signals = [&mut child, &mut end, &mut interrupt, &mut hangup, &mut quit];
            let [child, end, interrupt, hangup, quit] = signals.map(|signal| async {
                match signal {
                    Ok(signal) => drop(signal.recv().await),
                    Err(_) => std::future::pending().await,
                }
            });
            tokio::select! {
                () = child => {}
                () = end => {
                    is_ending = true;
                    let _ = kill_process(pid, Signal::TERM);
                }
                () = interrupt => {}
                () = hangup => {}
                () = quit => {}
                () = sleep(grace), if is_ending => {
                    let _ = kill_process(pid, Signal::KILL);
                }
            }
        }
    })
}

/// Takes note of all children that have ended.
fn reap(pid: Pid, goes_on: bool) -> io::Result<Option<u8>> {
    let stopped_too = if goes_on { WaitOptions::UNTRACED } else { WaitOptions::empty() };
    while let Some((changed, status)) = wait(WaitOptions::NOHANG | stopped_too)? {
        if changed == pid && status.stopped() {
            let _ = kill_process_group(pid, Signal::CONT);
        } else if changed == pid {
            return Ok(Some(code(status)));
        }
    }
    Ok(None)
}

fn code(status: WaitStatus) -> u8 {
    let code = status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

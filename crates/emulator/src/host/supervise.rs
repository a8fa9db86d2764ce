//! Waiting for a child, passing on what this process is asked to do.

use std::io;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, kill_process_group, wait};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{self, SignalKind, signal};
use tokio::time::{Instant, sleep_until};

/// Time that a command may take to end when it was asked to.
const GRACE: Duration = Duration::from_secs(2);
/// The same for the init of a host: longer than it gives its own child.
const INIT_GRACE: Duration = Duration::from_secs(4);
/// Time after which an init is asked again.
const AGAIN: Duration = Duration::from_millis(100);

/// Child of a supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charge {
    /// First process of a namespace: asked to end until it has, since the kernel drops what it has no handler
    /// for yet.
    Init,
    /// Command of a host: asked once, since a second time is another request to some. One that
    /// `has_terminal` goes on when it is stopped, as by Ctrl-Z: nobody else could have it do so.
    Command { has_terminal: bool },
}

impl Charge {
    fn grace(self) -> Duration {
        if self == Self::Init { INIT_GRACE } else { GRACE }
    }

    /// Options of waiting for it.
    fn options(self) -> WaitOptions {
        let stopped_too = self == Self::Command { has_terminal: true };
        WaitOptions::NOHANG | if stopped_too { WaitOptions::UNTRACED } else { WaitOptions::empty() }
    }
}

/// End of a child that was asked to.
struct Ending {
    kill_at: Instant,
    /// When something is done about it next.
    next_at: Instant,
}

impl Ending {
    /// Asks the child to end.
    fn ask(pid: Pid, charge: Charge, now: Instant, kill_at: Instant) -> Self {
        let _ = kill_process(pid, Signal::TERM);
        let next_at = if charge == Charge::Init { kill_at.min(now + AGAIN) } else { kill_at };
        Self { kill_at, next_at }
    }

    /// Asks again, or kills.
    fn press(&self, pid: Pid, charge: Charge) -> Self {
        let now = Instant::now();
        if now < self.kill_at {
            return Self::ask(pid, charge, now, self.kill_at);
        }
        let _ = kill_process(pid, Signal::KILL);
        let kill_at = now + charge.grace();
        Self { kill_at, next_at: kill_at }
    }
}

/// What this process is asked to do, from the moment on at which this is made: before it has a child.
pub(super) struct Supervisor {
    runtime: Runtime,
    child: unix::Signal,
    end: unix::Signal,
}

impl Supervisor {
    pub(super) fn new() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let context = runtime.enter();
        let (child, end) = (signal(SignalKind::child())?, signal(SignalKind::terminate())?);
        // What a terminal sends to all of its programs is left to the child.
        for left in [SignalKind::interrupt(), SignalKind::hangup(), SignalKind::quit()] {
            drop(signal(left)?); // it is heard from now on, and nothing is done about it
        }
        drop(context);
        Ok(Self { runtime, child, end })
    }

    /// The exit code of process `pid`, a child, when it has ended: 128 and the signal, if one ended it. All
    /// other children that end are reaped. SIGTERM is passed on, the first one; what has not ended when its
    /// grace is over is killed, whatever else happens meanwhile.
    pub(super) fn supervise(self, pid: u32, charge: Charge) -> io::Result<u8> {
        let Self { runtime, mut child, mut end } = self;
        let pid = Pid::from_raw(pid as i32).ok_or(io::ErrorKind::InvalidInput)?;
        runtime.block_on(async {
            let mut ending: Option<Ending> = None;
            loop {
                if let Some(code) = reap(pid, charge)? {
                    return Ok(code);
                }
                let next_at = ending.as_ref().map(|ending| ending.next_at);
                let pressing = async {
                    match next_at {
                        Some(at) => sleep_until(at).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    _ = child.recv() => {}
                    _ = end.recv() => {
                        let now = Instant::now();
                        ending.get_or_insert_with(|| Ending::ask(pid, charge, now, now + charge.grace()));
                    }
                    () = pressing => ending = ending.map(|ending| ending.press(pid, charge)),
                }
            }
        })
    }
}

/// Takes note of all children that have ended.
fn reap(pid: Pid, charge: Charge) -> io::Result<Option<u8>> {
    while let Some((changed, status)) = wait(charge.options())? {
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

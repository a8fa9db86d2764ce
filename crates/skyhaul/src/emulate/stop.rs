//! When an emulation is to end.

use std::io::IsTerminal as _;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use crate::signals::stop_requested;

/// Resolves when the user or the system asks to stop, or when the time is over.
pub(super) async fn asked(duration_ns: Option<u64>) {
    tokio::select! {
        () = stop_requested() => {}
        () = over(duration_ns) => {}
    }
}

/// The same while a command has the terminal: what is typed there is for the command.
pub(super) async fn asked_beside_command(duration_ns: Option<u64>) {
    if !std::io::stdin().is_terminal() {
        return asked(duration_ns).await;
    }
    let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()), signal(SignalKind::hangup()))
    else {
        return std::future::pending().await;
    };
    let ignored = async {
        loop {
            interrupt.recv().await;
        }
    };
    tokio::select! {
        () = ignored => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
        () = over(duration_ns) => {}
    }
}

async fn over(duration_ns: Option<u64>) {
    match duration_ns {
        Some(ns) => tokio::time::sleep(Duration::from_nanos(ns)).await,
        None => std::future::pending().await,
    }
}

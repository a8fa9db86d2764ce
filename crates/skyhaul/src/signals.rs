//! Ctrl-C and SIGTERM.

use tokio::signal::unix::{SignalKind, signal};

/// Resolves when the user or the system asks to stop.
pub(crate) async fn stop_requested() {
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

//! End of an emulation.

use std::time::Duration;

use crate::signals::stop_signal;

/// Exit code of what was ended as its time was over, as timeout(1) has it.
const TIME_IS_OVER: u8 = 124;

/// Reason why an emulation is to end before its command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// `--duration` is over.
    Time,
    /// A signal with this number.
    Signal(u8),
}

impl Why {
    /// The exit code of a command that was ended like this.
    pub(super) fn exit_code(self) -> u8 {
        match self {
            Self::Time => TIME_IS_OVER,
            Self::Signal(number) => 128 + number,
        }
    }

    /// Name for people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Time => "duration",
            Self::Signal(_) => "signal",
        }
    }
}

/// Resolves when the user or the system asks to stop, from this call on, or when the time is over, from the
/// beginning of the waiting on.
pub(super) fn asked(duration_ns: Option<u64>) -> impl Future<Output = Why> {
    let signal = stop_signal();
    async move {
        tokio::select! {
            number = signal => Why::Signal(number),
            () = over(duration_ns) => Why::Time,
        }
    }
}

async fn over(duration_ns: Option<u64>) {
    match duration_ns {
        Some(ns) => tokio::time::sleep(Duration::from_nanos(ns)).await,
        None => std::future::pending().await,
    }
}

//! Work on runs that the user may stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;
use crate::output::note;
use crate::signals::stop_requested;

/// Does `work` on a thread of its own. When the user asks to stop, it is told by the flag and ends behind the
/// runs that are under way; when the user asks again, the process ends.
pub(crate) async fn stoppable<T: Send + 'static>(
    work: impl FnOnce(&AtomicBool) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    let mut work = tokio::task::spawn_blocking(move || work(&seen));
    let result = tokio::select! {
        result = &mut work => result,
        () = stop_requested() => {
            stop.store(true, Ordering::Relaxed);
            note("stopping when the runs that are under way are done; once more stops at once");
            tokio::select! {
                result = &mut work => result,
                // Finished runs are on the disk already, if there is a folder for them.
                () = stop_requested() => std::process::exit(1),
            }
        }
    };
    result.map_err(|error| Failure::new(format!("a defect: {error}")))?
}

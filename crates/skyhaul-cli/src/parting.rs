//! End of a sender that has every result, and whose receiver says nothing more.

use skyhaul_core::SECOND;
use skyhaul_net::{Clock, Monitor, Protocol};

use crate::known::KnownFiles;
use crate::progress::TICK;

/// Silence, in round trips and at least, after which the receiver's last words are not waited for: they are
/// lost, or it has ended, as it may once the sender has.
const SILENT_RTTS: u64 = 4;
const SILENT_NS: u64 = SECOND;

/// Ends when the result of every file is known, and nothing was heard for so long since.
pub(crate) async fn parted<P: Protocol>(known: &KnownFiles, monitor: Monitor<P>, clock: Clock) {
    let mut tick = tokio::time::interval(TICK);
    loop {
        tick.tick().await;
        let (Some(confirmed_at), Some(stats)) = (known.confirmed_at(), monitor.stats()) else { continue };
        let patience_ns = SILENT_NS.max(SILENT_RTTS * stats.rtt_smoothed_ns.unwrap_or(0));
        if clock.now().since(stats.last_heard.max(confirmed_at)) >= patience_ns {
            return;
        }
    }
}

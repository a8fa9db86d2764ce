//! Waiting times of a thread for the processor.

use std::convert::Infallible;
use std::time::Duration;

use skyhaul_core::MS;
use skyhaul_net::Clock;

/// Between two looks.
const NAP: Duration = Duration::from_millis(10);
/// The runtime's own timers may wake so much later.
const COARSE_NS: u64 = 2 * MS;

/// Notes how long this thread was ready and did not run, at most within a nap. Never ends by itself.
pub(crate) async fn watch_stalls(longest_ns: &mut u64) -> Infallible {
    let clock = Clock::start();
    let (mut waited_ns, mut before) = (waited(), clock.now());
    loop {
        tokio::time::sleep(NAP).await;
        let (waits_ns, now) = (waited(), clock.now());
        // A hypervisor that takes the processor away shows nowhere else.
        let late_ns = now.since(before).saturating_sub(NAP.as_nanos() as u64);
        let stood_ns = if late_ns > COARSE_NS { late_ns } else { 0 };
        *longest_ns = (*longest_ns).max(stood_ns).max(waits_ns.saturating_sub(waited_ns));
        (waited_ns, before) = (waits_ns, now);
    }
}

/// The kernel's count for this thread; 0 where it does not count.
fn waited() -> u64 {
    std::fs::read_to_string("/proc/thread-self/schedstat").map_or(0, |line| waited_ns(&line))
}

/// Time spent waiting in a run queue: the second number of a `schedstat`.
pub(crate) fn waited_ns(line: &str) -> u64 {
    line.split_whitespace().nth(1).and_then(|field| field.parse().ok()).unwrap_or_default()
}

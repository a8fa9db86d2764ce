//! Bound of files that fail by rate, of all sessions together: whoever likes can list tens of thousands in a
//! second, and each takes time that belongs to transfers which bring something.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::ready;
use std::time::Duration;

use skyhaul_core::Instant;
use skyhaul_files::Event;
use skyhaul_net::Clock;

use crate::allowance::Allowance;

/// Files that may fail at once: a quarter of the most files of a transfer.
const BURST_FILES: u64 = 16_384;
/// And then in each second.
const FILES_PER_S: u64 = 8192;

/// Files of all sessions that failed.
#[derive(Debug)]
pub(crate) struct Refusals(RefCell<Allowance>);

/// A session's part: true since a file of it failed, until it has rested for that.
#[derive(Debug, Default)]
pub(crate) struct HasRefused(Cell<bool>);

impl Default for Refusals {
    fn default() -> Self {
        Self(RefCell::new(Allowance::new(BURST_FILES, FILES_PER_S)))
    }
}

impl Refusals {
    /// Takes what a session tells.
    pub(crate) fn observe(&self, event: &Event<'_>, session: &HasRefused, now: Instant) {
        if matches!(event, Event::Settled { report, .. } if report.failure().is_some()) {
            self.0.borrow_mut().spend(1, now);
            session.0.set(true);
        }
    }

    /// Does the work of a session, which rests where files fail faster than they may, if one of its own is
    /// among them. What is not read meanwhile keeps its sender's window closed.
    pub(crate) async fn paced<T>(
        &self,
        session: &HasRefused,
        clock: Clock,
        work: impl Future<Output = T>,
    ) -> T {
        let (mut work, mut rest) = (pin!(work), pin!(tokio::time::sleep(Duration::ZERO)));
        let mut rests = false;
        poll_fn(|cx| {
            if session.0.take() {
                let wait_ns = self.0.borrow_mut().wait_ns(clock.now());
                rests = wait_ns > 0;
                rest.as_mut().reset(tokio::time::Instant::now() + Duration::from_nanos(wait_ns));
            }
            if rests {
                ready!(rest.as_mut().poll(cx));
                rests = false;
            }
            work.as_mut().poll(cx)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use skyhaul_files::{FileReport, RawName, Side};

    use super::*;

    /// Time that a session takes whose files fail one by one.
    async fn failing(refusals: &Refusals, files: u64, clock: Clock) -> Duration {
        let report = FileReport::unfinished(RawName::new("x"), 1, Side::Receiver);
        let (session, begun) = (HasRefused::default(), clock.now());
        let work = async {
            for file in 0..files as u32 {
                refusals.observe(&Event::Settled { file, report: &report }, &session, clock.now());
                if file % 256 == 0 {
                    tokio::task::yield_now().await;
                }
            }
        };
        refusals.paced(&session, clock, work).await;
        Duration::from_nanos(clock.now().since(begun))
    }

    #[tokio::test]
    async fn files_that_fail_are_taken_at_a_bounded_rate_and_who_has_none_never_rests() {
        let (refusals, clock) = (Refusals::default(), Clock::start());
        let more = FILES_PER_S / 2;
        let took = failing(&refusals, BURST_FILES + more, clock).await;
        assert!(took >= Duration::from_millis(450), "{took:?}");
        // Behind it, whose turn cost the last of it: a session whose files do not fail.
        let (session, begun) = (HasRefused::default(), clock.now());
        refusals.paced(&session, clock, tokio::task::yield_now()).await;
        assert!(clock.now().since(begun) < 100_000_000, "it rested");
    }
}

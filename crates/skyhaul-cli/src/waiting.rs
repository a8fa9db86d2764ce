//! Waiting for a receiver that is there and has no room.

use std::net::SocketAddr;
use std::time::Duration;

use skyhaul_core::{Instant, SECOND};
use skyhaul_net::Clock;

use crate::output::note;
use crate::signals::stop_requested;

/// Time between two tries: whoever has a place without need loses it within a few seconds. A golden section
/// of one, so that tries fall into all parts of it: whoever asked once a second could meet a receiver always
/// when others had just taken every place, which they lose a second later.
const INTERVAL: Duration = Duration::from_millis(618);

/// Patience with a receiver that has no room.
#[derive(Debug)]
pub(crate) struct Waiting {
    clock: Clock,
    /// Option that sets the limit, where there is one.
    option: Option<&'static str>,
    limit_ns: Option<u64>,
    since: Option<Instant>,
    /// When the try under way began.
    begun: Instant,
    /// Time of tries that found no room, and until the next ones.
    waited_ns: u64,
}

impl Waiting {
    /// Waits for so long from the first refusal on, which the option sets, if there is one; `None`: for ever.
    pub(crate) fn new(limit_ns: Option<u64>, option: Option<&'static str>) -> Self {
        Self { clock: Clock::start(), option, limit_ns, since: None, begun: Instant::ZERO, waited_ns: 0 }
    }

    /// Takes in that a try begins. Result: for how long the receiver has been without room before it.
    pub(crate) fn begin(&mut self) -> u64 {
        self.begun = self.clock.now();
        self.waited_ns
    }

    /// True if the receiver may be asked again; the first time, the user is told.
    pub(crate) fn may_ask_again(&mut self, peer: SocketAddr) -> bool {
        let now = self.clock.now();
        let Some(since) = self.since else {
            self.since = Some(now);
            note(&format!("{peer} has no room for another transfer yet; {}", self.patience()));
            return true;
        };
        self.limit_ns.is_none_or(|limit_ns| now.since(since) < limit_ns)
    }

    fn patience(&self) -> String {
        let option = self.option.map(|option| format!(" ({option} sets that)")).unwrap_or_default();
        match self.limit_ns {
            Some(ns) => format!("asking again for {} s{option}", ns.div_ceil(SECOND)),
            None => "asking again".into(),
        }
    }

    /// Waits until it is time to ask again; false if the user ended that.
    pub(crate) async fn is_over(&mut self) -> bool {
        let is_over = tokio::select! {
            () = tokio::time::sleep(INTERVAL) => true,
            () = stop_requested() => false,
        };
        self.waited_ns += self.clock.now().since(self.begun);
        is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_again_meets_every_part_of_a_second_soon() {
        // Places are free for a quarter of each second, whichever that is.
        for free_from_ms in 0..1000 {
            let asked_ms = |tries: u64| tries * INTERVAL.as_millis() as u64;
            assert!(
                (0..5).any(|tries| (asked_ms(tries) + 1000 - free_from_ms) % 1000 < 250),
                "{free_from_ms}"
            );
        }
    }
}

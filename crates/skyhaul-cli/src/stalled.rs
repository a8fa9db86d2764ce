//! A transfer that stands still while the receiver is there: its window stays closed, it never says what
//! became of files, or the disk here gives none.

use std::cell::Cell;
use std::net::SocketAddr;

use skyhaul_core::{Instant, Limit, LimitTimes, SECOND, Stats};
use skyhaul_files::Event;
use skyhaul_net::{Clock, Monitor, Protocol};

use crate::errors::ErrorCode;
use crate::failure::Failure;
use crate::progress::TICK;

/// Silence that no interval of questions explains: idle connections ask once in 20 s, or 60 s [profile
/// paper].
const OUTAGE_NS: u64 = 90 * SECOND;

/// What shows that a transfer goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Progress {
    acknowledged_bytes: u64,
    /// Payload written to the stream.
    written_bytes: u64,
    /// Results of files, and requests for chunks.
    answers: u64,
}

/// Patience with a peer that answers and takes nothing.
#[derive(Debug)]
struct Patience {
    limit_ns: u64,
    progress: Progress,
    since: Instant,
    /// Silence of the peer when it was last looked at.
    silent_ns: u64,
    /// Time that the connection had booked in all, and at `since`.
    booked: Booked,
    booked_then: Booked,
}

/// Time that a connection has booked.
#[derive(Clone, Copy, Debug, Default)]
struct Booked {
    /// Without an answer.
    unanswered_ns: u64,
    /// In which what was lost went again.
    lossy_ns: u64,
}

impl Booked {
    fn of(limits: &LimitTimes) -> Self {
        let lossy_ns = limits.spent_ns(Limit::Losses) + limits.spent_ns(Limit::Overflow);
        Self { unanswered_ns: limits.spent_ns(Limit::Outage), lossy_ns }
    }
}

impl Patience {
    /// None was needed yet.
    fn new(limit_ns: u64, since: Instant) -> Self {
        let progress = Progress::default();
        let (booked, booked_then) = Default::default();
        Self { limit_ns, progress, since, silent_ns: 0, booked, booked_then }
    }

    /// True if the connection called most of the time without progress an outage: nothing arrived there,
    /// though something came from there.
    fn was_unanswered(&self) -> bool {
        // Less than before where what was taken for an outage was none.
        self.is_most(|booked| booked.unanswered_ns)
    }

    /// True if most of the time without progress went into what was lost: the receiver tells so, and takes
    /// what arrives.
    fn was_lossy(&self) -> bool {
        self.is_most(|booked| booked.lossy_ns)
    }

    fn is_most(&self, of: impl Fn(&Booked) -> u64) -> bool {
        of(&self.booked).saturating_sub(of(&self.booked_then)) > self.limit_ns / 2
    }

    /// True if nothing went on for too long. A silent peer is the connection's matter, and one that was
    /// silent for half of the time is given the other half when it is back.
    fn is_over(&mut self, progress: Progress, silent_ns: u64, now: Instant) -> bool {
        let half_ns = self.limit_ns / 2;
        if progress != self.progress {
            (self.progress, self.since, self.booked_then) = (progress, now, self.booked);
        } else if self.silent_ns >= half_ns.max(OUTAGE_NS) && silent_ns < self.silent_ns {
            self.since = self.since.max(now.before(self.limit_ns - half_ns));
        }
        self.silent_ns = silent_ns;
        silent_ns < half_ns && now.since(self.since) >= self.limit_ns
    }
}

/// Transfer that stood still while the receiver was there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stalled {
    limit_ns: u64,
    waits_for: WaitsFor,
}

/// What a transfer that stands still waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitsFor {
    /// The receiver has everything that was written.
    Results,
    /// The receiver takes nothing.
    Window,
    /// Files here are being read.
    Reading,
    /// Nothing arrives at the receiver, by whose questions it is still there.
    Way,
    /// What is sent is lost on the way to the receiver, which tells so.
    Lost,
}

impl Stalled {
    /// What is said of it. `option`: what sets the time, if anything does.
    pub(crate) fn failure(self, peer: SocketAddr, option: Option<&str>) -> Failure {
        let time = option.map_or_else(String::new, |option| format!(" ({option} sets the time)"));
        let seconds = self.limit_ns.div_ceil(SECOND);
        let (what, where_to_look) = match self.waits_for {
            WaitsFor::Results => (
                format!(
                    "it has everything that was sent, but has not told the result of any file for {seconds} s"
                ),
                "the receiver and its disk",
            ),
            WaitsFor::Window => {
                (format!("it answers, but has taken nothing for {seconds} s"), "the receiver and its disk")
            }
            WaitsFor::Way => {
                let message = format!(
                    "sending to {peer} failed: it is heard, but has answered nothing for {seconds} s: what is sent does \
                     not arrive there; send again when the link is back{time}"
                );
                return Failure::of(ErrorCode::GaveUp, message);
            }
            WaitsFor::Lost => {
                let message = format!(
                    "sending to {peer} failed: it answers, but nothing more of the files has got through for {seconds} s: \
                     their packets are lost on the way; send again, and if that ends alike with --mtu 500: larger ones \
                     may vanish there{time}"
                );
                return Failure::of(ErrorCode::GaveUp, message);
            }
            WaitsFor::Reading => (
                format!("nothing more of the files here could be read for {seconds} s"),
                "the disk they are on",
            ),
        };
        Failure::of(
            ErrorCode::Stalled,
            format!("sending to {peer} failed: {what}; look at {where_to_look}, then send again{time}"),
        )
    }
}

/// Watcher of a sending session.
pub(crate) struct StallWatch<P: Protocol> {
    monitor: Monitor<P>,
    clock: Clock,
    limit_ns: Option<u64>,
    written_bytes: Cell<u64>,
    answers: Cell<u64>,
    is_reading: Cell<bool>,
}

impl<P: Protocol> StallWatch<P> {
    /// Watches for so long a time without progress; `None`: never ends.
    pub(crate) fn new(monitor: Monitor<P>, clock: Clock, limit_ns: Option<u64>) -> Self {
        let (written_bytes, answers, is_reading) = Default::default();
        Self { monitor, clock, limit_ns, written_bytes, answers, is_reading }
    }

    /// Takes what the session tells.
    pub(crate) fn observe(&self, event: &Event<'_>) {
        match event {
            Event::Moved { bytes, .. } => self.written_bytes.set(*bytes),
            Event::Settled { .. } | Event::Again { .. } => self.answers.set(self.answers.get() + 1),
            Event::Reading => self.is_reading.set(true),
            Event::Read => self.is_reading.set(false),
            _ => {}
        }
    }

    /// Ends when the transfer has stood still for too long.
    pub(crate) async fn stalled(&self) -> Stalled {
        let Some(limit_ns) = self.limit_ns else { return std::future::pending().await };
        let since = self.clock.now();
        let mut patience = Patience::new(limit_ns, since);
        let mut tick = tokio::time::interval(TICK);
        loop {
            tick.tick().await;
            let (now, Some(stats)) = (self.clock.now(), self.monitor.stats()) else { continue };
            let limits = stats.limits.map(|limits| limits.until(now));
            patience.booked = limits.map_or_else(Booked::default, |limits| Booked::of(&limits));
            // Nobody there yet: an opening has a patience of its own.
            if stats.received_packets > 0
                && patience.is_over(self.progress(&stats), now.since(stats.last_heard), now)
            {
                let waits_for = match self.waits_for(&stats) {
                    _ if patience.was_unanswered() => WaitsFor::Way,
                    WaitsFor::Window if patience.was_lossy() => WaitsFor::Lost,
                    other => other,
                };
                return Stalled { limit_ns, waits_for };
            }
        }
    }

    fn waits_for(&self, stats: &Stats) -> WaitsFor {
        match stats.acknowledged_bytes >= self.written_bytes.get() {
            true if self.is_reading.get() => WaitsFor::Reading,
            true => WaitsFor::Results,
            false => WaitsFor::Window,
        }
    }

    fn progress(&self, stats: &Stats) -> Progress {
        let acknowledged_bytes = stats.acknowledged_bytes;
        Progress { acknowledged_bytes, written_bytes: self.written_bytes.get(), answers: self.answers.get() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT_S: u64 = 600;

    /// Seconds after which patience is over, of a peer that is silent and makes progress as these say.
    fn over_after(silent_s: impl Fn(u64) -> u64, acknowledged_bytes: impl Fn(u64) -> u64) -> Option<u64> {
        let mut patience = Patience::new(LIMIT_S * SECOND, Instant::ZERO);
        (0..10_000).find(|&s| {
            let progress = Progress { acknowledged_bytes: acknowledged_bytes(s), ..Progress::default() };
            patience.is_over(progress, silent_s(s) * SECOND, Instant::from_ns(s * SECOND))
        })
    }

    #[test]
    fn who_answers_and_takes_nothing_is_given_up() {
        assert_eq!(over_after(|_| 0, |_| 0), Some(LIMIT_S));
        assert_eq!(over_after(|s| s % 60, |_| 0), Some(LIMIT_S), "asked once a minute");
        assert_eq!(over_after(|_| 0, |s| s.min(1000)), Some(1000 + LIMIT_S));
    }

    #[test]
    fn a_short_patience_ends_although_the_peer_is_asked_rarely() {
        let progress = Progress::default();
        let mut patience = Patience::new(30 * SECOND, Instant::ZERO);
        let over =
            (0..100).find(|s| patience.is_over(progress, s % 20 * SECOND, Instant::from_ns(s * SECOND)));
        assert_eq!(over, Some(30));
    }

    /// With a patience of 20 s a receiver's question of each 20 s, by the way that was left, decided what was
    /// said of a link that was gone: "it answers".
    #[test]
    fn who_asks_but_answers_nothing_is_no_receiver_that_takes_nothing() {
        for (gone_from_s, is_way) in [(2, true), (15, false)] {
            let mut patience = Patience::new(20 * SECOND, Instant::ZERO);
            let over = (0..100).find(|&s: &u64| {
                patience.booked.unanswered_ns = s.saturating_sub(gone_from_s) * SECOND;
                let progress = Progress { acknowledged_bytes: s.min(1), ..Progress::default() };
                patience.is_over(progress, s % 20 * SECOND, Instant::from_ns(s * SECOND))
            });
            assert_eq!((over, patience.was_unanswered()), (Some(21), is_way));
        }
    }

    /// What a connection calls an outage it may call something else later.
    #[test]
    fn time_that_was_no_outage_after_all_counts_for_none() {
        let mut patience = Patience::new(20 * SECOND, Instant::ZERO);
        patience.booked.unanswered_ns = 5 * SECOND;
        let progress = Progress { acknowledged_bytes: 1, ..Progress::default() };
        assert!(!patience.is_over(progress, 0, Instant::from_ns(6 * SECOND)));
        patience.booked.unanswered_ns = 0;
        assert!(patience.is_over(progress, 0, Instant::from_ns(26 * SECOND)) && !patience.was_unanswered());
    }

    #[test]
    fn what_is_lost_for_most_of_the_time_is_not_what_a_receiver_does_not_take() {
        let mut patience = Patience::new(20 * SECOND, Instant::ZERO);
        let lossy = |s| Booked { lossy_ns: s * SECOND, ..Booked::default() };
        patience.booked = lossy(30);
        assert!(!patience.is_over(
            Progress { acknowledged_bytes: 1, ..Progress::default() },
            0,
            Instant::ZERO
        ));
        patience.booked = lossy(39);
        assert!(!patience.was_lossy(), "what was lost before it stood still does not count");
        patience.booked = lossy(41);
        assert!(patience.was_lossy() && !patience.was_unanswered());
    }

    #[test]
    fn the_slowest_progress_is_enough() {
        assert_eq!(over_after(|_| 0, |s| s / (LIMIT_S - 1)), None);
    }

    #[test]
    fn silence_is_not_counted_against_a_peer_that_is_back() {
        // Gone from 10 s to 599 s; then everything must begin again, which takes some seconds.
        let silent = |s: u64| if (10..599).contains(&s) { s - 10 } else { 0 };
        assert_eq!(over_after(silent, |s| if s < 10 { s } else { 10 + s.saturating_sub(620) }), None);
        let stalled = over_after(silent, |s| s.min(10)).unwrap();
        assert!((LIMIT_S + LIMIT_S / 2 - 2..=LIMIT_S + LIMIT_S / 2).contains(&stalled), "{stalled}");
        assert_eq!(over_after(|s| s, |_| 0), None, "the connection gives that up");
    }

    /// SCPS-TP has no option for it: none is advised.
    #[test]
    fn the_option_that_sets_the_time_is_named_where_there_is_one() {
        let peer = SocketAddr::from(([192, 0, 2, 1], 4700));
        for waits_for in
            [WaitsFor::Results, WaitsFor::Window, WaitsFor::Reading, WaitsFor::Way, WaitsFor::Lost]
        {
            let said =
                |option| Stalled { limit_ns: 600 * SECOND, waits_for }.failure(peer, option).to_string();
            assert!(said(Some("--give-up")).ends_with(" (--give-up sets the time)"), "{waits_for:?}");
            assert!(!said(None).contains("--give-up"), "{waits_for:?}");
        }
    }
}

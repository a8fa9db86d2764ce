//! Others on the path, by what trains show and what is lost: a queue that is too short to be seen waiting in,
//! or one that drops early, tells of them by nothing else.

use skyhaul_core::Instant;

/// Packets over which what arrives is averaged: how many of a few arrive between two marks is chance.
const AVERAGED_PACKETS: f64 = 16.0;

/// Evidence of late that others have a part of the path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sharing {
    /// Rate in bit/s that arrives, on average over some packets.
    arrived_bps: Option<f64>,
    /// Time of the last report of which no train showed much more than is ours.
    had_all_at: Option<Instant>,
    /// Time of the last train that showed much more.
    had_part_at: Option<Instant>,
    /// Time of the last of those, but for such that were told of while we held back.
    doubted_at: Option<Instant>,
    /// Time of the last report that missed more than may be noise beside others.
    lost_at: Option<Instant>,
    /// True while trains show for long that others have much, and packets are lost.
    is_taken: bool,
    /// True while others are there, and until what they left is ours.
    is_shared: bool,
}

/// What a report says of others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    /// True if it ended a train.
    pub(super) is_train: bool,
    /// True if what arrives is about all that the last train showed.
    pub(super) has_all: bool,
    /// True if it misses more than may be noise beside others.
    pub(super) has_lost: bool,
    /// True if what arrives is less than that as less was sent: a queue is emptied.
    pub(super) holds_back: bool,
}

impl Sharing {
    /// True while others have a part of the path, or have left one that is not ours yet.
    pub(super) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// True while others have much of what trains show, and what is lost is lost to them.
    pub(super) fn is_taken(&self) -> bool {
        self.is_taken
    }

    /// True while the last train has shown much more than is ours, however short the time, although we did
    /// not hold back: who empties a queue of its own leaves the rest to nobody.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.doubted_at > self.had_all_at
    }

    /// Rate in bit/s that arrives, on average over some packets; `None`: nothing has.
    pub(super) fn arrived_bps(&self) -> Option<f64> {
        self.arrived_bps
    }

    /// Takes in the rate at which so many packets arrived between two marks.
    pub(super) fn arrived(&mut self, bps: f64, packets: u64) {
        let before_bps = self.arrived_bps.unwrap_or(bps);
        let weight = (packets as f64 / AVERAGED_PACKETS).min(1.0);
        self.arrived_bps = Some(before_bps + (bps - before_bps) * weight);
    }

    /// Takes in a report. What it says has to have held for `patience_ns`.
    pub(super) fn saw(&mut self, now: Instant, evidence: Evidence, patience_ns: u64) {
        if evidence.has_lost {
            self.lost_at = Some(now);
        }
        if evidence.has_all || self.had_all_at.is_none() {
            self.had_all_at = Some(now);
        }
        if evidence.is_train && !evidence.has_all {
            self.had_part_at = Some(now);
            if !evidence.holds_back {
                self.doubted_at = Some(now);
            }
        }
        let is_within = |at: Option<Instant>| at.is_some_and(|at| now.since(at) <= patience_ns);
        self.is_taken = !is_within(self.had_all_at) && is_within(self.had_part_at) && is_within(self.lost_at);
    }

    /// Takes in whether anything else says now that others are there, whether what the path carries for us
    /// is all of it, and whether it carried all of late without a queue: then nobody is there.
    pub(super) fn conclude(&mut self, are_there: bool, is_all_ours: bool, is_loose: bool) {
        let may_be_there = are_there || self.is_shared && !is_all_ours;
        self.is_shared = self.is_taken || may_be_there && !is_loose;
    }

    /// Forgets what was seen but that a claim goes on: it may be another path now.
    pub(super) fn forget(&mut self, is_claiming: bool) {
        *self = Self { is_shared: is_claiming, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use skyhaul_core::MS;

    use super::*;

    #[test]
    fn one_report_of_few_packets_does_not_say_that_all_is_ours() {
        let mut sharing = Sharing::default();
        assert_eq!(sharing.arrived_bps(), None);
        for bps in [1e6, 1e6, 9e6] {
            sharing.arrived(bps, 2);
        }
        assert_eq!(sharing.arrived_bps(), Some(2e6));
        (0..24).for_each(|_| sharing.arrived(9e6, 2));
        assert!(sharing.arrived_bps().unwrap() > 8.5e6, "what lasts counts");
        sharing.arrived(1e6, 20);
        assert_eq!(sharing.arrived_bps(), Some(1e6), "many packets tell at once");
    }

    #[test]
    fn losses_are_others_where_trains_show_for_long_that_they_have_the_rest() {
        const PATIENCE_NS: u64 = 600 * MS;
        let mut sharing = Sharing::default();
        let mut saw = |at_ms: u64, is_train, has_all, has_lost| {
            sharing.saw(
                Instant::from_ns(at_ms * MS),
                Evidence { is_train, has_all, has_lost, holds_back: false },
                PATIENCE_NS,
            );
            sharing.is_taken()
        };
        assert!(!saw(0, true, true, true));
        assert!(!saw(600, true, false, true), "not for long");
        assert!(saw(700, false, false, true));
        assert!(saw(1200, false, false, false), "of late");
        assert!(!saw(1300, false, false, true), "no train tells any more");
        assert!(saw(1400, true, false, false));
        assert!(!saw(2000, true, false, false), "nothing is lost");
        assert!(saw(2100, true, false, true));
        assert!(!saw(2200, true, true, true), "all is ours");
    }

    #[test]
    fn who_empties_a_queue_of_its_own_has_nobody_beside_it() {
        let mut sharing = Sharing::default();
        let mut doubts = |at_ms: u64, has_all, holds_back| {
            let evidence = Evidence { is_train: true, has_all, has_lost: false, holds_back };
            sharing.saw(Instant::from_ns(at_ms * MS), evidence, 600 * MS);
            sharing.is_in_doubt()
        };
        assert!(!doubts(0, true, false));
        assert!(!doubts(100, false, true), "we sent less than we may");
        assert!(doubts(200, false, false), "somebody has the rest");
        assert!(doubts(300, false, true), "and still has");
        assert!(!doubts(400, true, true), "it is ours");
    }
}

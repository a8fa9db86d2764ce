//! What BBR knows of the path: round trips, bandwidth, the shortest round trip, how acknowledgements bunch.

use alloc::collections::VecDeque;

use skyhaul_core::{Instant, MS, SECOND};

use crate::Delivery;

/// Round trips over which the highest bandwidth is remembered: a cycle of gains and two more.
const BANDWIDTH_ROUNDS: u64 = 10;
/// Round trips of each of the two windows in which acknowledgements are seen to bunch.
const BUNCH_ROUNDS: u64 = 5;
/// A bunch is allowed for up to so much time.
const MAX_BUNCH_NS: u64 = 100 * MS;
/// Beyond this, the count of a bunch begins anew.
const MAX_BUNCH_SEGMENTS: u64 = 1 << 20;

/// `bytes_per_s` over `ns`, in bytes.
pub(super) fn bytes_in(bytes_per_s: u64, ns: u64) -> u64 {
    let bytes = u128::from(bytes_per_s) * u128::from(ns) / u128::from(SECOND);
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Round trips told by packets: one ends when a packet sent after its start is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    pub(super) count: u64,
    /// This acknowledgement begins one.
    pub(super) is_start: bool,
    ends_at_bytes: u64,
}

impl Rounds {
    pub(super) fn update(&mut self, prior_total_bytes: u64, total_bytes: u64) {
        self.is_start = prior_total_bytes >= self.ends_at_bytes;
        if self.is_start {
            self.restart(total_bytes);
            self.count += 1;
        }
    }

    /// The running round trip begins here.
    pub(super) fn restart(&mut self, total_bytes: u64) {
        self.ends_at_bytes = total_bytes;
    }
}

/// The highest of the last [`BANDWIDTH_ROUNDS`] round trips.
#[derive(Clone, Debug, Default)]
pub(super) struct Bandwidth {
    /// (round, bytes per second), rising and falling: at most one of each round.
    samples: VecDeque<(u64, u64)>,
}

impl Bandwidth {
    pub(super) fn insert(&mut self, round: u64, bytes_per_s: u64) {
        while self.samples.back().is_some_and(|&(_, lower)| lower <= bytes_per_s) {
            self.samples.pop_back();
        }
        if self.samples.back().is_none_or(|&(last, _)| last < round) {
            self.samples.push_back((round, bytes_per_s));
        }
        while self.samples.front().is_some_and(|&(first, _)| first + BANDWIDTH_ROUNDS < round) {
            self.samples.pop_front();
        }
    }

    pub(super) fn max_bytes_per_s(&self) -> u64 {
        self.samples.front().map_or(0, |&(_, bytes_per_s)| bytes_per_s)
    }
}

/// How much more than the bandwidth says arrives at once: the window allows for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bunching {
    since: Instant,
    bytes: u64,
    /// The most of the running window of round trips and of the one before.
    extra_bytes: [u64; 2],
    rounds: u64,
}

impl Bunching {
    pub(super) fn new(now: Instant) -> Self {
        Self { since: now, bytes: 0, extra_bytes: [0; 2], rounds: 0 }
    }

    /// Sending starts again.
    pub(super) fn restart(&mut self, now: Instant) {
        (self.since, self.bytes) = (now, 0);
    }

    pub(super) fn update(
        &mut self,
        now: Instant,
        delivery: &Delivery,
        round_starts: bool,
        bytes_per_s: u64,
        cwnd_bytes: u64,
        mss_bytes: u64,
    ) {
        if round_starts {
            self.rounds += 1;
            if self.rounds >= BUNCH_ROUNDS {
                self.rounds = 0;
                self.extra_bytes = [0, self.extra_bytes[0]];
            }
        }
        let mut expected_bytes = bytes_in(bytes_per_s, now.since(self.since));
        let is_long = self.bytes + delivery.newly_bytes >= MAX_BUNCH_SEGMENTS * mss_bytes;
        if self.bytes <= expected_bytes || is_long {
            self.restart(now);
            expected_bytes = 0;
        }
        self.bytes += delivery.newly_bytes;
        let extra_bytes = (self.bytes - expected_bytes).min(cwnd_bytes);
        self.extra_bytes[0] = self.extra_bytes[0].max(extra_bytes);
    }

    /// What to add to the window.
    pub(super) fn allowance_bytes(&self, bytes_per_s: u64) -> u64 {
        self.extra_bytes[0].max(self.extra_bytes[1]).min(bytes_in(bytes_per_s, MAX_BUNCH_NS))
    }
}

/// Whether the path is full: its bandwidth has stopped growing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    pub(super) is_reached: bool,
    bytes_per_s: u64,
    rounds: u32,
}

impl FullPipe {
    /// Three round trips in a row without a quarter more.
    pub(super) fn update(&mut self, max_bytes_per_s: u64) {
        if u128::from(max_bytes_per_s) * 4 >= u128::from(self.bytes_per_s) * 5 {
            (self.bytes_per_s, self.rounds) = (max_bytes_per_s, 0);
        } else {
            self.rounds += 1;
            self.is_reached = self.rounds >= 3;
        }
    }

    /// After a timeout, growth is measured anew.
    pub(super) fn forget(&mut self) {
        self.bytes_per_s = 0;
    }
}

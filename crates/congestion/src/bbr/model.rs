//! Model of the path: round trips, bandwidth, the shortest round trip, how acknowledgements bunch.

use alloc::collections::VecDeque;

use skyhaul_core::{Instant, MS, SECOND};

use crate::Delivery;

/// Round trips over which the highest bandwidth is remembered: a cycle of gains and two more.
const BANDWIDTH_ROUNDS: u64 = 10;
/// Round trips of each of the two windows in which acknowledgements are seen to bunch.
const BUNCH_ROUNDS: u64 = 5;
/// Time for which a bunch is allowed for at most.
const MAX_BUNCH_NS: u64 = 100 * MS;
/// Length of a bunch beyond which its count begins anew.
const MAX_BUNCH_SEGMENTS: u64 = 1 << 20;

/// Bytes that `bw` carries in `ns`.
pub(super) fn bytes_in(bw: u64, ns: u64) -> u64 {
    let bytes = u128::from(bw) * u128::from(ns) / u128::from(SECOND);
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Highest bandwidth of the last [`BANDWIDTH_ROUNDS`] round trips (`BtlBwFilter`).
#[derive(Clone, Debug, Default)]
pub(super) struct MaxBwFilter {
    /// Round and `bw`, rising and falling: at most one of each round.
    samples: VecDeque<(u64, u64)>,
}

impl MaxBwFilter {
    pub(super) fn insert(&mut self, round: u64, bw: u64) {
        while self.samples.back().is_some_and(|&(_, lower)| lower <= bw) {
            self.samples.pop_back();
        }
        if self.samples.back().is_none_or(|&(last, _)| last < round) {
            self.samples.push_back((round, bw));
        }
        while self.samples.front().is_some_and(|&(first, _)| first + BANDWIDTH_ROUNDS < round) {
            self.samples.pop_front();
        }
    }

    pub(super) fn max_bw(&self) -> u64 {
        self.samples.front().map_or(0, |&(_, bw)| bw)
    }
}

/// Excess of what arrives at once over what the bandwidth says (`extra_acked`): the window allows for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExtraAcked {
    since: Instant,
    bytes: u64,
    /// Largest of the running window of round trips and of the one before.
    extra_bytes: [u64; 2],
    rounds: u64,
}

impl ExtraAcked {
    pub(super) fn new(now: Instant) -> Self {
        Self { since: now, bytes: 0, extra_bytes: [0; 2], rounds: 0 }
    }

    /// Takes in that sending starts again.
    pub(super) fn restart(&mut self, now: Instant) {
        (self.since, self.bytes) = (now, 0);
    }

    pub(super) fn update(
        &mut self,
        now: Instant,
        delivery: &Delivery,
        round_starts: bool,
        bw: u64,
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
        let mut expected_bytes = bytes_in(bw, now.since(self.since));
        let is_long = self.bytes + delivery.newly_bytes >= MAX_BUNCH_SEGMENTS * mss_bytes;
        if self.bytes <= expected_bytes || is_long {
            self.restart(now);
            expected_bytes = 0;
        }
        self.bytes += delivery.newly_bytes;
        let extra_bytes = (self.bytes - expected_bytes).min(cwnd_bytes);
        self.extra_bytes[0] = self.extra_bytes[0].max(extra_bytes);
    }

    /// Bytes to add to the window.
    pub(super) fn allowance_bytes(&self, bw: u64) -> u64 {
        self.extra_bytes[0].max(self.extra_bytes[1]).min(bytes_in(bw, MAX_BUNCH_NS))
    }
}

/// Watch for a full path: its bandwidth has stopped growing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    pub(super) filled_pipe: bool,
    full_bw: u64,
    full_bw_count: u32,
}

impl FullPipe {
    /// Counts a round trip: three in a row without a quarter more fill the pipe.
    pub(super) fn update(&mut self, max_bw: u64) {
        if u128::from(max_bw) * 4 >= u128::from(self.full_bw) * 5 {
            (self.full_bw, self.full_bw_count) = (max_bw, 0);
        } else {
            self.full_bw_count += 1;
            self.filled_pipe = self.full_bw_count >= 3;
        }
    }

    /// Measures growth anew, after a timeout.
    pub(super) fn forget(&mut self) {
        self.full_bw = 0;
    }
}

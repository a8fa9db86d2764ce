//! Reachability of the peer: the proof that it receives at its address, and how long it has been silent.

use skyhaul_core::{Instant, Integrity, Path, Stats};

use crate::segment::{END_BYTES, HEADER_BYTES, OPENING_BYTES, Options, POLL_BYTES};

/// Answered opening: with less there is nothing worth sending.
const MIN_ALLOWANCE_BYTES: usize = HEADER_BYTES + OPENING_BYTES + Options::MAX_BYTES + POLL_BYTES + END_BYTES;
/// Bytes sent per byte received before the peer's address is proven.
const AMPLIFICATION: u64 = 3;

/// Knowledge of the way to the peer's address, and counters of what came from there.
#[derive(Clone, Debug)]
pub(super) struct Reachability {
    /// True if the peer has shown that it receives what is sent to its address.
    proven: bool,
    /// True if what goes to an unproven address has no bound.
    trusts: bool,
    /// True if the peer has the proof of our address (its POLLs no longer carry BGNAK), or needs none.
    peer_is_free: bool,
    /// True if the peer has said what takes a connection: more than an answer to our BGN.
    peer_remembers: bool,
    last_heard: Instant,
    received_packets: u64,
    received_bytes: u64,
    /// Octets of the segments received.
    received_octets: u64,
}

impl Reachability {
    /// Reachability at the begin of a connection. Whoever opens goes by an address of its own choice.
    /// `trusts`: what goes to an unproven address has no bound.
    pub(super) fn new(now: Instant, is_opener: bool, trusts: bool) -> Self {
        Self {
            proven: is_opener,
            trusts,
            peer_is_free: !is_opener,
            peer_remembers: !is_opener,
            last_heard: now,
            received_packets: 0,
            received_bytes: 0,
            received_octets: 0,
        }
    }

    /// A segment came, `wire_bytes` long on the wire.
    pub(super) fn heard(&mut self, wire_bytes: u32, now: Instant, path: &Path) {
        self.received_packets += 1;
        self.received_bytes += u64::from(wire_bytes);
        self.received_octets += u64::from(wire_bytes - path.wire_bytes(0));
        self.last_heard = now;
    }

    /// The peer's opening crossed ours, and names the connection.
    pub(super) fn cross(&mut self, now: Instant) {
        self.peer_is_free = true;
        self.last_heard = now;
    }

    /// The peer echoed what only its address can have seen.
    pub(super) fn prove(&mut self) {
        self.proven = true;
    }

    /// The peer has what proves our address.
    pub(super) fn free_peer(&mut self) {
        self.peer_is_free = true;
    }

    /// True if the peer has shown that it receives what is sent to its address.
    pub(super) fn is_proven(&self) -> bool {
        self.proven
    }

    /// The peer has said what takes a connection.
    pub(super) fn note_memory(&mut self) {
        self.peer_remembers = true;
    }

    /// True if the peer has said what takes a connection. One that has not may have kept nothing of our BGN.
    pub(super) fn has_peer_memory(&self) -> bool {
        self.peer_remembers
    }

    /// True if the peer may say as much as it likes.
    pub(super) fn is_peer_free(&self) -> bool {
        self.peer_is_free
    }

    /// When the last segment came.
    pub(super) fn last_heard(&self) -> Instant {
        self.last_heard
    }

    /// Octets of the segments received.
    pub(super) fn received_octets(&self) -> u64 {
        self.received_octets
    }

    /// Segment bytes that may go to the peer's address after `sent_bytes`: its largest segment, or less while
    /// the address is unproven; `None`: too little for anything. Under a seal whoever seals counts what goes
    /// to an unproven address, over all connections.
    pub(super) fn allowance_bytes(&self, sent_bytes: u64, path: &Path) -> Option<usize> {
        let most = path.max_segment_bytes();
        if self.proven || self.trusts || path.config().integrity() == Integrity::Seal {
            return Some(most);
        }
        let left = (AMPLIFICATION * self.received_bytes).saturating_sub(sent_bytes);
        let carried = u64::from(path.data_wire_bytes(0));
        let allowance = most.min(usize::try_from(left.saturating_sub(carried)).unwrap_or(most));
        (allowance >= MIN_ALLOWANCE_BYTES).then_some(allowance)
    }

    /// Writes the counters of what came.
    pub(super) fn count(&self, stats: &mut Stats) {
        stats.received_packets = self.received_packets;
        stats.received_bytes = self.received_bytes;
        stats.last_heard = self.last_heard;
    }
}

//! Path that is remembered, and its key.

use std::net::{IpAddr, SocketAddr};

use skyhaul_core::SECOND;
use skyhaul_stp::{SavedPath, Unfit};

/// Key of a path: the two addresses. Ports are those of programs, not of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathKey {
    /// This end.
    pub local: IpAddr,
    /// The other one.
    pub peer: IpAddr,
}

impl PathKey {
    /// The path between two sockets.
    pub fn new(local: SocketAddr, peer: SocketAddr) -> Self {
        Self { local: local.ip().to_canonical(), peer: peer.ip().to_canonical() }
    }
}

/// Rate, round trip and packet size measured on a path, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: PathKey,
    pub(super) rate_bps: u64,
    pub(super) rtt_min_ns: u64,
    pub(super) saved_unix_s: u64,
    /// Largest packet that the path was shown to take.
    pub(super) mtu_bytes: Option<u32>,
}

impl Entry {
    /// Memory that a connection may begin with now.
    pub(super) fn saved(&self, now_unix_s: u64) -> Result<SavedPath, Unfit> {
        let age_s = now_unix_s.checked_sub(self.saved_unix_s).ok_or(Unfit::FromTheFuture)?;
        let age_ns = age_s.saturating_mul(SECOND);
        let saved = SavedPath { rate_bps: self.rate_bps, rtt_min_ns: self.rtt_min_ns, age_ns };
        saved.check().map(|()| saved)
    }
}

//! Bytes that may be written about transfers, by rate: whoever likes can open them by the thousand, and what
//! stands in a terminal or in a log is to be read. One bound for all of them, one for each peer, and both
//! count what was written.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::IpAddr;

use skyhaul_core::{Instant, host_number};

use crate::allowance::Allowance;

/// Bytes of words for people, and about transfers that brought nothing, that are written at once, and then in
/// each second: about all peers ...
pub(crate) const BURST_BYTES: u64 = 6 * 1024;
pub(crate) const BYTES_PER_S: u64 = 500;
/// ... and about one, so that another is told beside it.
const HOST_BURST_BYTES: u64 = 4 * 1024;
const HOST_BYTES_PER_S: u64 = 250;
/// Bytes of results for programs, and of lists of every file, of transfers that brought something: at once,
/// and in each second. Of such a result only what is more than its files have bytes counts.
pub(crate) const RESULTS_BURST_BYTES: u64 = 256 * 1024;
pub(crate) const RESULTS_BYTES_PER_S: u64 = 500;
const HOST_RESULTS_BURST_BYTES: u64 = 192 * 1024;
const HOST_RESULTS_BYTES_PER_S: u64 = 250;
/// Peers whose allowance is known; the one least lately heard of is forgotten.
const MAX_HOSTS: usize = 64;

/// What was written.
#[derive(Debug)]
pub(crate) struct Outlet(RefCell<Book>);

#[derive(Debug)]
struct Book {
    written: Allowance,
    /// Bytes about one peer: at once, and in each second.
    of_host: (u64, u64),
    hosts: BTreeMap<u64, Host>,
}

#[derive(Debug)]
struct Host {
    written: Allowance,
    heard_at: Instant,
}

impl Default for Outlet {
    fn default() -> Self {
        Self::new((BURST_BYTES, BYTES_PER_S), (HOST_BURST_BYTES, HOST_BYTES_PER_S))
    }
}

impl Outlet {
    /// Of results of transfers that brought something.
    pub(crate) fn of_results() -> Self {
        let of_host = (HOST_RESULTS_BURST_BYTES, HOST_RESULTS_BYTES_PER_S);
        Self::new((RESULTS_BURST_BYTES, RESULTS_BYTES_PER_S), of_host)
    }

    fn new((burst_bytes, bytes_per_s): (u64, u64), of_host: (u64, u64)) -> Self {
        let written = Allowance::new(burst_bytes, bytes_per_s);
        Self(RefCell::new(Book { written, of_host, hosts: BTreeMap::new() }))
    }

    /// True if something may be written about a transfer of this peer.
    pub(crate) fn is_open(&self, peer: IpAddr, now: Instant) -> bool {
        self.has_room(peer, 1, now)
    }

    /// True if so many bytes may be. What is too long for any moment may be after a time without others.
    pub(crate) fn has_room(&self, peer: IpAddr, bytes: u64, now: Instant) -> bool {
        let book = &mut *self.0.borrow_mut();
        book.written.has_room(bytes, now) && book.host(peer, now).written.has_room(bytes, now)
    }

    /// True if so many bytes may be, and are no more than may be at once: they leave room for others.
    pub(crate) fn has_share(&self, peer: IpAddr, bytes: u64, now: Instant) -> bool {
        bytes <= self.0.borrow().of_host.0 && self.has_room(peer, bytes, now)
    }

    /// Takes in that so many bytes were written about a transfer of this peer.
    pub(crate) fn spend_on(&self, peer: IpAddr, bytes: u64, now: Instant) {
        let book = &mut *self.0.borrow_mut();
        book.written.spend(bytes, now);
        book.host(peer, now).written.spend(bytes, now);
    }

    /// The same about transfers of many peers.
    pub(crate) fn spend(&self, bytes: u64, now: Instant) {
        self.0.borrow_mut().written.spend(bytes, now);
    }
}

impl Book {
    fn host(&mut self, peer: IpAddr, now: Instant) -> &mut Host {
        let key = host_number(peer);
        if !self.hosts.contains_key(&key) && self.hosts.len() >= MAX_HOSTS {
            let oldest = self.hosts.iter().min_by_key(|(_, host)| host.heard_at).map(|(&key, _)| key);
            oldest.and_then(|key| self.hosts.remove(&key));
        }
        let (burst_bytes, bytes_per_s) = self.of_host;
        let host = self.hosts.entry(key).or_insert_with(|| {
            let written = Allowance::new(burst_bytes, bytes_per_s);
            Host { written, heard_at: now }
        });
        host.heard_at = now;
        host
    }
}

#[cfg(test)]
mod tests {
    use skyhaul_core::SECOND;

    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    /// Bytes written in so many seconds about transfers that take so many each, of so many peers in turn.
    fn flood(outlet: &Outlet, peers: u8, each_bytes: u64, seconds: u64) -> u64 {
        let times = (0..100 * seconds).map(|i| (address((i % u64::from(peers)) as u8), i * SECOND / 100));
        let told = times.filter(|&(peer, ns)| {
            let now = Instant::from_ns(ns);
            let has_room = outlet.has_room(peer, each_bytes, now);
            if has_room {
                outlet.spend_on(peer, each_bytes, now);
            }
            has_room
        });
        told.count() as u64 * each_bytes
    }

    /// Whatever was left let one more be told, however long, and each kind had an allowance of its own.
    #[test]
    fn whatever_strangers_do_a_kilobyte_a_second_is_written_in_any_quarter_of_a_minute() {
        for (peers, each_bytes) in [(1, 300), (6, 300), (6, 1400), (6, 3000), (100, 40), (6, 7500)] {
            let bytes = flood(&Outlet::default(), peers, each_bytes, 16);
            assert!(bytes < 16_000, "{peers} {each_bytes}: {bytes}");
        }
    }

    #[test]
    fn results_of_small_transfers_are_written_at_once_and_then_by_rate() {
        let outlet = Outlet::of_results();
        let first_bytes = flood(&outlet, 1, 1000, 2);
        assert!((120_000..HOST_RESULTS_BURST_BYTES + 1000).contains(&first_bytes), "{first_bytes}");
        let bytes = flood(&Outlet::of_results(), 6, 1000, 60);
        assert!(bytes <= RESULTS_BURST_BYTES + 60 * RESULTS_BYTES_PER_S, "{bytes}");
        assert!(!Outlet::of_results().has_share(address(1), HOST_RESULTS_BURST_BYTES + 1, Instant::ZERO));
    }

    #[test]
    fn a_peer_that_is_told_of_all_the_time_leaves_room_for_another() {
        let outlet = Outlet::default();
        assert!(flood(&outlet, 1, 300, 60) >= 60 * HOST_BYTES_PER_S);
        assert!(outlet.has_room(address(8), 300, Instant::from_ns(60 * SECOND)));
        assert!(!outlet.has_room(address(0), 300, Instant::from_ns(60 * SECOND)));
    }

    #[test]
    fn a_long_one_is_told_and_the_next_waits() {
        let (outlet, long_bytes) = (Outlet::default(), 10 * BURST_BYTES);
        let at = |seconds| Instant::from_ns(seconds * SECOND);
        assert!(outlet.has_room(address(1), long_bytes, at(0)));
        outlet.spend_on(address(1), long_bytes, at(0));
        assert!(!outlet.is_open(address(1), at(1)) && !outlet.is_open(address(2), at(110)));
        assert!(outlet.is_open(address(2), at(120)) && !outlet.has_room(address(2), long_bytes, at(120)));
        assert!(outlet.has_room(address(2), long_bytes, at(130)) && outlet.is_open(address(1), at(300)));
    }
}

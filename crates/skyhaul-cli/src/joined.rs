//! Results that come faster than people read, joined into a line a peer: whoever stores many small files, one
//! a transfer, has little written for it. For programs (`--json`) results are joined only beyond the much
//! larger bound of [`Outlet::of_results`](crate::outlet::Outlet::of_results).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::IpAddr;

use skyhaul_core::units::show_bytes;
use skyhaul_core::{Instant, SECOND, host_number};
use skyhaul_files::SessionReport;

use crate::counted::counted;

/// Peers whose results are joined; what was joined of the one least lately heard of is told among others.
const MAX_HOSTS: usize = 64;
/// Least time between two tellings of what was joined.
const SPACING_NS: u64 = 10 * SECOND;
/// Peers that are named in one.
const MAX_NAMED: usize = 4;

/// Results that are not told one by one.
#[derive(Debug, Default)]
pub(crate) struct Joined(RefCell<Book>);

#[derive(Debug, Default)]
struct Book {
    hosts: BTreeMap<u64, Host>,
    /// Of peers that are not known any more.
    others: Sum,
    told_at: Instant,
}

/// A peer.
#[derive(Debug)]
struct Host {
    address: IpAddr,
    heard_at: Instant,
    sum: Sum,
}

/// What was joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    files: u64,
    bytes: u64,
    failed: u64,
}

impl Joined {
    /// Joins a result of this peer with others.
    pub(crate) fn join(&self, peer: IpAddr, report: &SessionReport, now: Instant) {
        self.0.borrow_mut().host(peer, now).sum.add(Sum::of(report));
    }

    /// Lines about what was joined, if it is time for them; of failures alone, if `of_failures`.
    pub(crate) fn due(&self, of_failures: bool, now: Instant) -> Option<String> {
        let is_time = now.since(self.0.borrow().told_at) >= SPACING_NS;
        if is_time { self.rest(of_failures, now) } else { None }
    }

    /// Lines about all that was joined and is not told yet; of failures alone, if `of_failures`.
    pub(crate) fn rest(&self, of_failures: bool, now: Instant) -> Option<String> {
        let book = &mut *self.0.borrow_mut();
        let text = book.lines(of_failures);
        if !text.is_empty() {
            book.told_at = now;
        }
        Some(text).filter(|text| !text.is_empty())
    }
}

impl Book {
    fn host(&mut self, peer: IpAddr, now: Instant) -> &mut Host {
        let key = host_number(peer);
        if !self.hosts.contains_key(&key) && self.hosts.len() >= MAX_HOSTS {
            let oldest = self.hosts.iter().min_by_key(|(_, host)| host.heard_at).map(|(&key, _)| key);
            if let Some(gone) = oldest.and_then(|key| self.hosts.remove(&key)) {
                self.others.add(gone.sum);
            }
        }
        let host = self.hosts.entry(key).or_insert_with(|| Host {
            address: peer,
            heard_at: now,
            sum: Sum::default(),
        });
        host.heard_at = now;
        host
    }

    fn lines(&mut self, of_failures: bool) -> String {
        let is_told = |sum: Sum| sum != Sum::default() && (sum.failed > 0 || !of_failures);
        let mut others = std::mem::take(&mut self.others);
        let mut text = String::new();
        let joined = self.hosts.values_mut().filter(|host| is_told(host.sum));
        for (i, host) in joined.enumerate() {
            let sum = std::mem::take(&mut host.sum);
            if i < MAX_NAMED {
                text.push_str(&sum.line(&host.address.to_canonical().to_string()));
            } else {
                others.add(sum);
            }
        }
        if is_told(others) {
            text.push_str(&others.line("others"));
        }
        text
    }
}

impl Sum {
    fn of(report: &SessionReport) -> Self {
        let failed = report.failed().count() as u64;
        Self { files: report.files.len() as u64 - failed, bytes: report.delivered_bytes(), failed }
    }

    fn add(&mut self, more: Self) {
        self.files += more.files;
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.failed += more.failed;
    }

    fn line(self, from: &str) -> String {
        let Self { files, bytes, failed } = self;
        let failed = if failed > 0 { format!("; {failed} FAILED") } else { String::new() };
        format!("and {} from {from}, {} in all{failed}\n", counted(files, "more file"), show_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use skyhaul_files::{Digest, FileOutcome, FileReport, RawName, Side};

    use super::*;
    use crate::outlet::{BURST_BYTES, BYTES_PER_S, Outlet};

    /// About as much as a table has for a file of an octet.
    const RESULT_BYTES: u64 = 300;

    fn one_file() -> SessionReport {
        let digest = Digest([0; 32]);
        let file = FileReport::unfinished(RawName::new("x"), 1, Side::Receiver);
        SessionReport { files: vec![FileReport { outcome: FileOutcome::Delivered { digest }, ..file }] }
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    /// Tells results of these peers in turn, so many a second; bytes that were written, and results of each
    /// peer that were told.
    fn flood(
        joined: &Joined,
        outlet: &Outlet,
        peers: &[u8],
        (per_s, seconds): (u64, u64),
    ) -> (u64, Vec<u64>) {
        let (mut bytes, mut told) = (0, vec![0; peers.len()]);
        for i in 0..per_s * seconds {
            let (now, at) = (Instant::from_ns(i * SECOND / per_s), i as usize % peers.len());
            let peer = address(peers[at]);
            if outlet.has_room(peer, RESULT_BYTES, now) {
                outlet.spend_on(peer, RESULT_BYTES, now);
                bytes += RESULT_BYTES;
                told[at] += 1;
            } else {
                joined.join(peer, &one_file(), now);
            }
            let sum_bytes = joined.due(false, now).map_or(0, |text| text.len() as u64);
            outlet.spend(sum_bytes, now);
            bytes += sum_bytes;
        }
        (bytes, told)
    }

    #[test]
    fn sixteen_files_a_second_take_a_bounded_rate_and_every_one_counts() {
        let (joined, outlet) = (Joined::default(), Outlet::default());
        let (bytes, told) = flood(&joined, &outlet, &[7], (16, 8));
        let rest = joined.rest(false, Instant::from_ns(8 * SECOND)).unwrap();
        let more = 16 * 8 - told[0];
        assert_eq!(rest, format!("and {more} more files from 192.0.2.7, {more} B in all\n"));
        assert_eq!(joined.rest(false, Instant::from_ns(8 * SECOND)), None);
        assert!(told[0] >= 13 && bytes < 8 * 1000, "{told:?} {bytes}");
        let (bytes, _) =
            flood(&Joined::default(), &Outlet::default(), &(0..100).collect::<Vec<_>>(), (1000, 100));
        assert!(bytes < BURST_BYTES + RESULT_BYTES + 100 * BYTES_PER_S + 1000, "{bytes}");
    }

    #[test]
    fn a_flood_of_one_peer_leaves_room_for_the_result_of_another() {
        let outlet = Outlet::default();
        flood(&Joined::default(), &outlet, &[7], (100, 60));
        assert!(outlet.has_room(address(8), RESULT_BYTES, Instant::from_ns(60 * SECOND)));
    }

    #[test]
    fn the_sums_of_many_peers_stand_in_few_lines() {
        let joined = Joined::default();
        let (_, told) = flood(&joined, &Outlet::default(), &(0..200).collect::<Vec<_>>(), (2000, 1));
        let text = joined.rest(false, Instant::from_ns(SECOND)).unwrap();
        assert_eq!(text.lines().count(), MAX_NAMED + 1, "{text}");
        let files = |line: &str| line.split(' ').nth(1).unwrap().parse::<u64>().unwrap();
        assert_eq!(text.lines().map(files).sum::<u64>() + told.iter().sum::<u64>(), 2000, "{text}");
    }

    #[test]
    fn a_result_now_and_then_is_always_told() {
        let joined = Joined::default();
        let (_, told) = flood(&joined, &Outlet::default(), &[7], (1, 10));
        assert_eq!((told, joined.rest(false, Instant::from_ns(10 * SECOND))), (vec![10], None));
    }
}

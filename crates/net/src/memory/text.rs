//! The file of remembered paths, as text: `docs/spec/remembered-paths.md`, section 5.

use std::net::IpAddr;
use std::ops::Deref;

use skyhaul_store::{FileError, Table};

use super::entry::{Entry, PathKey};

/// Lines of version 1 end before the packet size.
const TABLE: Table = Table { name: "skyhaul-paths", version: 2 };

/// The file with these paths.
pub(super) fn encode(entries: &[Entry]) -> impl Deref<Target = String> {
    TABLE.encode(entries.iter().map(|Entry { key, rate_bps, rtt_min_ns, saved_unix_s, mtu_bytes }| {
        let PathKey { local, peer } = key;
        let mtu_bytes = mtu_bytes.unwrap_or(0);
        format!("{local} {peer} {rate_bps} {rtt_min_ns} {saved_unix_s} {mtu_bytes}")
    }))
}

/// The paths of a file.
pub(super) fn decode(octets: &[u8]) -> Result<Vec<Entry>, FileError> {
    let (_, lines) = TABLE.decode(octets)?;
    lines.into_iter().map(entry).collect::<Option<_>>().ok_or(FileError::Damaged)
}

fn entry(line: &str) -> Option<Entry> {
    let mut words = line.split(' ');
    let mut address = || words.next()?.parse::<IpAddr>().ok();
    let key = PathKey { local: address()?, peer: address()? };
    let mut number = || words.next()?.parse::<u64>().ok();
    let (rate_bps, rtt_min_ns, saved_unix_s) = (number()?, number()?, number()?);
    let mtu_bytes = words.next().map_or(Some(0), |word| word.parse::<u32>().ok())?;
    let mtu_bytes = Some(mtu_bytes).filter(|&bytes| bytes > 0);
    words.next().is_none().then_some(Entry { key, rate_bps, rtt_min_ns, saved_unix_s, mtu_bytes })
}

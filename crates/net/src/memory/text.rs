//! The file of remembered paths, as text: `docs/spec/remembered-paths.md`, section 5.

use std::fmt::Write as _;
use std::net::IpAddr;

use skyhaul_core::checksum::crc16;

use super::entry::{Entry, PathKey};
use super::errors::MemoryError;

/// Beginning of the first line: the version follows.
const NAME: &str = "skyhaul-paths ";
const VERSION: u32 = 2;
/// The version before it, whose lines end before the packet size.
const OLD_VERSION: u32 = 1;

/// The file with these paths.
pub(super) fn encode(entries: &[Entry]) -> String {
    let mut text = format!("{NAME}{VERSION}\n");
    for Entry { key, rate_bps, rtt_min_ns, saved_unix_s, mtu_bytes } in entries {
        let PathKey { local, peer } = key;
        let mtu_bytes = mtu_bytes.unwrap_or(0);
        let _ = writeln!(text, "{local} {peer} {rate_bps} {rtt_min_ns} {saved_unix_s} {mtu_bytes}");
    }
    let sum = checksum(&text);
    let _ = writeln!(text, "end {} {sum:04x}", entries.len());
    text
}

/// The paths of a file. Its last line says how many there are, and a checksum of what stands above it: a part
/// of a file is none.
pub(super) fn decode(text: &str) -> Result<Vec<Entry>, MemoryError> {
    if NAME.starts_with(text) {
        return Err(MemoryError::Damaged); // empty, or hardly begun
    }
    let version = text.strip_prefix(NAME).ok_or(MemoryError::Foreign)?;
    let version = version.split('\n').next().and_then(|word| word.parse::<u32>().ok());
    match version {
        Some(OLD_VERSION | VERSION) => {}
        Some(version) if version > VERSION => return Err(MemoryError::Newer),
        _ => return Err(MemoryError::Damaged),
    }
    lines(text).ok_or(MemoryError::Damaged)
}

fn checksum(text: &str) -> u16 {
    crc16(0xFFFF, text.as_bytes())
}

fn lines(text: &str) -> Option<Vec<Entry>> {
    let body = text.strip_suffix('\n')?;
    let (above, last) = body.rsplit_once('\n')?;
    let above = &text[..=above.len()];
    let entries: Vec<Entry> = above.lines().skip(1).map(entry).collect::<Option<_>>()?;
    let expected = format!("end {} {:04x}", entries.len(), checksum(above));
    (last == expected).then_some(entries)
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

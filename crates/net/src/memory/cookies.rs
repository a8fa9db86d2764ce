//! Memory of servers' Fast Open cookies, kept in a file from one run to the next:
//! docs/spec/remembered-paths.md, section 6.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use skyhaul_core::SECOND;
use skyhaul_store::{FileError, Others, STATE, Table, from_hex, read, to_hex, write};
use skyhaul_tcp::{FastOpenCookie, FastOpenFacts};

use super::{MAX_BYTES, PathKey, renewed};

const TABLE: Table = Table { name: "skyhaul-cookies", version: 1 };
/// Age up to which an entry is used. A server takes its own cookies for a day or so; of an older one it costs
/// a few octets to find out.
const MAX_AGE_S: u64 = 7 * 24 * 3600;
/// Digits of the longest cookie.
const MAX_DIGITS: usize = 32;

/// A file of cookies: secrets, in a way, as whoever knows one can open connections with data in the name of
/// its client. Times are seconds since 1970, by whatever calendar the caller has.
#[derive(Clone, Debug)]
pub struct CookieMemory {
    place: PathBuf,
}

/// Facts about a server, and when they were kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    key: PathKey,
    cookie: Option<FastOpenCookie>,
    mss_bytes: u16,
    lost_openings: u32,
    spared_until_unix_s: u64,
    saved_unix_s: u64,
}

impl CookieMemory {
    /// The file at this place, which need not be there yet.
    pub fn at(place: PathBuf) -> Self {
        Self { place }
    }

    /// The user's own: `$XDG_STATE_HOME/skyhaul/cookies`, or `~/.local/state/skyhaul/cookies`. `None` where
    /// there is neither.
    pub fn of_user() -> Option<Self> {
        STATE.of_user().map(|folder| Self::at(folder.join("cookies")))
    }

    /// Where it lies.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Facts about the server at the far end; none: nothing is known.
    ///
    /// # Errors
    /// The file cannot be used: go on as if there were none, and say so.
    pub fn recall(&self, key: PathKey, now_unix_s: u64) -> Result<FastOpenFacts, FileError> {
        let entries = self.entries()?;
        let entry = entries.iter().find(|entry| entry.key == key && entry.is_fit(now_unix_s));
        Ok(entry.map_or_else(FastOpenFacts::default, |entry| entry.facts(now_unix_s)))
    }

    /// Keeps facts in the place of what was known of that server; those that say nothing forget it.
    ///
    /// # Errors
    /// Nothing was kept. The old file is as it was.
    pub fn keep(&self, key: PathKey, facts: FastOpenFacts, now_unix_s: u64) -> Result<(), FileError> {
        let old = match self.entries() {
            Err(FileError::Damaged) => Vec::new(),
            entries => entries?,
        };
        let newest = (facts != FastOpenFacts::default()).then(|| Entry::new(key, facts, now_unix_s));
        let keeps = |entry: &Entry| entry.key != key && entry.is_fit(now_unix_s);
        let entries = renewed(&old, keeps, newest, |entry| entry.saved_unix_s);
        if entries == old {
            return Ok(());
        }
        Ok(write(&self.place, encode(&entries).as_bytes())?)
    }

    fn entries(&self) -> Result<Vec<Entry>, FileError> {
        let octets = read(&self.place, Others::MayNothing, MAX_BYTES)?;
        let Some(octets) = octets else { return Ok(Vec::new()) };
        let (_, lines) = TABLE.decode(&octets)?;
        lines.into_iter().map(Entry::read).collect::<Option<_>>().ok_or(FileError::Damaged)
    }
}

impl Entry {
    fn new(key: PathKey, facts: FastOpenFacts, now_unix_s: u64) -> Self {
        let FastOpenFacts { cookie, mss_bytes, lost_openings, spared_ns } = facts;
        Self {
            key,
            cookie,
            mss_bytes: mss_bytes.unwrap_or(0),
            lost_openings,
            spared_until_unix_s: now_unix_s.saturating_add(spared_ns.div_ceil(SECOND)),
            saved_unix_s: now_unix_s,
        }
    }

    /// True if it is neither too old nor of the future.
    fn is_fit(&self, now_unix_s: u64) -> bool {
        now_unix_s.checked_sub(self.saved_unix_s).is_some_and(|age_s| age_s <= MAX_AGE_S)
    }

    fn facts(&self, now_unix_s: u64) -> FastOpenFacts {
        FastOpenFacts {
            cookie: self.cookie,
            mss_bytes: Some(self.mss_bytes).filter(|&bytes| bytes > 0),
            lost_openings: self.lost_openings,
            spared_ns: self.spared_until_unix_s.saturating_sub(now_unix_s).saturating_mul(SECOND),
        }
    }

    fn line(&self) -> String {
        let Self { key, cookie, mss_bytes, lost_openings, spared_until_unix_s, saved_unix_s } = self;
        let PathKey { local, peer } = key;
        let cookie = cookie.map_or_else(|| "-".to_string(), |cookie| to_hex(cookie.as_bytes()));
        format!("{local} {peer} {cookie} {mss_bytes} {lost_openings} {spared_until_unix_s} {saved_unix_s}")
    }

    fn read(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let [local, peer, cookie, mss_bytes, lost_openings, spared_until_unix_s, saved_unix_s] = words[..]
        else {
            return None;
        };
        let cookie = if cookie == "-" { None } else { Some(cookie_of(cookie)?) };
        Some(Self {
            key: PathKey { local: local.parse().ok()?, peer: peer.parse().ok()? },
            cookie,
            mss_bytes: mss_bytes.parse().ok()?,
            lost_openings: lost_openings.parse().ok()?,
            spared_until_unix_s: spared_until_unix_s.parse().ok()?,
            saved_unix_s: saved_unix_s.parse().ok()?,
        })
    }
}

fn encode(entries: &[Entry]) -> impl Deref<Target = String> {
    TABLE.encode(entries.iter().map(Entry::line))
}

/// Cookie of so many digits as it has.
fn cookie_of(digits: &str) -> Option<FastOpenCookie> {
    let octets: [u8; MAX_DIGITS / 2] = from_hex(&format!("{digits:0<MAX_DIGITS$}"))?;
    FastOpenCookie::new(octets.get(..digits.len() / 2)?).filter(|_| digits.len().is_multiple_of(2))
}

#[cfg(test)]
#[path = "cookies_tests.rs"]
mod tests;

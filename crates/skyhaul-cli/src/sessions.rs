//! Transfers under way in this process, and what the one progress line tells of them: of one its file and its
//! peer, of several their sum.

use std::collections::BTreeMap;
use std::time::Instant;

use skyhaul_files::RawName;

use crate::counted::counted;
use crate::line::{Facts, Said};
use crate::rate::{RecentRate, rate_words, time_left};

/// Transfers whose files are moving. As many as the command runs at once, which has its own bound.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    running: BTreeMap<u64, Session>,
    next: u64,
}

/// One of them.
#[derive(Debug, Default)]
struct Session {
    /// Words about the other end, like `to 192.0.2.7:4700`.
    peer: String,
    /// File that moves, if one does, and its number from 1. Its name is made fit for a terminal only when it
    /// is shown: sessions have tens of thousands of files in a second.
    file: (Option<RawName>, u32),
    files: u32,
    bytes: u64,
    total_bytes: u64,
    said: Said,
    rate: RecentRate,
    is_begun: bool,
}

impl Sessions {
    /// Takes a transfer in that has not begun; its key.
    pub(crate) fn add(&mut self, peer: String) -> u64 {
        let key = self.next;
        self.next += 1;
        self.running.insert(key, Session { peer, ..Session::default() });
        key
    }

    /// Begins one: so many files and bytes are to move.
    pub(crate) fn begin(&mut self, key: u64, files: u32, total_bytes: u64) {
        if let Some(session) = self.running.get_mut(&key) {
            *session = Session {
                files,
                total_bytes,
                is_begun: true,
                peer: session.peer.clone(),
                ..Session::default()
            };
        }
    }

    /// File, from 0, that moves now.
    pub(crate) fn file(&mut self, key: u64, number: u32, name: &RawName) {
        if let Some(session) = self.running.get_mut(&key) {
            session.file = (Some(name.clone()), number.saturating_add(1));
        }
    }

    /// Bytes that are there now.
    pub(crate) fn moved(&mut self, key: u64, bytes: u64, total_bytes: u64) {
        if let Some(session) = self.running.get_mut(&key) {
            (session.bytes, session.total_bytes) = (bytes, total_bytes);
        }
    }

    /// Text beside the figures of one.
    pub(crate) fn say(&mut self, key: u64, said: Said) {
        if let Some(session) = self.running.get_mut(&key) {
            session.said = said;
        }
    }

    /// True if everything of one is there.
    pub(crate) fn is_full(&self, key: u64) -> bool {
        self.running.get(&key).is_some_and(|session| session.bytes >= session.total_bytes)
    }

    /// Forgets one.
    pub(crate) fn end(&mut self, key: u64) {
        self.running.remove(&key);
    }

    /// True if there is something to tell.
    pub(crate) fn are_shown(&self) -> bool {
        self.shown().next().is_some()
    }

    /// Notes the time, for the rates.
    pub(crate) fn tick(&mut self, now: Instant) {
        self.running.values_mut().for_each(|session| session.rate.note(session.bytes, now));
    }

    /// Facts that the line tells.
    pub(crate) fn facts(&self) -> Facts {
        let bytes = self.shown().map(|session| session.bytes).sum::<u64>();
        let total_bytes = self.shown().map(|session| session.total_bytes).sum::<u64>();
        let bps = self.shown().map(|session| session.rate.bps()).sum::<f64>();
        let is_full = bytes >= total_bytes;
        let left = if is_full { None } else { time_left(total_bytes - bytes, bps) };
        let facts = Facts { bytes, total_bytes, rate: rate_words(bps, is_full), left, ..Facts::default() };
        let mut shown = self.shown();
        match (shown.next(), shown.next()) {
            (Some(one), None) => one.told(facts),
            _ => self.summed(facts),
        }
    }

    /// Facts about several: where each stands is told when it ends.
    fn summed(&self, facts: Facts) -> Facts {
        let (done, files) = self.shown().fold((0, 0), |(done, files), session| {
            (done + u64::from(session.file.1), files + u64::from(session.files))
        });
        let count = format!("file {done} of {files}");
        Facts { name: counted(self.shown().count() as u64, "transfer"), count, ..facts }
    }

    fn shown(&self) -> impl Iterator<Item = &Session> {
        self.running.values().filter(|session| session.is_begun)
    }
}

impl Session {
    fn told(&self, facts: Facts) -> Facts {
        let (name, number) = (self.file.0.as_ref().map(RawName::to_string).unwrap_or_default(), self.file.1);
        let count =
            if self.files > 1 && number > 0 { format!("{number} of {}", self.files) } else { String::new() };
        Facts { name, count, peer: self.peer.clone(), said: self.said.clone(), ..facts }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::line::line;

    fn one(sessions: &mut Sessions, peer: &str, files: u32) -> u64 {
        let key = sessions.add(format!("from {peer}"));
        sessions.begin(key, files, 1_000_000);
        sessions.file(key, 1, &RawName::new(format!("{peer}.bin")));
        sessions.moved(key, 250_000, 1_000_000);
        key
    }

    #[test]
    fn one_transfer_is_told_by_file_and_peer() {
        let mut sessions = Sessions::default();
        let waiting = sessions.add("from b".into());
        assert!(!sessions.are_shown(), "nothing is known of it yet");
        one(&mut sessions, "a", 3);
        assert_eq!(line(80, &sessions.facts()), " 25 % of 1.0 MB, 0 bit/s  a.bin, 2 of 3, from a");
        sessions.end(waiting);
        assert!(sessions.are_shown());
    }

    #[test]
    fn no_octet_of_a_name_reaches_the_terminal_as_it_came() {
        let mut sessions = Sessions::default();
        let key = one(&mut sessions, "a", 1);
        for octet in (1..=0x1f).chain(0x7f..=0xff) {
            sessions.file(key, 0, &RawName::new([b"a", &[octet][..], b"31mb"].concat()));
            let line = line(80, &sessions.facts());
            assert!(line.is_ascii() && !line.contains(|c: char| c.is_control()), "{octet:#x}: {line:?}");
        }
    }

    #[test]
    fn several_transfers_are_told_by_their_sum() {
        let mut sessions = Sessions::default();
        let (a, b) = (one(&mut sessions, "a", 3), one(&mut sessions, "b", 9));
        assert_eq!(line(80, &sessions.facts()), " 25 % of 2.0 MB, 0 bit/s  2 transfers, file 4 of 12");
        sessions.moved(b, 1_000_000, 1_000_000);
        assert!(sessions.is_full(b) && !sessions.is_full(a));
        sessions.end(b);
        assert!(line(80, &sessions.facts()).starts_with(" 25 % of 1.0 MB"), "{:?}", sessions.facts());
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "any moment will do")]
    fn the_end_of_one_transfer_does_not_disturb_the_rate_of_the_others() {
        let mut sessions = Sessions::default();
        let (a, b) = (one(&mut sessions, "a", 1), one(&mut sessions, "b", 1));
        let start = Instant::now();
        sessions.tick(start);
        sessions.moved(a, 350_000, 1_000_000);
        sessions.moved(b, 350_000, 1_000_000);
        sessions.tick(start + Duration::from_secs(1));
        let facts = sessions.facts();
        assert_eq!((facts.rate.as_str(), facts.left.as_deref()), ("1.60 Mbit/s", Some("7 s left")));
        sessions.end(b);
        let facts = sessions.facts();
        assert_eq!((facts.rate.as_str(), facts.left.as_deref()), ("800.00 kbit/s", Some("7 s left")));
        sessions.end(a);
        assert!(!sessions.are_shown());
        let c = sessions.add("from c".into());
        sessions.begin(c, 1, 10);
        assert_eq!(sessions.facts().rate, "0 bit/s", "a new beginning");
    }
}

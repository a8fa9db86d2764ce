//! Runs that are finished, as lines.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use super::line::id_of;
use super::{Finished, Header, RunId, SweepError};

/// Longest line that is read, in bytes: a run with some thousand metrics.
const MAX_LINE_BYTES: u64 = 4 << 20;

/// Finished runs in their order: about 4 kB each with all metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs(pub(super) BTreeMap<RunId, String>);

impl Runs {
    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if this one is among them.
    pub fn contains(&self, id: RunId) -> bool {
        self.0.contains_key(&id)
    }

    /// Adds one.
    pub fn add(&mut self, finished: Finished) {
        self.0.insert(finished.id, finished.line);
    }

    /// A result file with them.
    pub fn text(&self, header: &Header) -> String {
        let mut text = header.line();
        self.0.values().for_each(|line| text.push_str(line));
        text
    }
}

/// A result file as it is on the disk.
#[derive(Debug)]
pub(super) struct Stored {
    /// Its first line, with its end.
    pub(super) header: String,
    pub(super) runs: Runs,
    /// True if a last line without an end was left out: its writing was interrupted.
    pub(super) is_torn: bool,
}

/// Reads a result file; none if there is no such file, or not even its header is complete.
pub(super) fn read(path: &Path) -> Result<Option<Stored>, SweepError> {
    let failed = |error: &std::io::Error| SweepError::system("read", path, error);
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(&error)),
    };
    let mut input = BufReader::new(file);
    let mut stored = Stored { header: String::new(), runs: Runs::default(), is_torn: false };
    for number in 1.. {
        let wrong = |what: &str| SweepError(format!("'{}' line {number}: {what}", path.display()));
        let mut bytes = Vec::new();
        input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes).map_err(|error| failed(&error))?;
        if bytes.is_empty() {
            break;
        }
        if !bytes.ends_with(b"\n") {
            let is_too_long = bytes.len() as u64 == MAX_LINE_BYTES;
            stored.is_torn = true;
            return if is_too_long { Err(wrong("longer than any run")) } else { Ok(whole(stored)) };
        }
        let line = String::from_utf8(bytes).map_err(|_| wrong("this is no text"))?;
        if number == 1 {
            Header::parse(&line)
                .ok_or_else(|| wrong("this is no header of results that can be read here"))?;
            stored.header = line;
        } else {
            let id = id_of(&line).ok_or_else(|| wrong("this is no run"))?;
            if stored.runs.0.insert(id, line).is_some() {
                return Err(wrong(&format!("{id} stands there twice")));
            }
        }
    }
    Ok(whole(stored))
}

fn whole(stored: Stored) -> Option<Stored> {
    (!stored.header.is_empty()).then_some(stored)
}

//! Why a file or a session failed, in words for people and in a code for programs.

use std::fmt;
use std::sync::Arc;

use crate::escape::escaped;
use crate::limits::MAX_TEXT_BYTES;

/// The kind of a failure, as it travels in one octet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[non_exhaustive]
pub enum Code {
    /// Anything that has no code of its own, and codes of later versions.
    Other = 0,
    /// A file of this name exists already.
    Exists = 1,
    /// The name cannot be used.
    Name = 2,
    /// The file is larger than the receiver allows.
    TooLarge = 3,
    /// The destination has not enough space.
    NoSpace = 4,
    /// The destination could not be written.
    Storage = 5,
    /// Chunks stayed damaged however often they were fetched.
    Damaged = 6,
    /// All chunks fit their digests, the file does not fit its own.
    Digest = 7,
    /// The file vanished, shrank, grew or changed while it was being sent.
    Changed = 8,
    /// The file could not be read.
    Unreadable = 9,
    /// The sender stopped a file because the receiver refused it.
    Refused = 10,
    /// The other side broke the protocol.
    Protocol = 11,
    /// The other side speaks another version.
    Version = 12,
    /// The session ended before the file's result was known.
    Interrupted = 13,
    /// The receiver has no room for the session; later it may have.
    Busy = 14,
}

const CODES: [Code; 15] = [
    Code::Other,
    Code::Exists,
    Code::Name,
    Code::TooLarge,
    Code::NoSpace,
    Code::Storage,
    Code::Damaged,
    Code::Digest,
    Code::Changed,
    Code::Unreadable,
    Code::Refused,
    Code::Protocol,
    Code::Version,
    Code::Interrupted,
    Code::Busy,
];

impl Code {
    /// The code of an octet; unknown ones are [`Code::Other`].
    pub fn from_octet(octet: u8) -> Self {
        CODES.get(usize::from(octet)).copied().unwrap_or(Self::Other)
    }

    /// The code as it travels.
    pub fn octet(self) -> u8 {
        self as u8
    }
}

/// A failure's code and its text, which clones share. Printing it is safe whoever wrote the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The kind of the failure.
    pub code: Code,
    text: Arc<str>,
}

impl Reason {
    /// A reason with a text, which is cut to [`MAX_TEXT_BYTES`].
    pub fn new(code: Code, text: impl Into<String>) -> Self {
        let mut text = text.into();
        text.truncate(boundary(&text, MAX_TEXT_BYTES));
        Self { code, text: text.into() }
    }

    /// The text as it was written, not made safe for printing.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escaped(self.text.as_bytes()))
    }
}

/// The last character boundary of `text` that is not after `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

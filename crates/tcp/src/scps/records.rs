//! Ends of records in a stream, as the sender has to tell them and as the receiver was told.

use alloc::collections::BTreeSet;

/// Records of a sender that are not acknowledged, at most: further ones do not end.
pub(crate) const MAX_UNACKNOWLEDGED: usize = 4096;
/// Records that wait for a reader, at most: what ends further ones is not taken, and the peer repeats it.
pub(crate) const MAX_UNREAD: usize = 4096;

/// Ends of records: each is one past the number of its last octet.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordEnds(BTreeSet<u64>);

impl RecordEnds {
    /// A record ends here.
    pub(crate) fn insert(&mut self, end: u64) {
        self.0.insert(end);
    }

    /// Number of them.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// First end behind this number. Most streams have none, and are not held up by asking.
    #[inline]
    pub(crate) fn first_after(&self, number: u64) -> Option<u64> {
        if self.0.is_empty() { None } else { self.find_after(number) }
    }

    fn find_after(&self, number: u64) -> Option<u64> {
        self.0.range(number + 1..).next().copied()
    }

    /// True if `most` of them end by `number`.
    pub(crate) fn has_until(&self, number: u64, most: usize) -> bool {
        self.0.len() >= most && self.0.range(..=number).take(most).count() == most
    }

    /// Forgets those that end by `number`.
    #[inline]
    pub(crate) fn forget_until(&mut self, number: u64) {
        if !self.0.is_empty() {
            self.split_off(number);
        }
    }

    fn split_off(&mut self, number: u64) {
        if self.0.first().is_some_and(|&first| first <= number) {
            self.0 = self.0.split_off(&(number + 1));
        }
    }
}

/// Part of a record that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPart {
    /// Octets; 0 at the end of the stream.
    pub bytes: usize,
    /// True if the record ends with these.
    pub ends: bool,
}

//! One file at the receiver, from its first chunk until it is complete.

use std::collections::BTreeMap;

use crate::codec::ChunkRange;
use crate::digest::{Digest, Tree, chunk_digest};
use crate::errors::Violation;
use crate::limits::{MAX_DAMAGED_CHUNKS, MAX_ROUNDS, chunk_count, chunk_len, chunk_offset};
use crate::part::{PartFile, write};
use crate::reason::{Code, Reason};

/// Why a file cannot go on.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The other side broke the protocol: the session cannot go on either.
    Violation(Violation),
    /// Only this file is lost.
    Failed(Reason),
}

impl From<Violation> for Trouble {
    fn from(violation: Violation) -> Self {
        Self::Violation(violation)
    }
}

impl From<Reason> for Trouble {
    fn from(reason: Reason) -> Self {
        Self::Failed(reason)
    }
}

/// Next step after the end of a file, or of a round of repairs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// All chunks are there and make up the digest.
    Complete(Digest),
    /// Some are damaged.
    Again(Vec<ChunkRange>),
}

/// A file on its way in.
///
/// The tree is made from the digests that the chunks' records state, damaged data or not: those digests
/// are under the records' checks. Once they make up the file's digest, they are as good as the file, and
/// repairs are held against them.
#[derive(Debug)]
pub(crate) struct Arriving {
    file: u32,
    size: u64,
    part: PartFile,
    /// The chunk that comes next, until all have come once.
    next: u32,
    tree: Tree,
    /// The file's digest, once its first end was seen.
    root: Option<Digest>,
    /// Chunks whose data was damaged, and their digests.
    damaged: BTreeMap<u32, Digest>,
    rounds: u8,
}

impl Arriving {
    pub(crate) fn new(file: u32, size: u64, part: PartFile) -> Self {
        let (tree, damaged) = (Tree::default(), BTreeMap::new());
        Self { file, size, part, next: 0, tree, root: None, damaged, rounds: 0 }
    }

    /// True if all data is there and fits.
    pub(crate) fn has_all(&self) -> bool {
        self.next == chunk_count(self.size) && self.damaged.is_empty()
    }

    /// How often chunks of it were asked for again.
    pub(crate) fn rounds(&self) -> u8 {
        self.rounds
    }

    /// The file itself, to be published.
    pub(crate) fn into_part(self) -> PartFile {
        self.part
    }

    /// Judges a chunk; `true` if it is good and shall be [written](Self::writer).
    pub(crate) fn judge(&mut self, number: u32, stated: Digest, data: &[u8]) -> Result<bool, Trouble> {
        if data.len() != chunk_len(self.size, number) {
            return Err(self.misplaced("a chunk of a wrong length").into());
        }
        let good = chunk_digest(number, chunk_count(self.size), data) == stated;
        if self.root.is_some() {
            self.repair(number, stated, good)
        } else {
            self.in_order(number, stated, good)
        }
    }

    fn in_order(&mut self, number: u32, stated: Digest, good: bool) -> Result<bool, Trouble> {
        if number != self.next {
            return Err(self.misplaced("a chunk").into());
        }
        self.next += 1;
        self.tree.push(stated);
        if !good {
            self.damaged.insert(number, stated);
        }
        if self.damaged.len() > MAX_DAMAGED_CHUNKS {
            let text = format!(
                "more than {MAX_DAMAGED_CHUNKS} chunks came damaged; the stream is not to be trusted"
            );
            return Err(Reason::new(Code::Damaged, text).into());
        }
        Ok(good)
    }

    fn repair(&mut self, number: u32, stated: Digest, good: bool) -> Result<bool, Trouble> {
        let Some(wanted) = self.damaged.get(&number) else {
            return Err(self.misplaced("a chunk that was not asked for").into());
        };
        let good = good && *wanted == stated;
        if good {
            self.damaged.remove(&number);
        }
        Ok(good)
    }

    /// Writes the data of a good chunk, on whatever thread.
    pub(crate) fn writer(&self, number: u32) -> impl FnOnce(&[u8]) -> Result<(), Reason> + Send + use<> {
        let (file, offset) = (self.part.file(), chunk_offset(number));
        move |data| write(&file, data, offset)
    }

    /// The sender has sent everything that it was to send.
    pub(crate) fn end(&mut self, stated: Digest) -> Result<Ending, Trouble> {
        if self.next != chunk_count(self.size) {
            return Err(self.misplaced("an early end").into());
        }
        let root = *self.root.get_or_insert_with(|| std::mem::take(&mut self.tree).root());
        if root != stated {
            let text = "the chunks do not make up the digest of the file; send it again";
            return Err(Reason::new(Code::Digest, text).into());
        }
        if self.damaged.is_empty() { Ok(Ending::Complete(root)) } else { self.ask_again() }
    }

    fn ask_again(&mut self) -> Result<Ending, Trouble> {
        if self.rounds == MAX_ROUNDS {
            let text = format!(
                "{} chunks came damaged {MAX_ROUNDS} times more; check the stream",
                self.damaged.len()
            );
            return Err(Reason::new(Code::Damaged, text).into());
        }
        self.rounds += 1;
        Ok(Ending::Again(ChunkRange::collect(self.damaged.keys().copied())))
    }

    fn misplaced(&self, what: &'static str) -> Violation {
        Violation::Order { what, file: self.file }
    }
}

//! Digests of chunks and files in one pass.
//!
//! A chunk's digest is the chaining value of its subtree in the file's BLAKE3 tree; merging the
//! chunks' digests as BLAKE3 merges subtrees gives the plain BLAKE3 hash of the file, what `b3sum`
//! prints, without hashing a byte twice. A file of a single chunk has no inner node: its chunk's digest
//! is the file's digest itself.

use std::fmt;

use blake3::Hasher;
use blake3::hazmat::{HasherExt as _, Mode, merge_subtrees_non_root, merge_subtrees_root};

use crate::limits::chunk_offset;

/// 32 bytes of BLAKE3; prints as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// The digest of chunk `number` in a file of `chunks` chunks.
///
/// # Panics
///
/// If `data` is longer than a chunk; the decoders of `codec` do not let that pass.
pub fn chunk_digest(number: u32, chunks: u32, data: &[u8]) -> Digest {
    if chunks <= 1 || data.is_empty() {
        return Digest(*blake3::hash(data).as_bytes());
    }
    let mut hasher = Hasher::new();
    hasher.set_input_offset(chunk_offset(number)).update(data);
    Digest(hasher.finalize_non_root())
}

/// The whole file's digest, grown from the chunks' digests in order. Its memory is the logarithm of
/// the file's size.
///
/// A merge waits until a further chunk has arrived, since the last one makes the root.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// Complete left subtrees that wait for their right neighbours, the largest first.
    stack: Vec<Digest>,
    chunks: u32,
}

impl Tree {
    /// Appends the digest of the next chunk.
    pub fn push(&mut self, digest: Digest) {
        // A stack in balance has one entry for each 1 in the binary number of chunks.
        while self.stack.len() > self.chunks.count_ones() as usize {
            self.merge_last_two();
        }
        self.stack.push(digest);
        self.chunks += 1;
    }

    /// The file's digest, when all chunks are in.
    pub fn root(mut self) -> Digest {
        while self.stack.len() > 2 {
            self.merge_last_two();
        }
        match self.stack[..] {
            [left, right] => Digest(*merge_subtrees_root(&left.0, &right.0, Mode::Hash).as_bytes()),
            [only] => only,
            _ => Digest(*blake3::hash(b"").as_bytes()),
        }
    }

    fn merge_last_two(&mut self) {
        if let (Some(right), Some(left)) = (self.stack.pop(), self.stack.pop()) {
            self.stack.push(Digest(merge_subtrees_non_root(&left.0, &right.0, Mode::Hash)));
        }
    }
}

#[cfg(test)]
#[path = "digest_tests.rs"]
mod tests;

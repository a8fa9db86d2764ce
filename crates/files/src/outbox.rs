//! Bytes on their way to a stream.

use std::io;

use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use crate::codec::{CHUNK_HEAD_BYTES, CUT, PORTION_BYTES, cut_bytes, portioned_bytes, portions_until_cut};

/// Chunk in portions.
#[derive(Debug)]
struct Portioned {
    file: u32,
    /// Place of its record in the storage.
    at: usize,
    /// Octets of data.
    data: usize,
}

/// Octets that wait to be written, and how much of them is payload.
///
/// The storage keeps its length and its contents when it is emptied, so that room for a chunk is
/// zeroed once in a session.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    storage: Vec<u8>,
    start: usize,
    end: usize,
    /// Payload octets among those since the storage was last empty.
    payload: usize,
    /// Payload octets written before that.
    moved: u64,
    unflushed: bool,
    /// What stands last, if that is a chunk in portions.
    last: Option<Portioned>,
}

impl Outbox {
    /// Octets that wait.
    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if [`Outbox::drive`] has something to do.
    pub(crate) fn wants(&self) -> bool {
        !self.is_empty() || self.unflushed
    }

    /// Appends `octets`.
    pub(crate) fn put(&mut self, octets: &[u8]) {
        self.room(octets.len()).copy_from_slice(octets);
        self.commit(octets.len(), 0);
    }

    /// Room for `len` more octets, to be filled and then [committed](Self::commit).
    pub(crate) fn room(&mut self, len: usize) -> &mut [u8] {
        let end = self.end + len;
        if self.storage.len() < end {
            self.storage.resize(end, 0);
        }
        &mut self.storage[self.end..end]
    }

    /// Fills the room with `octets`: with their memory where nothing waits, which is exchanged for other one.
    pub(crate) fn fill_room(&mut self, octets: &mut Vec<u8>) {
        if self.end == 0 {
            std::mem::swap(&mut self.storage, octets);
        } else {
            self.room(octets.len()).copy_from_slice(octets);
        }
    }

    /// Appends the first `len` octets of the room; `payload` of them are payload.
    pub(crate) fn commit(&mut self, len: usize, payload: usize) {
        self.end += len;
        self.payload += payload;
        self.last = None;
    }

    /// Appends the record of a chunk of `file` whose `data` octets of payload stand in portions in the room.
    pub(crate) fn commit_portions(&mut self, file: u32, data: usize) {
        let at = self.end;
        self.commit(CHUNK_HEAD_BYTES + portioned_bytes(data), data);
        self.last = Some(Portioned { file, at, data });
    }

    /// Ends a chunk of `file` that stands last behind the portion that is being written, or takes it away if
    /// nothing of it is written; payload that was dropped.
    pub(crate) fn cut(&mut self, file: u32) -> u64 {
        let Some(Portioned { at, data, .. }) = self.last.take_if(|last| last.file == file) else { return 0 };
        let begin = at + CHUNK_HEAD_BYTES;
        let (end, kept) = match portions_until_cut(data, self.start.saturating_sub(begin)) {
            _ if self.start <= at => (at, 0),
            Some(portions) => (begin + cut_bytes(portions), portions * PORTION_BYTES),
            None => return 0,
        };
        if end > at {
            self.storage[end - 1] = CUT;
        }
        let dropped = data - kept;
        (self.end, self.payload) = (end, self.payload - dropped);
        dropped as u64
    }

    /// Payload octets written so far, never more than truly were: what waits counts as payload.
    pub(crate) fn moved(&self) -> u64 {
        self.moved + self.payload.saturating_sub(self.len()) as u64
    }

    /// Drops what waits; how much of that was payload, as [`Self::moved`] counts it.
    pub(crate) fn discard(&mut self) -> u64 {
        let (moved, dropped) = (self.moved(), self.payload.min(self.len()));
        (self.start, self.end, self.payload, self.moved) = (0, 0, 0, moved);
        self.last = None;
        dropped as u64
    }

    /// Takes back payload that must travel once more.
    pub(crate) fn take_back(&mut self, payload: u64) {
        self.moved = self.moved.saturating_sub(payload);
    }

    /// Writes some, or flushes when everything is written. May be cancelled without loss.
    pub(crate) async fn drive<W: AsyncWrite + Unpin>(&mut self, stream: &mut W) -> io::Result<()> {
        if self.is_empty() {
            stream.flush().await?;
            self.unflushed = false;
            return Ok(());
        }
        let written = stream.write(&self.storage[self.start..self.end]).await?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.written(written);
        Ok(())
    }

    fn written(&mut self, octets: usize) {
        self.unflushed = true;
        self.start += octets;
        if self.is_empty() {
            (self.start, self.end) = (0, 0);
            self.last = None;
            self.moved += std::mem::take(&mut self.payload) as u64;
        }
    }
}

#[cfg(test)]
#[path = "outbox_tests.rs"]
mod tests;

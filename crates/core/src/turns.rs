//! Who sends next: the connections that may have something to send stand in line for a turn of their path; whose turn it
//! is there, the path's [`Shares`](crate::Shares) say. A turn is a batch of equal-sized segments with equal fields in the
//! IP header.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::shares::Share;
use crate::{ConnectionId, Ecn, Instant, Pacer, Path, Transmit, Weight};

/// Bytes after which a turn ends.
const QUANTUM_BYTES: usize = 16 * 1500;

/// What a connection's place in the line is made of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turn {
    is_in_line: bool,
    /// When it had nothing more to send and behind which batch, unless something happened to it since.
    silent_at: Option<(Instant, u64)>,
    share: Share,
}

impl Turn {
    /// From now on it gets so much beside the others of its path.
    pub fn set_weight(&mut self, weight: Weight) {
        self.share.weight = weight;
    }

    /// It has left the line, and wants to send data at `due`, if it has any. Asked only where others use the path.
    pub fn rest(&mut self, path: &mut Path, due: impl FnOnce(&Path) -> Option<Instant>) {
        let due = if path.shares.users > 1 { due(path) } else { None };
        let ready_at = path.budget.as_ref().map(Pacer::ready_at);
        let waits = ready_at.zip(due).is_some_and(|(ready_at, due)| due <= ready_at);
        path.shares.set_waiting(&mut self.share, waits);
    }

    /// It uses `path` no more.
    pub fn leave(&mut self, path: &mut Path) {
        path.shares.set_waiting(&mut self.share, false);
    }
}

/// The connections of an endpoint that may have something to send, in line.
#[derive(Clone, Debug)]
pub struct Turns<Way> {
    /// A turn of that path for each of its connections in line.
    line: VecDeque<Way>,
    /// A segment that did not fit the batch before it.
    stash: Option<(Transmit<Way>, Vec<u8>)>,
    /// Batches so far.
    batches: u64,
}

impl<Way> Default for Turns<Way> {
    fn default() -> Self {
        Self { line: VecDeque::new(), stash: None, batches: 0 }
    }
}

impl<Way: Copy> Turns<Way> {
    /// Something happened to a connection of `path`, the one by `way`: it is asked in its turn. The path is looked up
    /// only if that is not to come anyway.
    pub fn touch<'a>(
        &mut self,
        id: ConnectionId,
        turn: &mut Turn,
        way: Way,
        path: impl FnOnce() -> Option<&'a mut Path>,
    ) {
        turn.silent_at = None;
        if !turn.is_in_line
            && let Some(path) = path()
        {
            self.line_up(id, turn, way, path);
        }
    }

    fn line_up(&mut self, id: ConnectionId, turn: &mut Turn, way: Way, path: &mut Path) {
        turn.is_in_line = true;
        path.shares.enter(id, &mut turn.share, path.budget.is_some());
        self.line.push_back(way);
    }

    /// What is left of the last turn goes before everything else: it was polled already.
    pub fn poll_stash(&mut self, buffer: &mut Vec<u8>) -> Option<Transmit<Way>> {
        let (transmit, bytes) = self.stash.take()?;
        buffer.extend_from_slice(&bytes);
        Some(transmit)
    }

    /// Whose turn it is. Its next one ([`crate::Shares::call`]) must [`Self::take`] the turn, unless one of them is gone.
    pub fn call(&mut self) -> Option<Way> {
        self.line.pop_front()
    }

    /// A turn of connection `id`: `poll` appends its next segment to the buffer, as long as there is one, the
    /// batch has room (`max_segments`, at least 1) and the quantum lasts. `None` if there was none: then it
    /// left the line, and its timer is due to be set.
    pub fn take(
        &mut self,
        id: ConnectionId,
        turn: &mut Turn,
        now: Instant,
        (way, path): (Way, &mut Path),
        (buffer, max_segments): (&mut Vec<u8>, usize),
        mut poll: impl FnMut(&mut Path, &mut Vec<u8>) -> Option<Ecn>,
    ) -> Option<Transmit<Way>> {
        let mut batch = Transmit { way, connection: id, segment_bytes: 0, ecn: Ecn::NotEct };
        let mut sent_bytes = 0;
        // Whoever has just said that this was all need not be asked again, unless others have sent since: what
        // they take of a shared path can make more due (a POLL, where data has to wait).
        let asks = turn.silent_at.take() != Some((now, self.batches));
        for count in 0..if asks { max_segments.max(1) } else { 0 } {
            if sent_bytes >= QUANTUM_BYTES {
                break;
            }
            let start = buffer.len();
            let Some(ecn) = poll(path, buffer) else {
                turn.silent_at = Some((now, self.batches + 1));
                break;
            };
            let bytes = buffer.len() - start;
            sent_bytes += bytes;
            if count == 0 {
                batch = Transmit { segment_bytes: bytes, ecn, ..batch };
            } else if bytes > batch.segment_bytes || ecn != batch.ecn {
                let transmit = Transmit { segment_bytes: bytes, ecn, ..batch };
                self.stash = Some((transmit, buffer.split_off(start)));
                break;
            }
            if bytes < batch.segment_bytes {
                break;
            }
        }
        turn.is_in_line = false;
        if buffer.is_empty() {
            return None;
        }
        self.batches += 1;
        path.shares.charge(&mut turn.share, sent_bytes as u64);
        self.line_up(id, turn, way, path); // even if this was all: it may be another's turn now, and its timer is to be set
        Some(batch)
    }
}

#[cfg(test)]
#[path = "turns_tests.rs"]
mod tests;

//! Who sends next: deficit round robin over the connections that may have something to send, in batches of
//! equal-sized segments with equal fields in the IP header.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::{ConnectionId, Ecn, Instant, Transmit};

/// Bytes that a connection may send before the next one has its turn.
const QUANTUM_BYTES: i64 = 16 * 1500;

/// What a connection's place in the line is made of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turn {
    is_in_line: bool,
    /// When it had nothing more to send and behind which batch, unless something happened to it since.
    silent_at: Option<(Instant, u64)>,
    deficit_bytes: i64,
}

/// The connections of an endpoint that may have something to send, in line.
#[derive(Clone, Debug)]
pub struct Turns<Way> {
    line: VecDeque<ConnectionId>,
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
    /// Something happened to a connection: it is asked in its turn.
    pub fn touch(&mut self, id: ConnectionId, turn: &mut Turn) {
        turn.silent_at = None;
        if !turn.is_in_line {
            turn.is_in_line = true;
            self.line.push_back(id);
        }
    }

    /// What is left of the last turn goes before everything else: it was polled already.
    pub fn poll_stash(&mut self, buffer: &mut Vec<u8>) -> Option<Transmit<Way>> {
        let (transmit, bytes) = self.stash.take()?;
        buffer.extend_from_slice(&bytes);
        Some(transmit)
    }

    /// Calls the next in line. It must [`Self::take`] its turn, unless it is gone.
    pub fn call(&mut self) -> Option<ConnectionId> {
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
        way: Way,
        (buffer, max_segments): (&mut Vec<u8>, usize),
        mut poll: impl FnMut(&mut Vec<u8>) -> Option<Ecn>,
    ) -> Option<Transmit<Way>> {
        turn.deficit_bytes = turn.deficit_bytes.min(0) + QUANTUM_BYTES;
        let mut batch = Transmit { way, connection: id, segment_bytes: 0, ecn: Ecn::NotEct };
        // Whoever has just said that this was all need not be asked again, unless others have sent since: what
        // they take of a shared path can make more due (a POLL, where data has to wait).
        let asks = turn.silent_at.take() != Some((now, self.batches));
        for count in 0..if asks { max_segments.max(1) } else { 0 } {
            if count > 0 && turn.deficit_bytes <= 0 {
                break;
            }
            let start = buffer.len();
            let Some(ecn) = poll(buffer) else {
                turn.silent_at = Some((now, self.batches + 1));
                break;
            };
            let bytes = buffer.len() - start;
            turn.deficit_bytes -= bytes as i64;
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
        if buffer.is_empty() {
            turn.is_in_line = false;
            return None;
        }
        self.batches += 1;
        self.line.push_back(id); // even if this was all: its timer is set behind those of the others in line
        Some(batch)
    }
}

#[cfg(test)]
#[path = "turns_tests.rs"]
mod tests;

//! Scheduler of an endpoint: connections that may have something to send stand in line for a turn of their
//! path; whose turn it is there, the path says ([`Path::next_connection`]). A turn is a batch of equal-sized
//! segments with equal fields in the IP header.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::fair_queue::FairShare;
use crate::{ConnectionId, Instant, NetworkFields, Path, PathIndex, Transmit, Weight};

/// Bytes after which a turn ends while others are in line.
const QUANTUM_BYTES: usize = 16 * 1500;

/// Bytes of a batch at most: what UDP over IPv4 takes in one call. Each call costs a carrier as much as some
/// packets do, so that who is alone in line fills it.
const MAX_BATCH_BYTES: usize = 65_507;

/// Place of one connection with the scheduler.
#[derive(Clone, Copy, Debug, Default)]
pub struct SchedulerEntry {
    is_in_line: bool,
    /// Moment when it had nothing more to send, unless something happened since.
    silence: Option<Silence>,
    share: FairShare,
}

/// Moment when a connection had nothing more to send.
#[derive(Clone, Copy, Debug)]
struct Silence {
    at: Instant,
    /// Batch of the endpoint behind which that was.
    batch: u64,
    /// Deadline of the connection from then on.
    deadline: Option<Instant>,
}

impl SchedulerEntry {
    /// Sets how much the connection gets beside the others of its path from now on.
    pub fn set_weight(&mut self, weight: Weight) {
        self.share.weight = weight;
    }

    /// Takes in that the connection has left the line, and wants to send data at `due`, if it has any. That
    /// is asked only where others use the path's rate.
    pub fn rest(&mut self, path: &mut Path, due: impl FnOnce(&Path) -> Option<Instant>) {
        let due = if path.shares_rate() { due(path) } else { None };
        path.set_due(&mut self.share, due);
    }

    /// Takes in that the connection uses `path` no more.
    pub fn leave(&mut self, path: &mut Path) {
        path.set_due(&mut self.share, None);
    }
}

/// Place of a connection after its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterTurn {
    /// It stands in line again: there may be more, or its timer is to be set when others had their turns.
    InLine,
    /// It has nothing more to send and left the line: its timer is to be set to this.
    Silent(Option<Instant>),
}

/// Connections of an endpoint that may have something to send, in line.
#[derive(Clone, Debug)]
pub struct Scheduler<Peer> {
    /// Paths, each as often as connections of it are in line; once more for one that is gone from it, whoever
    /// has its index by then.
    line: VecDeque<PathIndex>,
    /// Segment that did not fit the batch before it.
    stash: Option<(Transmit<Peer>, Vec<u8>)>,
    /// Batches so far.
    batches: u64,
}

impl<Peer> Default for Scheduler<Peer> {
    fn default() -> Self {
        Self { line: VecDeque::new(), stash: None, batches: 0 }
    }
}

impl<Peer: Copy> Scheduler<Peer> {
    /// Takes in that something happened to a connection of `path`, which has this `index`: it is asked in its
    /// turn. The path is looked up only if that is not to come anyway.
    pub fn touch<'a>(
        &mut self,
        id: ConnectionId,
        turn: &mut SchedulerEntry,
        index: PathIndex,
        path: impl FnOnce() -> Option<&'a mut Path>,
    ) {
        turn.silence = None;
        if !turn.is_in_line
            && let Some(path) = path()
        {
            self.line_up(id, turn, index, path);
        }
    }

    /// Place of a connection that has sent. Where nobody else is in line, who might send before it is asked
    /// again, one that said that this was all leaves at once.
    fn end_turn(
        &mut self,
        id: ConnectionId,
        turn: &mut SchedulerEntry,
        index: PathIndex,
        path: &mut Path,
    ) -> AfterTurn {
        let is_alone = self.line.is_empty() && self.stash.is_none() && !path.shares_rate();
        if let Some(silence) = turn.silence.take_if(|_| is_alone) {
            turn.is_in_line = false;
            return AfterTurn::Silent(silence.deadline);
        }
        // Even if this was all: another may be next, and its timer is to be set.
        self.line_up(id, turn, index, path);
        AfterTurn::InLine
    }

    fn line_up(&mut self, id: ConnectionId, turn: &mut SchedulerEntry, index: PathIndex, path: &mut Path) {
        turn.is_in_line = true;
        path.line_up(id, &mut turn.share);
        self.line.push_back(index);
    }

    /// True if nobody is in line, and no segment is left of the last turn.
    pub fn is_idle(&self) -> bool {
        self.line.is_empty() && self.stash.is_none()
    }

    /// Segment that is left of the last turn: it was polled already, and goes before everything else.
    pub fn poll_stash(&mut self, buffer: &mut Vec<u8>) -> Option<Transmit<Peer>> {
        let (transmit, bytes) = self.stash.take()?;
        buffer.extend_from_slice(&bytes);
        Some(transmit)
    }

    /// Path whose turn it is. Its next connection ([`Path::next_connection`]) must [`Self::take`] the turn,
    /// unless one of them is gone.
    pub fn call(&mut self) -> Option<PathIndex> {
        self.line.pop_front()
    }

    /// Turn of connection `id` to `peer`: `poll` appends its next segment to the buffer, as long as there is
    /// one, the batch has room (`max_segments`, at least 1) and the quantum lasts; its error is the deadline
    /// of a connection that has none. A segment that is larger than what the path takes, or may be, goes
    /// alone: a carrier that sends batches as one packet would lose them as one.
    pub fn take(
        &mut self,
        id: ConnectionId,
        turn: &mut SchedulerEntry,
        now: Instant,
        (peer, index, path): (Peer, PathIndex, &mut Path),
        (buffer, max_segments): (&mut Vec<u8>, usize),
        mut poll: impl FnMut(&mut Path, &mut Vec<u8>) -> Result<NetworkFields, Option<Instant>>,
    ) -> (Option<Transmit<Peer>>, AfterTurn) {
        let mut batch = Transmit { peer, connection: id, segment_bytes: 0, fields: NetworkFields::default() };
        let mut sent_bytes = 0;
        let quantum_bytes = if self.line.is_empty() { MAX_BATCH_BYTES } else { QUANTUM_BYTES };
        // Whoever has just said that this was all need not be asked again, unless others have sent since:
        // what they take of a shared path can make more due (a POLL, where data has to wait).
        if let Some(silence) = turn.silence.take().filter(|last| (last.at, last.batch) == (now, self.batches))
        {
            turn.is_in_line = false;
            return (None, AfterTurn::Silent(silence.deadline));
        }
        for count in 0..max_segments.max(1) {
            let start = buffer.len();
            let is_full = start + batch.segment_bytes > MAX_BATCH_BYTES;
            if count > 0 && (sent_bytes >= quantum_bytes || is_full) {
                break;
            }
            let fields = match poll(path, buffer) {
                Ok(fields) => fields,
                Err(deadline) if count == 0 => {
                    turn.is_in_line = false;
                    return (None, AfterTurn::Silent(deadline));
                }
                Err(deadline) => {
                    turn.silence = Some(Silence { at: now, batch: self.batches + 1, deadline });
                    break;
                }
            };
            let bytes = buffer.len() - start;
            let whole_bytes = fields.whole_bytes(bytes);
            sent_bytes += whole_bytes;
            if count == 0 {
                batch = Transmit { segment_bytes: bytes, fields, ..batch };
            } else if bytes > batch.segment_bytes || fields.differ_from(&batch.fields) {
                let transmit = Transmit { segment_bytes: bytes, fields, ..batch };
                self.stash = Some((transmit, buffer.split_off(start)));
                break;
            }
            if bytes < batch.segment_bytes || path.is_oversize(whole_bytes) {
                break;
            }
        }
        self.batches += 1;
        path.count_turn(&mut turn.share, sent_bytes as u64);
        (Some(batch), self.end_turn(id, turn, index, path))
    }
}

#[cfg(test)]
#[path = "scheduler_tests.rs"]
mod tests;

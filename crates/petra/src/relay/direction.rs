//! One direction of a coupling: a buffer between who is read and who is written to.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use skyhaul_core::StreamError;

use super::end::End;

/// Octets that are read at a time.
const CHUNK_BYTES: usize = 4096;

/// Way in which a sender learns that the buffer is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// It is held back from B_th on, in the way of its protocol: ACK stop, STOP_TX [PETRA III-E, III-F].
    Hold,
    /// The buffer is not read beyond its size, so that the window of its protocol closes.
    Window,
}

/// Bounds of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Octets from which on the sender is held back: `B_th`.
    pub threshold_bytes: u64,
    /// Octets at most: `B_size`. Beyond, nothing is read: it stays with the connection, within its bounds.
    pub size_bytes: u64,
    /// How the sender learns.
    pub control: Control,
}

/// Counters of a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Octets that were read.
    pub read_bytes: u64,
    /// Octets that were passed on.
    pub written_bytes: u64,
    /// Most octets that the buffer had.
    pub most_bytes: u64,
    /// Times that the sender was held back.
    pub holds: u64,
}

/// Buffer of one direction. What has been passed on and has not left yet counts as in it, as in the paper: it
/// is what waits for the next hop.
#[derive(Clone, Debug)]
pub(super) struct Direction {
    bounds: Bounds,
    buffer: VecDeque<u8>,
    /// Octets that were passed on and have not left.
    unsent_bytes: u64,
    is_holding: bool,
    /// True once the stream was read to its end.
    has_ended: bool,
    /// True once that was passed on.
    has_finished: bool,
    counters: Counters,
}

impl Direction {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            buffer: VecDeque::new(),
            unsent_bytes: 0,
            is_holding: false,
            has_ended: false,
            has_finished: false,
            counters: Counters::default(),
        }
    }

    pub(super) fn counters(&self) -> Counters {
        self.counters
    }

    /// Octets that wait for the next hop.
    pub(super) fn occupancy_bytes(&self) -> u64 {
        self.buffer.len() as u64 + self.unsent_bytes
    }

    /// True if the stream was passed on to its end and has left.
    pub(super) fn is_over(&self) -> bool {
        self.has_finished && self.unsent_bytes == 0
    }

    /// Drops what waits: one of both connections is gone.
    pub(super) fn clear(&mut self) {
        self.buffer.clear();
        self.unsent_bytes = 0;
    }

    /// Reads as much as there is room for; true if something came.
    pub(super) fn read(&mut self, from: &mut dyn End) -> Result<bool, StreamError> {
        let mut came = false;
        let mut chunk: Vec<u8> = Vec::new();
        while !self.has_ended {
            let room = self.bounds.size_bytes.saturating_sub(self.occupancy_bytes());
            let length = usize::try_from(room).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
            if length == 0 {
                break;
            }
            chunk.resize(length, 0);
            match from.read(&mut chunk)? {
                None => break,
                Some(0) => self.has_ended = true,
                Some(count) => self.take(&chunk[..count]),
            }
            came = true;
        }
        Ok(came)
    }

    fn take(&mut self, octets: &[u8]) {
        self.buffer.extend(octets);
        self.counters.read_bytes += octets.len() as u64;
        self.counters.most_bytes = self.counters.most_bytes.max(self.occupancy_bytes());
        debug_assert!(self.occupancy_bytes() <= self.bounds.size_bytes, "a buffer beyond its size");
    }

    /// Passes on as much as the next hop takes; true if something went, or has left since: then the other
    /// side may be let go.
    pub(super) fn write(&mut self, to: &mut dyn End) -> Result<bool, StreamError> {
        let mut went = false;
        while !self.buffer.is_empty() {
            let (octets, _) = self.buffer.as_slices();
            let count = to.write(octets)?;
            if count == 0 {
                break;
            }
            self.buffer.drain(..count);
            self.counters.written_bytes += count as u64;
            went = true;
        }
        if self.has_ended && self.buffer.is_empty() && !self.has_finished {
            to.finish();
            self.has_finished = true;
            went = true;
        }
        let unsent_bytes = to.unsent_bytes();
        let left = core::mem::replace(&mut self.unsent_bytes, unsent_bytes) != unsent_bytes;
        Ok(went || left)
    }

    /// Holds the sender back, or lets it go on, as the buffer says; true if that changed.
    pub(super) fn control(&mut self, from: &mut dyn End) -> bool {
        let is_full = self.occupancy_bytes() >= self.bounds.threshold_bytes && !self.has_ended;
        let holds = self.bounds.control == Control::Hold && is_full;
        if holds == self.is_holding {
            return false;
        }
        self.is_holding = holds;
        self.counters.holds += u64::from(holds);
        from.hold(holds);
        true
    }
}

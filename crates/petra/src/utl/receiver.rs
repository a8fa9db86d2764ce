//! Receiving half of UTL: payload for the application, and the confirmations that follow from its reading.

use alloc::collections::VecDeque;

use super::error::UtlError;
use super::frame::{FRAME_BYTES, Frame};

/// Octets that wait for the reader at most; nothing more is taken from the hop below then.
const MAX_UNREAD_BYTES: usize = 65_536;

/// Receiver.
#[derive(Clone, Debug, Default)]
pub(super) struct Receiver {
    head: [u8; FRAME_BYTES],
    head_done: usize,
    /// Octets of the present batch that are still to come.
    payload_left: usize,
    /// Number of the last batch that began.
    last: u32,
    unread: VecDeque<u8>,
    /// Batches that have not been read to their ends: octets of each that are still to be read.
    unread_batches: VecDeque<u64>,
    /// Number of the last batch that was read to its end.
    read: u32,
    /// Number that was confirmed last.
    confirmed: u32,
    has_ended: bool,
}

impl Receiver {
    /// Octets that may be taken from the hop now.
    pub(super) fn room(&self) -> usize {
        MAX_UNREAD_BYTES.saturating_sub(self.unread.len())
    }

    /// Takes octets of the hop; confirmations in them go to `confirmed`.
    pub(super) fn push(
        &mut self,
        mut octets: &[u8],
        mut confirmed: impl FnMut(u32) -> Result<(), UtlError>,
    ) -> Result<(), UtlError> {
        while !octets.is_empty() {
            if self.payload_left > 0 {
                let (payload, rest) = octets.split_at(octets.len().min(self.payload_left));
                self.unread.extend(payload);
                self.payload_left -= payload.len();
                octets = rest;
                continue;
            }
            let (part, rest) = octets.split_at(octets.len().min(FRAME_BYTES - self.head_done));
            self.head[self.head_done..self.head_done + part.len()].copy_from_slice(part);
            self.head_done += part.len();
            octets = rest;
            if self.head_done == FRAME_BYTES {
                self.head_done = 0;
                match Frame::decode(self.head).ok_or(UtlError::Malformed)? {
                    Frame::Confirm { number } => confirmed(number)?,
                    Frame::Batch { number, length, ends } => self.begin(number, length, ends)?,
                }
            }
        }
        Ok(())
    }

    fn begin(&mut self, number: u32, length: u32, ends: bool) -> Result<(), UtlError> {
        if self.has_ended || number != self.last.wrapping_add(1) || (length == 0 && !ends) {
            return Err(UtlError::Malformed);
        }
        self.last = number;
        self.payload_left = length as usize;
        self.has_ended = ends;
        self.unread_batches.push_back(u64::from(length));
        self.settle();
        Ok(())
    }

    /// Counts the batches that were read to their ends.
    fn settle(&mut self) {
        while self.unread_batches.front() == Some(&0) {
            self.unread_batches.pop_front();
            self.read = self.read.wrapping_add(1);
        }
    }

    /// Octets read into `out`; `Some(0)` at the end of the stream, `None` where nothing is there yet.
    pub(super) fn read(&mut self, out: &mut [u8]) -> Option<usize> {
        let length = out.len().min(self.unread.len());
        self.unread.drain(..length).zip(out).for_each(|(octet, place)| *place = octet);
        let mut left = length as u64;
        while left > 0
            && let Some(batch) = self.unread_batches.front_mut()
        {
            let part = left.min(*batch);
            *batch -= part;
            left -= part;
            self.settle();
        }
        let is_end = self.has_all() && self.unread.is_empty();
        (length > 0 || is_end).then_some(length)
    }

    /// True if something waits for the reader, or the end does.
    pub(super) fn is_readable(&self) -> bool {
        !self.unread.is_empty() || self.is_over()
    }

    /// True if all of the stream has come.
    pub(super) fn has_all(&self) -> bool {
        self.has_ended && self.payload_left == 0
    }

    /// True if the stream was read to its end.
    pub(super) fn is_over(&self) -> bool {
        self.has_all() && self.unread.is_empty()
    }

    /// Confirmation that is owed.
    pub(super) fn owed(&self) -> Option<Frame> {
        (self.read != self.confirmed).then_some(Frame::Confirm { number: self.read })
    }

    /// Takes in that this number is confirmed.
    pub(super) fn on_confirmed(&mut self, number: u32) {
        self.confirmed = number;
    }
}

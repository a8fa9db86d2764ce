//! Receiving half of a connection: order, stream, statuses, and how much is kept.

mod assembly;
mod joining;
#[cfg(test)]
mod receive_tests;
mod reporting;

use skyhaul_core::event::Refusal;
use skyhaul_core::{Instant, nearest};

use super::config::Config;
use super::pdu::{MODULUS, MaskCoding, Status};
use assembly::{Arrived, Assembly};
use joining::{BrokenSdu, Joiner};
use reporting::Reporter;

/// Data that has arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data<'a> {
    /// As the PDU carries it.
    pub(super) number: u32,
    /// Clock of a POLL with it.
    pub(super) poll: Option<u32>,
    pub(super) payload: &'a [u8],
}

/// Fate of a PDU with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// It was the next one: octets of the stream that are readable now, of those that waited for it, too.
    InOrder(usize),
    /// It waits for one before it.
    Waits,
    /// It was not taken.
    Refused(Refusal),
    /// Its SDUs make no sense.
    Broken,
}

/// Receiving half.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    window_pdus: u64,
    mask: MaskCoding,
    threshold_bytes: u64,
    limit_bytes: u64,
    /// Longest payload that is to be expected: room for the next PDU in order.
    payload_bytes: u64,
    assembly: Assembly,
    joiner: Joiner,
    reporter: Reporter,
    /// True while the application holds the peer back.
    is_held: bool,
}

impl Receiver {
    /// Receiver of a peer whose SDUs have headers of so many octets.
    pub(super) fn new(config: &Config, sdu_header_bytes: u16) -> Self {
        Self {
            window_pdus: u64::from(config.window_pdus),
            mask: config.mask,
            threshold_bytes: config.threshold_bytes,
            limit_bytes: config.receive_limit_bytes,
            payload_bytes: u64::from(config.payload_bytes),
            assembly: Assembly::new(),
            joiner: Joiner::new(sdu_header_bytes),
            reporter: Reporter::new(config.status_interval_ns()),
            is_held: false,
        }
    }

    /// Octets kept.
    pub(super) fn kept_bytes(&self) -> u64 {
        self.joiner.unread_bytes() + self.assembly.waiting_bytes()
    }

    /// Holds the peer back, or lets it go on.
    pub(super) fn hold(&mut self, holds: bool) {
        self.is_held = holds;
    }

    /// True if the peer is to stop: it is held back, or B_th waits for the reader.
    fn is_stopped(&self) -> bool {
        self.is_held || self.joiner.unread_bytes() >= self.threshold_bytes
    }

    /// True if the stream is whole.
    pub(super) fn is_over(&self) -> bool {
        self.joiner.is_over()
    }

    /// True if a PDU is missing.
    pub(super) fn has_gaps(&self) -> bool {
        self.assembly.has_gaps()
    }

    /// Takes a POLL.
    pub(super) fn on_poll(&mut self, clock: u32) {
        self.reporter.on_poll(clock);
    }

    /// Sends a status though nothing has come, no sooner than T_stat after the last one.
    pub(super) fn tell(&mut self) {
        self.reporter.on_arrival();
    }

    /// Takes a PDU with data, if there is room: `room_bytes` in all. What is not taken counts as lost.
    pub(super) fn on_data(&mut self, data: Data<'_>, room_bytes: u64) -> Taken {
        self.reporter.on_arrival();
        data.poll.into_iter().for_each(|clock| self.reporter.on_poll(clock));
        let next = self.assembly.next();
        let number = nearest(u64::from(data.number), next, MODULUS);
        if self.assembly.has(number) || number == 0 {
            return Taken::Refused(Refusal::Duplicate);
        }
        if number >= next + self.window_pdus {
            return Taken::Refused(Refusal::OutsideWindow);
        }
        // What waits behind a missing PDU leaves room for that one.
        let spare = if number == next { 0 } else { self.payload_bytes };
        if self.kept_bytes() + data.payload.len() as u64 + spare > self.limit_bytes.min(room_bytes) {
            return Taken::Refused(Refusal::Full);
        }
        if number > next {
            self.assembly.wait(number, data.payload);
            return Taken::Waits;
        }
        self.assembly.advance();
        self.join(data.payload).map_or(Taken::Broken, Taken::InOrder)
    }

    /// Joins a payload and those that waited for it; the octets of the stream.
    fn join(&mut self, payload: &[u8]) -> Result<usize, BrokenSdu> {
        let mut octets = self.joiner.push(payload)?;
        while let Some(payload) = self.assembly.take_next() {
            octets += self.joiner.push(&payload)?;
        }
        Ok(octets)
    }

    /// Octets read; `Some(0)` at the end of the stream, `None` where nothing is there yet.
    pub(super) fn read(&mut self, out: &mut [u8]) -> Option<usize> {
        let length = self.joiner.read(out);
        let is_end = self.joiner.is_over() && self.joiner.unread_bytes() == 0;
        (length > 0 || is_end || out.is_empty()).then_some(length)
    }

    /// Drops what waits for the reader.
    pub(super) fn discard(&mut self) {
        self.joiner.discard();
    }

    /// When the next status is due.
    pub(super) fn status_at(&self, now: Instant) -> Option<Instant> {
        self.reporter.due(now, self.assembly.has_gaps(), self.is_stopped())
    }

    /// Status that leaves now, with a mask of at most so many octets, those in the header included.
    pub(super) fn depart(&mut self, now: Instant, max_mask_bytes: usize) -> Status {
        let is_stopped = self.is_stopped();
        let echo = self.reporter.depart(now, is_stopped);
        let Arrived { last_io, last_seq_no, mask } = self.assembly.arrived(self.mask, max_mask_bytes);
        let [last_io, last_seq_no] = [last_io, last_seq_no].map(|number| (number % MODULUS) as u32);
        Status { last_io, last_seq_no, echo, is_stopped, mask }
    }
}

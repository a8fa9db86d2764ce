//! Sending half of UTL: batches, the window of them, and which are confirmed.

use alloc::collections::VecDeque;

use skyhaul_core::Instant;

use super::config::Config;
use super::error::UtlError;
use super::frame::Frame;

/// Batch that is not confirmed.
#[derive(Clone, Copy, Debug)]
struct Batch {
    octets: u64,
    /// Place of its first octet in what was given to the hop.
    start: u64,
    /// When that left; `None`: it has not.
    left_at: Option<Instant>,
}

/// Round trips of confirmed batches: from a batch's first bit on the wire to its confirmation, `RTT_UTL`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundTrips {
    /// How many.
    pub count: u64,
    /// Longest.
    pub max_ns: u64,
    /// Last one.
    pub last_ns: u64,
}

impl RoundTrips {
    fn add(&mut self, took_ns: u64) {
        *self = Self { count: self.count + 1, max_ns: self.max_ns.max(took_ns), last_ns: took_ns };
    }
}

/// Sender. Payload is kept until the hop below takes it, and no longer.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    config: Config,
    unsent: VecDeque<u8>,
    /// Batches that are not confirmed, at most a window.
    batches: VecDeque<Batch>,
    /// Number of the first of those.
    first: u32,
    /// Octets of the batch that is being given to the hop which it has not taken.
    payload_left: usize,
    has_finished: bool,
    has_ended: bool,
    round_trips: RoundTrips,
    repeated_confirmations: u64,
}

impl Sender {
    pub(super) fn new(config: Config) -> Self {
        Self {
            config,
            unsent: VecDeque::new(),
            batches: VecDeque::new(),
            first: 1,
            payload_left: 0,
            has_finished: false,
            has_ended: false,
            round_trips: RoundTrips::default(),
            repeated_confirmations: 0,
        }
    }

    pub(super) fn round_trips(&self) -> RoundTrips {
        self.round_trips
    }

    /// Confirmations of batches that were confirmed before.
    pub(super) fn repeated_confirmations(&self) -> u64 {
        self.repeated_confirmations
    }

    /// Octets that [`Self::write`] would take now.
    pub(super) fn room(&self) -> u64 {
        self.config.send_limit_bytes.saturating_sub(self.unsent.len() as u64)
    }

    /// Octets that wait for the hop.
    pub(super) fn unsent_bytes(&self) -> u64 {
        self.unsent.len() as u64
    }

    /// Octets taken of `data`.
    pub(super) fn write(&mut self, data: &[u8]) -> usize {
        let room = usize::try_from(self.config.send_limit_bytes).unwrap_or(usize::MAX);
        let taken = data.len().min(room.saturating_sub(self.unsent.len()));
        if self.has_finished {
            return 0;
        }
        self.unsent.extend(&data[..taken]);
        taken
    }

    pub(super) fn finish(&mut self) {
        self.has_finished = true;
    }

    /// Octets that the far application is not known to have.
    pub(super) fn unconfirmed_bytes(&self) -> u64 {
        // Those of the batch under way are in both: what was not taken of it still waits.
        let batches: u64 = self.batches.iter().map(|batch| batch.octets).sum();
        batches + (self.unsent.len() - self.payload_left) as u64
    }

    /// True if all is confirmed, the end included.
    pub(super) fn is_over(&self) -> bool {
        self.has_ended && self.batches.is_empty()
    }

    /// True if the last batch has been given to the hop.
    pub(super) fn has_given_all(&self) -> bool {
        self.has_ended && self.payload_left == 0
    }

    /// Header of the next batch, which begins at place `start` of what the hop is given.
    pub(super) fn begin(&mut self, start: u64) -> Option<Frame> {
        let has_more = !self.unsent.is_empty() || (self.has_finished && !self.has_ended);
        if self.payload_left > 0 || !has_more || self.batches.len() >= self.config.window_batches {
            return None;
        }
        let length = self.unsent.len().min(self.config.batch_bytes as usize);
        self.payload_left = length;
        self.has_ended = self.has_finished && length == self.unsent.len();
        self.batches.push_back(Batch { octets: length as u64, start, left_at: None });
        let number = self.first.wrapping_add(self.batches.len() as u32 - 1);
        Some(Frame::Batch { number, length: length as u32, ends: self.has_ended })
    }

    /// Payload of the batch under way that the hop is to be given next.
    pub(super) fn payload(&self) -> &[u8] {
        let (octets, _) = self.unsent.as_slices();
        &octets[..octets.len().min(self.payload_left)]
    }

    /// Takes in that the hop took so much of that.
    pub(super) fn given(&mut self, octets: usize) {
        self.unsent.drain(..octets);
        self.payload_left -= octets;
    }

    /// Takes in that the octets before place `left` have left.
    pub(super) fn on_left(&mut self, left: u64, now: Instant) {
        for batch in self.batches.iter_mut().filter(|batch| batch.start < left) {
            batch.left_at.get_or_insert(now);
        }
    }

    /// When the oldest batch is too old [PETRA IV-A].
    pub(super) fn deadline(&self) -> Option<Instant> {
        let left_at = self.batches.front()?.left_at?;
        Some(left_at.after(self.config.timeout_ns))
    }

    /// Takes a confirmation; true if it confirms something new. One of what was never sent is an error.
    pub(super) fn on_confirm(&mut self, number: u32, now: Instant) -> Result<bool, UtlError> {
        let count = number.wrapping_sub(self.first).wrapping_add(1) as usize;
        if count > self.batches.len() {
            // One that came before is nothing new.
            let is_old = self.first.wrapping_sub(number) <= u32::MAX / 2;
            return if is_old { Ok(self.on_repeated()) } else { Err(UtlError::FalseConfirmation) };
        }
        if count == 0 {
            return Ok(self.on_repeated());
        }
        let is_under_way = count == self.batches.len() && self.payload_left > 0;
        if is_under_way {
            return Err(UtlError::FalseConfirmation);
        }
        for batch in self.batches.drain(..count) {
            // What is confirmed has left, whether that was noticed or not.
            self.round_trips.add(now.since(batch.left_at.unwrap_or(now)));
        }
        self.first = self.first.wrapping_add(count as u32);
        Ok(true)
    }

    /// Counts one that confirms nothing new, which is false.
    fn on_repeated(&mut self) -> bool {
        self.repeated_confirmations = self.repeated_confirmations.saturating_add(1);
        false
    }
}

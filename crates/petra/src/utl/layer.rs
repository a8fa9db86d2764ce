//! UTL at one end: an application above, a connection of the first hop below.

use alloc::collections::VecDeque;

use skyhaul_core::{ConnectionId, Connections, Instant};

use super::config::Config;
use super::error::UtlError;
use super::frame::{FRAME_BYTES, Frame};
use super::receiver::Receiver;
use super::sender::{RoundTrips, Sender};

/// Octets that are read from the hop at a time.
const CHUNK_BYTES: usize = 4096;

/// News for the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UtlEvent {
    /// There is something to read, or the end.
    Readable,
    /// There may be room to write.
    Writable,
    /// The far application has read everything, the end included.
    Finished,
    /// It will never be known.
    Failed(UtlError),
}

/// UTL at one end of a split path. Whoever owns the endpoint calls [`Self::work`] after whatever has happened
/// to the connection below or to the application above.
#[derive(Clone, Debug)]
pub struct UtlLayer {
    sender: Sender,
    receiver: Receiver,
    /// Octets of a frame that the hop has not taken.
    frame: VecDeque<u8>,
    /// Octets that the hop has taken.
    given: u64,
    has_finished_below: bool,
    was_told_finished: bool,
    /// True if the application had more to write than there was room for.
    is_blocked: bool,
    failure: Option<UtlError>,
    /// At most one of each kind.
    events: VecDeque<UtlEvent>,
}

impl UtlLayer {
    /// Layer above a connection of its own.
    pub fn new(config: Config) -> Self {
        let Config { batch_bytes, window_batches, .. } = config;
        let config =
            Config { batch_bytes: batch_bytes.max(1), window_batches: window_batches.max(1), ..config };
        Self {
            sender: Sender::new(config),
            receiver: Receiver::default(),
            frame: VecDeque::new(),
            given: 0,
            has_finished_below: false,
            was_told_finished: false,
            is_blocked: false,
            failure: None,
            events: VecDeque::new(),
        }
    }

    /// Octets taken of `data`; none after [`Self::finish`] or a failure.
    pub fn write(&mut self, data: &[u8]) -> usize {
        let taken = if self.failure.is_some() { 0 } else { self.sender.write(data) };
        self.is_blocked |= taken < data.len();
        taken
    }

    /// Nothing more will be written. [`UtlEvent::Finished`] follows once everything is confirmed.
    pub fn finish(&mut self) {
        self.sender.finish();
    }

    /// Octets read into `out`; `Some(0)` at the end of the stream, `None` where nothing is there yet. A batch
    /// is confirmed when all of it was read.
    pub fn read(&mut self, out: &mut [u8]) -> Option<usize> {
        self.receiver.read(out)
    }

    /// Next event.
    pub fn poll_event(&mut self) -> Option<UtlEvent> {
        self.events.pop_front()
    }

    /// Octets that the far application is not known to have.
    pub fn unconfirmed_bytes(&self) -> u64 {
        self.sender.unconfirmed_bytes()
    }

    /// Octets that [`Self::write`] would take now.
    pub fn writable_bytes(&self) -> u64 {
        if self.failure.is_some() { 0 } else { self.sender.room() }
    }

    /// Octets written that the hop has not taken.
    pub fn unsent_bytes(&self) -> u64 {
        self.sender.unsent_bytes()
    }

    /// Round trips of the batches that are confirmed.
    pub fn round_trips(&self) -> RoundTrips {
        self.sender.round_trips()
    }

    /// Confirmations of batches that were confirmed before: a peer's mistake, which changes nothing.
    pub fn repeated_confirmations(&self) -> u64 {
        self.sender.repeated_confirmations()
    }

    /// Why it failed.
    pub fn failure(&self) -> Option<UtlError> {
        self.failure
    }

    /// True if everything is confirmed that either end has written, and both know it, or will by what was
    /// given to the hop.
    pub fn is_over(&self) -> bool {
        self.has_finished_below && self.sender.is_over()
    }

    /// When [`Self::handle_timeout`] is due.
    pub fn deadline(&self) -> Option<Instant> {
        self.sender.deadline().filter(|_| self.failure.is_none())
    }

    /// Ends where a batch is too old. True: the connection below is to be aborted.
    pub fn handle_timeout(&mut self, now: Instant) -> bool {
        let is_late = self.deadline().is_some_and(|at| at <= now);
        if is_late {
            self.fail(UtlError::Timeout { unconfirmed_bytes: self.sender.unconfirmed_bytes() });
        }
        is_late
    }

    /// Takes in that the connection below is gone.
    pub fn on_closed(&mut self) {
        if let Err(error) = self.check_end() {
            self.fail(error);
        }
    }

    fn fail(&mut self, error: UtlError) {
        if self.failure.is_none() {
            self.failure = Some(error);
            self.tell(UtlEvent::Failed(error));
        }
    }

    fn tell(&mut self, event: UtlEvent) {
        if !self.events.contains(&event) {
            self.events.push_back(event);
        }
    }

    /// Moves what can be moved between the application and the connection below; true if something did. After
    /// a failure that the peer is at fault for, the connection is to be aborted: [`Self::failure`] says so.
    pub fn work(&mut self, now: Instant, below: &mut dyn Connections, id: ConnectionId) -> bool {
        if self.failure.is_some() {
            return false;
        }
        let came = self.take(now, below, id).unwrap_or_else(|error| {
            self.fail(error);
            true
        });
        let went = self.give(below, id);
        self.tell_of_room();
        self.sender.on_left(self.given - below.unsent_bytes(id).min(self.given), now);
        self.finish_below(below, id);
        if self.sender.is_over() && !self.was_told_finished {
            self.was_told_finished = true;
            self.tell(UtlEvent::Finished);
        }
        came || went
    }

    /// Reads from the hop.
    fn take(
        &mut self,
        now: Instant,
        below: &mut dyn Connections,
        id: ConnectionId,
    ) -> Result<bool, UtlError> {
        let (mut chunk, mut came) = ([0; CHUNK_BYTES], false);
        loop {
            let room = self.receiver.room().min(CHUNK_BYTES);
            let count = match below.read(id, &mut chunk[..room]) {
                Ok(Some(0)) if room > 0 => {
                    self.check_end()?;
                    break;
                }
                Ok(Some(count @ 1..)) => count,
                _ => break,
            };
            came = true;
            let sender = &mut self.sender;
            self.receiver.push(&chunk[..count], |number| sender.on_confirm(number, now).map(|_| ()))?;
        }
        if came && self.receiver.is_readable() {
            self.tell(UtlEvent::Readable);
        }
        Ok(came)
    }

    /// Tells an application that had more to write of room for it.
    fn tell_of_room(&mut self) {
        if self.is_blocked && self.sender.room() > 0 {
            self.is_blocked = false;
            self.tell(UtlEvent::Writable);
        }
    }

    /// Checks that nothing is missed if nothing more comes from the hop: both streams are whole.
    fn check_end(&self) -> Result<(), UtlError> {
        let is_whole = self.receiver.has_all() && self.sender.is_over();
        let unconfirmed_bytes = self.sender.unconfirmed_bytes();
        if is_whole { Ok(()) } else { Err(UtlError::Closed { unconfirmed_bytes }) }
    }

    /// Gives to the hop: what is left of a frame, payload, a confirmation, the next batch.
    fn give(&mut self, below: &mut dyn Connections, id: ConnectionId) -> bool {
        let before = self.given;
        while self.give_frame(below, id) && self.give_payload(below, id) {
            let Some(frame) = self.next_frame() else { break };
            self.frame.extend(frame.encode());
        }
        self.given > before
    }

    fn next_frame(&mut self) -> Option<Frame> {
        if let Some(frame) = self.receiver.owed() {
            if let Frame::Confirm { number } = frame {
                self.receiver.on_confirmed(number);
            }
            return Some(frame);
        }
        self.sender.begin(self.given)
    }

    /// True once nothing of a frame is left.
    fn give_frame(&mut self, below: &mut dyn Connections, id: ConnectionId) -> bool {
        debug_assert!(self.frame.len() <= FRAME_BYTES);
        let taken = below.write(id, self.frame.make_contiguous()).unwrap_or(0);
        self.frame.drain(..taken);
        self.given += taken as u64;
        self.frame.is_empty()
    }

    /// True once nothing of the batch under way is left.
    fn give_payload(&mut self, below: &mut dyn Connections, id: ConnectionId) -> bool {
        while !self.sender.payload().is_empty() {
            let taken = below.write(id, self.sender.payload()).unwrap_or(0);
            if taken == 0 {
                return false;
            }
            self.sender.given(taken);
            self.given += taken as u64;
        }
        true
    }

    /// Ends this direction of the connection below once nothing more will be said.
    fn finish_below(&mut self, below: &mut dyn Connections, id: ConnectionId) {
        let has_said_all = self.frame.is_empty() && self.receiver.owed().is_none();
        if self.sender.has_given_all() && self.receiver.is_over() && has_said_all && !self.has_finished_below
        {
            self.has_finished_below = true;
            below.finish(id);
        }
    }
}

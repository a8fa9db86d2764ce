//! Surface of a connection: what its endpoint and the application see.

use alloc::vec::Vec;

use skyhaul_core::endpoint::{self, Stage};
use skyhaul_core::{Description, Gap, Instant, NetworkFields, Octets, Path, Stats, StreamError, StreamEvent};

use super::{Connection, Context, State};
use crate::receive::Receiver;
use crate::scps::RecordPart;
use crate::send::Sender;

impl endpoint::Connection for Connection {
    type State = State;

    fn state(&self) -> State {
        self.life.state()
    }

    fn state_name(&self) -> &'static str {
        self.life.state().name()
    }

    fn is_done(&self) -> bool {
        self.life.is_closed() && self.life.reset().is_none()
    }

    fn is_unproven(&self) -> bool {
        self.life.state() == State::SynReceived || self.is_starred()
    }

    fn stage(&self) -> Stage {
        match self.life.state() {
            State::SynSent | State::SynReceived => Stage::Opening,
            State::TimeWait => Stage::Ended,
            State::Closed => Stage::Closed,
            _ => Stage::Open,
        }
    }

    fn poll_event(&mut self) -> Option<StreamEvent> {
        self.events.pop_front()
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) {
        self.end_waiting(context);
        self.check_invariants();
    }

    fn poll_transmit(
        &mut self,
        context: &mut Context<'_>,
        out: &mut Vec<u8>,
    ) -> Result<NetworkFields, Option<Instant>> {
        let fields = self.send_next(context, out);
        self.check_invariants();
        fields
    }

    fn deadline(&self, now: Instant, path: &Path) -> Option<Instant> {
        self.next(now, path).map(|step| step.at)
    }

    fn data_due(&self, now: Instant, path: &Path) -> Option<Instant> {
        self.held_until(now, path)
    }

    fn write(&mut self, data: &[u8]) -> Result<usize, StreamError> {
        self.take(Octets::Here(data))
    }

    fn write_described(&mut self, data: Description) -> Result<u64, StreamError> {
        self.take(Octets::Described(data)).map(|taken| taken as u64)
    }

    /// Reads: what arrived before the connection went can still be read.
    fn read(&mut self, out: &mut [u8]) -> Result<Option<usize>, StreamError> {
        self.give(|receiver| receiver.read(out))
    }

    fn read_described(&mut self) -> Result<Option<Description>, StreamError> {
        let mut read = Description::default();
        let count = self.give(|receiver| {
            read = receiver.read_described().unwrap_or_default();
            read.length as usize
        })?;
        Ok(count.map(|_| read))
    }

    fn next_gap(&mut self) -> Option<Gap> {
        let gap = self.receiver.take_gap();
        self.check_invariants();
        gap
    }

    fn hold(&mut self, holds: bool) {
        self.receiver.hold(holds);
        self.check_invariants();
    }

    fn finish(&mut self) {
        self.sender.finish();
        self.check_invariants();
    }

    fn abort(&mut self) {
        self.reset();
        self.check_invariants();
    }

    fn release(&mut self, now: Instant) {
        self.life.release(&self.config, now);
        self.finish();
    }

    fn stats(&self) -> Stats {
        let delivered_bytes = self.receiver.delivered_bytes();
        Stats { delivered_bytes, ..self.sender.complete(&self.stats) }
    }

    fn held_bytes(&self) -> u64 {
        self.sender.held_bytes()
    }

    fn unsent_bytes(&self) -> u64 {
        self.sender.unsent_bytes()
    }

    fn writable_bytes(&self) -> u64 {
        if self.life.is_closed() { 0 } else { self.sender.writable_bytes() }
    }
}

impl Connection {
    /// Writes to the end of a record; see [`crate::Endpoint::write_record`].
    pub(crate) fn write_record(&mut self, data: &[u8]) -> Result<usize, StreamError> {
        self.put(|sender| sender.write_record(data))
    }

    /// Reads within one record; see [`crate::Endpoint::read_record`].
    pub(crate) fn read_record(&mut self, out: &mut [u8]) -> Result<Option<RecordPart>, StreamError> {
        let mut ends = false;
        let read = self.give(|receiver| {
            let part = receiver.read_record(out);
            ends = part.ends;
            part.bytes
        })?;
        Ok(read.map(|bytes| RecordPart { bytes, ends }))
    }

    /// Takes as much of `data` as there is room for.
    fn take(&mut self, data: Octets<'_>) -> Result<usize, StreamError> {
        self.put(|sender| sender.write(data))
    }

    /// Octets that `write` puts into the sender.
    fn put(&mut self, write: impl FnOnce(&mut Sender) -> usize) -> Result<usize, StreamError> {
        if self.life.is_closed() {
            return Err(StreamError::Closed(self.life.close_reason()));
        }
        if self.sender.is_finished() {
            return Err(StreamError::Finished);
        }
        let taken = write(&mut self.sender);
        self.check_invariants();
        Ok(taken)
    }

    /// Number of octets that `read` takes out of the receiver; `Some(0)` at the end of the stream.
    fn give(&mut self, read: impl FnOnce(&mut Receiver) -> usize) -> Result<Option<usize>, StreamError> {
        let may_receive = self.life.state().may_receive();
        let count = read(&mut self.receiver);
        let count = self.receiver.after_read(count, self.sender.mss_bytes(), may_receive);
        self.check_invariants();
        if count.is_none() && self.life.is_closed() && !self.receiver.has_untold_gap() {
            return Err(StreamError::Closed(self.life.close_reason()));
        }
        Ok(count)
    }
}

//! Connection as its endpoint sees it.

use alloc::vec::Vec;

use skyhaul_core::endpoint::{self, Context, Room, Stage};
use skyhaul_core::{
    CloseReason, Instant, NetworkFields, Path, ResetReason, Stats, Step, StreamError, StreamEvent,
};

use super::decision::Action;
use super::{Connection, State};

impl endpoint::Connection for Connection {
    type State = State;

    fn state(&self) -> State {
        self.life.state()
    }

    fn state_name(&self) -> &'static str {
        self.life.state().name()
    }

    fn is_done(&self) -> bool {
        self.life.is_closed() && self.life.owed_reset().is_none()
    }

    fn is_unproven(&self) -> bool {
        self.is_unproven_yet()
    }

    fn kept_bytes(&self) -> u64 {
        self.receiver.kept_bytes()
    }

    fn set_room(&mut self, room: Room) {
        self.room_bytes = room.bytes;
    }

    fn stage(&self) -> Stage {
        match self.life.state() {
            State::Opening => Stage::Opening,
            State::Open => Stage::Open,
            State::Lingering => Stage::Ended,
            State::Closed => Stage::Closed,
        }
    }

    fn poll_event(&mut self) -> Option<StreamEvent> {
        self.events.pop_front()
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) {
        self.fire(context);
    }

    fn poll_transmit(
        &mut self,
        context: &mut Context<'_>,
        out: &mut Vec<u8>,
    ) -> Result<NetworkFields, Option<Instant>> {
        match self.next(context.now, context.path) {
            Some(Step { at, action: Action::Send(sending) }) if at <= context.now => {
                self.send(sending, context, out);
                Ok(NetworkFields::default())
            }
            step => Err(step.map(|step| step.at.max(context.now))),
        }
    }

    fn deadline(&self, now: Instant, path: &Path) -> Option<Instant> {
        self.next(now, path).map(|step| step.at.max(now))
    }

    fn data_due(&self, now: Instant, path: &Path) -> Option<Instant> {
        self.next_data_at(now, path)
    }

    fn write(&mut self, data: &[u8]) -> Result<usize, StreamError> {
        if self.life.is_over() {
            return Err(StreamError::Closed(self.life.reason()));
        }
        if self.sender.has_finished() {
            return Err(StreamError::Finished);
        }
        Ok(self.sender.write(data))
    }

    /// Reads: what arrived before the connection went can still be read.
    fn read(&mut self, out: &mut [u8]) -> Result<Option<usize>, StreamError> {
        let read = self.receiver.read(out);
        if read.is_none() && self.life.is_closed() {
            return Err(StreamError::Closed(self.life.reason()));
        }
        Ok(read)
    }

    fn hold(&mut self, holds: bool) {
        self.receiver.hold(holds);
    }

    fn finish(&mut self) {
        self.sender.finish();
    }

    fn abort(&mut self) {
        self.reset(ResetReason::Aborted);
    }

    fn refuse(&mut self) {
        self.reset(ResetReason::Busy);
    }

    fn release(&mut self, _: Instant) {
        self.is_released = true;
        self.receiver.discard();
        self.sender.finish();
    }

    fn stats(&self) -> Stats {
        self.sender.complete(&self.stats)
    }

    fn held_bytes(&self) -> u64 {
        self.sender.held_bytes()
    }

    fn unsent_bytes(&self) -> u64 {
        self.sender.unsent_bytes()
    }

    fn writable_bytes(&self) -> u64 {
        if self.life.is_over() || self.sender.has_finished() { 0 } else { self.sender.writable_bytes() }
    }
}

impl Connection {
    /// Sends a status as soon as it may, so that the peer sees the tag which is in use here.
    pub(in crate::stpp) fn show(&mut self) {
        self.receiver.tell();
    }

    /// Takes in that nobody receives at the peer's address, as its endpoint believes or not: where only the
    /// peer's last words are missing it ends in either case.
    pub(in crate::stpp) fn unreachable(&mut self, is_believed: bool) {
        if self.life.is_over() {
            self.close(None, None);
        } else if is_believed {
            self.close(Some(CloseReason::Unreachable), None);
        }
    }

    /// Ends at once; a peer whose tag is known is told.
    fn reset(&mut self, reason: ResetReason) {
        let told = (self.names.remote_tag != 0 && !self.life.is_over()).then_some(reason);
        self.close(Some(CloseReason::AbortedHere), told);
    }
}

//! Connection: life, reachability of the peer, sender, receiver and prober, and what they tell each other and
//! the application. Input, reports, probing, decision and output are in files of their own.

mod close;
#[cfg(test)]
mod connection_tests;
mod decision;
mod doubts;
mod input;
mod life;
mod output;
mod probing;
mod reachability;
mod reports;
mod state;
mod transitions;

use alloc::collections::VecDeque;
use alloc::sync::Arc;

use skyhaul_core::endpoint::Room;
use skyhaul_core::event::{Refusal, ResumePhase};
use skyhaul_core::{
    CloseReason, Event, Instant, LimitTimes, Path, ResetReason, Stats, StreamError, StreamEvent,
};

use crate::call::Call;
use crate::config::Config;
use crate::probing::Prober;
use crate::receive::Receiver;
use crate::segment::{Opening, Options};
use crate::send::Sender;
use doubts::Doubts;
use life::Life;
use reachability::Reachability;

pub(crate) use crate::send::{Entropy, opening};
pub(crate) use close::Farewell;
pub(crate) use skyhaul_core::endpoint::Context;
pub use state::State;
pub use transitions::{Origin, TIMERS, TRANSITIONS, Transition};

/// Ports, instance and nonce: what names a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Names {
    pub(crate) local_port: u16,
    pub(crate) remote_port: u16,
    pub(crate) instance: u16,
    pub(crate) nonce: u64,
}

/// One end of a connection.
#[derive(Clone, Debug)]
pub struct Connection {
    id: u64,
    config: Arc<Config>,
    pub(crate) names: Names,
    life: Life,
    reachability: Reachability,
    doubts: Doubts,
    sender: Sender,
    /// Receiving half; `None`: the peer's opening is not known yet.
    receiver: Option<Receiver>,
    prober: Prober,
    /// Time by what held the sender back.
    limits: LimitTimes,
    /// True if the application was told that everything is confirmed.
    finished_told: bool,
    state_told: State,
    resume_told: Option<ResumePhase>,
    mtu_told_bytes: u32,
    events: VecDeque<StreamEvent>,
    duplicates: u64,
    refused: u64,
    /// Packet number field of the last segment that opened or asked: an RST that answers it (busy) has that.
    asked24: u32,
}

impl Connection {
    /// Connection that opens. Its BGN leaves with the first data if `held`, else at once.
    pub(crate) fn open(
        id: u64,
        names: Names,
        entropy: Entropy,
        config: Arc<Config>,
        held: bool,
        context: &mut Context<'_>,
    ) -> Self {
        let life = Life::opening(context.now, held, &config);
        Self::new(id, names, entropy, config, life, context)
    }

    /// Connection that a BGN asked for, with its packet number field.
    pub(crate) fn accept(
        id: u64,
        names: Names,
        entropy: Entropy,
        config: Arc<Config>,
        (bgn, number24): (&Opening, u32),
        withhold: bool,
        context: &mut Context<'_>,
    ) -> Self {
        let mut connection = Self::new(id, names, entropy, config, Life::open(), context);
        let receiver = connection.learn_peer(bgn, context.path);
        receiver.accept();
        if withhold {
            receiver.withhold();
        }
        connection.asked24 = number24;
        connection
    }

    /// Connection whose peer has our answer to its BGN, of which nothing was kept, and has proven so: of the
    /// BGN what is known. A POLL shows the peer that there is a connection now.
    pub(crate) fn resume(
        id: u64,
        names: Names,
        entropy: Entropy,
        config: Arc<Config>,
        bgn: &Opening,
        context: &mut Context<'_>,
    ) -> Self {
        let mut connection = Self::new(id, names, entropy, config, Life::open(), context);
        connection.learn_peer(bgn, context.path);
        connection.reachability.prove();
        connection.sender.challenge(true);
        connection
    }

    fn new(
        id: u64,
        names: Names,
        entropy: Entropy,
        config: Arc<Config>,
        life: Life,
        context: &mut Context<'_>,
    ) -> Self {
        let mut sender = Sender::new(&config, entropy, context.now, context.path);
        sender.take_terms(&mut Call::new(id, context));
        Self {
            id,
            names,
            reachability: Reachability::new(context.now, life.is_opening(), config.trusts_peers),
            doubts: Doubts::default(),
            sender,
            receiver: None,
            prober: Prober::default(),
            limits: LimitTimes::new(context.now),
            finished_told: false,
            state_told: life.state(false, false),
            life,
            resume_told: None,
            mtu_told_bytes: context.path.whole_mtu_bytes(),
            events: VecDeque::new(),
            duplicates: 0,
            refused: 0,
            asked24: 0,
            config,
        }
    }

    /// Takes what the peer's opening says.
    fn learn_peer(&mut self, opening: &Opening, path: &mut Path) -> &mut Receiver {
        let both_code = self.sender.learn_peer(opening, path);
        self.receiver.insert(Receiver::new(opening, &self.config, both_code))
    }

    /// An opening that says nothing new, with so many octets of padding beside its own: nobody acts on one of
    /// a connection that is open. An IPv6 packet that must cross in fragments grows by it beyond what this
    /// machine's link takes, since nothing else has the packet cut.
    fn filler(&self, padding: u8, path: &Path) -> Opening {
        let opening = self.our_opening(path);
        Opening { options: Options { padding, ..opening.options }, ..opening }
    }

    fn our_opening(&self, path: &Path) -> Opening {
        let window_bytes =
            self.receiver.as_ref().map_or(self.config.receive_limit_bytes, Receiver::window_bytes);
        self.sender.opening(self.names.nonce, window_bytes, path)
    }

    /// Counters and state for the application.
    pub(crate) fn stats(&self) -> Stats {
        let (duplicates, refused, limits) = (self.duplicates, self.refused, Some(self.limits));
        let mut stats = Stats { duplicates, refused, limits, ..Stats::default() };
        self.reachability.count(&mut stats);
        self.sender.count(&mut stats);
        self.prober.count(&mut stats);
        if let Some(receiver) = &self.receiver {
            receiver.count(&mut stats);
        }
        stats
    }

    /// State that what happened amounts to.
    pub(crate) fn state(&self) -> State {
        self.life.state(self.sender.has_sent_data(), self.has_peer_ended())
    }

    /// True if both ends know of the connection.
    fn is_opened(&self) -> bool {
        !self.life.is_opening()
    }

    /// True if the peer has ended, and everything that it sent is here.
    fn has_peer_ended(&self) -> bool {
        self.receiver.as_ref().is_some_and(Receiver::is_complete)
    }

    /// Bytes that the send buffer holds.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.sender.held_bytes()
    }

    /// Room in the send buffer.
    pub(crate) fn writable_bytes(&self) -> u64 {
        self.sender.writable_bytes()
    }

    /// Takes as much of `data` as there is room for; 0 means: wait for [`StreamEvent::Writable`].
    pub(crate) fn write(&mut self, data: &[u8]) -> Result<usize, StreamError> {
        self.check_open()?;
        let taken = self.sender.write(data)?;
        if taken > 0 {
            self.life.release();
        }
        self.check_invariants();
        Ok(taken)
    }

    /// Reads into `out`: `Some(n)`, n = 0 at the end; `None` when nothing is there yet.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Result<Option<usize>, StreamError> {
        self.life.release();
        let read = self.receiver.as_mut().and_then(|receiver| receiver.read(out));
        self.check_invariants();
        match read {
            None => self.check_open().map(|()| None),
            read => Ok(read),
        }
    }

    /// Nothing more will be written; what was written is still delivered.
    pub(crate) fn finish(&mut self) {
        self.sender.finish();
        self.life.release();
        self.check_invariants();
    }

    /// Ends both directions at once and tells the peer.
    pub(crate) fn abort(&mut self, reason: ResetReason) {
        self.end_with(reason, CloseReason::AbortedHere);
        self.check_invariants();
    }

    /// Ends both directions at once for a reason, and tells the peer another.
    fn end_with(&mut self, told: ResetReason, reason: CloseReason) {
        if self.life.abort(told, reason) {
            self.forget_unreadable();
            self.tell(StreamEvent::Closed(Some(reason)));
        }
    }

    /// Ends here and now in favour of another connection, without a word to the peer.
    pub(crate) fn give_way(&mut self) {
        self.close(Some(CloseReason::AbortedHere));
    }

    /// Packet number field of the last segment that opened or asked.
    pub(crate) fn asked24(&self) -> u32 {
        self.asked24
    }

    /// Bytes kept of what the peer sent.
    pub(crate) fn kept_bytes(&self) -> u64 {
        self.receiver.as_ref().map_or(0, Receiver::kept_bytes)
    }

    /// Sets what it may keep of what the peer sends.
    pub(crate) fn set_room(&mut self, room: Room) {
        if let Some(receiver) = &mut self.receiver {
            receiver.set_room(room);
        }
    }

    fn check_open(&self) -> Result<(), StreamError> {
        self.life.check().map_err(StreamError::Closed)
    }

    /// Next event for the application.
    pub(crate) fn poll_event(&mut self) -> Option<StreamEvent> {
        self.events.pop_front()
    }

    /// Tells the application, once until it has taken note.
    fn tell(&mut self, event: StreamEvent) {
        if !self.events.contains(&event) {
            self.events.push_back(event);
        }
    }

    /// Tells the application, once ever, that everything is confirmed.
    fn tell_finished(&mut self) {
        if !core::mem::replace(&mut self.finished_told, true) {
            self.tell(StreamEvent::Finished);
        }
    }

    /// Emits an event each for a state that changed since the last, and for a step of the path's memory.
    fn tell_news(&mut self, call: &mut Call<'_>) {
        self.tell_resume(call);
        self.tell_mtu(call);
        self.tell_state(call);
    }

    /// Emits an event for a state that changed since the last: called behind each that may change it, so that
    /// every event is one of the table's transitions.
    fn tell_state(&mut self, call: &mut Call<'_>) {
        let (from, to) = (self.state_told, self.state());
        if to != from {
            debug_assert!(from.may_become(to), "no transition from {from} to {to}");
            self.state_told = to;
            call.emit(Event::State { from: from.name(), to: to.name() });
        }
    }

    fn tell_mtu(&mut self, call: &mut Call<'_>) {
        let mtu_bytes = call.path.whole_mtu_bytes();
        let told_bytes = core::mem::replace(&mut self.mtu_told_bytes, mtu_bytes);
        if told_bytes != mtu_bytes {
            self.sender.take_packet_size(mtu_bytes < told_bytes, call.now, call.path);
            call.emit(Event::PathMtu { mtu_bytes });
        }
    }

    fn tell_resume(&mut self, call: &mut Call<'_>) {
        let resumed = if self.sender.measures() { call.path.resumed() } else { None };
        let Some((phase, saved)) = resumed else { return };
        if self.resume_told.replace(phase) != Some(phase) {
            call.emit(Event::Resume { phase, rate_bps: saved.rate_bps, rtt_ns: saved.rtt_min_ns });
        }
    }

    fn refuse(&mut self, why: Refusal, call: &mut Call<'_>) {
        match why {
            Refusal::Duplicate => self.duplicates += 1,
            _ => self.refused += 1,
        }
        call.emit(Event::Refused { why });
    }

    /// True if the peer has shown that it receives what is sent to its address.
    pub(crate) fn is_proven(&self) -> bool {
        self.reachability.is_proven()
    }

    /// Takes in that a segment of another instance came under this connection's ports.
    pub(crate) fn note_guess(&mut self, now: Instant) {
        self.doubts.note_guess(now);
    }

    /// Asks the peer to show whether it still knows this connection, unless that was done just now.
    pub(crate) fn challenge(&mut self, now: Instant) {
        if self.doubts.may_challenge(now) {
            self.sender.challenge(self.is_opened());
        }
    }

    /// True if it has ended and has no last word to say.
    pub(crate) fn is_over(&self) -> bool {
        self.life.is_closed() && self.life.reset().is_none()
    }

    /// True if the endpoint may forget the connection: closed, and the reset (if any) is sent.
    pub(crate) fn is_done(&self) -> bool {
        self.is_over() && self.events.is_empty()
    }

    /// Invariants between the owners, and of each; checked in debug builds after every call.
    fn check_invariants(&self) {
        if cfg!(debug_assertions) {
            self.life.check_invariants();
            self.sender.check_invariants();
            if let Some(receiver) = &self.receiver {
                receiver.check_invariants();
            }
            let is_over = self.life.is_closed();
            debug_assert!(is_over || self.receiver.is_some() == self.is_opened());
            debug_assert!(!self.life.is_lingering() || self.has_peer_ended() && self.sender.is_settled());
            debug_assert!(!self.prober.is_probing() || !self.sender.is_settled());
        }
    }
}

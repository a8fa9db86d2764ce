//! Connection: its owners. What endpoint and application see of it, handshake, input, decisions and segments
//! are in files of their own.

mod compression;
mod decision;
#[cfg(test)]
mod decision_tests;
mod early;
mod icmp;
mod input;
mod life;
mod opening;
mod output;
mod signals;
mod silence;
mod surface;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use core::num::NonZeroU8;

use skyhaul_core::event::{Refusal, Verdict};
use skyhaul_core::{CloseReason, Event, Instant, Stats, StreamEvent};

use crate::accelerated::{Lesson, Opening};
use crate::call::Call;
use crate::config::Config;
use crate::explicit::Grants;
use crate::receive::Receiver;
use crate::route::Signals;
use crate::segment::Way;
pub(crate) use crate::send::LEARNT_FOR_NS;
use crate::send::Sender;
pub(crate) use icmp::Belief;
use life::Life;
pub use life::State;
pub(crate) use opening::syn_options;
use silence::Silence;
pub(crate) use skyhaul_core::endpoint::Context;
use skyhaul_core::endpoint::Key;

/// Ports and addresses: what names a connection.
pub(crate) type Names = Key<Way>;

/// Values that a new connection needs of its endpoint: random ones, and a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entropy {
    pub(crate) initial: u32,
    pub(crate) timestamp_offset: u32,
    /// Number for compressed headers; `None`: there are none.
    pub(crate) number: Option<NonZeroU8>,
}

/// One end of a connection.
#[derive(Clone, Debug)]
pub struct Connection {
    id: u64,
    names: Names,
    /// Number that we announce for compressed headers.
    number: Option<NonZeroU8>,
    config: Arc<Config>,
    life: Life,
    sender: Sender,
    receiver: Receiver,
    silence: Silence,
    /// Changes of the peer's rate that routers granted.
    grants: Grants,
    /// Its part in an opening with data.
    opening: Option<Box<Opening>>,
    /// Fact for openings to come, which the endpoint has not fetched.
    lesson: Option<Lesson>,
    /// Events that the application has not fetched.
    events: VecDeque<StreamEvent>,
    stats: Stats,
}

impl Connection {
    fn new(
        id: u64,
        names: Names,
        entropy: Entropy,
        config: Arc<Config>,
        life: Life,
        context: &Context<'_>,
    ) -> Self {
        let first = (entropy.initial, entropy.timestamp_offset);
        let is_ipv4 = names.peer.remote.is_ipv4();
        Self {
            id,
            names,
            number: entropy.number,
            life,
            sender: Sender::new(Arc::clone(&config), first, is_ipv4, context.now, context.path),
            receiver: Receiver::new(),
            silence: Silence::new(context.now),
            grants: Grants::default(),
            opening: None,
            lesson: None,
            events: VecDeque::new(),
            stats: Stats::default(),
            config,
        }
    }

    /// A successor takes the ports: the peer has all that was sent.
    pub(crate) fn give_way(&mut self) {
        if self.life.take_finished() {
            self.tell(StreamEvent::Finished);
        }
        self.close(None);
    }

    /// Takes what the carrier says of losses from now on.
    pub(crate) fn assume_loss_cause(&mut self, verdict: Verdict) {
        self.sender.assume_loss_cause(verdict);
    }

    /// Obeys these signals alone from now on, of those that no parameter is about.
    pub(crate) fn obey(&mut self, signals: Signals) {
        self.sender.obey(signals);
    }

    /// Routers damage what the peer sends: it is told for a while [SCPS-TP 3.1.2].
    pub(crate) fn report_damage(&mut self, now: Instant) {
        if self.sender.agreed().scps.is_some() {
            self.receiver.report_damage(self.round_trip_ns(), now);
        }
    }

    /// Round trip as this end knows it as a receiver: by echoes of its clock, else by what it sent.
    fn round_trip_ns(&self) -> Option<u64> {
        self.receiver.echoed_rtt_ns().or_else(|| self.sender.rtt_ns())
    }

    /// Ends the connection at once; the peer is told [RFC 9293 3.10.5].
    fn reset(&mut self) {
        if !matches!(self.life.state(), State::Closed | State::SynSent | State::TimeWait) {
            self.life.owe_reset(self.sender.max(), true);
        }
        self.close(Some(CloseReason::AbortedHere));
    }

    fn close(&mut self, reason: Option<CloseReason>) {
        if self.life.close(reason) {
            self.tell(StreamEvent::Closed(reason));
        }
    }

    /// Closes for want of an answer.
    fn give_up(&mut self) {
        let reason = match (self.silence.is_unreachable(), self.life.is_opening()) {
            (true, _) => CloseReason::Unreachable,
            (false, true) => CloseReason::ConnectTimeout,
            (false, false) => CloseReason::Silence,
        };
        self.close(Some(reason));
    }

    fn tell(&mut self, event: StreamEvent) {
        if self.events.back() != Some(&event) {
            self.events.push_back(event);
        }
    }

    fn refuse(&mut self, why: Refusal, context: &mut Context<'_>) {
        self.stats.count_refusal(why);
        Call::new(self.id, &mut self.stats, context).emit(Event::Refused { why });
    }

    /// Emits the change of state since the last call.
    fn tell_state(&mut self, context: &mut Context<'_>) {
        if let Some((from, to)) = self.life.take_change() {
            let (from, to) = (from.name(), to.name());
            Call::new(self.id, &mut self.stats, context).emit(Event::State { from, to });
        }
    }

    /// Panics where the owners disagree, in debug builds. Stands at the end of every call.
    fn check_invariants(&self) {
        if cfg!(debug_assertions) {
            self.sender.check_invariants();
            self.receiver.check_invariants();
            let (is_opening, una) = (self.life.is_opening(), self.sender.una());
            let is_acknowledged = una > self.sender.initial();
            let agree = self.life.is_closed() || is_opening != is_acknowledged || self.is_starred();
            debug_assert!(agree, "{:?}, acknowledged to {una}", self.life);
        }
    }
}

//! Connection: its owners. What endpoint and application see of it, handshake, input, decisions and segments
//! are in files of their own.

mod decision;
#[cfg(test)]
mod decision_tests;
mod extensions;
mod icmp;
mod input;
mod life;
mod opening;
mod output;
mod silence;
mod surface;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use skyhaul_core::event::{Refusal, Verdict};
use skyhaul_core::{CloseReason, Event, Stats, StreamEvent};

use crate::call::Call;
use crate::config::Config;
use crate::explicit::Grants;
use crate::receive::Receiver;
use crate::segment::Way;
pub(crate) use crate::send::LEARNT_FOR_NS;
use crate::send::Sender;
use extensions::Extensions;
pub(crate) use icmp::Belief;
use life::Life;
pub use life::State;
pub(crate) use opening::syn_options;
use silence::Silence;
pub(crate) use skyhaul_core::endpoint::Context;
use skyhaul_core::endpoint::Key;

/// Ports and addresses: what names a connection.
pub(crate) type Names = Key<Way>;

/// Random values that a new connection needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entropy {
    pub(crate) initial: u32,
    pub(crate) timestamp_offset: u32,
}

/// One end of a connection.
#[derive(Clone, Debug)]
pub struct Connection {
    id: u64,
    names: Names,
    config: Arc<Config>,
    life: Life,
    sender: Sender,
    receiver: Receiver,
    /// Options of other protocols, where some are agreed.
    extensions: Option<Box<Extensions>>,
    silence: Silence,
    /// Changes of the peer's rate that routers granted.
    grants: Grants,
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
            life,
            sender: Sender::new(Arc::clone(&config), first, is_ipv4, context.now, context.path),
            receiver: Receiver::new(),
            extensions: None,
            silence: Silence::new(context.now),
            grants: Grants::default(),
            events: VecDeque::new(),
            stats: Stats::default(),
            config,
        }
    }

    /// A successor takes the ports.
    pub(crate) fn give_way(&mut self) {
        self.close(None);
    }

    /// Takes what the carrier says of losses from now on.
    pub(crate) fn assume_loss_cause(&mut self, verdict: Verdict) {
        self.sender.assume_loss_cause(verdict);
    }

    /// Value of the peer's SYN for an option that both offered.
    pub(crate) fn agreed_option(&self, kind: u8) -> Option<&[u8]> {
        self.extensions.as_ref()?.agreed(kind)
    }

    /// The next segment carries the option; there is one at once. False if it cannot.
    pub(crate) fn attach_option(&mut self, kind: u8, value: &[u8]) -> bool {
        let is_open = !self.life.is_opening() && !self.life.is_closed();
        let extensions = self.extensions.as_mut().filter(|_| is_open);
        let attached = extensions.is_some_and(|extensions| extensions.attach(kind, value));
        if attached {
            self.receiver.acknowledge_now();
        }
        attached
    }

    /// Next agreed option that a segment of the peer carried.
    pub(crate) fn poll_option(&mut self) -> Option<(u8, Vec<u8>)> {
        self.extensions.as_mut()?.poll()
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
            let agree = self.life.is_closed() || is_opening != is_acknowledged;
            debug_assert!(agree, "{:?}, acknowledged to {una}", self.life);
        }
    }
}

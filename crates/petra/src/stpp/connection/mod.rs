//! Connection: its life, a sender and a receiver.

mod decision;
mod input;
mod life;
mod output;
mod surface;

use alloc::collections::VecDeque;
use alloc::sync::Arc;

use skyhaul_core::endpoint::Key;
use skyhaul_core::{CloseReason, ConnectionId, Instant, ResetReason, Stats, StreamEvent};

use super::config::Config;
use super::pdu::Opening;
use super::receive::Receiver;
use super::send::Sender;
use life::Life;
pub use life::State;

/// Events that wait for the endpoint to take them, at most; it takes them after each call.
const MAX_EVENTS: usize = 16;
/// Times `T_o(STPP)` that a connection lingers whose peer may wait for ever.
const LINGER_TIMEOUTS: u64 = 64;

/// Ports and tags: what every PDU of a connection carries.
#[derive(Clone, Copy, Debug)]
struct Names {
    local_port: u16,
    remote_port: u16,
    /// Tag of PDUs to this end.
    local_tag: u16,
    /// Tag of PDUs to the peer; 0 until it is known.
    remote_tag: u16,
}

/// Connection.
#[derive(Clone, Debug)]
pub struct Connection {
    id: ConnectionId,
    config: Arc<Config>,
    names: Names,
    life: Life,
    /// True if the peer opened it.
    is_accepted: bool,
    /// True once the peer has sent a PDU with our tag: it receives at its address.
    is_proven: bool,
    sender: Sender,
    receiver: Receiver,
    /// Octets that may be kept of what arrives, as the endpoint says.
    room_bytes: u64,
    is_released: bool,
    last_heard: Instant,
    events: VecDeque<StreamEvent>,
    stats: Stats,
}

impl Connection {
    /// Connection that opens now. `tag`: that of PDUs to this end, not 0.
    pub(super) fn open<P>(
        id: ConnectionId,
        key: &Key<P>,
        tag: u16,
        config: Arc<Config>,
        now: Instant,
    ) -> Self {
        let names =
            Names { local_port: key.local_port, remote_port: key.remote_port, local_tag: tag, remote_tag: 0 };
        Self {
            id,
            names,
            life: Life::Opening { tries: 0, due: now },
            is_accepted: false,
            is_proven: false,
            sender: Sender::new(&config),
            receiver: Receiver::new(&config, config.sdu_header_bytes),
            room_bytes: u64::MAX,
            is_released: false,
            last_heard: now,
            events: [StreamEvent::Writable].into(),
            stats: Stats { last_heard: now, ..Stats::default() },
            config,
        }
    }

    /// Connection that a peer's OPEN asks for.
    pub(super) fn accept<P>(
        id: ConnectionId,
        key: &Key<P>,
        tag: u16,
        config: Arc<Config>,
        (opening, now): (Opening, Instant),
    ) -> Self {
        let mut connection = Self {
            is_accepted: true,
            life: Life::Open { owes_answer: true },
            ..Self::open(id, key, tag, config, now)
        };
        connection.meet(opening);
        connection
    }

    /// Takes in what the peer says of itself.
    fn meet(&mut self, opening: Opening) {
        self.names.remote_tag = opening.tag;
        self.sender.meet(opening);
        self.receiver = Receiver::new(&self.config, opening.sdu_header_bytes);
    }

    /// What this end says of itself.
    fn opening(&self) -> Opening {
        Opening {
            tag: self.names.local_tag,
            payload_bytes: self.config.payload_bytes,
            window_pdus: self.config.window_pdus,
            sdu_header_bytes: self.config.sdu_header_bytes,
        }
    }

    /// True if a peer opened it and has not shown yet that it receives at its address.
    fn is_unproven_yet(&self) -> bool {
        self.is_accepted && !self.is_proven
    }

    fn tell(&mut self, event: StreamEvent) {
        if self.events.len() < MAX_EVENTS && self.events.back() != Some(&event) {
            self.events.push_back(event);
        }
    }

    /// Ends at once. What was written and is not confirmed is lost.
    fn close(&mut self, reason: Option<CloseReason>, reset: Option<ResetReason>) {
        if self.life.is_closed() {
            return;
        }
        if !self.life.is_over() {
            self.tell(StreamEvent::Closed(reason));
        }
        self.life.close(reason, reset);
    }

    /// Ends cleanly once both directions are over. It lingers as long as a peer that has not heard of it may
    /// wait: one that was forgotten before would be told that it failed.
    fn linger_if_over(&mut self, now: Instant) {
        if !self.life.is_over() && self.sender.is_over() && self.receiver.is_over() {
            let timeouts_ns = self.config.timeout_ns().saturating_mul(LINGER_TIMEOUTS);
            self.life.linger(now.after(self.config.give_up_ns.unwrap_or(timeouts_ns)));
            self.tell(StreamEvent::Closed(None));
        }
    }
}

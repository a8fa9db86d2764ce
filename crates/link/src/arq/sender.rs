//! Sender of one direction: packets that wait, PDUs that are not acknowledged, and those that go again.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};

use skyhaul_core::Instant;

use super::ArqConfig;
use super::frame::{Acknowledgement, Data};
use crate::QueueLimit;

/// A packet of which PDUs have not been sent.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: u64,
    wire_bytes: u32,
    /// PDUs that were sent.
    sent: u32,
}

/// A PDU that was sent and is not known to lie in front of all that is missing.
#[derive(Clone, Copy, Debug)]
struct SentPdu {
    packet: u64,
    parts: u32,
    payload_bytes: u32,
    /// Its newest sending.
    sending: u64,
    arrived: bool,
}

#[derive(Clone, Debug)]
pub(super) struct ArqSender {
    config: ArqConfig,
    limit: QueueLimit,
    /// Time after which nobody answers any more.
    patience_ns: u64,
    waiting: VecDeque<Waiting>,
    waiting_bytes: u64,
    next_packet: u64,
    /// First PDU that is not acknowledged, and it and those behind it.
    oldest: u64,
    sent: VecDeque<SentPdu>,
    /// PDUs that go again.
    again: BTreeSet<u64>,
    /// PDU of each sending that nothing was heard of: the newest of each, so that there are no more than
    /// PDUs.
    sendings: BTreeMap<u64, u64>,
    next_sending: u64,
    /// When something was sent or heard.
    active_at: Instant,
}

impl ArqSender {
    pub(super) fn new(config: ArqConfig, limit: QueueLimit, patience_ns: u64) -> Self {
        Self {
            config,
            limit,
            patience_ns,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            next_packet: 0,
            oldest: 0,
            sent: VecDeque::new(),
            again: BTreeSet::new(),
            sendings: BTreeMap::new(),
            next_sending: 0,
            active_at: Instant::ZERO,
        }
    }

    /// Takes a packet of this size and numbers it; `None`: those that wait fill the link's queue.
    pub(super) fn offer(&mut self, wire_bytes: u32) -> Option<u64> {
        if !self.limit.has_room(self.waiting.len(), self.waiting_bytes, wire_bytes) {
            return None;
        }
        let packet = self.next_packet;
        self.next_packet += 1;
        self.waiting_bytes += u64::from(wire_bytes);
        self.waiting.push_back(Waiting { packet, wire_bytes, sent: 0 });
        Some(packet)
    }

    /// True if a PDU could be sent now.
    pub(super) fn wants(&self) -> bool {
        !self.again.is_empty() || self.has_new()
    }

    fn has_new(&self) -> bool {
        !self.waiting.is_empty() && self.sent.len() < self.config.window_pdus as usize
    }

    /// The next PDU to send, and its size on the wire: repeats before new ones, the oldest first.
    pub(super) fn next(&mut self, now: Instant) -> Option<(Data, u32)> {
        let pdu = match self.again.pop_first() {
            Some(pdu) => pdu,
            None => self.cut()?,
        };
        let sending = self.next_sending;
        self.next_sending += 1;
        self.active_at = now;
        let sent = self.sent.get_mut(pdu.checked_sub(self.oldest)? as usize)?;
        self.sendings.remove(&sent.sending); // whatever is heard of it comes too late
        self.sendings.insert(sending, pdu);
        sent.sending = sending;
        let &mut SentPdu { packet, parts, payload_bytes, .. } = sent;
        Some((Data { sending, pdu, packet, parts }, payload_bytes + self.config.overhead_bytes))
    }

    /// Cuts a new PDU off the first packet that waits.
    fn cut(&mut self) -> Option<u64> {
        if !self.has_new() {
            return None;
        }
        let payload_bytes = self.config.payload_bytes;
        let first = self.waiting.front_mut()?;
        let parts = first.wire_bytes.div_ceil(payload_bytes).max(1);
        let rest_bytes = first.wire_bytes - first.sent * payload_bytes;
        first.sent += 1;
        let pdu = SentPdu {
            packet: first.packet,
            parts,
            payload_bytes: rest_bytes.min(payload_bytes),
            sending: self.next_sending,
            arrived: false,
        };
        if first.sent == parts {
            self.waiting_bytes -= u64::from(first.wire_bytes);
            self.waiting.pop_front();
        }
        self.sent.push_back(pdu);
        Some(self.oldest + self.sent.len() as u64 - 1)
    }

    /// The receiver misses this sending.
    pub(super) fn on_nack(&mut self, now: Instant, sending: u64) {
        self.active_at = now;
        let Some(pdu) = self.sendings.remove(&sending) else { return };
        self.repeat(pdu, sending + 1);
    }

    /// Has a PDU go again whose newest sending lies before `sendings_end`.
    fn repeat(&mut self, pdu: u64, sendings_end: u64) {
        let sent = pdu.checked_sub(self.oldest).and_then(|place| self.sent.get(place as usize));
        if sent.is_some_and(|sent| !sent.arrived && sent.sending < sendings_end) {
            self.again.insert(pdu);
        }
    }

    /// What the receiver has. A link keeps the order of what it carries, so that what was sent before the
    /// newest sending that arrived, and has not arrived, is lost.
    pub(super) fn on_acknowledgement(&mut self, now: Instant, ack: &Acknowledgement) {
        self.active_at = now;
        let end = self.oldest + self.sent.len() as u64;
        for &(first, end_of_range) in &ack.arrived {
            for pdu in first.max(self.oldest)..end_of_range.min(end) {
                self.sent[(pdu - self.oldest) as usize].arrived = true;
            }
        }
        while self.oldest < ack.next.min(end) {
            self.sent.pop_front();
            self.oldest += 1;
        }
        self.sendings = self.sendings.split_off(&ack.sendings_end);
        for pdu in self.oldest..end.min(ack.silent_from) {
            self.repeat(pdu, ack.sendings_end);
        }
        let (oldest, sent) = (self.oldest, &self.sent);
        self.again.retain(|pdu| pdu.checked_sub(oldest).is_some_and(|place| !sent[place as usize].arrived));
    }

    /// When the oldest PDU goes again since nobody answers.
    pub(super) fn silence_at(&self) -> Option<Instant> {
        let waits = !self.sent.is_empty() && self.again.is_empty();
        waits.then(|| self.active_at.after(self.patience_ns))
    }

    /// Has the oldest PDU that has not arrived go again if nobody answered in time; whether that is so.
    pub(super) fn handle_timeout(&mut self, now: Instant) -> bool {
        let is_silent = self.silence_at().is_some_and(|at| at <= now);
        if is_silent {
            let missing = self.sent.iter().position(|sent| !sent.arrived);
            self.again.extend(missing.map(|place| self.oldest + place as u64));
            self.active_at = now;
        }
        is_silent
    }
}

//! Link layer that repeats: a selective-repeat ARQ over the two directions of a [`Link`], as a satellite
//! modem has it and as the TCPs of [PETRA V] run over it.
//!
//! A packet that enters is cut into PDUs. Those that the other end misses go again, before new ones; a packet
//! comes out when all its PDUs are there. The link carries PDUs and what is told about them, one at a time,
//! so that a repeat waits for none but the PDU in service.
//!
//! - Each sending has a number of its own: a gap in these numbers tells the receiver of each PDU that was
//!   lost, repeats included. It says so at once, one NACK for each ("a NACK for each erroneous PDU").
//! - While PDUs arrive an acknowledgement leaves each round trip at the latest. It has all that arrived, so
//!   that it makes up for lost NACKs.
//! - What nobody answers within two round trips, a millisecond at least, is sent again, the oldest PDU first:
//!   nothing else would tell of the last PDU's loss.

mod frame;
mod receiver;
mod sender;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;

use skyhaul_core::event::DropCause;
use skyhaul_core::{Event, EventSink, Instant, MS, NullSink, Packet, PacketMeta};

use crate::serializer::work_of;
use crate::{Damage, DirectionConfig, Link, LinkConfig, MAX_MTU_BYTES, QueueLimit};
use frame::{Data, Frame, RANGE_BYTES};
use receiver::ArqReceiver;
use sender::ArqSender;

/// Time after which nobody answers any more, at least: over a link of no delay and no rate it would be none.
const MIN_PATIENCE_NS: u64 = MS;

/// Order in which packets leave a link that repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    /// As they entered: a packet waits for those in front of it that are being repaired.
    #[default]
    InOrder,
    /// As they are complete.
    AsItComes,
}

/// Configuration of a link layer that repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArqConfig {
    /// Octets of a packet in a PDU, at least [`MIN_PAYLOAD_BYTES`](Self::MIN_PAYLOAD_BYTES).
    pub payload_bytes: u32,
    /// Octets of a PDU beside these, at most [`MAX_OVERHEAD_BYTES`](Self::MAX_OVERHEAD_BYTES); also the size
    /// of a NACK.
    pub overhead_bytes: u32,
    /// PDUs from the oldest that is not acknowledged to the newest sent, at least 1.
    pub window_pdus: u32,
    /// Order of what leaves.
    pub delivery: Delivery,
}

impl Default for ArqConfig {
    /// PDUs of 600 and 20 octets, as STPP has them in [PETRA V].
    fn default() -> Self {
        Self { payload_bytes: 600, overhead_bytes: 20, window_pdus: 4096, delivery: Delivery::InOrder }
    }
}

impl ArqConfig {
    /// Least payload of a PDU: a packet of the largest size is cut into some 4000 of them at most.
    pub const MIN_PAYLOAD_BYTES: u32 = 16;
    /// Most overhead of a PDU.
    pub const MAX_OVERHEAD_BYTES: u32 = 1000;

    /// Checks that a link can have it.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn validate(&self, link: &LinkConfig) -> Result<(), String> {
        let pdu_bytes = self.payload_bytes.saturating_add(self.overhead_bytes);
        if self.payload_bytes < Self::MIN_PAYLOAD_BYTES || self.window_pdus == 0 {
            let least = Self::MIN_PAYLOAD_BYTES;
            return Err(format!("`payload` is at least {least} octets, and `window_pdus` at least 1"));
        }
        if self.overhead_bytes > Self::MAX_OVERHEAD_BYTES {
            return Err(format!("`overhead` is at most {} octets", Self::MAX_OVERHEAD_BYTES));
        }
        [&link.forward, &link.reverse].into_iter().try_for_each(|direction| carries(direction, pdu_bytes))
    }
}

/// Checks that a direction can carry PDUs of this size and tells of each that is damaged by its absence.
fn carries(direction: &DirectionConfig, pdu_bytes: u32) -> Result<(), String> {
    let mtus = direction.schedule.iter().map(|step| step.mtu_bytes).chain([direction.mtu_bytes]);
    let mtu_bytes = mtus.flatten().min().unwrap_or(MAX_MTU_BYTES);
    if pdu_bytes > mtu_bytes {
        return Err(format!("PDUs have {pdu_bytes} octets, and the link takes {mtu_bytes}"));
    }
    if matches!(direction.queue, QueueLimit::Bytes(limit) if limit < u64::from(pdu_bytes)) {
        return Err(format!("the queue holds no PDU of {pdu_bytes} octets"));
    }
    let alien = [
        ("`red`", direction.red.is_some()),
        ("`policer`", direction.policer.is_some()),
        ("`explicit`", direction.explicit.is_some()),
        ("`damage = \"deliver\"`", direction.damage != Damage::Drop),
    ];
    let first = alien.into_iter().find(|(_, is_set)| *is_set);
    first.map_or(Ok(()), |(key, _)| Err(format!("{key} does not go with a link layer that repeats")))
}

/// One direction: both its ends, and the packets in it.
#[derive(Clone, Debug)]
struct ArqDirection {
    sender: ArqSender,
    receiver: ArqReceiver,
    /// Packets that have entered and not left, by number.
    inside: BTreeMap<u64, Packet>,
    /// Packets that leave now.
    ready: VecDeque<Packet>,
    /// When the transmitter at its beginning is free.
    free_at: Instant,
    entered_packets: u64,
    dropped_packets: u64,
}

/// Link layer at both ends of a link. Whoever has it hands packets and time to it instead of to the link.
#[derive(Clone, Debug)]
pub struct Arq {
    /// By the port at which they start.
    directions: [ArqDirection; 2],
}

impl Arq {
    /// The layer over a link with a valid configuration. Its round trip is that of the delays which the
    /// configuration begins with, and of two PDUs on the line.
    pub fn new(config: ArqConfig, link: &LinkConfig) -> Self {
        let pdu_bytes = config.payload_bytes + config.overhead_bytes;
        let one_way = |direction: &DirectionConfig| {
            direction.delay_ns + direction.jitter_ns + service_ns(pdu_bytes.into(), direction.rate_bps)
        };
        let rtt_ns = one_way(&link.forward) + one_way(&link.reverse);
        let directions = [&link.forward, &link.reverse].map(|direction| ArqDirection {
            sender: ArqSender::new(config, direction.queue, (2 * rtt_ns).max(MIN_PATIENCE_NS)),
            receiver: ArqReceiver::new(config, rtt_ns),
            inside: BTreeMap::new(),
            ready: VecDeque::new(),
            free_at: Instant::ZERO,
            entered_packets: 0,
            dropped_packets: 0,
        });
        Self { directions }
    }

    /// A packet enters at `port`. One that finds the queue of its direction full is dropped, with an event of
    /// `source`.
    #[cold]
    pub fn handle(
        &mut self,
        now: Instant,
        port: u32,
        packet: Packet,
        link: &mut Link,
        (source, sink): (u64, &mut dyn EventSink),
    ) {
        let direction = &mut self.directions[port as usize];
        let (id, wire_bytes, order) = (packet.meta.id, packet.meta.wire_bytes, direction.entered_packets);
        direction.entered_packets += 1;
        if let Some(number) = direction.sender.offer(wire_bytes) {
            direction.inside.insert(number, packet);
            self.send(now, port, link);
            return;
        }
        direction.dropped_packets += 1;
        if sink.wants() {
            let cause = DropCause::QueueFull;
            sink.emit(now, source, Event::LinkDrop { port, order, packet: id, wire_bytes, cause });
        }
    }

    /// Takes in the frames that are due, and sends what is to be sent. The number of these frames, and of
    /// those that go again since nobody answers.
    #[cold]
    pub fn work(&mut self, now: Instant, link: &mut Link) -> u64 {
        let mut frames = 0;
        while let Some((port, frame)) = link.poll_transmit(now) {
            self.on_frame(now, port, &frame);
            frames += 1;
        }
        for port in [0, 1] {
            frames += u64::from(self.directions[port as usize].sender.handle_timeout(now));
            self.send(now, port, link);
        }
        frames
    }

    /// A frame arrived at `port`.
    fn on_frame(&mut self, now: Instant, port: u32, frame: &Packet) {
        let [back, forth] = [port as usize, 1 - port as usize];
        match Frame::decode(&frame.bytes) {
            Some(Frame::Data(data)) => self.directions[forth].on_data(now, data),
            Some(Frame::Nack(sending)) => self.directions[back].sender.on_nack(now, sending),
            Some(Frame::Ack(ack)) => self.directions[back].sender.on_acknowledgement(now, &ack),
            None => {}
        }
    }

    /// Sends what the transmitter at `port` has to send, one frame at a time: what is told about the other
    /// direction before PDUs.
    fn send(&mut self, now: Instant, port: u32, link: &mut Link) {
        let (own, other) = (port as usize, 1 - port as usize);
        while self.directions[own].free_at <= now {
            let rate_bps = link.conditions().rate_bps(port, now);
            let busy_bytes = link.queue_bytes(port, now);
            if busy_bytes > 0 {
                // The rate fell while a frame was on the line.
                self.directions[own].free_at = now.after(service_ns(busy_bytes, rate_bps).max(1));
                return;
            }
            let overhead_bytes = self.directions[other].receiver.overhead_bytes();
            let told = self.directions[other].receiver.next(now).map(|frame| {
                let ranges = if let Frame::Ack(ack) = &frame { ack.arrived.len() as u32 } else { 0 };
                (frame, overhead_bytes + RANGE_BYTES * ranges)
            });
            let pdu = || {
                let (data, wire_bytes) = self.directions[own].sender.next(now)?;
                Some((Frame::Data(data), wire_bytes))
            };
            let Some((frame, wire_bytes)) = told.or_else(pdu) else { return };
            self.directions[own].free_at = now.after(service_ns(wire_bytes.into(), rate_bps));
            let meta = PacketMeta { wire_bytes, ..PacketMeta::default() };
            link.handle(now, port, Packet { bytes: frame.encode(), meta }, &mut NullSink);
        }
    }

    /// Port at which the next packet leaves, if one does.
    #[cold]
    pub fn due_port(&self) -> Option<u32> {
        [1, 0].into_iter().find(|&port| !self.directions[1 - port as usize].ready.is_empty())
    }

    /// The next packet that leaves at `port`.
    #[cold]
    pub fn take_due(&mut self, port: u32) -> Option<Packet> {
        self.directions[1 - port as usize].ready.pop_front()
    }

    /// When [`work`](Self::work) is to be called next, the link's own deadline apart.
    #[cold]
    pub fn deadline(&self) -> Option<Instant> {
        let of_port = |port: usize| {
            let (own, other) = (&self.directions[port], &self.directions[1 - port]);
            let pdu_at = own.sender.wants().then_some(own.free_at);
            let told_at = other.receiver.wants_at().map(|at| at.max(own.free_at));
            let ready_at = (!own.ready.is_empty()).then_some(Instant::ZERO);
            [pdu_at, told_at, ready_at, own.sender.silence_at()].into_iter().flatten().min()
        };
        of_port(0).into_iter().chain(of_port(1)).min()
    }

    /// Packets that found the queue full at `port`.
    pub fn dropped_packets(&self, port: u32) -> u64 {
        self.directions[port as usize].dropped_packets
    }
}

impl ArqDirection {
    fn on_data(&mut self, now: Instant, data: Data) {
        let left = self.receiver.on_data(now, data);
        self.ready.extend(left.iter().filter_map(|number| self.inside.remove(number)));
    }
}

/// Time that so many octets take on the line, rounded up.
fn service_ns(bytes: u64, rate_bps: Option<u64>) -> u64 {
    let ns = |rate_bps: u64| work_of(bytes).div_ceil(rate_bps.max(1).into());
    rate_bps.map_or(0, |rate_bps| u64::try_from(ns(rate_bps)).unwrap_or(u64::MAX))
}

//! The task behind a host: it carries packets between the device and the engine, and wakes the streams. Work in one
//! turn is bounded, so that neither sending nor receiving nor other tasks starve.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll};

use skyhaul_core::Engine as _;
use skyhaul_tcp::Endpoint;

use super::outbox::Outbox;
use super::stack::{Arrival, Stack};
use super::wire::PacketWire;
use crate::keeper::{Keeper, Sent};

/// Packets received in a turn.
const MAX_RECEIVES: usize = 64;
/// Packets that are handed to the engine under one lock.
const MAX_TOGETHER: usize = 16;
/// Batches sent in a turn.
const MAX_SENDS: usize = 16;
/// Largest packet.
const MAX_PACKET_BYTES: usize = 64 << 10;

/// The task behind a host.
pub(super) struct Driver {
    wire: PacketWire,
    stack: Stack,
    inbox: Inbox,
    outbox: Outbox,
    /// The device, or the other end of the pair, is gone: the host comes to its end.
    is_cut: bool,
    /// Goes last: it tells that the device is closed.
    keeper: Keeper<Endpoint>,
}

/// Packets received and not looked at yet.
struct Inbox {
    room: Vec<u8>,
    lengths: Vec<usize>,
}

impl Driver {
    pub(super) fn new(keeper: Keeper<Endpoint>, fd: OwnedFd, addresses: &[IpAddr]) -> io::Result<Self> {
        Ok(Self {
            wire: PacketWire::new(fd)?,
            stack: Stack::new(addresses.to_vec()),
            inbox: Inbox { room: vec![0; MAX_TOGETHER * MAX_PACKET_BYTES], lengths: Vec::new() },
            outbox: Outbox::new(),
            is_cut: false,
            keeper,
        })
    }

    /// One turn: receive, send, set the timer. Ready when the host has come to its end.
    fn turn(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.keeper.begin(cx)?;
        let received_all = self.receive(cx);
        if self.is_cut || self.wire.poll_trouble(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        let sent = self.send(cx);
        self.keeper.conclude(cx, !received_all, sent)
    }

    /// Takes packets from the device to the engine. False if there may be more.
    fn receive(&mut self, cx: &mut Context<'_>) -> bool {
        for _ in 0..MAX_RECEIVES / MAX_TOGETHER {
            let more = self.fetch(cx);
            self.deliver();
            if !more {
                return true;
            }
        }
        false
    }

    /// Reads some packets. False if there are no more at present.
    fn fetch(&mut self, cx: &mut Context<'_>) -> bool {
        for room in self.inbox.room.chunks_exact_mut(MAX_PACKET_BYTES) {
            match self.wire.poll_receive(cx, room) {
                Poll::Pending => return false,
                Poll::Ready(Ok(bytes)) if bytes > 0 => self.inbox.lengths.push(bytes),
                Poll::Ready(_) => {
                    self.is_cut = true;
                    return false;
                }
            }
        }
        true
    }

    fn deliver(&mut self) {
        if self.inbox.lengths.is_empty() {
            return;
        }
        let (stack, inbox) = (&mut self.stack, &mut self.inbox);
        self.keeper.work(|state, now, sink, counters| {
            let rooms = inbox.room.chunks_exact(MAX_PACKET_BYTES);
            for (room, length) in rooms.zip(inbox.lengths.drain(..)) {
                counters.received_packets += 1;
                counters.received_bytes += length as u64;
                match stack.receive(now, &room[..length], counters) {
                    Arrival::Segment { way, ecn, bytes } => state.engine.handle(now, way, ecn, bytes, sink),
                    Arrival::Report(quoted) => {
                        state.engine.handle_icmp(now, quoted.way, quoted.message, quoted.segment, sink);
                    }
                    Arrival::Nothing => {}
                }
            }
        });
        self.keeper.wake();
    }

    /// Takes batches from the engine to the device.
    fn send(&mut self, cx: &mut Context<'_>) -> Sent {
        for _ in 0..MAX_SENDS {
            if self.outbox.is_empty() && !self.fill() {
                return Sent::All;
            }
            if self.outbox.flush(cx, &self.wire, &mut self.keeper.counters).is_pending() {
                return Sent::Blocked;
            }
        }
        Sent::Part
    }

    /// Gets the next answer of the IP layer, or the next batch of the engine; false if there is none.
    fn fill(&mut self) -> bool {
        if let Some(packet) = self.stack.poll_reply() {
            self.outbox.put_packet(&packet);
            return true;
        }
        let outbox = &mut self.outbox;
        self.keeper.fill(|engine, now, sink| outbox.fill(now, engine, sink))
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // An error can only come from the timer or from the runtime as it shuts down.
        self.get_mut().turn(cx).map(drop)
    }
}

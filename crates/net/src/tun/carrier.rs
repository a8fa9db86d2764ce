//! A descriptor of packets as a carrier of TCP, with the host's IP layer between the two.

use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, ready};

use skyhaul_capture::Heads;
use skyhaul_core::ip;
use skyhaul_core::packet::ip_protocol;
use skyhaul_core::{Engine as _, NetworkFields, Transmit};
use skyhaul_tcp::icmp::Quoted;
use skyhaul_tcp::segment::Way;
use skyhaul_tcp::{Endpoint, SignalNumbers};

use super::TunCounters;
use super::descriptor::PacketDescriptor;
use super::stack::{Arrival, Stack};
use crate::driver::{Batch, Carrier, Keeper, Peers, Received};

/// Packets received in a turn.
const MAX_RECEIVES: usize = 64;
/// Packets that are handed to the engine under one lock.
const MAX_TOGETHER: usize = 16;
/// Largest packet.
const MAX_PACKET_BYTES: usize = 64 << 10;
/// Segments in a batch.
const MAX_SEGMENTS: usize = 32;

/// A TUN device, or another descriptor of packets, as a carrier of TCP.
pub(super) struct Tun {
    descriptor: PacketDescriptor,
    stack: Stack,
    inbox: Inbox,
    /// The device, or the other end of the pair, is gone.
    is_cut: bool,
}

/// Packets received and not looked at yet.
struct Inbox {
    room: Vec<u8>,
    lengths: Vec<usize>,
}

impl Tun {
    pub(super) fn new(fd: OwnedFd, addresses: &[IpAddr], signals: SignalNumbers) -> io::Result<Self> {
        Ok(Self {
            descriptor: PacketDescriptor::new(fd)?,
            stack: Stack::new(addresses.to_vec(), signals),
            inbox: Inbox { room: vec![0; MAX_TOGETHER * MAX_PACKET_BYTES], lengths: Vec::new() },
            is_cut: false,
        })
    }

    /// Reads some packets. False if there are no more at present.
    fn fetch(&mut self, cx: &mut Context<'_>) -> bool {
        for room in self.inbox.room.chunks_exact_mut(MAX_PACKET_BYTES) {
            match self.descriptor.poll_receive(cx, room) {
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

    fn deliver(&mut self, keeper: &mut Keeper<Endpoint>) {
        if self.inbox.lengths.is_empty() {
            return;
        }
        let (stack, inbox) = (&mut self.stack, &mut self.inbox);
        keeper.work(|state, now, sink, counters| {
            let rooms = inbox.room.chunks_exact(MAX_PACKET_BYTES);
            for (room, length) in rooms.zip(inbox.lengths.drain(..)) {
                counters.received_packets += 1;
                counters.received_bytes += length as u64;
                if let Some(tap) = &mut sink.tap {
                    tap.arrived(now, None, &room[..length]);
                }
                match stack.receive(now, &room[..length], state.engine.takes_compressed(), counters) {
                    Arrival::Segment { way, fields, bytes } => {
                        state.engine.handle(now, way, fields, bytes, sink);
                    }
                    Arrival::Report(quoted) => {
                        let Quoted { way, message, protocol, segment } = quoted;
                        state.engine.handle_icmp(now, way, message, (protocol, segment), sink);
                    }
                    Arrival::Nothing => {}
                }
            }
            if let Some(tap) = &mut sink.tap {
                tap.handled();
            }
        });
        keeper.wake();
    }
}

impl Carrier for Tun {
    type Protocol = Endpoint;
    type PeerState = ();

    fn receive(
        &mut self,
        cx: &mut Context<'_>,
        _: &mut Peers<Way, ()>,
        keeper: &mut Keeper<Endpoint>,
    ) -> Received {
        let mut received = Received::Part;
        for _ in 0..MAX_RECEIVES / MAX_TOGETHER {
            let more = self.fetch(cx);
            self.deliver(keeper);
            if !more {
                received = Received::All;
                break;
            }
        }
        let is_gone = self.is_cut || self.descriptor.poll_trouble(cx).is_ready();
        if is_gone { Received::Gone } else { received }
    }

    fn max_segments(&self) -> usize {
        MAX_SEGMENTS
    }

    fn heads(&self, transmit: &Transmit<Way>, _: &Peers<Way, ()>) -> Heads {
        let Way { local, remote } = transmit.peer;
        let fields = transmit.fields.of_protocol(ip_protocol::TCP);
        Heads { source: (local, 0).into(), destination: (remote, 0).into(), fields }
    }

    /// Answer of the IP layer.
    fn poll_own_packet(&mut self) -> Option<Vec<u8>> {
        self.stack.poll_reply()
    }

    /// Writes each segment behind an IP header. What the device refuses is lost.
    fn flush(
        &mut self,
        cx: &mut Context<'_>,
        batch: &mut Batch<Way>,
        _: &Peers<Way, ()>,
        counters: &mut TunCounters,
    ) -> Poll<()> {
        while !batch.is_empty() {
            let part = batch.part(1);
            let header = batch.transmit().map(|Transmit { peer, fields, .. }| {
                let NetworkFields { protocol, ecn, .. } = fields.of_protocol(ip_protocol::TCP);
                ip::write_header(peer.local, peer.remote, protocol, ecn, part.len())
            });
            let header = header.as_deref().unwrap_or_default();
            let sent = self.descriptor.poll_send(cx, &[IoSlice::new(header), IoSlice::new(part)]);
            if sent.is_pending() {
                counters.send_waits += 1;
            }
            match ready!(sent) {
                Ok(()) => {
                    counters.sent_packets += 1;
                    counters.sent_bytes += (header.len() + part.len()) as u64;
                }
                Err(_) => counters.send_failures += 1,
            }
            let bytes = part.len();
            batch.advance(bytes);
        }
        Poll::Ready(())
    }
}

//! The links and routers of a scenario as a medium, and packets on their way through it.

use std::collections::VecDeque;

use bytes::Bytes;
use skyhaul_core::{Instant, Packet, PacketMeta};
use skyhaul_net::realtime::{Delivery, Medium};
use skyhaul_net::tun::packet_too_big;
use skyhaul_sim::{Middle, OversizedPacket};

/// Messages that wait to leave; further ones are dropped, as routers do that limit their rate [RFC 1812
/// 4.3.2.8].
const MAX_MESSAGES: usize = 256;

/// The middle of a scenario, with a port for each attached host.
#[derive(Debug)]
pub(crate) struct Ports {
    middle: Middle,
    /// Node of each port.
    nodes: Vec<u32>,
    /// Senders of IP packets that a link does not take are told by ICMP.
    tells: bool,
    /// Messages for hosts at the very links that their packets were too large for; they leave at once.
    messages: VecDeque<Delivery>,
}

impl Ports {
    pub(crate) fn new(middle: Middle, nodes: Vec<u32>, tells: bool) -> Self {
        Self { middle, nodes, tells, messages: VecDeque::new() }
    }

    /// From now on senders of packets that are too large are told, or not.
    pub(crate) fn set_tells(&mut self, tells: bool) {
        self.tells = tells;
    }

    pub(crate) fn middle(&self) -> &Middle {
        &self.middle
    }

    pub(crate) fn middle_mut(&mut self) -> &mut Middle {
        &mut self.middle
    }

    /// Sends word of packets that were too large back to their senders.
    fn tell(&mut self) {
        while let Some(oversized) = self.middle.poll_oversized() {
            if self.tells {
                self.tell_of(&oversized);
            }
        }
    }

    fn tell_of(&mut self, &OversizedPacket { at, node, end, mtu_bytes, ref packet }: &OversizedPacket) {
        let Some(message) = packet_too_big(&packet.bytes, mtu_bytes) else { return };
        let (from, to) = (packet.meta.to, packet.meta.from);
        let meta =
            PacketMeta { wire_bytes: message.len() as u32, from, to, sent_at: at, ..PacketMeta::default() };
        let packet = Packet { bytes: Bytes::from(message), meta };
        match self.nodes.iter().position(|&own| own == node && own == to) {
            Some(port) if self.messages.len() < MAX_MESSAGES => {
                self.middle.show(at, end, &packet);
                self.messages.push_back(Delivery { port, at, packet });
            }
            Some(_) => {}
            None => self.middle.send(at, node, packet),
        }
    }
}

impl Medium for Ports {
    fn handle(&mut self, now: Instant, port: usize, mut packet: Packet) {
        packet.meta.from = self.nodes[port];
        self.middle.send(now, self.nodes[port], packet);
        self.tell();
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Delivery> {
        if let Some(message) = self.messages.pop_front() {
            return Some(message);
        }
        loop {
            let arrived = self.middle.poll(now);
            self.tell();
            let (at, node, packet) = arrived?;
            // A host that nobody attached has nothing behind it.
            if let Some(port) = self.nodes.iter().position(|&own| own == node) {
                return Some(Delivery { port, at, packet });
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.messages.front().map(|message| message.at).or_else(|| self.middle.deadline())
    }
}

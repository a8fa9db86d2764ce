//! The links and routers of a scenario as a medium, and packets on their way through it.

use std::collections::VecDeque;

use bytes::Bytes;
use skyhaul_core::{Instant, Packet, PacketMeta};
use skyhaul_net::realtime::{Delivery, Medium};
use skyhaul_net::tun::packet_too_big;
use skyhaul_scenario::Scenario;
use skyhaul_sim::{Middle, OversizedPacket, SignalCounters};

use crate::Addresses;

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
    /// Routers that send signals: nodes and names.
    routers: Vec<(u32, String)>,
}

impl Ports {
    pub(crate) fn new(middle: Middle, nodes: Vec<u32>, tells: bool) -> Self {
        Self { middle, nodes, tells, messages: VecDeque::new(), routers: Vec::new() }
    }

    /// From now on the routers of `scenario` send the signals that it says, from these addresses. All packets
    /// must be IP packets.
    pub(crate) fn set_signals(&mut self, scenario: &Scenario, addresses: &Addresses) {
        let routers = addresses.routers();
        let places = routers.iter().map(|router| (router.node, (router.v4, router.v6))).collect();
        self.middle.set_signals(scenario, places);
        self.routers = routers.iter().map(|router| (router.node, router.name.clone())).collect();
    }

    /// What each router that sends signals has sent, with its name.
    pub(crate) fn signals(&self) -> impl Iterator<Item = (&str, SignalCounters)> + '_ {
        let named = |(node, sent)| Some((self.routers.iter().find(|own| own.0 == node)?.1.as_str(), sent));
        self.middle.signals().filter_map(named)
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

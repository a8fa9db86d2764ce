//! The way between two hosts: a faulty link, what links do not do (copies, damage that arrives), routers,
//! and the perfect link that follows.

use std::collections::{BTreeMap, VecDeque};

use crate::common::family::Family;
use bytes::Bytes;
use skyhaul_core::packet::ip_protocol;
use skyhaul_core::{Instant, NullSink, Packet};
use skyhaul_link::Link;
use skyhaul_scenario::Carrier;
use skyhaul_tcp::{IcmpMessage, Unreachable};

use super::shape::{Routers, Shape, Told};
use super::world::way;
use crate::common::dice::Dice;

/// Octets in front of every segment.
pub(crate) fn envelope_bytes(protocol: Family) -> usize {
    protocol.protocol().carrier(Carrier::Udp).envelope_bytes() as usize
}

/// Carries packets.
#[derive(Debug)]
pub(crate) struct Air {
    protocol: Family,
    faulty: Link,
    healed: Link,
    heal_at: Instant,
    duplicated_ppm: u64,
    copy_delay_ns: u64,
    damaged_ppm: u64,
    routers: Routers,
    dice: Dice,
    copies: BTreeMap<(Instant, u64), (usize, Packet)>,
    sequence: u64,
    said: VecDeque<Said>,
}

/// ICMP: to whom, what, and the protocol of a packet with its first bytes.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) to: usize,
    pub(crate) message: IcmpMessage,
    pub(crate) quoted: (u8, Bytes),
}

impl Air {
    /// The air of this run.
    pub(crate) fn new(shape: &Shape) -> Result<Self, String> {
        let link = |config, seed| Link::new(config, seed, 1 << 32).map_err(|error| error.to_string());
        Ok(Self {
            protocol: shape.protocol,
            faulty: link(shape.faulty.clone(), shape.seed)?,
            healed: link(shape.healed.clone(), shape.seed)?,
            heal_at: shape.heal_at,
            duplicated_ppm: shape.duplicated_ppm,
            copy_delay_ns: shape.copy_delay_ns,
            damaged_ppm: shape.damaged_ppm,
            routers: shape.routers,
            dice: Dice::new(shape.seed, "swarm/air"),
            copies: BTreeMap::new(),
            sequence: 0,
            said: VecDeque::new(),
        })
    }

    /// A packet leaves host `from`.
    pub(crate) fn send(&mut self, now: Instant, from: usize, packet: Packet) {
        let is_healed = now >= self.heal_at;
        if packet.meta.wire_bytes > self.routers.mtu_bytes {
            return self.refuse(from, &packet);
        }
        if self.routers.doubted_ppm > 0 && !is_healed && self.dice.ppm(self.routers.doubted_ppm) {
            let what = self.dice.pick(&[Unreachable::Net, Unreachable::Host]);
            let message = self.dice.pick(&[IcmpMessage::Unreachable(what), IcmpMessage::TimeExceeded]);
            self.say(from, message, &packet);
        }
        let link = if is_healed { &mut self.healed } else { &mut self.faulty };
        link.handle(now, from as u32, packet, &mut NullSink);
    }

    /// The packet is too large.
    fn refuse(&mut self, from: usize, packet: &Packet) {
        let told = match self.routers.told {
            Told::Size => self.routers.mtu_bytes,
            Told::TooLarge => 0,
            Told::Nothing => return,
        };
        self.say(from, IcmpMessage::PacketTooBig { mtu_bytes: told }, packet);
    }

    /// By a router right behind the host, so at once.
    fn say(&mut self, to: usize, message: IcmpMessage, about: &Packet) {
        // In a compressed header the number may lie behind window and acknowledgement.
        let (protocol, first) = match about.meta.fields.protocol {
            ip_protocol::COMPRESSED_TCP => (ip_protocol::COMPRESSED_TCP, about.bytes.len().min(14)),
            _ => (ip_protocol::TCP, 8),
        };
        self.said.push_back(Said { to, message, quoted: (protocol, about.bytes.slice(..first)) });
    }

    /// Message of the routers now, if any.
    pub(crate) fn hear(&mut self) -> Option<Said> {
        self.said.pop_front()
    }

    /// When something arrives next.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let copy = self.copies.first_key_value().map(|(&(at, _), _)| at);
        [self.faulty.deadline(), self.healed.deadline(), copy].into_iter().flatten().min()
    }

    /// The next packet that arrives now, and where.
    pub(crate) fn receive(&mut self, now: Instant) -> Option<(usize, Packet)> {
        if let Some(entry) = self.copies.first_entry()
            && entry.key().0 <= now
        {
            return Some(entry.remove());
        }
        while let Some((to, packet)) = self.faulty.poll_transmit(now) {
            if let Some(packet) = self.impair(now, to as usize, packet) {
                return Some((to as usize, packet));
            }
        }
        self.healed.poll_transmit(now).map(|(to, packet)| (to as usize, packet))
    }

    fn impair(&mut self, now: Instant, to: usize, packet: Packet) -> Option<Packet> {
        if self.dice.ppm(self.duplicated_ppm) {
            let at = now.after(1 + self.dice.below(self.copy_delay_ns));
            self.sequence += 1;
            self.copies.insert((at, self.sequence), (to, packet.clone()));
        }
        if self.dice.ppm(self.damaged_ppm) { self.damage(to, &packet) } else { Some(packet) }
    }

    /// Flips some bits. What a 16-bit checksum cannot see is left to the carrier's own: it is dropped.
    fn damage(&mut self, to: usize, packet: &Packet) -> Option<Packet> {
        let mut bytes = packet.bytes.to_vec();
        let head = envelope_bytes(self.protocol);
        for _ in 0..self.dice.scale(1, 16) {
            let bit = self.dice.below((bytes.len() - head) as u64 * 8) as usize;
            bytes[head + bit / 8] ^= 1 << (bit % 8);
        }
        let seen = bytes[..] == packet.bytes[..]
            || match self.protocol {
                Family::Stp => skyhaul_stp::segment::decode(&bytes[head..]).is_err(),
                Family::Tcp => {
                    skyhaul_tcp::segment::decode_packet(way(to), packet.meta.fields, &bytes).is_err()
                }
            };
        seen.then(|| Packet { bytes: Bytes::from(bytes), ..packet.clone() })
    }
}

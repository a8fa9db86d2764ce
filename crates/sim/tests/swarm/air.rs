//! The way between two hosts: a faulty link, what links do not do (copies, damage that arrives), and
//! the perfect link that follows.

use std::collections::BTreeMap;

use bytes::Bytes;
use skyhaul_core::{Instant, NullSink, Packet};
use skyhaul_link::Link;
use skyhaul_stp::segment::decode;

use super::shape::Shape;
use crate::common::dice::Dice;

/// Octets in front of every segment.
pub(crate) const ENVELOPE_BYTES: usize = 1;

/// Carries packets.
#[derive(Debug)]
pub(crate) struct Air {
    faulty: Link,
    healed: Link,
    heal_at: Instant,
    duplicated_ppm: u64,
    copy_delay_ns: u64,
    damaged_ppm: u64,
    dice: Dice,
    copies: BTreeMap<(Instant, u64), (usize, Packet)>,
    sequence: u64,
}

impl Air {
    /// The air of this run.
    pub(crate) fn new(shape: &Shape) -> Result<Self, String> {
        let link = |config, seed| Link::new(config, seed, 1 << 32).map_err(|error| error.to_string());
        Ok(Self {
            faulty: link(shape.faulty.clone(), shape.seed)?,
            healed: link(shape.healed.clone(), shape.seed)?,
            heal_at: shape.heal_at,
            duplicated_ppm: shape.duplicated_ppm,
            copy_delay_ns: shape.copy_delay_ns,
            damaged_ppm: shape.damaged_ppm,
            dice: Dice::new(shape.seed, "swarm/air"),
            copies: BTreeMap::new(),
            sequence: 0,
        })
    }

    /// A packet leaves host `from`.
    pub(crate) fn send(&mut self, now: Instant, from: usize, packet: Packet) {
        let link = if now < self.heal_at { &mut self.faulty } else { &mut self.healed };
        link.handle(now, from as u32, packet, &mut NullSink);
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
        if self.dice.ppm(self.damaged_ppm) { self.damage(&packet) } else { Some(packet) }
    }

    /// Flips some bits. What a 16-bit checksum cannot see is left to the carrier's own: it is dropped.
    fn damage(&mut self, packet: &Packet) -> Option<Packet> {
        let mut bytes = packet.bytes.to_vec();
        for _ in 0..self.dice.scale(1, 16) {
            let bit = self.dice.below((bytes.len() - ENVELOPE_BYTES) as u64 * 8) as usize;
            bytes[ENVELOPE_BYTES + bit / 8] ^= 1 << (bit % 8);
        }
        let seen = bytes[..] == packet.bytes[..] || decode(&bytes[ENVELOPE_BYTES..]).is_err();
        seen.then(|| Packet { bytes: Bytes::from(bytes), ..packet.clone() })
    }
}

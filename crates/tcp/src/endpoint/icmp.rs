//! ICMP, and what it says of paths.

use alloc::collections::BTreeMap;

use skyhaul_core::{Event, EventSink, Instant, event::Refusal};

use super::{ConnectionId, Endpoint};
use crate::connection::{Belief, Context, LEARNT_FOR_NS, Names};
use crate::icmp::IcmpMessage;
use crate::segment::Way;

/// Ways whose MTU is remembered for connections to come; at more, the oldest is forgotten.
const MAX_WAYS: usize = 256;

/// Largest packets of ways, as routers told them.
#[derive(Clone, Debug, Default)]
pub(super) struct LearntMtus(BTreeMap<Way, (u32, Instant)>);

impl LearntMtus {
    fn learn(&mut self, way: Way, bytes: u32, now: Instant) {
        if self.0.len() >= MAX_WAYS && !self.0.contains_key(&way) {
            let oldest = self.0.iter().min_by_key(|&(_, &(_, since))| since).map(|(&way, _)| way);
            oldest.and_then(|way| self.0.remove(&way));
        }
        self.0.insert(way, (bytes, now));
    }

    /// What is known of `way` and not too old.
    pub(super) fn of(&self, way: Way, now: Instant) -> Option<u32> {
        let &(bytes, since) = self.0.get(&way)?;
        (now.since(since) < LEARNT_FOR_NS).then_some(bytes)
    }
}

impl Endpoint {
    /// ICMP arrived about a packet that this host sent by `way`. `quoted`: what it returns of that packet
    /// behind the IP header, at least 8 bytes. It counts only if it quotes a number under way
    /// [RFC 5927 4.1]; everything else is counted and ignored.
    pub fn handle_icmp(
        &mut self,
        now: Instant,
        way: Way,
        message: IcmpMessage,
        quoted: &[u8],
        sink: &mut dyn EventSink,
    ) {
        match self.judge_icmp(now, way, message, quoted, sink) {
            Belief::Forged => self.stats.icmp_ignored += 1,
            Belief::Taken => self.stats.icmp_taken += 1,
            Belief::Mtu(bytes) => {
                self.stats.icmp_taken += 1;
                self.mtus.learn(way, bytes, now);
                self.limit_way(now, way, bytes, sink);
            }
        }
    }

    fn judge_icmp(
        &mut self,
        now: Instant,
        way: Way,
        message: IcmpMessage,
        quoted: &[u8],
        sink: &mut dyn EventSink,
    ) -> Belief {
        let quoted = self.quoted_connection(way, quoted);
        let slot = quoted.and_then(|(id, sequence)| Some((id, sequence, self.slots.get_mut(&id)?)));
        let Some((id, sequence, slot)) = slot else {
            if sink.wants() {
                sink.emit(now, 0, Event::Refused { why: Refusal::Unknown });
            }
            return Belief::Forged;
        };
        let mut context = Context { now, path: &slot.path, sink };
        let belief = slot.connection.handle_icmp(message, sequence, &mut context);
        self.touch(id);
        belief
    }

    fn quoted_connection(&self, way: Way, quoted: &[u8]) -> Option<(ConnectionId, u32)> {
        let head: &[u8; 8] = quoted.first_chunk()?;
        let [a, b, c, d, sequence @ ..] = *head;
        let names =
            Names { way, local_port: u16::from_be_bytes([a, b]), remote_port: u16::from_be_bytes([c, d]) };
        Some((*self.keys.get(&names)?, u32::from_be_bytes(sequence)))
    }

    /// All connections by this way learn it [RFC 1191 6.1, RFC 8201 5.2].
    fn limit_way(&mut self, now: Instant, way: Way, bytes: u32, sink: &mut dyn EventSink) {
        let first = Names { way, local_port: 0, remote_port: 0 };
        let last = Names { way, local_port: u16::MAX, remote_port: u16::MAX };
        let ids: alloc::vec::Vec<_> = self.keys.range(first..=last).map(|(_, &id)| id).collect();
        for id in ids {
            let Some(slot) = self.slots.get_mut(&id) else { continue };
            let mut context = Context { now, path: &slot.path, sink };
            slot.connection.limit_packets(bytes, &mut context);
            self.touch(id);
        }
    }
}

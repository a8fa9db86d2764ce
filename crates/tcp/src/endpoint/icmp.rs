//! ICMP about what this host sent.

use skyhaul_core::{Event, EventSink, Instant, event::Refusal};

use super::{ConnectionId, Endpoint};
use crate::connection::{Belief, Context, Names};
use crate::icmp::IcmpMessage;
use crate::segment::Way;

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
                self.ways.learn_mtu(way, bytes, now);
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
        let Some(path) = self.paths.get_mut(&way) else { return Belief::Forged };
        let mut context = Context { now, path, sink };
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
        for id in self.connections_of(way) {
            let Some(slot) = self.slots.get_mut(&id) else { continue };
            let Some(path) = self.paths.get_mut(&way) else { return };
            let mut context = Context { now, path, sink };
            slot.connection.limit_packets(bytes, &mut context);
            self.touch(id);
        }
    }
}

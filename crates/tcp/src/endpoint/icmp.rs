//! ICMP about what this host sent.

use skyhaul_core::endpoint::Context;
use skyhaul_core::event::Refusal;
use skyhaul_core::{ConnectionId, Event, EventSink, Instant};

use super::Endpoint;
use crate::connection::{Belief, Names};
use crate::icmp::IcmpMessage;
use crate::scps::compress;
use crate::segment::Way;

impl Endpoint {
    /// ICMP arrived about a packet that this host sent by `way`, or was to get by it. `quoted`: what it
    /// returns of that packet behind the IP header, at least 8 bytes; `protocol`: that of the packet. It
    /// counts only if it quotes a number under way [RFC 5927 4.1], of the peer's one that may be; everything
    /// else is counted and ignored.
    pub fn handle_icmp(
        &mut self,
        now: Instant,
        way: Way,
        message: IcmpMessage,
        (protocol, quoted): (u8, &[u8]),
        sink: &mut dyn EventSink,
    ) {
        match self.judge_icmp(now, way, message, (protocol, quoted), sink) {
            Belief::Forged => self.0.family.stats.icmp_ignored += 1,
            Belief::Taken | Belief::Hint => self.0.family.stats.icmp_taken += 1,
            Belief::Mtu(bytes) => {
                self.0.family.stats.icmp_taken += 1;
                self.0.family.ways.learn_mtu(way, bytes, now);
                self.limit_way(now, way, bytes, sink);
            }
        }
    }

    fn judge_icmp(
        &mut self,
        now: Instant,
        way: Way,
        message: IcmpMessage,
        (protocol, quoted): (u8, &[u8]),
        sink: &mut dyn EventSink,
    ) -> Belief {
        let quoted = match protocol {
            compress::PROTOCOL => self.quoted_compressed(way, message, quoted),
            _ => self.quoted_connection(way, message, quoted),
        };
        let quoted = quoted.and_then(|(id, sequence)| Some((id, sequence, self.0.get_mut(id)?)));
        let Some((id, sequence, (connection, path))) = quoted else {
            if sink.wants() {
                sink.emit(now, 0, Event::Refused { why: Refusal::Unknown });
            }
            return Belief::Forged;
        };
        let belief = connection.handle_icmp(message, sequence, &mut Context { now, path, sink });
        if let Some(lesson) = connection.take_lesson() {
            self.0.family.ways.learn(way, lesson, now);
        }
        self.0.touch(id);
        belief
    }

    fn quoted_connection(
        &self,
        way: Way,
        message: IcmpMessage,
        quoted: &[u8],
    ) -> Option<(ConnectionId, u32)> {
        let head: &[u8; 8] = quoted.first_chunk()?;
        let [a, b, c, d, sequence @ ..] = *head;
        let (source, destination) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        let (local_port, remote_port) =
            if message.quotes_the_peer() { (destination, source) } else { (source, destination) };
        let id = self.0.find(Names { peer: way, local_port, remote_port })?;
        Some((id, u32::from_be_bytes(sequence)))
    }

    /// A compressed header has its number behind window and acknowledgement, where it has these and a number
    /// at all: beyond the first 8 bytes, which old routers return.
    fn quoted_compressed(
        &self,
        way: Way,
        message: IcmpMessage,
        quoted: &[u8],
    ) -> Option<(ConnectionId, u32)> {
        let (connection_id, sequence) = compress::quoted(quoted)?;
        let numbers = &self.0.family.numbers;
        let id = if message.quotes_the_peer() {
            numbers.told_by(way, connection_id)
        } else {
            numbers.of_ours(way, connection_id)
        };
        Some((id?, sequence))
    }

    /// All connections by this way learn it [RFC 1191 6.1, RFC 8201 5.2].
    fn limit_way(&mut self, now: Instant, way: Way, bytes: u32, sink: &mut dyn EventSink) {
        for id in self.0.connections_to(way) {
            let Some((connection, path)) = self.0.get_mut(id) else { continue };
            connection.limit_packets(bytes, &mut Context { now, path, sink });
            self.0.touch(id);
        }
    }
}

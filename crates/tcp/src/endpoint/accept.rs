//! What arrives for no connection: openings, and strays.

use alloc::sync::Arc;

use skyhaul_core::event::Refusal;
use skyhaul_core::{EventSink, Instant};

use super::Endpoint;
use crate::connection::{Connection, Context, Names, State};
use crate::segment::{Segment, flags};

/// Replies of no connection that wait; further ones are not sent.
const MAX_STATELESS: usize = 64;

impl Endpoint {
    /// [RFC 9293 3.10.7.1, 3.10.7.2]
    pub(super) fn handle_unknown(
        &mut self,
        now: Instant,
        names: Names,
        segment: &Segment<'_>,
        sink: &mut dyn EventSink,
    ) {
        let opens = segment.has(flags::SYN) && !segment.has(flags::ACK);
        if !opens || !self.listening.contains(&names.local_port) {
            self.refuse(Refusal::Unknown, now, sink);
            return self.reset_stateless(names, segment);
        }
        // Without an answer the peer asks again later; an RST would end its patience [RFC 4987 3].
        if !self.has_room() {
            return self.refuse(Refusal::Full, now, sink);
        }
        let (entropy, id, mut path) = (self.entropy(), self.take_id(), self.path(names.way));
        let mut context = Context { now, path: &mut path, sink };
        let config = Arc::clone(&self.accept_config);
        let mut connection = Connection::accept(id, names, entropy, config, segment, &context);
        self.ways.brief(&mut connection, &mut context);
        self.insert(id, connection, path, false);
    }

    fn has_room(&self) -> bool {
        let unproven = self.slots.values().filter(|slot| slot.connection.state() == State::SynReceived);
        self.slots.len() < self.config.max_connections && unproven.count() < self.config.max_unproven
    }

    /// An RST whose numbers the sender of `to` believes [RFC 9293 3.10.7.1]; none for an RST.
    fn reset_stateless(&mut self, names: Names, to: &Segment<'_>) {
        if to.has(flags::RST) || self.stateless.len() >= MAX_STATELESS {
            return;
        }
        let has_ack = to.has(flags::ACK);
        let segment = Segment {
            source_port: names.local_port,
            destination_port: names.remote_port,
            sequence: if has_ack { to.acknowledgement } else { 0 },
            acknowledgement: if has_ack { 0 } else { to.sequence.wrapping_add(to.sequence_len() as u32) },
            flags: flags::RST | if has_ack { 0 } else { flags::ACK },
            ..Segment::default()
        };
        self.stateless.push_back((names.way, segment));
    }
}

//! What arrives for no connection: openings, and strays.

use alloc::sync::Arc;

use skyhaul_core::event::Refusal;
use skyhaul_core::{EventSink, Instant};

use skyhaul_core::ConnectionId;

use super::{Endpoint, Slot};
use crate::connection::{Connection, Context, Names, State};
use crate::segment::{Segment, flags};
use crate::sequence::is_earlier;

/// Replies of no connection that wait; further ones are not sent.
const MAX_STATELESS: usize = 64;

impl Endpoint {
    /// [RFC 9293 3.10.7.1, 3.10.7.2]
    pub(super) fn handle_unknown(
        &mut self,
        now: Instant,
        names: Names,
        segment: &Segment<'_>,
        least_initial: Option<u32>,
        sink: &mut dyn EventSink,
    ) {
        let opens = segment.has(flags::SYN) && !segment.has(flags::ACK);
        if !opens || !self.listening.contains(&names.local_port) {
            self.refuse(Refusal::Unknown, now, sink);
            return self.reset_stateless(names, segment);
        }
        // Without an answer the peer asks again later; an RST would end its patience [RFC 4987 3].
        if !self.has_room() && !self.make_room(now, sink) {
            return self.refuse(Refusal::Full, now, sink);
        }
        let (mut entropy, id, new) =
            (self.secrets.entropy(names, now), self.take_id(), self.new_path(names.way));
        if let Some(least) = least_initial.filter(|&least| is_earlier(entropy.initial, least)) {
            entropy.initial = least;
        }
        let config = Arc::clone(&self.accept_config);
        let path = self.paths.enter(names.way, new, config.declared_rate());
        let mut context = Context { now, path, sink };
        let mut connection = Connection::accept(id, names, entropy, config, segment, &context);
        self.ways.brief(&mut connection, &mut context);
        self.insert(id, connection, false);
    }

    /// A SYN that may begin a new connection between ends of one that is over [RFC 6191 2]: the old one gives
    /// way. The least initial number of ours, beyond everything that the old one used [RFC 9293 3.4.1].
    pub(super) fn succeed(&mut self, id: ConnectionId, segment: &Segment<'_>) -> Option<u32> {
        let connection = &mut self.slots.get_mut(&id)?.connection;
        let is_listening = self.listening.contains(&segment.destination_port);
        let stamps = self.config.accept.timestamps;
        let least = connection.successor(segment, stamps).filter(|_| is_listening)?;
        connection.give_way();
        self.touch(id);
        Some(least)
    }

    fn has_room(&self) -> bool {
        let unproven = self.slots.values().filter(|slot| slot.connection.state() == State::SynReceived);
        self.slots.len() < self.config.max_connections && unproven.count() < self.config.max_unproven
    }

    /// The oldest opening whose answer had to be repeated gives way, without a word [RFC 4987 3.3]: a flood that is over
    /// bars the door for one timeout, and not until the last repeat. Who is within the first round trip stays. False
    /// if there is none, or if that would not help.
    fn make_room(&mut self, now: Instant, sink: &mut dyn EventSink) -> bool {
        let is_nobody = |slot: &Slot| !slot.is_announced && slot.connection.is_likely_nobody();
        let oldest = self.slots.iter_mut().find(|(_, slot)| is_nobody(slot));
        let Some((&id, slot)) = oldest else { return false };
        slot.connection.give_way();
        self.touch(id);
        self.refuse(Refusal::Full, now, sink);
        self.has_room()
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

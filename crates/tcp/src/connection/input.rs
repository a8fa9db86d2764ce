//! Segments that arrive: is each acceptable, what does it say [RFC 9293 3.10.7.4, RFC 5961, RFC 7323 5].

use skyhaul_core::event::Refusal;
use skyhaul_core::{Class, CloseReason, Event, NetworkFields, ResetReason, StreamEvent};

use super::{Connection, Context, State};
use crate::ack_policy::AckPolicy;
use crate::call::Call;
use crate::segment::{Segment, flags};
use crate::sequence::expand;

impl Connection {
    /// A segment arrived.
    pub(crate) fn handle(
        &mut self,
        segment: &Segment<'_>,
        fields: NetworkFields,
        wire_bytes: u32,
        context: &mut Context<'_>,
    ) {
        self.stats.received_packets += 1;
        self.stats.last_heard = context.now;
        self.stats.received_bytes += u64::from(wire_bytes);
        let (types, number) = (segment.flags, u64::from(segment.sequence));
        let payload_bytes = segment.payload_bytes() as u32;
        let mut call = Call::new(self.id, &mut self.stats, context);
        call.emit(Event::Received { types, number, payload_bytes });
        match self.life.state() {
            State::Closed | State::Listen => {}
            State::SynSent => self.handle_syn_sent(segment, context),
            _ => self.handle_synchronized(segment, fields, context),
        }
        self.tell_state(context);
        self.check_invariants();
    }

    fn handle_synchronized(
        &mut self,
        segment: &Segment<'_>,
        fields: NetworkFields,
        context: &mut Context<'_>,
    ) {
        let sequence = self.receiver.expand(segment.sequence);
        let acknowledgement = expand(segment.acknowledgement, self.sender.max());
        if self.is_crossing_answer(segment, sequence) {
            // What is new is the acknowledgement.
            if self.check_acknowledgement(acknowledgement, context) {
                self.finish_handshake(acknowledgement, segment, context);
            }
            return;
        }
        if self.opening.as_ref().is_some_and(|opening| !opening.accepts(segment)) {
            return self.refuse(Refusal::Absurd, context); // of another connection [RFC 1644 3.4]
        }
        if let Err(why) = self.receiver.check(segment, sequence, context.now) {
            if is_nil(segment, fields) {
                self.refuse(why, context);
                return self.receiver.answer_nil();
            }
            return self.refuse_unacceptable(why, segment, sequence, context);
        }
        if segment.has(flags::RST) {
            return self.on_reset(sequence == self.receiver.next(), context);
        }
        if segment.has(flags::SYN) {
            self.refuse(Refusal::Absurd, context);
            return self.challenge(context); // [RFC 5961 4]
        }
        // Only data with a compressed header has none.
        let has_ack = segment.compression.is_none() || segment.has(flags::ACK);
        if has_ack && !self.check_acknowledgement(acknowledgement, context) {
            return;
        }
        self.silence.heard(context.now);
        if self.sender.is_link_down() {
            self.sender.on_link_heard(&mut Call::new(self.id, &mut self.stats, context));
        }
        self.receiver.take_timestamp(segment, sequence, context.now);
        if self.life.is_opening() {
            self.establish(context);
            self.sender.expect_window();
        }
        if let Some(header) = &fields.path_header {
            self.grants.take(header);
            self.sender.on_feedback(header, context.now);
        }
        if has_ack {
            self.take_acknowledgement((acknowledgement, sequence), segment, fields.class, context);
        }
        if self.sender.take_writable() {
            self.tell(StreamEvent::Writable);
        }
        self.stats.ce_packets += u64::from(self.receiver.take_mark(segment, fields.ecn));
        self.take_data(segment, sequence, is_nil(segment, fields), context);
    }

    fn take_acknowledgement(
        &mut self,
        numbers: (u64, u64),
        segment: &Segment<'_>,
        class: Class,
        context: &mut Context<'_>,
    ) {
        let mut call = Call::new(self.id, &mut self.stats, context);
        let answer = self.sender.on_acknowledgement(numbers, segment, class, &mut call);
        if answer.advances {
            self.silence.on_answer();
        }
        if answer.is_finished {
            self.on_fin_acknowledged(context);
        }
    }

    /// Everything but an RST is answered, so that a peer that has lost its place finds it again.
    fn refuse_unacceptable(
        &mut self,
        why: Refusal,
        segment: &Segment<'_>,
        sequence: u64,
        context: &mut Context<'_>,
    ) {
        self.refuse(why, context);
        self.receiver.note_duplicate(segment, sequence);
        if segment.has(flags::RST) || why == Refusal::Absurd {
            return;
        }
        let is_syn = segment.has(flags::SYN) && !segment.has(flags::ACK);
        let is_repeat = is_syn && sequence == self.receiver.peer_initial();
        if (self.life.is_opening() || self.is_starred()) && is_repeat {
            // Our answer was lost.
            let agreed = self.sender.agreed().after_repeat(segment);
            self.sender.repeat_syn(agreed);
            self.receiver.agree(agreed);
        } else if segment.payload_bytes() > 0 || segment.has(flags::FIN) {
            self.receiver.see_beyond(sequence, context.now);
            self.receiver.acknowledge_now();
            if segment.has(flags::FIN) {
                self.life.on_end_again(self.time_wait_ns(context.now), context.now);
            }
        } else {
            self.challenge(context);
        }
    }

    /// Answers a segment that may be forged, if not too many were.
    fn challenge(&mut self, context: &Context<'_>) {
        let answers = self.receiver.challenge(self.config.max_challenges_per_s, context.now);
        self.stats.challenges += u64::from(answers);
    }

    /// Only the very next number resets [RFC 5961 3]; nothing does in TIME-WAIT [RFC 1337 3].
    fn on_reset(&mut self, is_exact: bool, context: &mut Context<'_>) {
        let in_time_wait = self.life.state() == State::TimeWait;
        if is_exact && !in_time_wait {
            let refused = self.life.is_active_opening();
            return self.close(Some(CloseReason::Reset(refused.then_some(ResetReason::Refused))));
        }
        self.refuse(Refusal::Absurd, context);
        if !in_time_wait {
            self.challenge(context);
        }
    }

    /// False if the acknowledgement cannot be: of unsent data, or too old to be the peer's [RFC 5961 5].
    fn check_acknowledgement(&mut self, acknowledgement: u64, context: &mut Context<'_>) -> bool {
        if self.life.is_opening() || self.is_starred() {
            let is_ours = self.acknowledges_syn(acknowledgement);
            if !is_ours {
                self.life.owe_reset(acknowledgement, false);
                self.refuse(Refusal::Absurd, context);
            }
            return is_ours;
        }
        let oldest = self.sender.oldest_acknowledgement();
        let is_possible = (oldest..=self.sender.max()).contains(&acknowledgement);
        if !is_possible {
            self.refuse(Refusal::Absurd, context);
            self.challenge(context);
        }
        is_possible
    }

    pub(super) fn on_fin_acknowledged(&mut self, context: &Context<'_>) {
        if self.life.take_finished() {
            self.tell(StreamEvent::Finished);
        }
        let time_wait_ns = self.time_wait_ns(context.now);
        if self.life.on_fin_acknowledged(&self.config, time_wait_ns, context.now) {
            self.close(None);
        }
    }

    pub(super) fn take_data(
        &mut self,
        segment: &Segment<'_>,
        sequence: u64,
        is_nil: bool,
        context: &Context<'_>,
    ) {
        let length = segment.payload_bytes() as u64;
        if length == 0 {
            self.receiver.see_next(sequence, context.now);
        }
        if (length == 0 && !segment.has(flags::FIN)) || !self.life.state().may_receive() {
            return;
        }
        if self.life.is_released() && sequence + length > self.receiver.next() {
            return self.reset(); // nobody will read it [RFC 9293 3.6.1]
        }
        let policy = self.config.ack_policy(self.sender.agreed().scps.is_some());
        let policy = if let AckPolicy::PerRoundTrip { .. } = policy {
            self.receiver.time_echo(segment, self.sender.clock(), context.now);
            policy.over(self.round_trip_ns())
        } else {
            policy
        };
        let policy = (!is_nil).then_some(policy);
        let taken = self.receiver.take_data(segment, sequence, policy, context.now);
        if taken.moved {
            self.tell(StreamEvent::Readable);
        }
        if taken.is_complete {
            // A SYN that was not acknowledged goes first, and takes it along.
            if self.config.bare_acks && !self.is_starred() {
                self.receiver.acknowledge_alone();
            }
            self.life.on_end(self.time_wait_ns(context.now), context.now);
        }
    }
}

/// True for data of low class: it is answered in that class, and nothing else is owed.
fn is_nil(segment: &Segment<'_>, fields: NetworkFields) -> bool {
    let is_data = segment.payload_bytes() > 0 && segment.flags & (flags::SYN | flags::FIN | flags::RST) == 0;
    fields.class == Class::Low && is_data
}

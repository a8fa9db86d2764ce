//! What arrives: is it acceptable, what does it say [RFC 9293 3.10.7.4, RFC 5961, RFC 7323 5].

use skyhaul_core::event::Refusal;
use skyhaul_core::{CloseReason, Ecn, Event, ResetReason, SECOND, StreamEvent};

use super::timers::AckDue;
use super::{Connection, Context, Reset, State};
use crate::ack_policy::Urgency;
use crate::segment::{Segment, flags};
use crate::sequence::{expand, is_earlier};

/// A timestamp older than this says nothing any more: 24 days [RFC 7323 5.5].
const RECENT_FOR_NS: u64 = 24 * 86_400 * SECOND;

/// What became of a check.
enum Check {
    Passed,
    /// Dropped; answered where an answer is due.
    Dropped(Refusal),
}

impl Connection {
    /// A segment arrived.
    pub(crate) fn handle(
        &mut self,
        segment: &Segment<'_>,
        ecn: Ecn,
        wire_bytes: u32,
        context: &mut Context<'_>,
    ) {
        self.stats.received_packets += 1;
        self.stats.last_heard = context.now;
        self.stats.received_bytes += u64::from(wire_bytes);
        let (types, number) = (segment.flags, u64::from(segment.sequence));
        let payload_bytes = segment.payload_bytes() as u32;
        self.emit(context, Event::Received { types, number, payload_bytes });
        match self.state {
            State::Closed | State::Listen => {}
            State::SynSent => self.handle_syn_sent(segment, context),
            _ => self.handle_synchronized(segment, ecn, context),
        }
        self.tell_state(context);
    }

    fn handle_synchronized(&mut self, segment: &Segment<'_>, ecn: Ecn, context: &mut Context<'_>) {
        let Some(assembly) = self.assembly.as_ref() else { return };
        let (next, edge) = (assembly.next(), assembly.edge());
        let sequence = expand(segment.sequence, next);
        if self.is_crossing_answer(segment, sequence) {
            return self.take_crossing_answer(segment, context);
        }
        for check in
            [self.check_timestamp(segment, context), Self::check_window(segment, sequence, next, edge)]
        {
            if let Check::Dropped(why) = check {
                return self.refuse_unacceptable(why, segment, sequence, context);
            }
        }
        if segment.has(flags::RST) {
            return self.on_reset(sequence == next, context);
        }
        if segment.has(flags::SYN) {
            self.refuse(Refusal::Absurd, context);
            return self.challenge(context); // [RFC 5961 4]
        }
        let acknowledgement = expand(segment.acknowledgement, self.sending.max);
        if !self.check_acknowledgement(acknowledgement, context) {
            return;
        }
        self.heard(context.now);
        self.take_options(segment);
        self.take_timestamp(segment, sequence, context);
        if self.state == State::SynReceived {
            self.establish(context);
            self.sending.told_by = (0, 0);
        }
        self.on_acknowledgement(acknowledgement, sequence, segment, context);
        self.take_mark(segment, ecn);
        self.take_data(segment, sequence, context);
    }

    /// Protection against wrapped sequences [RFC 7323 5.3].
    fn check_timestamp(&self, segment: &Segment<'_>, context: &Context<'_>) -> Check {
        if !self.agreed.timestamps || segment.has(flags::RST) {
            return Check::Passed;
        }
        let is_valid = context.now.since(self.agreed.recent_at) < RECENT_FOR_NS;
        match segment.options.timestamps {
            None => Check::Dropped(Refusal::Absurd),
            Some(stamps) if is_valid && is_earlier(stamps.value, self.agreed.recent) => {
                Check::Dropped(Refusal::Duplicate)
            }
            Some(_) => Check::Passed,
        }
    }

    /// Whether any of it lies within the window. An empty window still takes acknowledgements.
    fn check_window(segment: &Segment<'_>, sequence: u64, next: u64, edge: u64) -> Check {
        let end = sequence + segment.sequence_len();
        let overlaps = sequence < edge && end > next;
        if sequence == next || overlaps || (end == sequence && (next..=edge).contains(&sequence)) {
            Check::Passed
        } else if end <= next {
            Check::Dropped(Refusal::Duplicate)
        } else {
            Check::Dropped(Refusal::OutsideWindow)
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
        let end = sequence + segment.payload_bytes() as u64;
        if let Some(assembly) = self.assembly.as_mut().filter(|a| sequence < end && end <= a.next()) {
            assembly.note_duplicate(sequence, end);
        }
        if segment.has(flags::RST) || why == Refusal::Absurd {
            return;
        }
        let is_syn = segment.has(flags::SYN) && !segment.has(flags::ACK);
        let is_repeat = is_syn && sequence == self.agreed.peer_initial;
        if self.state == State::SynReceived && is_repeat {
            self.sending.nxt = self.sending.initial; // our answer was lost
            self.relearn_ecn(segment);
            self.timing = None;
        } else if segment.payload_bytes() > 0 || segment.has(flags::FIN) {
            self.ack_due = AckDue::Now;
            if self.state == State::TimeWait && segment.has(flags::FIN) {
                self.quiet_until = Some(context.now.after(self.config.time_wait_ns));
            }
        } else {
            self.challenge(context);
        }
    }

    /// Only the very next number resets [RFC 5961 3]; nothing does in TIME-WAIT [RFC 1337 3].
    fn on_reset(&mut self, is_exact: bool, context: &mut Context<'_>) {
        let in_time_wait = self.state == State::TimeWait;
        if is_exact && !in_time_wait {
            let refused = self.state == State::SynReceived && !self.is_passive;
            return self.close(Some(CloseReason::Reset(refused.then_some(ResetReason::Refused))));
        }
        self.refuse(Refusal::Absurd, context);
        if !in_time_wait {
            self.challenge(context);
        }
    }

    /// False if the acknowledgement cannot be: of unsent data, or too old to be the peer's [RFC 5961 5].
    pub(super) fn check_acknowledgement(&mut self, acknowledgement: u64, context: &mut Context<'_>) -> bool {
        let sending = &self.sending;
        if self.state == State::SynReceived {
            let is_ours = (sending.una + 1..=sending.max).contains(&acknowledgement);
            if !is_ours {
                self.reset = Some(Reset { sequence: acknowledgement, acknowledges: false });
                self.refuse(Refusal::Absurd, context);
            }
            return is_ours;
        }
        let oldest = sending.una.saturating_sub(sending.max_window_bytes);
        let is_possible = (oldest..=sending.max).contains(&acknowledgement);
        if !is_possible {
            self.refuse(Refusal::Absurd, context);
            self.challenge(context);
        }
        is_possible
    }

    /// [RFC 7323 4.3]
    fn take_timestamp(&mut self, segment: &Segment<'_>, sequence: u64, context: &Context<'_>) {
        let Some(stamps) = segment.options.timestamps.filter(|_| self.agreed.timestamps) else { return };
        if sequence <= self.agreed.last_ack_sent && !is_earlier(stamps.value, self.agreed.recent) {
            (self.agreed.recent, self.agreed.recent_at) = (stamps.value, context.now);
        }
    }

    fn take_data(&mut self, segment: &Segment<'_>, sequence: u64, context: &mut Context<'_>) {
        let length = segment.payload_bytes() as u64;
        if (length == 0 && !segment.has(flags::FIN)) || !self.state.may_receive() {
            return;
        }
        let Some(assembly) = self.assembly.as_mut() else { return };
        let before = assembly.next();
        if self.released && sequence + length > before {
            return self.abort(); // nobody will read it [RFC 9293 3.6.1]
        }
        let had_gap = assembly.has_gap();
        // A received payload is in one piece.
        let taken = assembly.insert(sequence, segment.payload.0);
        if segment.has(flags::FIN) && sequence + length <= assembly.edge() {
            assembly.set_end(sequence + length);
        }
        let (is_complete, moved) = (assembly.is_complete(), assembly.next() > before);
        // Out of sequence, filling a gap, the end, or nothing new: at once [RFC 5681 4.2].
        let urgency = match () {
            () if is_complete => Urgency::End,
            () if had_gap || assembly.has_gap() || !taken => Urgency::Gap,
            () => Urgency::Ordinary,
        };
        self.owe_acknowledgement(urgency, context.now);
        if moved {
            self.tell(StreamEvent::Readable);
        }
        if is_complete {
            self.on_end(context);
        }
    }

    /// The peer's FIN and everything before it have arrived.
    fn on_end(&mut self, context: &mut Context<'_>) {
        match self.state {
            State::Established => self.enter(State::CloseWait, context),
            State::FinWait1 => self.enter(State::Closing, context),
            State::FinWait2 => self.enter(State::TimeWait, context),
            _ => {}
        }
    }
}

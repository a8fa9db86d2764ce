//! Plan of the next segment: data, POLL, END and BGN beside the replies that wait, and when it leaves.

use alloc::vec::Vec;

use skyhaul_core::{Event, Instant, Path, Step, truncate_number};

use super::Sender;
use super::choice::{Choice, DataStep};
use super::polling::{Leaving, PollDecision};
use crate::call::Call;
use crate::receive::ReplySize;
use crate::segment::types::{BLOCK, POLL, REPAIR};
use crate::segment::{
    END_BYTES, HEADER_BYTES, OPENING_BYTES, Options, POLL_BYTES, Payload, Poll, Segment, encode_with,
};

/// Rest of the connection as the sender must know it to decide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    /// Both ends know of the connection.
    pub(crate) is_opened: bool,
    /// Both directions have ended.
    pub(crate) is_lingering: bool,
    /// Bytes of the report that comes with END where no other does: once the peer has ended.
    pub(crate) last_report_bytes: usize,
    /// The peer receives at its address.
    pub(crate) is_proven: bool,
    /// The peer knows that we do.
    pub(crate) is_peer_free: bool,
    pub(crate) last_heard: Instant,
    /// Segment bytes that may leave.
    pub(crate) allowance_bytes: usize,
    /// When the next probe is due, while a cycle lasts.
    pub(crate) probe_at: Option<Instant>,
    /// When BGN is due.
    pub(crate) begin_at: Option<Instant>,
    /// The next POLL without replies is to bring BGN once more.
    pub(crate) begins_again: bool,
    /// When END is due again.
    pub(crate) end_at: Option<Instant>,
    /// END was sent.
    pub(crate) has_ended: bool,
    /// It is in doubt whether packets as large as those that were sent arrive: new ones are smaller.
    pub(crate) doubts_size: bool,
    /// Replies that wait.
    pub(crate) reply: Option<ReplySize>,
    /// When a STAT may leave that waits because too many did.
    pub(crate) reply_at: Option<Instant>,
}

impl Situation {
    /// True if a segment of so many bytes may leave to a peer whose address may be unproven.
    fn allows(&self, bytes: usize) -> bool {
        self.is_proven || bytes <= self.allowance_bytes
    }
}

/// Contents of a segment beside its replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    data: Option<Choice>,
    poll: PollDecision,
    /// The POLL that belongs to the data follows it.
    owes_poll: bool,
    pub(crate) end: bool,
    pub(crate) begin: bool,
    /// BGNAK, as the peer's proof of our address.
    pub(crate) proof: bool,
    /// The segment exceeds the allowance of an unproven address: nothing leaves until more is heard.
    is_withheld: bool,
}

impl Plan {
    fn polls(&self) -> bool {
        self.poll != PollDecision::No
    }

    /// Bytes of END, and of what comes with it.
    fn end_bytes(&self, situation: &Situation) -> usize {
        if self.end { END_BYTES + situation.last_report_bytes } else { 0 }
    }

    /// True if it has data.
    pub(crate) fn has_data(&self) -> bool {
        self.data.is_some()
    }

    /// Data, if it has any.
    pub(super) fn data(&self) -> Option<Choice> {
        self.data
    }

    /// True if it is data and nothing else.
    pub(super) fn is_data_alone(&self) -> bool {
        self.has_data() && !(self.polls() || self.owes_poll || self.end || self.begin || self.proof)
    }

    /// True if it is a piece of a packet, and nothing else.
    pub(crate) fn is_piece(&self) -> bool {
        matches!(self.data, Some(Choice::Piece { .. }))
    }

    /// Payload, if it has data.
    pub(crate) fn data_bytes(&self) -> Option<usize> {
        self.data.map(Choice::bytes)
    }

    fn is_empty(&self) -> bool {
        self.data.is_none() && !(self.polls() || self.end || self.begin)
    }

    /// Puts off the POLL that belongs to the data: it follows in a segment of its own.
    fn put_off_poll(&mut self) {
        self.poll = PollDecision::No;
        self.owes_poll = true;
    }

    /// The opening that comes with a POLL (before the answer, or before the proof) must not push a
    /// retransmission over the largest segment: both follow it.
    fn spare_repeat(&mut self, base_bytes: usize, situation: &Situation) {
        let Some(Choice::Again { bytes, .. }) = self.data else { return };
        let end_bytes = END_BYTES + situation.last_report_bytes;
        let brings_opening = self.begin || !situation.is_proven;
        let full_bytes =
            (base_bytes + OPENING_BYTES + Options::MAX_BYTES + POLL_BYTES + end_bytes).next_multiple_of(4);
        let is_too_long = full_bytes + bytes > situation.allowance_bytes;
        if self.poll == PollDecision::Rides && brings_opening && is_too_long {
            (self.begin, self.end) = (false, false);
            self.put_off_poll();
        }
    }
}

/// Next thing that a sender does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SenderAction {
    /// Sends replies and what is planned beside them.
    Segment(Plan),
    /// Sends a BLOCK or a REPAIR.
    Coded,
    /// Sends a probe of the path's MTU, a packet of so many bytes.
    MtuProbe(u32),
    /// Decides when the time has come.
    Later,
}

/// Earlier of two moments, where there are any: this is asked for every segment.
fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

impl Sender {
    /// Next segment: which, and when. Pure.
    pub(crate) fn next(
        &self,
        situation: &Situation,
        now: Instant,
        path: &Path,
    ) -> Option<Step<SenderAction>> {
        let data = self.next_data(situation, now, path);
        if let Some(bytes) = self.due_mtu_probe(data.as_ref(), situation, now, path) {
            return Some(Step { at: now, action: SenderAction::MtuProbe(bytes) });
        }
        let (plan, poll_at) = self.plan(data.as_ref(), situation, now, path);
        if plan.is_withheld {
            return None;
        }
        if situation.reply.is_some() || !plan.is_empty() {
            return Some(Step { at: now, action: SenderAction::Segment(plan) });
        }
        let coded_at = self.next_coded(situation, now, path);
        if coded_at.is_some_and(|at| at <= now) {
            return Some(Step { at: now, action: SenderAction::Coded });
        }
        let data_at = data.map(|step| step.at);
        let control_at = earlier(earlier(situation.begin_at, situation.end_at), poll_at);
        let at = earlier(earlier(control_at, situation.reply_at), earlier(data_at, coded_at))?;
        Some(Step { at, action: SenderAction::Later })
    }

    /// Plan for the segment that leaves now, empty perhaps, and when a POLL leaves by itself.
    fn plan(
        &self,
        data: Option<&DataStep>,
        situation: &Situation,
        now: Instant,
        path: &Path,
    ) -> (Plan, Option<Instant>) {
        let roomy = Self::make_room(data, situation, path);
        let situation = roomy.as_ref().unwrap_or(situation);
        let has_bgnak = situation.reply.is_some_and(|reply| reply.accepts);
        let reply_bytes = situation.reply.map_or(0, |reply| reply.bytes);
        let base_bytes = HEADER_BYTES + reply_bytes + if has_bgnak { self.opening_bytes() } else { 0 };
        let room_bytes = situation.allowance_bytes.saturating_sub(base_bytes.next_multiple_of(4));
        let begin_due = situation.begin_at.is_some_and(|due| due <= now);
        // What went with an opening that was not answered may have been too large for the path.
        let goes_alone = begin_due && path.mtu().is_some() && self.activity.order > 0;
        let chosen = data.filter(|step| step.at <= now && !goes_alone).and_then(|step| step.action);
        let chosen = chosen.and_then(|choice| choice.beside(room_bytes, situation.reply.is_some()));
        let (mut poll, poll_at) = self.decide_poll(data, chosen, situation, now, path);
        let end = self.end_is_due(chosen, situation, now);
        if (end || begin_due) && (self.has_begun(situation) || chosen.is_some()) {
            poll = PollDecision::Due;
        }
        let is_new = matches!(chosen, Some(Choice::New { .. }));
        let is_early = is_new && self.activity.order < self.config.bgn_repeats;
        let repeats = situation.begins_again && situation.reply.is_none() && poll != PollDecision::No;
        let begin = repeats || !situation.is_opened && (begin_due || is_early || poll != PollDecision::No);
        let mut plan =
            Plan { data: chosen, poll, owes_poll: false, end, begin, proof: false, is_withheld: false };
        if plan.is_empty() {
            plan.is_withheld = situation.reply.is_some() && !situation.allows(base_bytes);
            return (plan, poll_at);
        }
        plan.spare_repeat(base_bytes, situation);
        plan.proof = !situation.is_proven && plan.polls();
        let openings = usize::from(plan.begin) + usize::from(plan.proof && !has_bgnak);
        let openings_bytes = if openings > 0 { openings * self.opening_bytes() } else { 0 };
        self.fit(&mut plan, base_bytes + openings_bytes, situation);
        let bodies_bytes = self.bodies_bytes(&plan, base_bytes + openings_bytes, situation);
        plan.is_withheld = !situation.allows(bodies_bytes);
        (plan, poll_at)
    }

    /// Segment bytes beside the data, with openings and replies in `base_bytes`.
    fn bodies_bytes(&self, plan: &Plan, base_bytes: usize, situation: &Situation) -> usize {
        let poll_bytes = if plan.polls() { self.poll_bytes(situation) } else { 0 };
        base_bytes + poll_bytes + plan.end_bytes(situation)
    }

    /// True if END goes with the last data (or after its acknowledgement), or again when its timer has run
    /// out.
    fn end_is_due(&self, data: Option<Choice>, situation: &Situation, now: Instant) -> bool {
        if !self.is_finished || situation.is_lingering {
            return false;
        }
        if situation.has_ended {
            return situation.end_at.is_some_and(|due| due <= now);
        }
        let left = self.cache.unsent_bytes();
        let last = match data {
            Some(Choice::New { bytes }) => bytes == left,
            _ => left == 0,
        };
        let settled = self.config.end_with_data || (self.cache.is_empty() && data.is_none());
        let may_combine = situation.is_opened || self.config.early_data;
        last && settled && may_combine
    }

    /// New data shrinks to the room beside the bodies. A retransmission cannot, and nothing goes with a
    /// piece: a POLL follows it, or goes ahead of it if it was put off already or brings other bodies.
    fn fit(&self, plan: &mut Plan, base_bytes: usize, situation: &Situation) {
        let Some(choice) = plan.data else { return };
        let bodies_bytes = self.bodies_bytes(plan, base_bytes, situation);
        let room_bytes = situation.allowance_bytes.saturating_sub(bodies_bytes.next_multiple_of(4));
        match choice {
            Choice::New { bytes } => {
                let fitted = bytes.min(room_bytes);
                plan.end &= fitted >= self.cache.unsent_bytes();
                plan.data = (fitted > 0).then_some(Choice::New { bytes: fitted });
            }
            Choice::Again { bytes, .. } if bytes <= room_bytes => {}
            Choice::Piece { .. } if bodies_bytes == HEADER_BYTES => {}
            // Once only: a POLL that went ahead each time would use up a low declared rate.
            Choice::Again { .. } | Choice::Piece { .. }
                if !self.polls.is_owed()
                    && !plan.owes_poll
                    && !plan.end
                    && !plan.begin
                    && situation.is_proven =>
            {
                plan.put_off_poll();
            }
            Choice::Again { .. } | Choice::Piece { .. } if plan.poll == PollDecision::Rides => {
                plan.end = false;
                plan.put_off_poll();
            }
            Choice::Again { .. } | Choice::Piece { .. } => plan.data = None,
        }
    }

    /// Takes the planned data and the POLL as sent. Result: the number of the data, and the POLL's body.
    pub(crate) fn commit(
        &mut self,
        plan: &Plan,
        situation: &Situation,
        call: &mut Call<'_>,
    ) -> (Option<u64>, Option<Poll>) {
        if plan.owes_poll {
            self.polls.owe(true);
        }
        let stands = self.note_train(plan.data.is_some(), plan.polls(), situation, call);
        let number = plan.data.map(|choice| self.note_data(choice, call.now, call.path));
        if !plan.polls() {
            return (number, None);
        }
        let (order, next) = (self.activity.order, self.cache.next());
        let timestamp = self.polls.on_poll(&Leaving { now: call.now, order, next, stands });
        (number, Some(self.make_poll(timestamp, situation)))
    }

    fn note_data(&mut self, choice: Choice, now: Instant, path: &Path) -> u64 {
        if self.cache.is_empty() {
            let idle_ns = now.since(self.activity.last_data_at.max(self.activity.emptied_at));
            self.regulator.on_idle(now, idle_ns, self.rtt.overdue_ns(0));
        }
        let order = self.activity.order;
        self.note_transmission(now);
        self.activity.was_repair = choice.is_repair();
        self.polls.on_data(choice.bytes());
        self.regulator.use_unpaced();
        if !choice.is_further_piece() {
            self.tail.on_sent();
        }
        self.regulator.on_sent(now, choice.bytes() as u64);
        self.traffic.count_data(choice.repeat());
        self.enter(choice, order, now, path)
    }

    /// Enters a transmission into the cache, `order` among all. Result: the number of its packet.
    fn enter(&mut self, choice: Choice, order: u64, now: Instant, path: &Path) -> u64 {
        let in_flight_bytes = self.cache.in_flight_bytes();
        let number = match choice {
            Choice::New { bytes } => {
                self.coded.on_new();
                self.activity.last_new_at = now;
                self.cache.send_new(bytes, now, order)
            }
            Choice::Piece { number, offset, .. } if offset > 0 => {
                self.cache.send_further(number, now, order);
                return number;
            }
            Choice::Again { number, why, .. } | Choice::Piece { number, why, .. } => {
                self.withholding.let_go(number);
                if why == skyhaul_core::event::Repeat::Idle {
                    self.tail.advance(number);
                }
                self.cache.send_again(number, now, order, choice.whole_bytes(path));
                number
            }
        };
        self.regulator.log_sent(now, number, choice.packet_bytes() as u32, in_flight_bytes);
        number
    }

    /// Completes the segment with the payload of packet `number`, appends it to `out`, and charges it to the
    /// path.
    pub(crate) fn send(
        &mut self,
        number: Option<u64>,
        plan: &Plan,
        segment: Segment<'static>,
        call: &mut Call<'_>,
        out: &mut Vec<u8>,
    ) {
        let start = out.len();
        let mut segment: Segment<'_> = segment;
        segment.number = truncate_number(number.unwrap_or(self.cache.next()));
        segment.data = number.and_then(|number| self.payload(number));
        encode_with(call.path.config().integrity(), &segment, out);
        let (types, number) = (segment.type_bits(), segment.number);
        self.charge(types, number, out.len() - start, plan.data, call);
    }

    fn payload(&self, number: u64) -> Option<Payload<'_>> {
        self.cache.entry(number).map(|entry| self.cache.payload(entry))
    }

    /// A segment of `octets` left: counters, pace, path, events.
    pub(super) fn charge(
        &mut self,
        types: u8,
        number: u32,
        octets: usize,
        data: Option<Choice>,
        call: &mut Call<'_>,
    ) {
        let has_data = data.is_some() || matches!(types, REPAIR | BLOCK);
        let wire_bytes = if has_data { self.ask(octets, call) } else { call.path.wire_bytes(octets) };
        self.traffic.count_segment(octets, wire_bytes, types, data);
        if self.measures() {
            call.path.count_measured(octets);
        }
        if types & POLL != 0 {
            self.polls.note_sent(self.traffic.until_now(call.path.measured_octets()));
        }
        let is_paced = data.is_some() || types == REPAIR;
        if is_paced {
            call.path.charge(call.now, wire_bytes);
        } else {
            call.path.charge_unasked(call.now, wire_bytes);
        }
        self.regulator.spend(call.now, wire_bytes, is_paced);
        call.emit(Event::Sent {
            types,
            number: u64::from(number),
            payload_bytes: data.map_or(0, |choice| choice.bytes() as u32),
            wire_bytes,
            repeat: data.and_then(Choice::repeat),
        });
        if data.is_some() {
            self.end_first_train(call);
        }
    }

    /// Appends a RST to `out`.
    pub(crate) fn send_reset(&mut self, segment: &Segment<'_>, call: &mut Call<'_>, out: &mut Vec<u8>) {
        let start = out.len();
        encode_with(call.path.config().integrity(), segment, out);
        self.charge(segment.type_bits(), segment.number, out.len() - start, None, call);
    }
}

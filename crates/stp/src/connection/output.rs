//! Segments that leave: the action that was decided, executed.

use alloc::vec::Vec;

use skyhaul_core::event::Alarm;
use skyhaul_core::{
    Event, Instant, Limit, NetworkFields, Path, ResetReason, Step, StreamEvent, truncate_number,
};

use super::decision::Action;
use super::{Connection, Context};
use crate::call::Call;
use crate::receive::Receiver;
use crate::segment::{HEADER_BYTES, OPENING_BYTES, Report, Segment};
use crate::send::{Plan, SenderAction, Situation};

impl Connection {
    /// Appends the next segment that is due to `out`, with its fields for the network. If nothing is due:
    /// when [`Self::next`] is.
    pub(crate) fn poll_transmit(
        &mut self,
        context: &mut Context<'_>,
        out: &mut Vec<u8>,
    ) -> Result<NetworkFields, Option<Instant>> {
        let call = &mut Call::new(self.id, context);
        let start = out.len();
        if let Some(receiver) = &mut self.receiver {
            receiver.make_stat(call.now);
        }
        let mut situation = self.situation(call.now, call.path);
        let mut next = self.next_transmission(situation.as_ref(), call.now, call.path);
        if due(next, call.now) == Some(Action::Probe) {
            self.start_probing(Alarm::Silence, call);
            situation = self.situation(call.now, call.path);
            next = self.next_transmission(situation.as_ref(), call.now, call.path);
        }
        if let (Some(Action::Send(SenderAction::Segment(plan))), Some(now)) =
            (due(next, call.now), &situation)
            && self.sender.withholds(&plan, now, call)
        {
            situation = self.situation(call.now, call.path);
            next = self.next_transmission(situation.as_ref(), call.now, call.path);
        }
        let due = due(next, call.now);
        match (due, &situation) {
            (Some(Action::Send(action)), Some(situation)) => {
                match action {
                    SenderAction::Segment(plan) if plan.is_piece() => {
                        self.sender.send_piece(&plan, situation, self.blank(), call, out);
                    }
                    SenderAction::Segment(plan) => self.send_segment(&plan, situation, call, out),
                    SenderAction::MtuProbe(bytes) => {
                        let blank = self.blank();
                        self.doubts.note_poll(self.sender.send_mtu_probe(bytes, situation, blank, call, out));
                    }
                    _ => self.sender.send_coded(self.blank(), call, out),
                }
                self.tell_news(call);
            }
            (Some(Action::Reset(reason)), _) => {
                self.life.reset_sent();
                let mut segment = Segment { rst: Some(reason), ..self.blank() };
                if reason == ResetReason::Busy {
                    segment.number = self.asked24; // an answer: the peer believes numbers of its own
                }
                self.sender.send_reset(&segment, call, out);
            }
            (_, Some(situation)) if self.sender.rest(situation, call.now, call.path) => {
                next = self.next_transmission(Some(situation), call.now, call.path);
            }
            _ => {}
        }
        debug_assert!(due.is_none() || out.len() > start, "what is due is sent: {due:?}");
        self.check_invariants();
        let octets = out.len() - start;
        if octets > 0 {
            self.limits.depart(call.now);
            return Ok(self.network_fields(due, octets, call));
        }
        let deadline = self.or_close(next, call.now).map(|step| step.at);
        self.limits.rest(call.now, self.limit(situation.as_ref(), call.path), deadline);
        self.limits.confirm_within(self.sender.confirmation_ns());
        self.limits.meet(call.now, call.path.others());
        Err(deadline)
    }

    /// Limit of a connection from which nothing leaves.
    fn limit(&self, situation: Option<&Situation>, path: &Path) -> Limit {
        match situation {
            Some(situation) => self.sender.limit(situation, path),
            None if self.life.is_held() => Limit::Unwritten,
            None if self.life.is_closed() && self.receiver.is_some() => Limit::Settled,
            None => Limit::Opening, // the peer never answered, or its address is not proven
        }
    }

    /// Fields of the segment of so many octets that was sent.
    fn network_fields(&mut self, sent: Option<Action>, octets: usize, call: &mut Call<'_>) -> NetworkFields {
        let mut fields = NetworkFields::default();
        self.sender.put_header(&mut fields.path_header);
        let is_control = match sent {
            Some(Action::Send(SenderAction::MtuProbe(_))) => return fields,
            Some(Action::Send(SenderAction::Segment(plan))) => !plan.has_data(),
            Some(Action::Send(SenderAction::Coded)) => false,
            _ => true,
        };
        let octets = fields.whole_bytes(octets);
        let (wire_bytes, mtu_bytes) = (call.path.wire_bytes(octets), call.path.whole_mtu_bytes());
        let may_fragment = call.path.mtu().is_some_and(|mtu| mtu.may_fragment(wire_bytes, is_control));
        if wire_bytes > mtu_bytes {
            call.emit(Event::Oversized { wire_bytes, mtu_bytes });
        }
        NetworkFields { may_fragment, ..fields }
    }

    fn blank(&self) -> Segment<'static> {
        Segment {
            source_port: self.names.local_port,
            destination_port: self.names.remote_port,
            number: truncate_number(self.sender.next_number()),
            instance: self.names.instance,
            ..Segment::default()
        }
    }

    /// Report that confirms all that the peer ever sent, once that is here: what END brings then.
    pub(super) fn last_report(&self) -> Option<Report> {
        self.receiver.as_ref().filter(|receiver| receiver.is_complete()).map(Receiver::last_report)
    }

    /// Sends the replies that wait, and what is planned beside them.
    fn send_segment(&mut self, plan: &Plan, situation: &Situation, call: &mut Call<'_>, out: &mut Vec<u8>) {
        let reply = self.receiver.as_mut().map(Receiver::take_reply).unwrap_or_default();
        let has_opening = plan.begin || plan.proof || reply.accepts;
        let opening = has_opening.then(|| self.our_opening(call.path));
        let (number, poll) = self.sender.commit(plan, situation, call);
        if let Some(poll) = &poll {
            self.note_probe(poll.timestamp, call);
            self.doubts.note_poll(truncate_number(number.unwrap_or(self.sender.next_number())));
        }
        let due_at = self.life.begin_due();
        if plan.begin {
            self.life.begin_sent(call.now);
            self.doubts.begun();
        }
        if plan.has_data()
            && !self.is_opened()
            && let Some(at) = self.sender.opening_alone_at(due_at, call.now, call.path)
        {
            self.life.begin_again(at);
        }
        if poll.is_some() {
            self.sender.note_poll(situation, call.now, call.path);
        }
        let last_report = self.last_report();
        let ustat = reply.ustat.or_else(|| last_report.clone().filter(|_| plan.end && reply.stat.is_none()));
        if plan.end {
            let told = reply.stat.as_ref().map(|stat| &stat.report).or(ustat.as_ref());
            let confirms_all = last_report.zip(told).is_some_and(|(last, told)| told.next == last.next);
            self.life.end_sent(call.now, self.sender.rtt().overdue_ns(0), confirms_all, &self.config);
        }
        // BGN and BGNAK never share a segment: what goes with an opening crosses when that is answered.
        let filled_bytes = plan.data_bytes().filter(|_| !plan.begin);
        let filler = filled_bytes.and_then(|bytes| call.path.filler_bytes(HEADER_BYTES + bytes));
        let filler = filler.map(|bytes| {
            let options = self.our_opening(call.path).options;
            let own_bytes = OPENING_BYTES + options.bytes() + 2;
            let padding = bytes.saturating_sub(own_bytes).clamp(1, usize::from(options.max_padding()));
            self.filler(padding as u8, call.path)
        });
        let segment = Segment {
            bgn: opening.filter(|_| plan.begin),
            bgnak: filler.or(opening.filter(|_| reply.accepts || plan.proof)),
            poll,
            stat: reply.stat,
            ustat,
            end: plan.end.then(|| truncate_number(self.sender.next_number())),
            // It has no body: on every segment it costs nothing, and a lost one costs no END timer.
            endak: reply.confirms_end || self.receiver.as_ref().is_some_and(Receiver::has_end),
            ..self.blank()
        };
        self.sender.send(number, plan, segment, call, out);
        if self.sender.has_drained() {
            self.tell(StreamEvent::Writable);
        }
    }
}

/// Action whose time has come.
fn due(next: Option<Step<Action>>, now: Instant) -> Option<Action> {
    next.filter(|step| step.at <= now).map(|step| step.action)
}

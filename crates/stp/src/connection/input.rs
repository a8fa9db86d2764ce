//! Segments that arrive: validate, then apply in the order that keeps the protocol's meaning
//! [XSTP 3]: opening, reports, data, POLL, END, ENDAK. (Data before POLL, so that the STAT knows of
//! the data that came with it; END after data, for the same reason.)

use skyhaul_core::event::Refusal;
use skyhaul_core::{
    CloseReason, Event, Instant, PathHeader, ResetReason, StreamEvent, expand, truncate_number,
};

use super::{Connection, Context};
use crate::call::Call;
use crate::receive::{PacketArrival, PollArrival, Receiver};
use crate::segment::{Opening, Piece, Poll, Segment, types};

impl Connection {
    /// Segment for this connection (ports and instance match), `wire_bytes` long on the wire.
    pub(crate) fn handle(
        &mut self,
        segment: &Segment<'_>,
        wire_bytes: u32,
        header: Option<&PathHeader>,
        context: &mut Context<'_>,
    ) {
        let call = &mut Call::new(self.id, context);
        if self.life.is_closed() {
            return;
        }
        if self.is_own_opening(segment) {
            return self.refuse(Refusal::Absurd, call);
        }
        self.reachability.heard(wire_bytes, call.now, call.path);
        Self::emit_received(segment, call);
        if let Some(reason) = segment.rst {
            self.on_reset(reason, segment.number, call.now);
        } else {
            self.apply(segment, call);
        }
        if let (Some(header), Some(receiver)) = (header, &mut self.receiver) {
            receiver.take_header(header);
        }
        self.check_ended(call.now);
        self.tell_news(call);
        self.check_invariants();
    }

    /// True if it is an answer of ours that somebody sent back between equal ports, where both directions
    /// have one key: it carries our own initial number. Believed, it would prove the peer's address, and
    /// each POLL would be answered by ourselves for ever.
    fn is_own_opening(&self, segment: &Segment<'_>) -> bool {
        let is_ours = |opening: &Opening| opening.initial == self.sender.initial24();
        self.names.local_port == self.names.remote_port && segment.bgnak.as_ref().is_some_and(is_ours)
    }

    fn emit_received(segment: &Segment<'_>, call: &mut Call<'_>) {
        let event = Event::Received {
            types: segment.type_bits(),
            number: u64::from(segment.number),
            payload_bytes: segment.payload_bytes() as u32,
        };
        call.emit(event);
    }

    fn apply(&mut self, segment: &Segment<'_>, call: &mut Call<'_>) {
        let answers_bgn = segment.bgnak.is_some() && segment.type_bits() & !(types::BGNAK | types::POLL) == 0;
        if !answers_bgn {
            self.reachability.note_memory();
        }
        if let Some(opening) = &segment.bgn {
            // A copy beside data has one with a POLL behind it, which is answered.
            let asks = segment.poll.is_some() || segment.payload_bytes() == 0;
            self.on_bgn(opening, asks, call);
        }
        if let Some(opening) = &segment.bgnak {
            self.on_bgnak(opening, call);
            self.tell_state(call);
        }
        if let Some(stat) = &segment.stat {
            self.on_stat(stat, call);
        }
        if let Some(report) = &segment.ustat {
            self.on_ustat(report, call);
        }
        if self.is_in_doubt(segment, call.now) {
            self.apply_in_doubt(segment, call);
        } else {
            self.apply_stream(segment, call);
            self.tell_state(call);
        }
        if segment.endak {
            self.life.confirm_end();
            self.tell_state(call);
        }
    }

    /// True if the segment tells of numbers far beyond all known ones while somebody guesses. An honest
    /// peer's are after long losses.
    fn is_in_doubt(&self, segment: &Segment<'_>, now: Instant) -> bool {
        self.doubts.are_guesses_likely(now)
            && self.receiver.as_ref().is_some_and(|receiver| !receiver.reaches(segment))
    }

    /// What it brings counts as lost; its POLL is answered. So the peer sends again what is missing, from the
    /// first on, and is known to have come so far.
    fn apply_in_doubt(&mut self, segment: &Segment<'_>, call: &mut Call<'_>) {
        if segment.payload_bytes() > 0 || segment.end.is_some() {
            self.refuse(Refusal::OutsideWindow, call);
        }
        if let Some(poll) = &segment.poll {
            self.on_poll(poll, true, call);
        }
    }

    fn apply_stream(&mut self, segment: &Segment<'_>, call: &mut Call<'_>) {
        if let Some((data, _)) = segment.packet() {
            self.on_data(segment.number, data, call);
        }
        if let Some(piece) = &segment.piece {
            self.on_piece(segment.number, piece, call);
        }
        if let Some(id) = segment.coded_block() {
            self.apply_coded(id, segment, call);
        }
        if let Some(poll) = &segment.poll {
            if segment.bgnak.is_none() {
                self.reachability.free_peer();
            }
            self.asked24 = segment.number;
            self.on_poll(poll, false, call);
        }
        if let Some(end) = segment.end {
            self.on_end(end, call);
        }
    }

    /// BLOCK or REPAIR of the block `id`. Nothing in it but the instance tells the peer from somebody who
    /// guesses: while one is about, it counts as lost, and the peer repeats packets as they are.
    fn apply_coded(&mut self, id: u8, segment: &Segment<'_>, call: &mut Call<'_>) {
        let is_in_doubt = self.doubts.are_guesses_likely(call.now);
        let take = |receiver: &mut Receiver| match (&segment.block, segment.repair) {
            _ if is_in_doubt => receiver.doubt_block(id),
            (Some(block), _) => receiver.on_block(segment.number, block),
            (None, Some(symbol)) => receiver.on_repair(segment.number, symbol),
            (None, None) => Ok(()),
        };
        self.on_coded(take, call);
    }

    /// A repeated BGN is answered again if it `asks`.
    fn on_bgn(&mut self, opening: &Opening, asks: bool, call: &mut Call<'_>) {
        match &mut self.receiver {
            Some(receiver) if opening.nonce == self.names.nonce => {
                if asks {
                    receiver.accept();
                }
            }
            _ => self.refuse(Refusal::Absurd, call),
        }
    }

    /// Simultaneous open: the peer's BGN crosses ours. The larger nonce names the connection: its
    /// owner repeats its BGN, the other takes the names over and answers.
    pub(crate) fn cross(&mut self, instance: u16, opening: &Opening, context: &mut Context<'_>) {
        let call = &mut Call::new(self.id, context);
        if self.is_opened() {
            return self.refuse(Refusal::WrongInstance, call);
        }
        if opening.nonce <= self.names.nonce {
            return self.life.begin_again(call.now);
        }
        self.names.instance = instance;
        self.names.nonce = opening.nonce;
        self.reachability.cross(call.now);
        self.learn_peer(opening, call.path).accept();
        self.become_open();
        self.tell_news(call);
        self.check_invariants();
    }

    fn on_bgnak(&mut self, opening: &Opening, call: &mut Call<'_>) {
        if opening.nonce != self.names.nonce {
            self.refuse(Refusal::Absurd, call);
        } else if !self.is_opened() {
            self.learn_peer(opening, call.path);
            self.become_open();
        } else if self.receiver.as_ref().is_some_and(|receiver| receiver.initial24() != opening.initial) {
            // Whoever answered our BGN before knows it no more.
            self.close(Some(CloseReason::Reset(Some(ResetReason::UnknownConnection))));
        }
    }

    fn become_open(&mut self) {
        self.life.become_open(self.sender.next_number());
        self.tell(StreamEvent::Connected);
    }

    fn on_data(&mut self, number24: u32, data: &[u8], call: &mut Call<'_>) {
        let Some(receiver) = &mut self.receiver else {
            return self.refuse(Refusal::Unknown, call);
        };
        let arrival = receiver.on_data(number24, data);
        self.take_packet(&arrival, call);
    }

    fn on_piece(&mut self, number24: u32, piece: &Piece<'_>, call: &mut Call<'_>) {
        let Some(receiver) = &mut self.receiver else {
            return self.refuse(Refusal::Unknown, call);
        };
        if let Some(arrival) = receiver.on_piece(number24, piece) {
            self.take_packet(&arrival, call);
        }
    }

    fn take_packet(&mut self, arrival: &PacketArrival, call: &mut Call<'_>) {
        self.take_arrival(arrival, call);
        if arrival.refusal.is_none() {
            self.recover(call);
        }
    }

    /// BLOCK or REPAIR.
    fn on_coded(&mut self, take: impl FnOnce(&mut Receiver) -> Result<(), Refusal>, call: &mut Call<'_>) {
        match self.receiver.as_mut().map_or(Err(Refusal::Unknown), take) {
            Ok(()) => self.recover(call),
            Err(why) => self.refuse(why, call),
        }
    }

    /// Takes the packets that can be decoded now as if they had arrived.
    fn recover(&mut self, call: &mut Call<'_>) {
        for arrival in self.receiver.as_mut().map(Receiver::recover).unwrap_or_default() {
            self.take_arrival(&arrival, call);
        }
    }

    fn take_arrival(&mut self, arrival: &PacketArrival, call: &mut Call<'_>) {
        if let Some(why) = arrival.refusal {
            return self.refuse(why, call);
        }
        if arrival.is_readable {
            self.tell(StreamEvent::Readable);
        }
        for (first, end) in arrival.gaps.into_iter().flatten() {
            call.emit(Event::Gap { first, end });
        }
    }

    fn on_poll(&mut self, poll: &Poll, is_in_doubt: bool, call: &mut Call<'_>) {
        let Some(receiver) = &mut self.receiver else {
            return self.refuse(Refusal::Unknown, call);
        };
        let arrival = PollArrival {
            now: call.now,
            octets: self.reachability.received_octets(),
            max_segment_bytes: call.path.max_segment_bytes(),
        };
        if let Err(why) = receiver.on_poll(poll, is_in_doubt, &arrival) {
            self.refuse(why, call);
        }
    }

    fn on_end(&mut self, end24: u32, call: &mut Call<'_>) {
        let Some(receiver) = &mut self.receiver else {
            return self.refuse(Refusal::Unknown, call);
        };
        let is_complete = match receiver.on_end(end24) {
            Ok(is_complete) => is_complete,
            Err(why) => return self.refuse(why, call),
        };
        if self.life.is_lingering() {
            self.linger(call.now); // our last word was lost, and this one may be
        }
        if is_complete {
            self.tell(StreamEvent::Readable);
        }
    }

    /// "Unknown connection" in answer to what was sent before BGNAK only says that our BGN was lost or
    /// late. The number is that of the segment which it answers: if it may have been sent before, the
    /// peer is asked again. So it is if the number is none that whoever sent the RST can know.
    fn on_reset(&mut self, reason: ResetReason, number24: u32, now: Instant) {
        if self.life.is_lingering() {
            return self.part();
        }
        let is_unknown = reason == ResetReason::UnknownConnection;
        let is_early = is_unknown && self.life.is_early(expand(number24, self.sender.next_number()));
        if (is_unknown && !self.is_opened()) || is_early || !self.is_plausible_reset(reason, number24) {
            return self.challenge(now);
        }
        if is_unknown && self.is_all_but_confirmed() {
            return self.part();
        }
        if is_unknown && !self.reachability.has_peer_memory() {
            self.doubts.begin_again();
            return self.challenge(now);
        }
        self.close(Some(CloseReason::Reset(Some(reason))));
    }

    /// True if the packet number of an RST is one that only somebody who sees our segments, or sent the
    /// peer's, is likely to know. One that answers a segment copies its number: of all that are under way
    /// those with POLLs are believed, and the next new one. Others have the peer's next number.
    fn is_plausible_reset(&self, reason: ResetReason, number24: u32) -> bool {
        let next = self.sender.next_number();
        let copies =
            matches!(reason, ResetReason::UnknownConnection | ResetReason::Refused | ResetReason::Busy);
        match &self.receiver {
            None if copies => self.sender.sent_numbers().contains(&expand(number24, next)),
            // The peer's numbers are not known before it has answered.
            None => true,
            Some(_) if copies => number24 == truncate_number(next) || self.doubts.has_asked(number24),
            Some(receiver) => receiver.is_next_new(number24),
        }
    }
}

//! What is sent next: a reset, the next piece of the stream, an acknowledgement. Deciders pick; one place
//! makes the segment.

use alloc::vec::Vec;

use skyhaul_core::event::Repeat;
use skyhaul_core::{Ecn, Event};

use super::timers::AckDue;
use super::{Connection, Context, State};
use crate::segment::{HEADER_BYTES, MAX_OPTIONS_BYTES, Options, Segment, encode, flags};
use crate::sequence::wire;

/// A segment to send: data [first, end) with these control bits. ECN's are added.
#[derive(Clone, Copy, Debug)]
struct Piece {
    first: u64,
    data_end: u64,
    bits: u8,
    repeat: Option<Repeat>,
    is_probe: bool,
}

impl Piece {
    /// One without data.
    fn bare(number: u64, bits: u8) -> Self {
        Self { first: number, data_end: number, bits, repeat: None, is_probe: false }
    }
}

/// A piece of the sequence space to send: [first, end), SYN and FIN counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chunk {
    first: u64,
    end: u64,
    repeat: Option<Repeat>,
    is_probe: bool,
    /// The last resort of a repair.
    is_rescue: bool,
}

impl Chunk {
    fn new(first: u64, end: u64, repeat: Option<Repeat>) -> Self {
        Self { first, end, repeat, is_probe: false, is_rescue: false }
    }

    /// What fast recovery sends again.
    fn again((first, end): (u64, u64)) -> Self {
        Self::new(first, end, Some(Repeat::Recovery))
    }
}

impl Connection {
    /// Appends the next segment; what its IP header says of ECN. `None`: nothing before [`Self::deadline`].
    pub(crate) fn poll_transmit(&mut self, context: &mut Context<'_>, out: &mut Vec<u8>) -> Option<Ecn> {
        if let Some(reset) = self.reset.take() {
            let ack = if reset.acknowledges { flags::ACK } else { 0 };
            return Some(self.push(Piece::bare(reset.sequence, flags::RST | ack), context, out));
        }
        if self.state == State::Closed {
            return None;
        }
        self.forget_path_mtu(context);
        self.pace.held_until = None;
        if let Some(chunk) = self.next_chunk(context) {
            let is_paced = !chunk.is_probe && !self.state.is_opening();
            self.pace.held_until = self.held_until(context).filter(|_| is_paced);
            if self.pace.held_until.is_none() {
                return Some(self.send_chunk(chunk, context, out));
            }
        } else {
            self.note_limit();
        }
        self.settle(context);
        if self.take_question() {
            return Some(self.push(Piece::bare(self.sending.max - 1, flags::ACK), context, out));
        }
        if self.ack_due.is_due(context.now) {
            return Some(self.push(Piece::bare(self.sending.max, flags::ACK), context, out));
        }
        self.tell_state(context);
        None
    }

    fn next_chunk(&self, context: &Context<'_>) -> Option<Chunk> {
        let sending = &self.sending;
        if self.state.is_opening() {
            let is_due = sending.nxt == sending.initial;
            let repeat = (sending.max > sending.initial).then_some(self.again);
            return is_due.then_some(Chunk::new(sending.initial, sending.initial + 1, repeat));
        }
        if !self.state.may_send() {
            return None;
        }
        self.repair_chunk()
            .or_else(|| self.next_in_line())
            .or_else(|| self.probe(context))
            .or_else(|| self.leftover())
    }

    /// What fast recovery sends before new data.
    fn repair_chunk(&self) -> Option<Chunk> {
        let repair = self.repair.as_ref()?;
        if repair.is_due {
            let sending = &self.sending;
            let mut holes = sending.board.holes(sending.una, sending.max, self.mss_bytes);
            return holes.next().map(|hole| Chunk::again(self.cut(hole)));
        }
        let may = self.agreed.sack && self.sack_allowance() >= self.mss_bytes;
        if may { self.lost_hole().map(Chunk::again) } else { None }
    }

    /// With SACK, what fast recovery sends where there is nothing new.
    fn leftover(&self) -> Option<Chunk> {
        self.repair.as_ref().filter(|_| self.agreed.sack && self.sack_allowance() >= self.mss_bytes)?;
        let rescue = || Some(Chunk { is_rescue: true, ..Chunk::again(self.rescue()?) });
        self.any_hole().map(Chunk::again).or_else(rescue)
    }

    /// What the congestion window leaves in fast recovery with SACK.
    fn sack_allowance(&self) -> u64 {
        if let Some(reduction) = self.repair.as_ref().and_then(|repair| repair.reduction) {
            return reduction.allowed_bytes();
        }
        self.controller.window_bytes().saturating_sub(self.flight_bytes())
    }

    /// Bytes thought to be under way.
    pub(super) fn flight_bytes(&self) -> u64 {
        let sending = &self.sending;
        match &self.repair {
            Some(_) if self.agreed.sack => sending.board.pipe_bytes(sending.una, sending.nxt, self.mss_bytes),
            _ => (sending.nxt - sending.una).saturating_sub(sending.board.bytes_below(sending.nxt)),
        }
    }

    /// The next piece from SND.NXT on that windows, Nagle and silly windows let go.
    fn next_in_line(&self) -> Option<Chunk> {
        let sending = &self.sending;
        let first = if sending.nxt < sending.max { sending.board.skip(sending.nxt) } else { sending.nxt };
        let room = self.congestion_room();
        let all = sending.end().saturating_sub(first);
        // FIN takes no room of its own in a segment.
        let data = sending.buffer.end().saturating_sub(first);
        let peer = (sending.una + sending.window_bytes).saturating_sub(first);
        let length = data.min(self.mss_bytes).min(peer);
        if all == 0 || (room < length.max(1) && room < self.mss_bytes) {
            return None;
        }
        let is_repeat = first < sending.max;
        let is_last = length == data;
        let is_full = length == self.mss_bytes;
        let nothing_under_way = sending.una == sending.max;
        let may_be_small = if is_last {
            is_repeat || !self.config.nagle || nothing_under_way || sending.is_finished
        } else {
            length > 0 && (is_repeat || length * 2 >= sending.max_window_bytes)
        };
        if !is_full && !may_be_small {
            return None;
        }
        let end = first + length + u64::from(is_last && sending.is_finished);
        let repeat = is_repeat.then_some(self.again);
        (end > first).then_some(Chunk::new(first, end, repeat))
    }

    /// What the congestion window leaves for the next segment in line.
    fn congestion_room(&self) -> u64 {
        if self.repair.is_some() && self.agreed.sack {
            return self.sack_allowance();
        }
        let limited = match self.duplicate_acks {
            count @ 1..=2 if self.config.limited_transmit && !self.agreed.sack => u64::from(count),
            _ => 0,
        };
        let inflation = self.repair.as_ref().filter(|_| !self.agreed.sack).map_or(0, |r| r.inflation_bytes);
        let cwnd = if self.in_outage { self.mss_bytes } else { self.controller.window_bytes() };
        // One segment at least [RFC 5681 3.1], also where segments have grown since the window was reckoned.
        let cwnd = cwnd.min(self.burst_cap_bytes.unwrap_or(u64::MAX)).max(self.mss_bytes);
        let window = cwnd + inflation + limited * self.mss_bytes;
        window.saturating_sub(self.flight_bytes())
    }

    /// Into a window that is closed, or too small to bother [RFC 9293 3.8.6.1].
    fn probe(&self, context: &Context<'_>) -> Option<Chunk> {
        let sending = &self.sending;
        if !self.persist.is_due(context.now) || !self.is_stuck() {
            return None;
        }
        let first = sending.nxt;
        let room = (sending.una + sending.window_bytes).saturating_sub(first).max(1);
        let end = first + room.min(self.mss_bytes).min(sending.end() - first);
        let repeat = (first < sending.max).then_some(self.again);
        Some(Chunk { is_probe: true, ..Chunk::new(first, end, repeat) })
    }

    /// Whether something waits that no acknowledgement will set free.
    pub(super) fn is_stuck(&self) -> bool {
        let sending = &self.sending;
        self.state.may_send() && sending.nxt == sending.una && sending.end() > sending.nxt
    }

    fn send_chunk(&mut self, chunk: Chunk, context: &mut Context<'_>, out: &mut Vec<u8>) -> Ecn {
        let chunk = self.fit(chunk);
        let is_first = chunk.first == self.sending.initial;
        let mut bits = if is_first { flags::SYN | self.ecn_setup() } else { 0 };
        if !is_first || self.state == State::SynReceived {
            bits |= flags::ACK;
        }
        let data_end = self.sending.buffer.end();
        if chunk.end > data_end && !is_first {
            bits |= flags::FIN;
        }
        if chunk.end >= data_end && chunk.first < data_end && !is_first {
            bits |= flags::PSH;
        }
        let Chunk { first, end, repeat, is_probe, .. } = chunk;
        let piece = Piece { first, data_end: end.min(data_end), bits, repeat, is_probe };
        let ecn = self.push(piece, context, out);
        self.account(chunk, context);
        if bits & flags::FIN != 0 {
            self.on_fin_sent(context);
        }
        ecn
    }

    /// SACK blocks take room from the data.
    fn fit(&self, chunk: Chunk) -> Chunk {
        let sack = self.ack_options().encoded_len() as u64;
        let most = self.mss_bytes.saturating_sub(sack).max(1);
        let data_bytes = chunk.end.min(self.sending.buffer.end()).saturating_sub(chunk.first);
        Chunk { end: if data_bytes > most { chunk.first + most } else { chunk.end }, ..chunk }
    }

    /// Books what was sent.
    fn account(&mut self, chunk: Chunk, context: &mut Context<'_>) {
        let sending = &self.sending;
        if sending.nxt == sending.una && self.timeouts == 0 && !chunk.is_probe {
            let idle_ns = context.now.since(self.last_data_at);
            self.controller.on_idle(context.now, idle_ns, self.rto.timeout_ns());
        }
        if !chunk.is_probe && !self.state.is_opening() {
            self.log_sent(chunk.first, chunk.end, context);
        }
        let sending = &mut self.sending;
        let is_new = chunk.end > sending.max && chunk.first == sending.max;
        sending.max = sending.max.max(chunk.end);
        if chunk.is_probe {
            self.stats.window_probes += 1;
            self.persist.tried(context.now, self.rto.timeout_ns(), self.config.max_rto_ns);
            return;
        }
        if chunk.repeat == Some(Repeat::Recovery) {
            if let Some(repair) = self.repair.as_mut() {
                // The first repeat of a repair is no reason for a rescue before it is acknowledged
                // [RFC 6675 5 (4.3)]; a rescue is one until the repair ends.
                if repair.is_due {
                    repair.rescued_to = chunk.end;
                }
                repair.is_due = false;
                if chunk.is_rescue {
                    repair.rescued_to = repair.point;
                } else {
                    sending.board.repeat_to(chunk.end);
                }
            }
        } else {
            sending.nxt = sending.nxt.max(chunk.end);
        }
        if is_new && self.timing.is_none() && self.repair.is_none() {
            self.timing = Some((chunk.end, context.now));
        }
        self.last_data_at = context.now;
        if self.persist.stop() {
            self.emit(context, Event::Persist { on: false });
        }
        if self.retransmit_at.is_none() {
            self.restart_retransmission(context.now);
        }
        if let Some(reduction) = self.repair.as_mut().and_then(|repair| repair.reduction.as_mut()) {
            reduction.on_sent(chunk.end - chunk.first);
        }
        self.controller.on_sent(context.now, chunk.end - chunk.first);
    }

    fn on_fin_sent(&mut self, context: &Context<'_>) {
        match self.state {
            State::Established => self.enter(State::FinWait1, context),
            State::CloseWait => self.enter(State::LastAck, context),
            _ => {}
        }
    }

    fn ack_options(&self) -> Options {
        let extra = self.attached_options();
        let others = extra.encoded_len() + if self.agreed.timestamps { 12 } else { 0 };
        let max_blocks = (MAX_OPTIONS_BYTES - others).saturating_sub(4) / 8;
        let assembly = self.assembly.as_ref().filter(|_| self.agreed.sack);
        Options {
            sack: assembly.map(|a| a.sack(max_blocks)).unwrap_or_default(),
            extra,
            ..Options::default()
        }
    }

    /// Appends the segment with its data and everything that each one carries.
    fn push(&mut self, piece: Piece, context: &mut Context<'_>, out: &mut Vec<u8>) -> Ecn {
        let Piece { first, data_end, bits, repeat, is_probe } = piece;
        let is_syn = bits & flags::SYN != 0;
        let options = if is_syn {
            self.opening_options(context.path, context.now)
        } else {
            let timestamps = self.agreed.timestamps.then(|| self.timestamps(context.now));
            Options { timestamps, ..self.ack_options() }
        };
        let (acknowledgement, window) = self.acknowledge(bits, is_syn);
        let has_data = !is_syn && first < data_end;
        let (bits, ecn) = self.ecn_bits(bits, has_data && repeat.is_none() && !is_probe);
        let segment = Segment {
            source_port: self.names.local_port,
            destination_port: self.names.remote_port,
            sequence: wire(first),
            acknowledgement,
            flags: bits,
            window,
            urgent: 0,
            options,
            payload: if has_data { self.sending.buffer.payload(first, data_end) } else { (&[], &[]) },
        };
        let payload_bytes = segment.payload_bytes() as u32;
        let bytes = HEADER_BYTES + options.encoded_len() + payload_bytes as usize;
        encode(self.names.way, &segment, out);
        let (wire_bytes, number) = (context.path.wire_bytes(bytes), u64::from(segment.sequence));
        self.count_sent(wire_bytes, payload_bytes, repeat.is_some());
        self.charge(wire_bytes, has_data && !is_probe, context);
        self.emit(context, Event::Sent { types: bits, number, payload_bytes, wire_bytes, repeat });
        if !is_syn {
            self.attached_options_left();
        }
        ecn
    }

    /// Acknowledgement and window fields; what was owed is paid.
    fn acknowledge(&mut self, bits: u8, is_syn: bool) -> (u32, u16) {
        let shift = if is_syn { 0 } else { self.agreed.receive_shift };
        match self.assembly.as_mut() {
            Some(assembly) if bits & flags::ACK != 0 => {
                self.ack_due = AckDue::No;
                assembly.report_duplicate_no_more();
                self.unacked_packets = 0;
                self.agreed.last_ack_sent = assembly.next();
                (wire(assembly.next()), assembly.advertise(shift, self.mss_bytes))
            }
            _ => (0, self.config.receive_limit_bytes.min(0xFFFF) as u16),
        }
    }

    fn count_sent(&mut self, wire_bytes: u32, payload_bytes: u32, is_repeat: bool) {
        self.stats.sent_packets += 1;
        self.stats.sent_bytes += u64::from(wire_bytes);
        if payload_bytes > 0 && is_repeat {
            self.stats.retransmitted_packets += 1;
            self.stats.count_lost(self.verdict, 1);
            self.stats.retransmitted_bytes += u64::from(wire_bytes);
        } else if payload_bytes > 0 {
            self.stats.data_packets += 1;
        } else {
            self.stats.control_bytes += u64::from(wire_bytes);
        }
    }
}

//! Segments that arrive: validate, then apply in the order that keeps the protocol's meaning
//! [XSTP 3]: opening, reports, data, POLL, END, ENDAK. (Data before POLL, so that the STAT knows of
//! the data that came with it; END after data, for the same reason.)

use skyhaul_core::event::Refusal;
use skyhaul_core::{CloseReason, Event, ResetReason, StreamEvent, expand};

use super::{Connection, Context, MAX_STAT_PARTS, MAX_USTATS};
use crate::receive::{Assembly, Verdict};
use crate::segment::{CLOCK_SHIFT, HEADER_BYTES, Opening, Poll, Report, Segment, Stat, Timing, split_runs};
use crate::send::is_newer;

/// Octets of a STAT besides its coded runs, with room to spare.
const STAT_FIXED_BYTES: usize = HEADER_BYTES + 40;

impl Connection {
    /// A segment for this connection (ports and instance match), `wire_bytes` long on the wire.
    pub(crate) fn handle(&mut self, segment: &Segment<'_>, wire_bytes: u32, context: &mut Context<'_>) {
        if self.is_closed {
            return;
        }
        self.stats.received_packets += 1;
        self.stats.received_bytes += u64::from(wire_bytes);
        self.received_octets += u64::from(wire_bytes - context.path.wire_bytes(0));
        self.last_heard = context.now;
        self.emit_received(segment, context);
        if let Some(reason) = segment.rst {
            self.on_reset(reason, segment.number);
        } else {
            self.apply(segment, context);
        }
        self.check_ended(context);
        self.tell_state(context);
    }

    fn emit_received(&self, segment: &Segment<'_>, context: &mut Context<'_>) {
        let event = Event::Received {
            types: segment.type_bits(),
            number: u64::from(segment.number),
            payload_bytes: segment.payload_bytes() as u32,
        };
        self.emit(context, event);
    }

    fn apply(&mut self, segment: &Segment<'_>, context: &mut Context<'_>) {
        if let Some(opening) = &segment.bgn {
            self.on_bgn(opening, context);
        }
        if let Some(opening) = &segment.bgnak {
            self.on_bgnak(opening, context);
        }
        if let Some(stat) = &segment.stat {
            self.on_stat(stat, context);
        }
        if let Some(report) = &segment.ustat {
            self.on_ustat(report, context);
        }
        if let Some((data, _)) = segment.data {
            self.on_data(segment.number, data, context);
        }
        if let Some(block) = &segment.block {
            self.on_block(segment.number, block, context);
        }
        if let Some(symbol) = segment.repair {
            self.on_repair(segment.number, symbol, context);
        }
        if let Some(poll) = &segment.poll {
            self.peer_is_free |= segment.bgnak.is_none();
            self.on_poll(*poll, context);
        }
        if let Some(end) = segment.end {
            self.on_end(end, context);
        }
        if segment.endak {
            self.on_endak();
        }
    }

    pub(super) fn refuse(&mut self, why: Refusal, context: &mut Context<'_>) {
        self.stats.count_refusal(why);
        self.emit(context, Event::Refused { why });
    }

    /// A repeated BGN is answered again.
    fn on_bgn(&mut self, opening: &Opening, context: &mut Context<'_>) {
        if self.opened && opening.nonce == self.names.nonce {
            self.replies.bgnak = true;
        } else {
            self.refuse(Refusal::Absurd, context);
        }
    }

    /// Simultaneous open: the peer's BGN crosses ours. The larger nonce names the connection: its
    /// owner repeats its BGN, the other takes the names over and answers.
    pub(crate) fn cross(&mut self, instance: u16, opening: &Opening, context: &mut Context<'_>) {
        if self.opened || !self.is_opener {
            return self.refuse(Refusal::WrongInstance, context);
        }
        if opening.nonce <= self.names.nonce {
            self.begin.start(context.now);
            return;
        }
        self.names.instance = instance;
        self.names.nonce = opening.nonce;
        self.is_opener = false;
        self.learn_peer(opening, context);
        self.replies.bgnak = true;
        self.become_open();
        self.tell_state(context);
    }

    fn on_bgnak(&mut self, opening: &Opening, context: &mut Context<'_>) {
        if opening.nonce != self.names.nonce {
            self.refuse(Refusal::Absurd, context);
        } else if self.is_opener && !self.opened {
            self.learn_peer(opening, context);
            self.become_open();
        }
    }

    fn become_open(&mut self) {
        self.opened = true;
        self.early_to = self.cache.next();
        self.held = false;
        self.begin.stop();
        self.tell(StreamEvent::Connected);
    }

    fn on_data(&mut self, number24: u32, data: &[u8], context: &mut Context<'_>) {
        let Some(assembly) = &mut self.assembly else {
            return self.refuse(Refusal::Unknown, context);
        };
        let number = expand(number24, assembly.next());
        if self.take_packet(number, data, context) && self.both_code {
            self.repairs.on_packet(number, data);
            self.recover(context);
        }
    }

    /// Packet `number` is here; false if it is refused.
    pub(super) fn take_packet(&mut self, number: u64, data: &[u8], context: &mut Context<'_>) -> bool {
        let Some(assembly) = &mut self.assembly else { return false };
        let before = assembly.delivered_bytes();
        let verdict = assembly.insert(number, data);
        let delivered = assembly.delivered_bytes() > before;
        match verdict {
            Verdict::Taken => self.on_taken(number, delivered, context),
            Verdict::Duplicate => self.refuse(Refusal::Duplicate, context),
            Verdict::OutsideWindow => self.refuse(Refusal::OutsideWindow, context),
            Verdict::Absurd => self.refuse(Refusal::Absurd, context),
        }
        verdict == Verdict::Taken
    }

    fn on_taken(&mut self, number: u64, delivered: bool, context: &mut Context<'_>) {
        if delivered && !self.withhold {
            self.tell(StreamEvent::Readable);
        }
        for (first, end) in self.watch.on_packet(number).into_iter().flatten() {
            self.report_gap(first, end, context);
        }
    }

    /// Queues a USTAT with what is missing of [first, end), if the budget has one left.
    fn report_gap(&mut self, first: u64, end: u64, context: &mut Context<'_>) {
        let Some(assembly) = &self.assembly else { return };
        let (start, runs) = assembly.runs(first, end, (end, end));
        if runs.is_empty() {
            return;
        }
        self.emit(context, Event::Gap { first, end });
        if self.spares_ustats {
            return;
        }
        if self.config.ustats_per_poll.is_some() {
            if self.ustat_credit == 0 {
                return;
            }
            self.ustat_credit -= 1;
        }
        self.queue_ustat(start, runs);
    }

    fn queue_ustat(&mut self, start: u64, runs: alloc::vec::Vec<u32>) {
        let Some(assembly) = &self.assembly else { return };
        let start = if runs.is_empty() { 0 } else { (start - assembly.next()) as u32 };
        let report = report(assembly, start, runs, false);
        if self.replies.ustats.len() < MAX_USTATS {
            self.replies.ustats.push_back(report);
        }
    }

    /// Announces a window that has opened again; without this the peer would have to ask.
    pub(super) fn offer_window(&mut self) {
        let Some(assembly) = &self.assembly else { return };
        if self.window_closed && assembly.window_bytes() >= self.config.receive_limit_bytes / 2 {
            self.window_closed = false;
            self.queue_ustat(0, alloc::vec::Vec::new());
        }
    }

    /// Only newer POLLs are answered [XSTP 3].
    fn on_poll(&mut self, poll: Poll, context: &mut Context<'_>) {
        let Some(assembly) = &self.assembly else {
            return self.refuse(Refusal::Unknown, context);
        };
        if self.newest_poll.is_some_and(|newest| !is_newer(poll.timestamp, newest)) {
            return;
        }
        let next = expand(poll.next, assembly.next());
        if !assembly.is_plausible(next) {
            return self.refuse(Refusal::Absurd, context);
        }
        self.polled_again = self.stats.stats > 0;
        self.newest_poll = Some(poll.timestamp);
        self.spares_ustats = poll.spares_ustats;
        self.watch.on_stat(next);
        let budget = self.config.ustats_per_poll.unwrap_or(0);
        self.ustat_credit = (self.ustat_credit + budget).min(2 * budget);
        let silent = poll.settled.map(|settled| expand(settled, next).max(assembly.next()));
        let silent = silent.map(|first| (first, self.told_to)).filter(|&(first, end)| first < end);
        self.queue_stat(poll.timestamp, next, silent, context);
    }

    /// The gap list up to `upper`, in as many segments as it takes. It leaves out the packets `silent` where that makes
    /// a list shorter that fits into one segment.
    fn queue_stat(&mut self, echo: u32, upper: u64, silent: Option<(u64, u64)>, context: &mut Context<'_>) {
        let Some(assembly) = &mut self.assembly else { return };
        let room = context.path.max_segment_bytes() - STAT_FIXED_BYTES;
        let has_gaps = |&(first, end): &(u64, u64)| !assembly.runs(first, end, (end, end)).1.is_empty();
        let mut silent = silent.filter(has_gaps);
        let list = |silent: Option<(u64, u64)>| {
            let (start, runs) = assembly.runs(assembly.next(), upper, silent.unwrap_or((upper, upper)));
            (start, split_runs(runs, room))
        };
        let (mut start, mut parts) = list(silent);
        if parts.len() > 1 && silent.take().is_some() {
            (start, parts) = list(None);
        }
        if self.both_code {
            assembly.keep_after_stat(silent.is_some() || parts.iter().any(|(_, runs)| !runs.is_empty()));
        }
        let last = parts.len() - 1;
        self.replies.stat_covers = upper;
        let offset_of = |number: u64| (number - assembly.next()) as u32;
        let silent = silent.map(|(first, end)| (offset_of(first), (end - first) as u32));
        let offset = start - assembly.next();
        let clock = (context.now.as_ns() >> CLOCK_SHIFT) as u32;
        let timing = self.peer_wants_timing.then_some(Timing { clock, octets: self.received_octets as u32 });
        self.replies.stats.clear();
        self.replies.ustats.clear(); // the STAT says all that they would
        for (i, (distance, runs)) in parts.into_iter().enumerate().take(MAX_STAT_PARTS) {
            let start = if runs.is_empty() { 0 } else { offset as u32 + distance };
            let report = Report { silent, ..report(assembly, start, runs, i < last) };
            let timing = timing.filter(|_| i == 0);
            self.replies.stats.push_back(Stat { echo, report, timing, wanting: self.repairs.wanting() });
        }
        self.window_closed |= assembly.window_bytes() < 2 * context.path.max_segment_bytes() as u64;
    }

    fn on_end(&mut self, end24: u32, context: &mut Context<'_>) {
        let Some(assembly) = &mut self.assembly else {
            return self.refuse(Refusal::Unknown, context);
        };
        let end = expand(end24, assembly.next());
        if !assembly.set_end(end) {
            return self.refuse(Refusal::Absurd, context);
        }
        let is_complete = assembly.is_complete();
        self.replies.endak = true;
        if self.linger_until.is_some() {
            self.linger(context.now); // our last word was lost, and this one may be
        }
        if is_complete {
            self.tell(StreamEvent::Readable);
        }
    }

    fn on_endak(&mut self) {
        if self.end_number.is_some() {
            self.end_acknowledged = true;
            self.end.stop();
        }
    }

    /// "Unknown connection" in answer to what was sent before BGNAK only says that our BGN was lost or
    /// late. The number is that of the segment which it answers: if it may have been sent before, the
    /// peer is asked again.
    fn on_reset(&mut self, reason: ResetReason, number24: u32) {
        if reason == ResetReason::UnknownConnection {
            let is_early = expand(number24, self.cache.next()) < self.early_to;
            if !self.opened || is_early && self.linger_until.is_none() {
                return self.challenge();
            }
        }
        let is_forgotten = reason == ResetReason::UnknownConnection && self.is_all_but_confirmed();
        if is_forgotten {
            self.tell_finished();
        }
        if is_forgotten || self.linger_until.is_some() {
            return self.close(None);
        }
        self.close(Some(CloseReason::Reset(Some(reason))));
    }
}

fn report(assembly: &Assembly, start: u32, runs: alloc::vec::Vec<u32>, more: bool) -> Report {
    Report {
        next: skyhaul_core::wire(assembly.next()),
        window_bytes: assembly.window_bytes().min(u64::from(u32::MAX)) as u32,
        more,
        silent: None,
        start,
        runs,
    }
}

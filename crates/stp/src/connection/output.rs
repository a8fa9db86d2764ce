//! Segments that leave: a pipeline of small deciders - replies, opening, data (retransmissions
//! first, then new, then idle repeats), POLL, END - and one place that encodes and charges.

use alloc::vec::Vec;

use skyhaul_core::event::Repeat;
use skyhaul_core::{Event, Instant, Path, wire};

use super::{Connection, Context};
use crate::receive::Assembly;
use crate::segment::types::{POLL, RST};
use crate::segment::{
    END_BYTES, HEADER_BYTES, MIN_CHARGE_BYTES, OPENING_BYTES, Options, POLL_BYTES, Segment, charge_bytes,
    encode, encoded_len, types,
};

/// Packets under way at most: half of what 24-bit numbers can tell apart, halved.
const MAX_AHEAD: u64 = 1 << 22;
/// A new SD smaller than this because of the replies before it waits for a segment of its own.
const WORTHWHILE_BYTES: usize = 256;
/// An answered opening: with less there is nothing worth sending.
const LEAST_ALLOWANCE: usize = HEADER_BYTES + OPENING_BYTES + Options::MAX_BYTES + POLL_BYTES + END_BYTES;
/// Bytes sent per byte received before the peer's address is proven.
const AMPLIFICATION: u64 = 3;

/// Data chosen for a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    New { bytes: usize },
    Again { number: u64, bytes: usize, why: Repeat },
}

/// What goes beside replies and data.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// A POLL is due by itself.
    poll_due: bool,
    /// A POLL belongs to this data.
    poll_rides: bool,
    end: bool,
    begin: bool,
}

impl Plan {
    fn poll(self) -> bool {
        self.poll_due || self.poll_rides
    }

    fn is_empty(self) -> bool {
        !(self.poll() || self.end || self.begin)
    }
}

impl Choice {
    fn bytes(self) -> usize {
        match self {
            Self::New { bytes } | Self::Again { bytes, .. } => bytes,
        }
    }

    fn repeat(self) -> Option<Repeat> {
        match self {
            Self::New { .. } => None,
            Self::Again { why, .. } => Some(why),
        }
    }
}

impl Connection {
    /// Appends the next segment that is due to `out`; `None` when nothing is.
    pub(crate) fn poll_transmit(&mut self, context: &mut Context<'_>, out: &mut Vec<u8>) -> Option<usize> {
        let start = out.len();
        if let Some(reason) = self.replies.rst.take() {
            let segment = Segment { rst: Some(reason), ..self.blank() };
            encode(&segment, out);
            self.charge(segment.type_bits(), segment.number, out.len() - start, None, context);
            return Some(out.len() - start);
        }
        if self.is_closed || self.held {
            return None;
        }
        let allowance = self.allowance(context.path);
        if allowance < LEAST_ALLOWANCE {
            return None;
        }
        self.notice_silence(context);
        self.build(context, allowance, out)?;
        self.tell_state(context);
        Some(out.len() - start)
    }

    /// Segment bytes that may go to the peer's address: its largest segment, or less while the
    /// address is unproven.
    fn allowance(&self, path: &Path) -> usize {
        let most = path.max_segment_bytes();
        if self.proven {
            return most;
        }
        let left = (AMPLIFICATION * self.stats.received_bytes).saturating_sub(self.stats.sent_bytes);
        let carried = u64::from(path.wire_bytes(0));
        most.min(usize::try_from(left.saturating_sub(carried)).unwrap_or(most))
    }

    /// Whether the allowance carries at least an answered opening.
    pub(super) fn has_allowance(&self, path: &Path) -> bool {
        self.allowance(path) >= LEAST_ALLOWANCE
    }

    pub(super) fn blank(&self) -> Segment<'static> {
        Segment {
            source_port: self.names.local_port,
            destination_port: self.names.remote_port,
            number: wire(self.cache.next()),
            instance: self.names.instance,
            ..Segment::default()
        }
    }

    fn build(&mut self, context: &mut Context<'_>, allowance: usize, out: &mut Vec<u8>) -> Option<()> {
        let now = context.now;
        let mut segment = self.blank();
        self.attach_replies(&mut segment, context.path);
        let data = self.choose_data(context, &segment, allowance);
        let mut plan = self.plan(now, data, context.path);
        self.spare_repeat(data, &segment, &mut plan, allowance);
        if segment.type_bits() == 0 && data.is_none() && plan.is_empty() {
            let coded = self.build_coded(context, out);
            if coded.is_none() {
                self.note_limit(true);
            }
            return coded;
        }
        if plan.begin {
            segment.bgn = Some(self.our_opening(context.path));
        }
        if !self.proven && plan.poll() {
            segment.bgnak = Some(self.our_opening(context.path));
        }
        self.finish_segment(segment, data, plan, allowance, context, out)
    }

    /// Decides what goes with the data, or alone.
    fn plan(&self, now: Instant, data: Option<Choice>, path: &Path) -> Plan {
        let due = self.poll_due(path).filter(|&due| due <= now);
        let poll_due = due.is_some_and(|due| data.is_some() || self.poll_sent_at(due, path) <= now);
        let end = self.end_is_due(data, now);
        let rides = data.is_some_and(|d| self.poll_rides(now, path, self.ends_burst(d, path)));
        let opening = self.is_opener && !self.opened;
        let begin_due = opening && self.begin_due().is_some_and(|due| due <= now);
        let has_sent = self.opened || self.first_data_at.is_some();
        let poll_due = poll_due || ((end || begin_due) && (has_sent || data.is_some()));
        let early = matches!(data, Some(Choice::New { .. })) && self.order < self.config.bgn_repeats;
        Plan { poll_due, poll_rides: rides, end, begin: opening && (begin_due || early || poll_due || rides) }
    }

    /// STAT, USTAT, BGNAK and ENDAK that wait: one of each a segment.
    fn attach_replies(&mut self, segment: &mut Segment<'_>, path: &Path) {
        if core::mem::take(&mut self.replies.bgnak) {
            segment.bgnak = Some(self.our_opening(path));
        }
        segment.endak = core::mem::take(&mut self.replies.endak);
        segment.stat = self.replies.stats.pop_front();
        if segment.stat.as_ref().is_some_and(|stat| !stat.report.more) {
            self.told_to = self.replies.stat_covers;
        }
        if segment.stat.is_none() {
            segment.ustat = self.replies.ustats.pop_front();
        }
        self.stats.stats += u64::from(segment.stat.is_some());
        self.stats.ustats += u64::from(segment.ustat.is_some());
    }

    /// END goes with the last data (or after its acknowledgement), and again when its timer runs out.
    fn end_is_due(&self, data: Option<Choice>, now: Instant) -> bool {
        if !self.write_finished || self.end_acknowledged || self.linger_until.is_some() {
            return false;
        }
        if self.end_number.is_some() {
            return self.end.is_due(now);
        }
        let left = self.cache.unsent_bytes();
        let last = match data {
            Some(Choice::New { bytes }) => bytes == left,
            _ => left == 0,
        };
        let settled = self.config.end_with_data || (self.cache.is_empty() && data.is_none());
        let may_combine = self.opened || self.config.early_data;
        last && settled && may_combine
    }

    /// Whether nothing can follow this packet at once.
    fn ends_burst(&self, data: Choice, path: &Path) -> bool {
        let next = self.mss_bytes(path);
        match data {
            Choice::Again { .. } => self.cache.queued_packets() == 1 && self.new_data_bytes(path) == 0,
            Choice::New { bytes } => {
                let flight = self.cache.in_flight_bytes() + (bytes + next) as u64;
                let charged = self.cache.charged_bytes() + charge_bytes(bytes) + charge_bytes(next);
                self.cache.unsent_bytes() == bytes
                    || flight > self.controller.window_bytes()
                    || charged > self.peer_window_bytes
            }
        }
    }

    /// Retransmissions first, then new data, then idle repeats [STP 5.2.3].
    fn choose_data(
        &mut self,
        context: &Context<'_>,
        segment: &Segment<'_>,
        allowance: usize,
    ) -> Option<Choice> {
        if !self.may_send_data() || !self.is_paced(context.now, context.path) {
            return None;
        }
        let room = allowance.saturating_sub(encoded_len(segment).next_multiple_of(4));
        let has_replies = segment.type_bits() != 0;
        let choice = self.candidate(context.path)?;
        match choice {
            Choice::Again { bytes, .. } if bytes > room => None,
            Choice::New { bytes } if bytes > room && has_replies && room < WORTHWHILE_BYTES => None,
            Choice::New { bytes } => Some(Choice::New { bytes: bytes.min(room) }),
            Choice::Again { .. } => Some(choice),
        }
    }

    fn candidate(&mut self, path: &Path) -> Option<Choice> {
        if let Some(choice) = self.queued_packet() {
            return Some(choice);
        }
        let bytes = self.new_data_bytes(path);
        if bytes > 0 {
            return Some(Choice::New { bytes });
        }
        if !self.repeats_idle() {
            return None;
        }
        let number = self.tail.pick(&self.cache, self.coded_packets())?;
        let bytes = usize::from(self.cache.entry(number)?.bytes);
        Some(Choice::Again { number, bytes, why: Repeat::Idle })
    }

    pub(super) fn queued_packet(&self) -> Option<Choice> {
        let number = self.cache.queued_outside(self.coded_packets())?;
        let entry = self.cache.entry(number)?;
        let bytes = usize::from(entry.bytes);
        let flight = self.cache.in_flight_bytes();
        let fits = flight + bytes as u64 <= self.controller.window_bytes() || flight == 0;
        let why = if entry.by_ustat && entry.transmissions == 1 { Repeat::Ustat } else { Repeat::Stat };
        (fits || !self.config.retransmit_within_window).then_some(Choice::Again { number, bytes, why })
    }

    pub(super) fn may_send_data(&self) -> bool {
        self.linger_until.is_none()
            && self.cycle.is_none() // suspended while probing [XSTP 4.2]
            && (self.opened || self.config.early_data)
    }

    fn repeats_idle(&self) -> bool {
        let codes_first = self.both_code && self.coded.goes_first(&self.cache);
        self.config.idle_repeat && !codes_first && self.has_idle_capacity()
    }

    /// Nothing new is left, and the capacity is the user's.
    pub(super) fn has_idle_capacity(&self) -> bool {
        self.path_rate_bps().is_some() && self.proven && self.cache.unsent_bytes() == 0
    }

    /// Size of the new SD that windows, Nagle and the unsent data allow; 0: none.
    pub(super) fn new_data_bytes(&self, path: &Path) -> usize {
        let mss = self.mss_bytes(path);
        let unsent = self.cache.unsent_bytes();
        let bytes = unsent.min(mss);
        if bytes == 0 || self.cache.next() - self.cache.first() >= MAX_AHEAD {
            return 0;
        }
        let small = bytes < mss && !self.write_finished;
        if self.config.nagle && small && !self.cache.is_empty() {
            return 0;
        }
        let flight = self.cache.in_flight_bytes();
        if flight > 0 && flight + bytes as u64 > self.controller.window_bytes() {
            return 0;
        }
        self.within_peer_window(bytes)
    }

    /// A peer with a window smaller than a packet gets a smaller packet when nothing is under way.
    fn within_peer_window(&self, bytes: usize) -> usize {
        let left = self.peer_window_bytes.saturating_sub(self.cache.charged_bytes());
        if charge_bytes(bytes) <= left {
            return bytes;
        }
        if self.cache.is_empty() && left >= MIN_CHARGE_BYTES {
            return bytes.min(left as usize);
        }
        0
    }

    fn is_paced(&self, now: Instant, path: &Path) -> bool {
        self.paced_at(path).is_none_or(|at| at <= now)
    }

    /// When pacing lets the next data packet go; `None`: at any time.
    pub(super) fn paced_at(&self, path: &Path) -> Option<Instant> {
        let budget = path.budget.as_ref().map(skyhaul_core::Pacer::ready_at);
        if self.is_in_train() {
            return None;
        }
        let own = !self.is_rate_paced() && self.unpaced_packets == 0;
        let pace = own.then(|| self.pace.ready_at());
        budget.into_iter().chain(pace).max()
    }

    /// When data may leave next, if the windows let any. Pure.
    pub(crate) fn data_due(&self, path: &Path) -> Option<Instant> {
        if self.held || !self.may_send_data() {
            return None;
        }
        let tail = self.repeats_idle() && self.tail.may_repeat(&self.cache);
        let queued = self.queued_packet();
        if queued.is_some_and(|choice| choice.bytes() + HEADER_BYTES > self.allowance(path)) {
            return None; // it waits for the proof of the address
        }
        if queued.is_none() && self.new_data_bytes(path) == 0 && !tail {
            return None;
        }
        Some(self.paced_at(path).unwrap_or(Instant::ZERO))
    }

    /// Encodes what was decided and charges it.
    fn finish_segment(
        &mut self,
        mut segment: Segment<'static>,
        data: Option<Choice>,
        mut plan: Plan,
        allowance: usize,
        context: &mut Context<'_>,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let start = out.len();
        let data = self.fit(data, &segment, &mut plan, allowance);
        let train = self.note_train(data.is_some(), plan.poll(), context.now, context.path);
        let number = data.map(|choice| self.note_data(choice, context));
        if plan.poll() {
            let timestamp = self.poll.send(context.now, self.order, self.cache.next(), train);
            segment.poll = Some(self.make_poll(timestamp));
            self.note_probe(timestamp, context);
        }
        segment.number = wire(number.unwrap_or(self.cache.next()));
        segment.end = plan.end.then(|| wire(self.cache.next()));
        if segment.type_bits() == 0 && number.is_none() {
            return None;
        }
        // It has no body: on every segment it costs nothing, and a lost one costs no END timer.
        segment.endak |= self.assembly.as_ref().is_some_and(Assembly::has_end);
        self.note_control(&segment, context);
        let entry = number.and_then(|number| self.cache.entry(number));
        let segment = Segment { data: entry.map(|entry| self.cache.payload(entry)), ..segment };
        encode(&segment, out);
        self.charge(segment.type_bits(), segment.number, out.len() - start, data, context);
        Some(())
    }

    /// The opening that comes with a POLL (before the answer, or before the proof) must not push a
    /// retransmission over the largest segment: both follow it.
    fn spare_repeat(
        &mut self,
        data: Option<Choice>,
        segment: &Segment<'_>,
        plan: &mut Plan,
        allowance: usize,
    ) {
        let Some(Choice::Again { bytes, .. }) = data else { return };
        let brings_opening = plan.begin || !self.proven;
        let full = (encoded_len(segment) + OPENING_BYTES + Options::MAX_BYTES + POLL_BYTES + END_BYTES)
            .next_multiple_of(4);
        if plan.poll_rides && !plan.poll_due && brings_opening && full + bytes > allowance {
            (plan.poll_rides, plan.begin, plan.end) = (false, false, false);
            self.poll_owed = true;
        }
    }

    /// New data shrinks to the room beside the bodies. A retransmission cannot: a POLL follows it, or
    /// goes ahead of it if it was put off already or brings other bodies.
    fn fit(
        &mut self,
        data: Option<Choice>,
        segment: &Segment<'_>,
        plan: &mut Plan,
        allowance: usize,
    ) -> Option<Choice> {
        let room = |plan: &Plan| {
            let extra =
                if plan.poll() { self.poll_bytes() } else { 0 } + if plan.end { END_BYTES } else { 0 };
            allowance.saturating_sub((encoded_len(segment) + extra).next_multiple_of(4))
        };
        match data? {
            Choice::New { bytes } => {
                let fitted = bytes.min(room(plan));
                if plan.end && fitted < self.cache.unsent_bytes() {
                    plan.end = false;
                }
                (fitted > 0).then_some(Choice::New { bytes: fitted })
            }
            Choice::Again { bytes, .. } if bytes <= room(plan) => data,
            // Once only: a POLL that went ahead each time would use up a low declared rate.
            Choice::Again { .. } if !self.poll_owed && !plan.end && !plan.begin && self.proven => {
                (plan.poll_rides, plan.poll_due) = (false, false);
                self.poll_owed = true;
                data
            }
            Choice::Again { .. } if plan.poll_rides && !plan.poll_due => {
                plan.poll_rides = false;
                plan.end = false;
                self.poll_owed = true;
                data
            }
            Choice::Again { .. } => None,
        }
    }

    fn note_data(&mut self, choice: Choice, context: &mut Context<'_>) -> u64 {
        let now = context.now;
        if self.cache.is_empty() {
            let idle_ns = now.since(self.last_data_at.max(self.emptied_at));
            self.controller.on_idle(now, idle_ns, self.rtt.overdue_ns(0));
        }
        let order = self.order;
        self.order += 1;
        self.last_data_at = now;
        self.first_data_at.get_or_insert(now);
        self.bytes_since_poll += choice.bytes() as u64;
        self.unpaced_packets = self.unpaced_packets.saturating_sub(1);
        self.tail.on_sent();
        self.controller.on_sent(now, choice.bytes() as u64);
        let in_flight_bytes = self.cache.in_flight_bytes();
        let number = match choice {
            Choice::New { bytes } => {
                self.stats.data_packets += 1;
                self.coded.on_new();
                self.cache.send_new(bytes, now, order)
            }
            Choice::Again { number, why, .. } => {
                self.stats.retransmitted_packets += 1;
                self.stats.idle_repeats += u64::from(why == Repeat::Idle);
                self.cache.send_again(number, now, order);
                number
            }
        };
        self.log_sent(number, in_flight_bytes, context);
        number
    }

    /// Timers of what a segment carries.
    fn note_control(&mut self, segment: &Segment<'_>, context: &mut Context<'_>) {
        let now = context.now;
        if segment.bgn.is_some() {
            self.begin.tried(now);
        }
        if segment.poll.is_some() {
            self.stats.polls += 1;
            self.poll_owed = false;
            self.bytes_since_poll = 0;
            self.quiet_polls = self.quiet_polls.saturating_add(u32::from(self.cache.is_empty()));
            if self.persist.is_due(now) {
                self.persist.tried(now);
            } else if self.is_persisting(context.path) {
                self.persist.arm(now, self.rtt.smoothed_ns()); // what waits was written after the window closed
            }
        }
        if let Some(_end) = segment.end {
            if self.end_number.is_none() {
                self.end_number = Some(self.cache.next());
                self.end.arm(now, self.rtt.overdue_ns(0));
            } else {
                self.end.tried(now);
            }
        }
    }

    pub(super) fn charge(
        &mut self,
        types: u8,
        number: u32,
        bytes: usize,
        data: Option<Choice>,
        context: &mut Context<'_>,
    ) {
        let wire_bytes = context.path.wire_bytes(bytes);
        self.stats.sent_packets += 1;
        self.stats.sent_bytes += u64::from(wire_bytes);
        let is_repair = types == types::REPAIR;
        match data.map(Choice::repeat) {
            None if is_repair => self.stats.repair_bytes += u64::from(wire_bytes),
            None => self.stats.control_bytes += u64::from(wire_bytes),
            Some(Some(_)) => self.stats.retransmitted_bytes += u64::from(wire_bytes),
            Some(None) => {}
        }
        self.last_sent = context.now;
        self.sent_octets += bytes as u64;
        if self.following.is_some() {
            context.path.sent_octets += bytes as u64;
        }
        if types & POLL != 0 && types != RST {
            self.poll.note_octets(self.sent_octets, context.path.sent_octets);
        }
        if let Some(budget) = &mut context.path.budget {
            budget.spend(context.now, wire_bytes);
        }
        if (data.is_some() || is_repair) && !self.is_rate_paced() {
            self.pace.spend(context.now, wire_bytes);
        }
        let event = Event::Sent {
            types,
            number: u64::from(number),
            payload_bytes: data.map_or(0, |choice| choice.bytes() as u32),
            wire_bytes,
            repeat: data.and_then(Choice::repeat),
        };
        self.emit(context, event);
        if data.is_some() {
            self.end_first_train(context);
        }
    }
}

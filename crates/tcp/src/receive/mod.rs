//! Receiver: what arrives in the peer's direction, what it is answered with, and when.

mod acks;
mod assembly;
#[cfg(test)]
mod assembly_tests;
mod best_effort;
mod echoed;

use skyhaul_core::event::Refusal;
use skyhaul_core::{Class, Description, Ecn, Gap, Instant, SECOND};

use crate::ack_policy::{AckPolicy, Urgency};
use crate::agreed::Agreed;
use crate::config::Config;
use crate::scps::{Damage, MAX_UNREAD, RECORD, RecordEnds, RecordPart, Teller};
use crate::segment::{ExtraOptions, SackBlocks, Segment, flags};
use crate::sequence::{TimestampClock, expand, initial, is_earlier, truncate};
use acks::Acks;
use assembly::Assembly;
use echoed::EchoedRtt;

/// Time after which a timestamp says nothing any more: 24 days [RFC 7323 5.5].
const RECENT_FOR_NS: u64 = 24 * 86_400 * SECOND;

/// Receiver of one connection. Before the peer's SYN it expects nothing.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    agreed: Agreed,
    /// Number of the peer's SYN.
    peer_initial: u64,
    assembly: Assembly,
    acks: Acks,
    /// TS.Recent [RFC 7323 4.3], and when it was taken.
    recent: u32,
    recent_at: Instant,
    /// Last.ACK.sent: RCV.NXT as last acknowledged.
    last_ack_sent: u64,
    /// Each acknowledgement says that a mark arrived, until the peer has answered [RFC 3168 6.1.3].
    echoes_mark: bool,
    /// ACK stop: nothing is acknowledged, duplicates included [PETRA III-E].
    is_held: bool,
    /// Teller of holes, where both ends speak of them.
    teller: Option<Teller>,
    damage: Damage,
    /// Records that were not read.
    records: RecordEnds,
    echoed_rtt: EchoedRtt,
}

/// Changes that data made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    /// There is more to read.
    pub(crate) moved: bool,
    /// FIN and everything before it are there.
    pub(crate) is_complete: bool,
}

impl Receiver {
    pub(crate) fn new() -> Self {
        Self {
            agreed: Agreed::NOTHING,
            peer_initial: 0,
            assembly: Assembly::new(0, 0, 0),
            acks: Acks::default(),
            recent: 0,
            recent_at: Instant::ZERO,
            last_ack_sent: 0,
            echoes_mark: false,
            is_held: false,
            teller: None,
            damage: Damage::default(),
            records: RecordEnds::default(),
            echoed_rtt: EchoedRtt::default(),
        }
    }

    /// Takes the peer's SYN, which led to `agreed`.
    pub(crate) fn learn_peer(&mut self, agreed: Agreed, syn: &Segment<'_>, config: &Config, now: Instant) {
        self.agreed = agreed;
        self.peer_initial = initial(syn.sequence);
        let segment_bytes =
            u64::from(config.mss_bytes).saturating_sub(agreed.timestamp_bytes() as u64).max(1);
        let limit_bytes = agreed.receive_limit_bytes(config);
        self.assembly = Assembly::new(self.peer_initial + 1, limit_bytes, segment_bytes);
        if let Some(stamps) = syn.options.timestamps.filter(|_| agreed.timestamps) {
            (self.recent, self.recent_at) = (stamps.value, now);
        }
        self.last_ack_sent = self.peer_initial + 1;
        let max_snacks = config.scps.as_ref().map_or(0, |scps| scps.max_snacks);
        self.teller = agreed.snack().map(|terms| Teller::new(terms, max_snacks));
        if agreed.scps.is_some_and(|terms| terms.best_effort)
            && let Some(patience_ns) = config.scps.as_ref().and_then(|scps| scps.best_effort_ns)
        {
            self.assembly.give_up_after(patience_ns);
        }
    }

    /// The peer repeated its SYN, and agrees to this now.
    pub(crate) fn agree(&mut self, agreed: Agreed) {
        self.agreed = agreed;
    }

    /// Number of the peer's SYN.
    pub(crate) fn peer_initial(&self) -> u64 {
        self.peer_initial
    }

    /// RCV.NXT: next number expected, the peer's FIN counted.
    pub(crate) fn next(&self) -> u64 {
        self.assembly.next()
    }

    /// TS.Recent: what our timestamps echo.
    pub(crate) fn recent(&self) -> u32 {
        self.recent
    }

    pub(crate) fn delivered_bytes(&self) -> u64 {
        self.assembly.delivered_bytes()
    }

    /// Refusal of a segment numbered `sequence` that is not acceptable: too old by its timestamp
    /// [RFC 7323 5.3], or outside of the window [RFC 9293 3.10.7.4].
    pub(crate) fn check(&self, segment: &Segment<'_>, sequence: u64, now: Instant) -> Result<(), Refusal> {
        self.check_timestamp(segment, now)?;
        self.check_window(segment, sequence)
    }

    fn check_timestamp(&self, segment: &Segment<'_>, now: Instant) -> Result<(), Refusal> {
        if !self.agreed.timestamps || segment.has(flags::RST) {
            return Ok(());
        }
        let stamps = segment.options.timestamps.ok_or(Refusal::Absurd)?;
        let is_old = is_earlier(stamps.value, self.recent) && self.is_recent_valid(now);
        if is_old { Err(Refusal::Duplicate) } else { Ok(()) }
    }

    /// True if TS.Recent was not taken too long ago to say anything.
    fn is_recent_valid(&self, now: Instant) -> bool {
        now.since(self.recent_at) < RECENT_FOR_NS
    }

    /// Any of it must lie within the window. An empty window still takes acknowledgements.
    fn check_window(&self, segment: &Segment<'_>, sequence: u64) -> Result<(), Refusal> {
        let (next, edge) = (self.assembly.next(), self.assembly.edge());
        let end = sequence + segment.sequence_len();
        let overlaps = sequence < edge && end > next;
        if sequence == next || overlaps || (end == sequence && (next..=edge).contains(&sequence)) {
            Ok(())
        } else if end <= next {
            Err(Refusal::Duplicate)
        } else {
            Err(Refusal::OutsideWindow)
        }
    }

    /// A segment whose data lies below the window came: the next acknowledgement reports it [RFC 2883 4].
    pub(crate) fn note_duplicate(&mut self, segment: &Segment<'_>, sequence: u64) {
        let end = sequence + segment.payload_bytes() as u64;
        if sequence < end && end <= self.assembly.next() {
            self.assembly.note_duplicate(sequence, end);
        }
    }

    /// True if this SYN, by its number and its timestamp (if the next connection `takes_timestamps`), is no
    /// late one of this connection [RFC 6191 2].
    pub(crate) fn is_successor(&self, syn: &Segment<'_>, takes_timestamps: bool) -> bool {
        let is_beyond = is_earlier(truncate(self.assembly.next()), syn.sequence);
        let stamp = syn.options.timestamps.filter(|_| takes_timestamps).map(|stamps| stamps.value);
        match (self.agreed.timestamps, stamp) {
            (true, Some(stamp)) => is_earlier(self.recent, stamp) || (stamp == self.recent && is_beyond),
            (false, Some(_)) => true,
            (_, None) => is_beyond,
        }
    }

    /// Takes the timestamp of an acceptable segment [RFC 7323 4.3], a smaller one in place of one that is too
    /// old [RFC 7323 5.5].
    pub(crate) fn take_timestamp(&mut self, segment: &Segment<'_>, sequence: u64, now: Instant) {
        let Some(stamps) = segment.options.timestamps.filter(|_| self.agreed.timestamps) else { return };
        let is_next = !is_earlier(stamps.value, self.recent) || !self.is_recent_valid(now);
        if sequence <= self.last_ack_sent && is_next {
            (self.recent, self.recent_at) = (stamps.value, now);
        }
    }

    /// Takes what routers wrote on an acceptable segment; true if they marked data. Nothing else is marked,
    /// or else lies [RFC 3168 6.1.5].
    pub(crate) fn take_mark(&mut self, segment: &Segment<'_>, ecn: Ecn) -> bool {
        let is_marked = self.agreed.ecn && ecn == Ecn::Ce && segment.payload_bytes() > 0;
        let is_answered = self.agreed.ecn && segment.has(flags::CWR);
        self.echoes_mark = is_marked || (self.echoes_mark && !is_answered);
        is_marked
    }

    /// Takes data and FIN of an acceptable segment, and owes an answer by this policy; `None`: data of low
    /// class, which is answered in that class.
    pub(crate) fn take_data(
        &mut self,
        segment: &Segment<'_>,
        sequence: u64,
        policy: Option<AckPolicy>,
        now: Instant,
    ) -> Taken {
        let ends_record = self.ends_record(segment);
        let is_refused = ends_record && self.records.has_until(self.assembly.next(), MAX_UNREAD);
        let assembly = &mut self.assembly;
        let (before, had_gap) = (assembly.next(), assembly.has_gap());
        let is_new = !is_refused && assembly.insert(sequence, segment.octets());
        let end = sequence + segment.payload_bytes() as u64;
        if ends_record && is_new && end <= assembly.edge() {
            self.records.insert(end);
        }
        if segment.has(flags::FIN) && end <= assembly.edge() && !is_refused {
            assembly.set_end(end);
        }
        let taken = Taken { moved: assembly.next() > before, is_complete: assembly.is_complete() };
        // Out of sequence, filling a gap, the end, or nothing new: at once [RFC 5681 4.2].
        let urgency = match () {
            () if taken.is_complete => Urgency::End,
            () if had_gap || assembly.has_gap() || !is_new => Urgency::Gap,
            () => Urgency::Ordinary,
        };
        if urgency != Urgency::Ordinary && !is_refused {
            assembly.see_holes(end, now); // else nothing is missing
        }
        match policy {
            Some(policy) => self.acks.owe(segment.payload_bytes(), policy, urgency, now),
            None => self.acks.owe_low(),
        }
        taken
    }

    /// `number` is the next that the peer would send: it has sent everything below, the last of which may be
    /// its FIN.
    pub(crate) fn see_next(&mut self, number: u64, now: Instant) {
        self.assembly.see_holes(number.saturating_sub(1), now);
    }

    /// A segment beyond the window came. Where that begins right there, the peer waits for nothing below.
    pub(crate) fn see_beyond(&mut self, sequence: u64, now: Instant) {
        if sequence == self.assembly.edge() {
            self.assembly.see_holes(sequence, now);
        }
    }

    /// Moment at which something is given up that is missing.
    pub(crate) fn gives_up_at(&self) -> Option<Instant> {
        self.assembly.gives_up_at()
    }

    /// Gives up what is missing for too long, the first hole of it: what lies behind can be read, and is
    /// acknowledged at once.
    pub(crate) fn give_up(&mut self, now: Instant) -> Option<Gap> {
        let range = self.assembly.give_up(now)?;
        self.acks.owe_now();
        Some(self.gap(range))
    }

    /// Next gap of the stream, once everything in front of it was read.
    pub(crate) fn take_gap(&mut self) -> Option<Gap> {
        let range = self.assembly.take_gap()?;
        self.forget_read_records();
        Some(self.gap(range))
    }

    /// Forgets records that were read to their ends.
    fn forget_read_records(&mut self) {
        if self.records.len() > 0 {
            self.records.forget_until(self.assembly.reading());
        }
    }

    /// True while there is a gap that the application was not told of.
    pub(crate) fn has_untold_gap(&self) -> bool {
        self.assembly.has_untold_gap()
    }

    fn gap(&self, (first, end): (u64, u64)) -> Gap {
        Gap { offset: first - self.peer_initial - 1, bytes: end - first }
    }

    /// True once the peer's FIN and everything before it have arrived or are given up.
    pub(crate) fn is_complete(&self) -> bool {
        self.assembly.is_complete()
    }

    /// Takes out what is ready, as much as `out` has room for; [`Self::after_read`] must follow.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> usize {
        let count = self.assembly.read(out);
        self.forget_read_records();
        count
    }

    /// As [`Self::read`], no further than the end of a record.
    pub(crate) fn read_record(&mut self, out: &mut [u8]) -> RecordPart {
        let from = self.assembly.reading();
        let end = self.records.first_after(from);
        let room =
            end.map_or(out.len(), |end| out.len().min(usize::try_from(end - from).unwrap_or(usize::MAX)));
        let bytes = self.read(&mut out[..room]);
        RecordPart { bytes, ends: bytes > 0 && end == Some(from + bytes as u64) }
    }

    /// True if a segment of a peer that speaks SCPS-TP says that a record ends with its data.
    fn ends_record(&self, segment: &Segment<'_>) -> bool {
        let is_said = || segment.options.extra.get(RECORD).is_some_and(<[u8]>::is_empty);
        self.agreed.scps.is_some() && segment.payload_bytes() > 0 && is_said()
    }

    /// Takes out all that is ready by description; [`Self::after_read`] must follow.
    pub(crate) fn read_described(&mut self) -> Option<Description> {
        let read = self.assembly.read_described();
        self.forget_read_records();
        read
    }

    /// Result of having read so much: `None` when nothing was there yet, `Some(0)` at the end of the stream.
    /// `tells`: a window that opens by this is worth an acknowledgement [RFC 9293 3.8.6.2.2].
    pub(crate) fn after_read(&mut self, count: usize, mss_bytes: u64, tells: bool) -> Option<usize> {
        if tells && count > 0 && self.assembly.should_tell(mss_bytes) {
            self.acks.owe_now();
        }
        (count > 0 || self.has_ended()).then_some(count)
    }

    /// True once the stream was read to its end.
    fn has_ended(&self) -> bool {
        self.assembly.is_complete() && !self.assembly.has_untold_gap()
    }

    /// An acknowledgement of so many octets left alone: the next one waits as long as the policy says.
    pub(crate) fn space(&mut self, policy: AckPolicy, wire_bytes: u32, now: Instant) {
        let spacing_ns = policy.spacing_ns(wire_bytes);
        if spacing_ns > 0 {
            self.acks.space(spacing_ns, now);
        }
    }

    /// An acknowledgement leaves at once.
    pub(crate) fn acknowledge_now(&mut self) {
        self.acks.owe_now();
    }

    /// An acknowledgement leaves at once, by itself.
    pub(crate) fn acknowledge_alone(&mut self) {
        self.acks.owe_alone();
    }

    /// True while an acknowledgement is to leave before anything that could take it along.
    pub(crate) fn owes_alone(&self) -> bool {
        self.acks.owes_alone() && !self.is_held
    }

    /// Data of low class is answered in that class, at once.
    pub(crate) fn answer_nil(&mut self) {
        self.acks.owe_low();
    }

    /// An answer to data of low class leaves.
    pub(crate) fn nil_answered(&mut self) {
        self.acks.pay_low();
    }

    /// True while data of low class is to be answered.
    pub(crate) fn owes_low(&self) -> bool {
        self.acks.owes_low() && !self.is_held
    }

    /// A segment may be forged: it is answered, at most `max_per_s` times a second [RFC 5961 7]. True if it
    /// is.
    pub(crate) fn challenge(&mut self, max_per_s: u32, now: Instant) -> bool {
        self.acks.challenge(max_per_s, now)
    }

    /// True if data of the peer, or its end, was acknowledged.
    pub(crate) fn has_acknowledged(&self) -> bool {
        self.last_ack_sent > self.peer_initial + 1
    }

    /// Stops acknowledging (`holds`), or acknowledges at once all that has come meanwhile.
    pub(crate) fn hold(&mut self, holds: bool) {
        let is_released = self.is_held && !holds;
        self.is_held = holds;
        if is_released && self.acks.due().is_some() {
            self.acks.owe_now();
        }
    }

    /// Moment at which an acknowledgement is due, unless something takes it along before.
    pub(crate) fn ack_at(&self) -> Option<Instant> {
        self.acks.due().filter(|_| !self.is_held)
    }

    /// Acknowledgement and window for a segment that leaves; what was owed is paid, unless it is held: then
    /// data takes along what was acknowledged before. One of low class may be dropped: it pays nothing.
    pub(crate) fn acknowledge(&mut self, is_syn: bool, class: Class, mss_bytes: u64) -> (u32, u16) {
        let shift = if is_syn { 0 } else { self.agreed.receive_shift };
        if self.is_held && !is_syn {
            return (truncate(self.last_ack_sent), self.assembly.window_from(self.last_ack_sent, shift));
        }
        if class == Class::Normal {
            self.acks.pay();
        }
        self.assembly.report_duplicate_no_more();
        self.last_ack_sent = self.assembly.next();
        (truncate(self.last_ack_sent), self.assembly.advertise(shift, mss_bytes))
    }

    /// Blocks for a segment that leaves, at most `max_blocks`.
    pub(crate) fn sack(&self, max_blocks: usize) -> SackBlocks {
        if self.agreed.sack && !self.is_held { self.assembly.sack(max_blocks) } else { SackBlocks::default() }
    }

    /// Options of SCPS-TP for a segment that leaves, of `room` octets at most: holes, one after the other,
    /// and that routers damage what comes. `rtt_ns`: the round trip, where it is known.
    pub(crate) fn scps_options(&mut self, room: usize, rtt_ns: Option<u64>, now: Instant) -> ExtraOptions {
        if self.agreed.scps.is_none() {
            return ExtraOptions::default();
        }
        let mut extra = ExtraOptions::default();
        self.damage.push(&mut extra, now);
        if let Some(teller) = self.teller.as_mut().filter(|_| !self.is_held) {
            self.assembly.tell_holes(teller, room, (now, rtt_ns), &mut extra);
        }
        extra
    }

    /// Routers damage what comes; the round trip is `rtt_ns`, if one is known.
    pub(crate) fn report_damage(&mut self, rtt_ns: Option<u64>, now: Instant) {
        self.damage.report(rtt_ns.unwrap_or(SECOND), now);
    }

    /// Times a round trip by the echo of our clock, if there is one.
    pub(crate) fn time_echo(&mut self, segment: &Segment<'_>, clock: TimestampClock, now: Instant) {
        if let Some(stamps) = segment.options.timestamps.filter(|_| self.agreed.timestamps) {
            self.echoed_rtt.on_echo(stamps.echo, clock, now);
        }
    }

    /// Round trip by echoes of our clock.
    pub(crate) fn echoed_rtt_ns(&self) -> Option<u64> {
        self.echoed_rtt.rtt_ns()
    }

    /// Control bits that tell the peer of marks.
    pub(crate) fn mark_bits(&self) -> u8 {
        if self.echoes_mark { flags::ECE } else { 0 }
    }

    /// Full number of what the peer sent.
    pub(crate) fn expand(&self, sequence: u32) -> u64 {
        expand(sequence, self.assembly.next())
    }

    /// Panics where what is kept contradicts itself, in debug builds.
    pub(crate) fn check_invariants(&self) {
        self.assembly.check_invariants();
        debug_assert!(self.last_ack_sent <= self.assembly.next(), "acknowledged more than has come");
    }
}

//! Openings with data, as a connection sees them: T/TCP's starred states and Fast Open's are those in which
//! the peer's data is taken while our SYN is not acknowledged.

use alloc::boxed::Box;

use skyhaul_core::{Class, Instant, StreamEvent};

use super::opening::syn_options;
use super::{Connection, Context, State};
use crate::accelerated::{AcceleratedOpen, Judgement, Lesson, Opening, RoundTrip};
use crate::segment::{ExtraOptions, MAX_OPTIONS_BYTES, Options, Segment, Timestamps, flags};

/// Octets of the option that offers SCPS-TP, padded.
const MAX_CAPABILITIES_BYTES: usize = 4;

impl Connection {
    /// Its SYN bears the options of this opening, and so many octets of data.
    pub(crate) fn open_with(&mut self, opening: Opening, syn_bytes: u64) {
        self.sender.open_with_data(syn_bytes, opening.may_end_in_opening());
        self.opening = Some(Box::new(opening));
    }

    /// Its answer bears the options of this opening. `takes_data`: what the SYN carries is taken at once,
    /// with all consequences.
    pub(crate) fn answer_with(
        &mut self,
        opening: Opening,
        takes_data: bool,
        syn: &Segment<'_>,
        context: &mut Context<'_>,
    ) {
        let may_end = opening.may_end_in_opening();
        self.opening = Some(Box::new(opening));
        self.agree_on_counts(context);
        if !takes_data {
            return;
        }
        self.sender.establish(context.now, context.path);
        self.sender.answer_with_data(may_end);
        self.life.establish();
        self.tell(StreamEvent::Connected);
        self.take_opening_data(syn, context);
        let taken = self.receiver.next() - self.receiver.peer_initial() - 1; // FIN, perhaps, beyond them
        self.stats.opening_taken_bytes = taken.min(syn.payload_bytes() as u64);
        self.tell_state(context);
        self.check_invariants();
    }

    /// Segments are smaller by the count that each bears, where both ends count.
    pub(super) fn agree_on_counts(&mut self, context: &Context<'_>) {
        if self.opening.as_ref().is_some_and(|opening| opening.counts()) {
            self.sender.make_room_for_counts(context.now, context.path);
        }
    }

    /// True in T/TCP's starred states: the peer's opening is taken with its data, ours is not acknowledged
    /// [RFC 1644 3.3].
    pub(crate) fn is_starred(&self) -> bool {
        self.opening.is_some()
            && self.sender.una() == self.sender.initial()
            && !self.life.is_opening()
            && !self.life.is_closed()
    }

    /// Fact for openings to come, once.
    pub(crate) fn take_lesson(&mut self) -> Option<Lesson> {
        self.lesson.take()
    }

    /// Fact for openings to come that nobody has fetched.
    pub(crate) fn lesson(&self) -> Option<Lesson> {
        self.lesson
    }

    /// Round trip of a counted connection that is over, for those to come, once.
    pub(crate) fn take_round_trip(&mut self) -> Option<RoundTrip> {
        let opening = self.opening.as_mut()?;
        let is_over = matches!(self.life.state(), State::TimeWait | State::Closed);
        if is_over && opening.leaves_round_trip() { self.sender.round_trip() } else { None }
    }

    /// Takes the round trip of earlier connections to the peer.
    pub(crate) fn assume_round_trip(&mut self, known: RoundTrip) {
        self.sender.assume_round_trip(known);
    }

    /// Octets that the options of our SYN leave for those of an opening with data.
    pub(crate) fn syn_room_bytes(&self) -> usize {
        let own = syn_options(&self.config, None, 0, Timestamps::default()).encoded_len();
        let scps = if self.config.scps.is_some() { MAX_CAPABILITIES_BYTES } else { 0 };
        MAX_OPTIONS_BYTES - own - scps
    }

    /// Adds the options of an opening with data to those of a SYN.
    pub(super) fn push_opening(&self, others: &Options, extra: &mut ExtraOptions) {
        let Some(opening) = &self.opening else { return };
        let is_answer = self.life.state() != State::SynSent;
        let is_repeat = self.sender.timeouts() > 0;
        let room = MAX_OPTIONS_BYTES.saturating_sub(others.encoded_len());
        opening.push_options((true, is_answer, is_repeat), room, extra);
    }

    /// Adds the count to the options of a segment behind the SYN.
    pub(super) fn push_count(&self, extra: &mut ExtraOptions) {
        if let Some(opening) = &self.opening {
            opening.push_options((false, false, false), MAX_OPTIONS_BYTES, extra);
        }
    }

    /// Judges the answer to our SYN; false if it answers another one.
    pub(super) fn judge_answer(&mut self, answer: &Segment<'_>) -> bool {
        let Some(opening) = &mut self.opening else { return true };
        let mss = answer.options.mss.unwrap_or_default();
        let takes_some = answer.acknowledgement != (self.sender.initial() as u32).wrapping_add(1);
        let taken = (self.stats.opening_sent_bytes > 0).then_some(takes_some);
        let (judgement, lesson) = opening.on_answer(answer, (self.sender.timeouts(), taken), mss);
        self.lesson = lesson.or(self.lesson);
        if judgement == Judgement::Ordinary {
            self.opening = None;
        }
        judgement != Judgement::Foreign
    }

    /// There is no answer to our SYN, or there is ICMP for one.
    pub(super) fn miss_answer(&mut self, now: Instant) {
        if self.life.state() == State::SynSent {
            let lesson = self.opening.as_ref().and_then(|opening| opening.unanswered(now));
            self.lesson = lesson.or(self.lesson);
        }
    }

    /// Our SYN is acknowledged: what went with it and was not taken goes again, and what came with the answer
    /// is taken. Data is acknowledged as data is, not at once.
    pub(super) fn finish_early(&mut self, answer: &Segment<'_>, context: &mut Context<'_>) {
        let taken = self.sender.una() - self.sender.initial() - 1;
        self.stats.opening_taken_bytes = taken.min(self.stats.opening_sent_bytes);
        self.sender.resend_refused(context.now);
        if self.sender.has_sent_fin() {
            self.life.on_fin_sent();
            if self.sender.fin_is_acknowledged() {
                self.on_fin_acknowledged(context);
            }
        }
        let has_more = answer.payload_bytes() > 0 || answer.has(flags::FIN);
        if self.opening.is_some() && has_more {
            self.take_opening_data(answer, context);
        }
    }

    /// Window that our SYN told: a peer that has taken data with it goes on before it hears more of us.
    pub(super) fn open_window_of_syn(&mut self) {
        if self.opening.is_some() {
            let _ = self.receiver.acknowledge(true, Class::Normal, self.sender.mss_bytes());
        }
    }

    /// Takes data and FIN of the peer's SYN, which our window, as the SYNs tell it, has room for.
    fn take_opening_data(&mut self, syn: &Segment<'_>, context: &Context<'_>) {
        self.open_window_of_syn();
        self.take_data(syn, self.receiver.peer_initial() + 1, false, context);
    }

    /// A handshake taught something at the end that accepts.
    pub(super) fn learn_by_handshake(&mut self) {
        let by_opening = match &self.opening {
            Some(opening) => opening.on_established(),
            None => (self.config.accelerated_open == Some(AcceleratedOpen::Ttcp)).then_some(Lesson::NoCount),
        };
        self.lesson = self.lesson.or(by_opening);
    }

    /// Time of TIME-WAIT.
    pub(super) fn time_wait_ns(&self, now: Instant) -> u64 {
        let ordinary_ns = self.config.time_wait_ns;
        match &self.opening {
            Some(opening) => opening.time_wait_ns(ordinary_ns, self.sender.rto_ns(), now),
            None => ordinary_ns,
        }
    }
}

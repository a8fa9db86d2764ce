//! Decision of a connection on what it does next, and when: deadlines, timeouts and sending go by it.

use alloc::vec::Vec;

use skyhaul_core::{CloseReason, Event, Gap, Instant, NetworkFields, Path, Step, StreamEvent};

use super::life::Reset;
use super::{Connection, Context, State};
use crate::call::Call;
use crate::segment::flags;
use crate::send::Chunk;

/// Next thing that a connection does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// An RST leaves.
    Reset(Reset),
    /// SYN, data or FIN leaves.
    Send(Chunk),
    /// A silent peer is asked, or one behind a link that is down.
    Ask,
    /// An acknowledgement leaves.
    Acknowledge,
    /// Data of low class is answered in that class.
    AnswerLow,
    /// Nothing leaves: the connection waited long enough.
    Timeout(Timeout),
}

/// Kinds of waiting.
const TIMEOUTS: usize = 8;

/// Waiting that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timeout {
    /// TIME-WAIT, or the patience in FIN-WAIT-2.
    Quiet,
    /// Reordering timer: what is missing is lost.
    Reordering,
    /// Nothing was heard of the last segments.
    Tail,
    /// Retransmission timer.
    Retransmission,
    /// Too many probes of the peer's window were not answered.
    Probes,
    /// Keepalive: the peer is asked, or given up.
    Keepalive,
    /// Something is missing for too long.
    Gap,
    /// Nothing was heard for too long while something was under way.
    Silence,
}

impl Connection {
    /// Next thing to do without further input; at the same moment, timeouts go first. Pure.
    pub(super) fn next(&self, now: Instant, path: &Path) -> Option<Step<Action>> {
        let segment = self.next_segment(now, self.next_chunk(now, path), path);
        self.or_timeout(segment, now)
    }

    /// Next thing to do, where `segment` is the next to leave.
    fn or_timeout(&self, segment: Option<Step<Action>>, now: Instant) -> Option<Step<Action>> {
        sooner(self.next_timeout(now), segment)
    }

    /// Moment at which data may leave that a pace or the path's rate holds back.
    pub(super) fn held_until(&self, now: Instant, path: &Path) -> Option<Instant> {
        self.next_chunk(now, path).filter(|step| is_held(step, now)).map(|step| step.at)
    }

    fn next_chunk(&self, now: Instant, path: &Path) -> Option<Step<Chunk>> {
        let rests = self.life.is_closed() || self.sender.is_link_down();
        if rests { None } else { self.sender.next(now, path) }
    }

    /// Next segment, where `chunk` is what goes next of our direction. An acknowledgement waits for the
    /// path's rate, too: it says what there is to say when it leaves.
    fn next_segment(&self, now: Instant, chunk: Option<Step<Chunk>>, path: &Path) -> Option<Step<Action>> {
        if let Some(reset) = self.life.reset() {
            return Some(Step { at: now, action: Action::Reset(reset) });
        }
        if self.life.is_closed() {
            return None;
        }
        if self.receiver.owes_alone() {
            return Some(Step { at: now, action: Action::Acknowledge });
        }
        let send = chunk.map(|Step { at, action }| Step { at, action: Action::Send(action) });
        if send.is_some_and(|step| step.at <= now) {
            return send;
        }
        if self.receiver.owes_low() {
            return Some(Step { at: now, action: Action::AnswerLow });
        }
        let asks_at = if self.silence.is_question_due() { Some(now) } else { self.sender.asks_link_at() };
        let ask = asks_at.map(|at| Step { at: at.max(now), action: Action::Ask });
        let granted_at = path.grant().map_or(now, |at| at.max(now));
        let ack_at = self.receiver.ack_at();
        let acknowledge = ack_at.map(|at| Step { at: at.max(granted_at), action: Action::Acknowledge });
        sooner(sooner(ask, acknowledge), send)
    }

    /// Next waiting to be over; of those that are over, the first one here takes precedence.
    fn next_timeout(&self, now: Instant) -> Option<Step<Action>> {
        if self.life.is_closed() {
            return None;
        }
        let mut next: Option<Step<Timeout>> = None;
        let mut consider = |at: Option<Instant>, timeout| {
            let at = at.map(|at| at.max(now));
            if let Some(at) = at.filter(|&at| next.is_none_or(|next| at < next.at)) {
                next = Some(Step { at, action: timeout });
            }
        };
        consider(self.life.quiet_until(), Timeout::Quiet);
        consider(self.receiver.gives_up_at(), Timeout::Gap);
        if !self.sender.is_link_down() {
            consider(self.silence_ends_at(), Timeout::Silence);
            consider(self.sender.reordering_at(), Timeout::Reordering);
            consider(self.sender.tail_probe_at(), Timeout::Tail);
            consider(self.sender.retransmit_at(), Timeout::Retransmission);
            consider(self.sender.gives_up_at(self.config.max_repeats), Timeout::Probes);
            consider(self.keepalive_at(), Timeout::Keepalive);
        }
        next.map(|Step { at, action }| Step { at, action: Action::Timeout(action) })
    }

    /// Moment at which a peer is given up that owes an answer and gives no sign of life.
    fn silence_ends_at(&self) -> Option<Instant> {
        let timeout_ns = self.config.user_timeout_ns?;
        let since = self.sender.asks_since()?.max(self.silence.since());
        Some(since.after(timeout_ns))
    }

    /// Moment at which a silent peer is asked or given up. While something is under way, its own timers
    /// watch.
    fn keepalive_at(&self) -> Option<Instant> {
        let keepalive = self.config.keepalive?;
        let is_open = matches!(self.life.state(), State::Established | State::CloseWait | State::FinWait2);
        (is_open && self.sender.is_quiet()).then(|| self.silence.ends_at(keepalive))
    }

    /// Ends the waiting that is over. Nothing leaves by that.
    pub(super) fn end_waiting(&mut self, context: &mut Context<'_>) {
        // Each kind once at most: none is over again at the moment at which it was.
        for _ in 0..TIMEOUTS {
            match self.next_timeout(context.now) {
                Some(Step { at, action: Action::Timeout(timeout) }) if at <= context.now => {
                    self.on_timeout(timeout, context);
                }
                _ => break,
            }
        }
        self.sender.forget_path_mtu(context.now, context.path);
        self.tell_state(context);
    }

    /// Gives up what is missing for too long; what lies behind can be read.
    fn give_up_holes(&mut self, context: &mut Context<'_>) {
        while let Some(Gap { offset, bytes }) = self.receiver.give_up(context.now) {
            self.stats.gaps += 1;
            self.stats.missing_bytes += bytes;
            Call::new(self.id, &mut self.stats, context).emit(Event::GaveUp {
                received: true,
                offset,
                bytes,
            });
            self.tell(StreamEvent::Readable);
        }
        if self.receiver.is_complete() {
            self.life.on_end(self.time_wait_ns(context.now), context.now);
        }
    }

    fn on_timeout(&mut self, timeout: Timeout, context: &mut Context<'_>) {
        match timeout {
            Timeout::Quiet => {
                let is_clean = self.life.state() == State::TimeWait;
                self.close(if is_clean { None } else { Some(CloseReason::Silence) });
            }
            Timeout::Reordering => {
                self.sender.on_reordering_timeout(&mut Call::new(self.id, &mut self.stats, context));
            }
            Timeout::Tail => {
                self.sender.on_tail_probe_timeout(&Call::new(self.id, &mut self.stats, context));
            }
            Timeout::Retransmission => {
                let (opening, open) = (self.config.max_syn_repeats, self.config.max_repeats);
                let opens = self.life.is_opening() || self.is_starred();
                let (repeats, heard_at) = (if opens { opening } else { open }, self.silence.since());
                if self.sender.has_timed_out(repeats, heard_at, context.now) {
                    self.miss_answer(context.now);
                    return self.give_up();
                }
                self.sender.on_timeout(&mut Call::new(self.id, &mut self.stats, context));
                if self.sender.take_writable() {
                    self.tell(StreamEvent::Writable); // something was given up
                }
            }
            Timeout::Silence => {
                self.miss_answer(context.now);
                self.give_up();
            }
            Timeout::Probes => self.give_up(),
            Timeout::Gap => self.give_up_holes(context),
            Timeout::Keepalive => {
                let keepalive = self.config.keepalive;
                if !keepalive.is_some_and(|keepalive| self.silence.ask(keepalive, context.now)) {
                    self.give_up();
                }
            }
        }
    }

    /// Appends the next segment that may leave now; its fields for the network. If there is none: when
    /// [`Self::next`] is.
    pub(super) fn send_next(
        &mut self,
        context: &mut Context<'_>,
        out: &mut Vec<u8>,
    ) -> Result<NetworkFields, Option<Instant>> {
        if self.life.is_closed() && self.life.reset().is_none() {
            return Err(None);
        }
        self.sender.forget_path_mtu(context.now, context.path);
        let chunk = self.next_chunk(context.now, context.path);
        let mut next = self.next_segment(context.now, chunk, context.path);
        let action = next.filter(|step| step.at <= context.now).map(|step| step.action);
        if !matches!(action, Some(Action::Reset(_) | Action::Send(_)))
            && !chunk.is_some_and(|step| is_held(&step, context.now))
            && self.sender.rest(&mut Call::new(self.id, &mut self.stats, context))
            && action.is_none()
        {
            next = self.next_segment(context.now, self.next_chunk(context.now, context.path), context.path);
        }
        match action {
            Some(Action::Reset(reset)) => Ok(self.send_reset(reset, context, out)),
            Some(Action::Send(chunk)) => Ok(self.send_chunk(chunk, context, out)),
            Some(Action::Ask) => Ok(self.send_question(context, out)),
            Some(Action::AnswerLow) => Ok(self.send_low_answer(context, out)),
            Some(Action::Acknowledge) => Ok(self.send_bare(self.sender.max(), flags::ACK, context, out)),
            Some(Action::Timeout(_)) | None => {
                self.tell_state(context);
                Err(self.or_timeout(next, context.now).map(|step| step.at))
            }
        }
    }
}

/// The sooner one; of those of one moment the first.
fn sooner(first: Option<Step<Action>>, second: Option<Step<Action>>) -> Option<Step<Action>> {
    match (first, second) {
        (Some(one), Some(other)) if other.at < one.at => second,
        (Some(_), _) => first,
        (None, _) => second,
    }
}

/// True if windows let a piece go, and a pace or the path's rate does not. A probe waits for its own timer,
/// and a NIL for its turn.
fn is_held(step: &Step<Chunk>, now: Instant) -> bool {
    step.at > now && !step.action.is_probe && !step.action.is_nil
}

//! What an acknowledgement says to the sender.

use skyhaul_congestion::Acked;
use skyhaul_core::{Event, Instant, StreamEvent};

use super::{Connection, Context, State};
use crate::segment::{Segment, flags};
use crate::sequence::expand;

impl Connection {
    /// A possible acknowledgement in a synchronised state.
    pub(super) fn on_acknowledgement(
        &mut self,
        acknowledgement: u64,
        sequence: u64,
        segment: &Segment<'_>,
        context: &mut Context<'_>,
    ) {
        self.persist.heard();
        let window_bytes = u64::from(segment.window) << self.agreed.send_shift;
        let same_window = window_bytes == self.sending.window_bytes;
        if acknowledgement >= self.sending.una {
            self.sending.take_window(sequence, acknowledgement, window_bytes);
        }
        let before_bytes = if self.sampling.is_on() { self.flight_bytes() } else { 0 };
        let (known_bytes, una) = (self.known_bytes(), self.sending.una);
        let news = self.take_sack(segment);
        self.take_echo(segment, acknowledgement, self.flight_bytes(), context);
        if acknowledgement > self.sending.una {
            self.take_acknowledgement(acknowledgement, segment, context);
        } else if acknowledgement == self.sending.una && self.flight_bytes() > 0 {
            let is_bare = segment.payload_bytes() == 0 && !segment.has(flags::FIN);
            // With SACK, what counts is the news [RFC 6675 2].
            let counts = if self.agreed.sack { news } else { is_bare && same_window };
            if counts {
                self.on_duplicate(context);
                self.count_losses(context);
            }
            self.tell_sacked(before_bytes, context);
        }
        self.reduce(known_bytes, una);
        self.after_acknowledgement(context);
    }

    /// Blocks that lie within what is under way; true if one of them says something new.
    fn take_sack(&mut self, segment: &Segment<'_>) -> bool {
        let mut news = false;
        if !self.agreed.sack {
            return false;
        }
        for &(first, end) in segment.options.sack.as_slice() {
            let sending = &self.sending;
            let (first, end) = (expand(first, sending.una), expand(end, sending.una));
            if sending.una < first && first < end && end <= sending.max {
                self.log_sacked(first, end);
                news |= self.sending.board.insert(first, end);
            }
        }
        news
    }

    /// New data (or our SYN, or our FIN) is acknowledged.
    pub(super) fn take_acknowledgement(
        &mut self,
        acknowledgement: u64,
        segment: &Segment<'_>,
        context: &mut Context<'_>,
    ) {
        let in_flight_before_bytes = self.flight_bytes();
        let was_full = self.is_window_used();
        let old = self.sending.una;
        let sending = &mut self.sending;
        sending.una = acknowledgement;
        sending.nxt = sending.nxt.max(acknowledgement);
        let bytes = sending.buffer.acknowledge(acknowledgement);
        sending.board.remove_below(acknowledgement);
        self.stats.acknowledged_bytes += bytes;
        self.log_acknowledged(old);
        let rtt_ns = self.measure(segment, context);
        let in_recovery = self.repair.is_some() || self.is_answered();
        if bytes > 0 {
            let packets = bytes.div_ceil(self.mss_bytes) as u32;
            let acked = Acked {
                bytes,
                packets,
                in_flight_before_bytes,
                rtt_ns,
                smoothed_rtt_ns: self.rto.rtt().smoothed_ns(),
                app_limited: !was_full,
                in_recovery,
                delivery: self.delivery(context),
            };
            self.controller.on_acked(context.now, &acked);
            self.heed_controller();
            self.emit(context, Event::Acknowledged { next: acknowledgement, packets, bytes });
        }
        self.resolve_doubt(segment, context);
        let restarts = self.on_progress(acknowledgement - old);
        self.count_losses(context);
        self.end_event(context);
        if restarts {
            self.restart_retransmission(context.now);
        }
        if self.state.is_opening() {
            return; // a lost SYN is remembered until the handshake is done
        }
        self.timeouts = 0;
        self.is_unreachable = false;
        self.in_outage = false;
        self.on_path_works(context.path);
    }

    /// Whether the congestion window was what held the sender back.
    pub(super) fn is_window_used(&self) -> bool {
        self.flight_bytes() + self.mss_bytes > self.controller.window_bytes()
    }

    /// A round trip, if this acknowledgement measures one: of a segment sent once [RFC 6298 3], else by the
    /// timestamp that comes back [RFC 7323 4.1].
    fn measure(&mut self, segment: &Segment<'_>, context: &mut Context<'_>) -> Option<u64> {
        let una = self.sending.una;
        let timed = self.timing.filter(|&(end, _)| una >= end).map(|(_, sent_at)| context.now.since(sent_at));
        let echoed = self.echoed_ns(segment, context.now);
        if let Some(echoed_ns) = echoed {
            self.rto.glimpse(echoed_ns);
        }
        // One sample a round trip.
        let may_echo = self.timing.is_none() && una >= self.echo_mark;
        let sample_ns = timed.or(echoed.filter(|_| may_echo))?;
        self.timing = self.timing.filter(|&(end, _)| una < end);
        self.echo_mark = self.sending.nxt.max(una + 1);
        self.rto.sample(sample_ns);
        let rtt = self.rto.rtt();
        let (smoothed_ns, variance_ns, min_ns) = (rtt.smoothed_ns(), rtt.variance_ns(), rtt.min_ns());
        self.emit(context, Event::Rtt { sample_ns, smoothed_ns, variance_ns, min_ns });
        Some(sample_ns)
    }

    fn echoed_ns(&self, segment: &Segment<'_>, now: Instant) -> Option<u64> {
        let stamps = segment.options.timestamps.filter(|_| self.agreed.timestamps)?;
        let ticks = self.clock(now).wrapping_sub(stamps.echo);
        // An echo from the future is none of ours.
        let is_sane = stamps.echo != 0 && ticks < 1 << 31;
        // Within the same tick: all that is known is that it took no longer than that.
        is_sane.then(|| u64::from(ticks.max(1)) * self.config.timestamp_tick_ns.max(1))
    }

    fn after_acknowledgement(&mut self, context: &mut Context<'_>) {
        if self.sending.fin_is_acknowledged() {
            self.on_fin_acknowledged(context);
        }
        if self.writer_waits && self.sending.buffer.room_bytes() > 0 {
            self.writer_waits = false;
            self.tell(StreamEvent::Writable);
        }
        let snapshot = self.controller.snapshot();
        let event = Event::Window {
            cwnd_bytes: snapshot.cwnd_bytes,
            peer_bytes: self.sending.window_bytes,
            in_flight_bytes: self.flight_bytes(),
            phase: snapshot.phase,
        };
        self.emit(context, event);
    }

    fn on_fin_acknowledged(&mut self, context: &mut Context<'_>) {
        if !self.finished_told {
            self.finished_told = true;
            self.tell(StreamEvent::Finished);
        }
        match self.state {
            State::FinWait1 => self.enter(State::FinWait2, context),
            State::Closing => self.enter(State::TimeWait, context),
            State::LastAck => self.close(None),
            _ => {}
        }
    }
}

//! Acknowledgements, as the sender takes them.

use skyhaul_congestion::{Acked, Signal};
use skyhaul_core::{Class, Event};

use super::Sender;
use super::recovery::Advance;
use crate::call::Call;
use crate::config::Recovery;
use crate::segment::{MAX_SACK_BLOCKS, Segment, flags};
use crate::sequence::{expand, is_earlier};

/// Consequences of an acknowledgement beyond the sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    /// Something new was acknowledged: the path works.
    pub(crate) advances: bool,
    /// Our FIN is acknowledged.
    pub(crate) is_finished: bool,
}

impl Sender {
    /// A possible acknowledgement in a synchronised state, by a segment numbered `sequence`. One of low class
    /// answers a NIL: it is no duplicate, and of the segment that it acknowledges it tells no round trip.
    pub(crate) fn on_acknowledgement(
        &mut self,
        (acknowledgement, sequence): (u64, u64),
        segment: &Segment<'_>,
        class: Class,
        call: &mut Call<'_>,
    ) -> Answer {
        self.persist.heard();
        let una = self.space.una();
        let answers_nil = class == Class::Low && self.nils.is_some() && segment.payload_bytes() == 0;
        if answers_nil && acknowledgement > una {
            self.timer.forget_timing();
        }
        let window_bytes = u64::from(segment.window) << self.agreed.send_shift;
        let same_window = window_bytes == self.space.window_bytes();
        let mut is_waiting = false;
        if acknowledgement >= una {
            self.space.take_window(sequence, acknowledgement, window_bytes);
        } else {
            is_waiting = self.take_waiting(acknowledgement, sequence, window_bytes);
        }
        self.take_damage(segment);
        let before_bytes = if self.sampling.is_on() { self.flight_bytes() } else { 0 };
        let known_bytes = self.known_bytes();
        self.time_arrival((una, acknowledgement), segment, call);
        let news = self.take_sack(segment, call);
        self.take_echo(segment, acknowledgement, call);
        let found = match self.agreed.snack() {
            Some(terms) => self.take_snacks(terms, acknowledgement, segment, call),
            None => self.find_lost(acknowledgement.max(una), call.now),
        };
        self.resolve_mtu_probe(acknowledgement, call);
        let advances = acknowledgement > una;
        if advances {
            self.acknowledge(acknowledgement, segment, call);
            self.on_path_works(call);
        } else if acknowledgement == una && (self.flight_bytes() > 0 || found.bytes > 0) {
            let is_bare = segment.payload_bytes() == 0 && !segment.has(flags::FIN) && !answers_nil;
            // With SACK, what counts is the news [RFC 6675 2].
            let counts = if self.agreed.is_selective() { news } else { is_bare && same_window };
            if counts {
                self.on_duplicate(call);
                self.count_losses(call);
            }
            self.answer_lost(found, call);
            self.tell_sacked(before_bytes, call);
        }
        if advances || is_waiting {
            self.answer_lost(found, call);
        }
        self.answer_tail_probe(acknowledgement, (advances, news), segment, call);
        self.answer_beside_probe(call);
        let newly = self.known_bytes().saturating_sub(known_bytes);
        if newly >= self.mss_bytes {
            self.mtu_search.on_delivered();
        }
        let pipe_bytes = if self.recovery.reduced_bytes().is_some() { self.flight_bytes() } else { 0 };
        // What shows further losses is no sign that the repair works [RFC 9937 6].
        let is_safe = advances && found.bytes == 0;
        self.recovery.on_delivered(newly, pipe_bytes, self.mss_bytes, is_safe);
        self.probe_tail_if_late(call);
        if answers_nil {
            self.on_nil_answered(call.now);
        }
        self.order_nils(call.now);
        self.tell_window(call);
        Answer { advances, is_finished: self.space.fin_is_acknowledged() }
    }

    /// Bytes that the peer is known to have: grows by what each acknowledgement delivers.
    fn known_bytes(&self) -> u64 {
        self.space.una() + self.board.bytes_below(self.space.max())
    }

    /// Takes blocks that lie within what is under way; true if one of them says something new.
    fn take_sack(&mut self, segment: &Segment<'_>, call: &Call<'_>) -> bool {
        let (una, max) = (self.space.una(), self.space.max());
        let mut news = false;
        if !self.agreed.sack {
            return false;
        }
        for (first, end) in rising(segment, una) {
            if una < first && first < end && end <= max {
                self.sampling.on_sacked(&self.board, first, end);
                self.time_block((first, end), call.now);
                news |= self.board.insert(first, end);
            }
        }
        news
    }

    /// Answers marks that the peer saw.
    fn take_echo(&mut self, segment: &Segment<'_>, acknowledgement: u64, call: &mut Call<'_>) {
        if self.agreed.ecn && segment.has(flags::ECE) && !segment.has(flags::SYN) {
            self.answer_mark(acknowledgement, call);
        }
    }

    /// Answers a mark of what lies below `end`: once for a window of data, and not where a loss was answered
    /// [RFC 3168 6.1.2].
    pub(super) fn answer_mark(&mut self, end: u64, call: &mut Call<'_>) {
        let answered_to = self.marks.answered_to().max(self.recovery.recovered_to());
        if end <= answered_to || self.recovery.is_repairing() {
            return;
        }
        let in_flight_bytes = self.flight_bytes();
        if in_flight_bytes > 0 {
            call.stats.ecn_reductions += 1;
            self.marks.answer(self.space.max());
            self.controller.on_signal(call.now, Signal::EcnMarks { in_flight_bytes });
            self.mtu_search.on_reduced(false);
            self.marks.on_window_reduced(self.agreed.ecn);
        }
    }

    /// New data (or our SYN, or our FIN) is acknowledged.
    pub(crate) fn acknowledge(&mut self, acknowledgement: u64, segment: &Segment<'_>, call: &mut Call<'_>) {
        let in_flight_before_bytes = self.flight_bytes();
        let was_full = self.is_window_used();
        let old = self.space.una();
        let bytes = self.space.acknowledge(acknowledgement);
        self.records.forget_until(acknowledgement);
        self.board.remove_below(acknowledgement);
        self.acknowledged_times(acknowledgement);
        call.stats.acknowledged_bytes += bytes;
        self.sampling.on_acknowledged(old, acknowledgement);
        let rtt_ns = self.measure(segment, call);
        if bytes > 0 {
            let packets = bytes.div_ceil(self.mss_bytes) as u32;
            let began = old == self.space.initial();
            let acked = Acked {
                bytes: if began { self.counted_with_syn(bytes) } else { bytes },
                packets,
                in_flight_before_bytes,
                rtt_ns,
                smoothed_rtt_ns: self.timer.rtt().smoothed_ns(),
                app_limited: !was_full,
                in_recovery: self.recovery.is_repairing() || self.is_answered(),
                delivery: self
                    .sampling
                    .is_on()
                    .then(|| self.flight_bytes())
                    .and_then(|in_flight_bytes| self.sampling.finish(call.now, in_flight_bytes)),
            };
            self.tell_acked(&acked, call);
            call.emit(Event::Acknowledged { next: acknowledgement, packets, bytes });
        }
        self.resolve_doubt(segment, call);
        self.tail_probe.wait_from(call.now);
        let restarts = self.on_progress(acknowledgement - old);
        self.count_losses(call);
        if self.recovery.ends_event(acknowledgement) {
            if let Some(rack) = self.rack.as_mut() {
                rack.on_recovered();
            }
            self.controller.on_signal(call.now, Signal::Recovered);
        }
        if restarts {
            self.timer.restart(self.space.outstanding() > 0, call.now);
        }
    }

    /// Something new was acknowledged after the handshake.
    fn on_path_works(&mut self, call: &mut Call<'_>) {
        self.timer.on_answer();
        self.refute_outage(call);
        self.verdicts.on_answer();
        self.mtu_search.on_answer(self.space.una());
        let until = self.space.nxt() + self.mss_bytes + 1;
        if self.path_mtu.on_answer(self.space.una(), until) {
            self.update_mss(call.now, call.path);
        }
    }

    /// Round trip, if this acknowledgement measures one.
    fn measure(&mut self, segment: &Segment<'_>, call: &mut Call<'_>) -> Option<u64> {
        let stamps = segment.options.timestamps.filter(|_| self.agreed.timestamps);
        let echo = stamps.map(|stamps| stamps.echo).filter(|&echo| !self.is_before_timeout(echo));
        let echoed_ns = echo.and_then(|echo| self.clock().since_ns(echo, call.now));
        let sample_ns = self.timer.measure(self.space.una(), self.space.nxt(), echoed_ns, call.now)?;
        let rtt = self.timer.rtt();
        let (smoothed_ns, variance_ns, min_ns) = (rtt.smoothed_ns(), rtt.variance_ns(), rtt.min_ns());
        call.emit(Event::Rtt { sample_ns, smoothed_ns, variance_ns, min_ns });
        Some(sample_ns)
    }

    /// True if this value of our clock is older than the last timeout. What left before may have waited for
    /// the end of an outage, be it here or, as the answer to a SYN, at the peer: it tells nothing about the
    /// round trips to come.
    fn is_before_timeout(&self, echo: u32) -> bool {
        let timed_out_at = self.timer.timed_out_at();
        timed_out_at.is_some_and(|at| is_earlier(echo, self.clock().value(at)))
    }

    /// First acknowledgement of something new since something went again. One that echoes a clock from before
    /// the repeat was sent answers the original: nothing was lost, and everything goes on as before [RFC 3522
    /// 3.2, RFC 4015 3].
    fn resolve_doubt(&mut self, segment: &Segment<'_>, call: &mut Call<'_>) {
        let Some(repeated_at) = self.recovery.take_doubt() else { return };
        let echo = segment.options.timestamps.map(|stamps| stamps.echo);
        if echo.is_some_and(|echo| echo != 0 && is_earlier(echo, repeated_at)) {
            call.stats.spurious_repairs += 1;
            self.recovery.undo(self.space.una());
            self.space.go_on();
            if let Some(rack) = self.rack.as_mut() {
                rack.forgive();
            }
            self.controller.on_signal(call.now, Signal::Spurious);
            self.mtu_search.on_reduced(false);
        }
    }

    /// True if the retransmission timer starts anew after `bytes` of sequence space were acknowledged.
    fn on_progress(&mut self, bytes: u64) -> bool {
        let how = if self.agreed.is_selective() {
            Recovery::Sack
        } else if self.config.recovery == Recovery::Reno {
            Recovery::Reno
        } else {
            Recovery::NewReno
        };
        let una = self.space.una();
        let advance = Advance {
            una,
            bytes,
            outstanding: self.space.outstanding(),
            cwnd_bytes: self.controller.window_bytes(),
            mss_bytes: self.mss_bytes,
        };
        let restarts = self.recovery.on_progress(how, &advance);
        if self.recovery.is_repairing() {
            self.board.repeat_to(una);
        }
        restarts
    }

    /// Tells a duplicate acknowledgement with news: only controllers that go by delivery rates want to know.
    fn tell_sacked(&mut self, in_flight_before_bytes: u64, call: &Call<'_>) {
        if !self.sampling.is_on() {
            return;
        }
        let in_flight_bytes = self.flight_bytes();
        let Some(delivery) = self.sampling.finish(call.now, in_flight_bytes) else { return };
        let acked = Acked {
            bytes: 0,
            packets: 0,
            in_flight_before_bytes,
            rtt_ns: None,
            smoothed_rtt_ns: self.timer.rtt().smoothed_ns(),
            app_limited: false,
            in_recovery: self.recovery.is_repairing(),
            delivery: Some(delivery),
        };
        self.tell_acked(&acked, call);
    }

    /// Tells the controller. Rates that it keeps low on purpose are marked as such; one that wants no more of
    /// them is not told.
    fn tell_acked(&mut self, acked: &Acked, call: &Call<'_>) {
        self.controller.on_acked(call.now, acked);
        let needs = self.controller.needs();
        if !needs.delivery {
            self.sampling.stop();
        }
        if self.sampling.is_on() && needs.holds_back {
            let in_flight_bytes = self.flight_bytes();
            self.sampling.mark_limited(in_flight_bytes);
        }
    }

    fn tell_window(&self, call: &mut Call<'_>) {
        if !call.wants() {
            return;
        }
        let snapshot = self.controller.snapshot();
        call.emit(Event::Window {
            cwnd_bytes: snapshot.cwnd_bytes,
            peer_bytes: self.space.window_bytes(),
            in_flight_bytes: self.flight_bytes(),
            phase: snapshot.phase,
        });
    }
}

/// Blocks of a segment by their numbers, lowest first: what arrived in order is to be seen in order.
fn rising(segment: &Segment<'_>, una: u64) -> impl Iterator<Item = (u64, u64)> {
    let blocks = segment.options.sack.as_slice();
    let mut rising = [(0, 0); MAX_SACK_BLOCKS];
    for (to, &(first, end)) in rising.iter_mut().zip(blocks) {
        *to = (expand(first, una), expand(end, una));
    }
    let count = blocks.len().min(MAX_SACK_BLOCKS);
    rising[..count].sort_unstable();
    rising.into_iter().take(count)
}

//! How connections end: by END and ENDAK each way, by RST, or by silence.

use skyhaul_core::{CloseReason, Instant, RttEstimator, StreamEvent, wire};

use super::{Connection, Context};
use crate::endpoint::Farewell;
use crate::receive::Assembly;

impl Connection {
    /// Whether it has ended and has no last word to say.
    pub(crate) fn is_over(&self) -> bool {
        self.is_closed && self.replies.rst.is_none()
    }

    /// Ends the connection here and now.
    pub(super) fn close(&mut self, reason: Option<CloseReason>) {
        if self.is_closed {
            return;
        }
        self.is_closed = true;
        self.close_reason = reason;
        self.tell(StreamEvent::Closed(reason));
    }

    /// The carrier reports that nobody receives at the peer's address.
    pub(crate) fn unreachable(&mut self) {
        self.close(Some(CloseReason::Unreachable));
    }

    /// What a peer that still asks after a clean end is told.
    pub(crate) fn farewell(&self) -> Option<Farewell> {
        let is_clean = self.is_closed && self.close_reason.is_none();
        let assembly = self.assembly.as_ref().filter(|assembly| is_clean && assembly.is_complete())?;
        let (number, next) = (wire(self.cache.next()), wire(assembly.next()));
        Some(Farewell { instance: self.names.instance, number, next })
    }

    /// Whether nothing is under way in our direction and END is confirmed.
    fn our_half_is_done(&self) -> bool {
        self.end_acknowledged && self.cache.is_empty()
    }

    /// Only the confirmation of our END is missing, after all data went both ways. A peer that no
    /// longer knows such a connection had our END and lingered in vain, during an outage for example.
    pub(super) fn is_all_but_confirmed(&self) -> bool {
        let theirs = self.assembly.as_ref().is_some_and(Assembly::is_complete);
        theirs && self.end_number.is_some() && self.cache.is_empty()
    }

    pub(super) fn tell_finished(&mut self) {
        if !self.finished_told {
            self.finished_told = true;
            self.tell(StreamEvent::Finished);
        }
    }

    /// Both halves done: stay for a while to answer repeats of a peer that missed our last words,
    /// then go.
    pub(super) fn check_ended(&mut self, context: &Context<'_>) {
        if self.our_half_is_done() {
            self.tell_finished();
        }
        let theirs = self.assembly.as_ref().is_some_and(Assembly::is_complete);
        if self.linger_until.is_none() && theirs && self.our_half_is_done() {
            self.linger(context.now);
        } else if self.end_number.is_some() && self.rtt.is_known() {
            // The peer lingers by what it knows of the path: an END timer from before the first
            // sample would come too late for it.
            self.end.shorten(self.rtt.overdue_ns(self.config.end_timer_ns));
        }
    }

    /// Long enough to answer two repeats of the peer's END; twice as long after each, as the peer's
    /// timer is. A peer that did not poll again after our first STAT may have heard no answer: its
    /// timers still run by the first guess.
    pub(super) fn linger(&mut self, now: Instant) {
        let guess = RttEstimator::new(self.config.initial_rtt_ns).overdue_ns(0);
        let floor_ns = self.config.end_timer_ns.max(if self.polled_again { 0 } else { guess });
        let first_ns = 3 * self.rtt.overdue_ns(floor_ns);
        let longer_ns = (2 * self.linger_ns).min(3 * self.config.max_timer_ns);
        self.linger_ns = first_ns.max(longer_ns);
        self.linger_until = Some(now.after(self.linger_ns));
    }
}

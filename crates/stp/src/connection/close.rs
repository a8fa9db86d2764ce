//! How connections end: by END and ENDAK each way, by RST, or by silence.

use skyhaul_core::{CloseReason, Instant, StreamEvent, truncate_number};

use super::Connection;
use crate::receive::Receiver;

/// Last words of a connection that ended cleanly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Farewell {
    pub(crate) instance: u16,
    /// Our end number.
    pub(crate) number: u32,
    /// The peer's end number: everything before it was received.
    pub(crate) next: u32,
}

impl Connection {
    /// Ends the connection here and now.
    pub(super) fn close(&mut self, reason: Option<CloseReason>) {
        if self.life.close(reason) {
            self.forget_unreadable();
            self.tell(StreamEvent::Closed(reason));
        }
    }

    /// Drops what can never be read: something before it is missing, and will not come.
    pub(super) fn forget_unreadable(&mut self) {
        if let Some(receiver) = &mut self.receiver {
            receiver.forget_unreadable();
        }
    }

    /// The carrier reports that nobody receives at the peer's address. Where nothing but last words is
    /// missing the peer was done and has left; a connection that needs more ends only if the report
    /// `is_believed`.
    pub(crate) fn unreachable(&mut self, is_believed: bool) {
        if self.life.is_lingering() || self.is_all_but_confirmed() {
            self.part();
        } else if is_believed {
            self.close(Some(CloseReason::Unreachable));
        }
    }

    /// Ends cleanly without the peer's last words.
    pub(super) fn part(&mut self) {
        self.tell_finished();
        self.close(None);
    }

    /// Last words for a peer that still asks after a clean end.
    pub(crate) fn farewell(&self) -> Option<Farewell> {
        let is_clean = self.life.check() == Err(None);
        let receiver = self.receiver.as_ref().filter(|receiver| is_clean && receiver.is_complete())?;
        let number = truncate_number(self.sender.next_number());
        Some(Farewell { instance: self.names.instance, number, next: receiver.next() })
    }

    /// True if nothing is under way in our direction and END is confirmed.
    fn our_half_is_done(&self) -> bool {
        self.life.is_end_confirmed() && self.sender.is_settled()
    }

    /// True if only the confirmation of our END is missing, after all data went both ways. A peer that no
    /// longer knows such a connection, or says nothing more, had our END and has left.
    pub(super) fn is_all_but_confirmed(&self) -> bool {
        self.has_peer_ended() && self.life.has_ended() && self.sender.is_settled()
    }

    /// Both halves done: a peer that confirmed an END beside which all of its own was confirmed misses
    /// nothing. Else stay for a while to answer repeats of one that missed our last words, then go.
    pub(super) fn check_ended(&mut self, now: Instant) {
        if self.our_half_is_done() {
            self.tell_finished();
        }
        if !self.life.is_lingering() && self.has_peer_ended() && self.our_half_is_done() {
            if self.life.is_peer_content() {
                return self.close(None);
            }
            self.linger(now);
        } else if self.life.has_ended() && self.sender.rtt().is_known() {
            self.life.shorten_end(self.sender.rtt().overdue_ns(self.config.end_timer_ns));
        }
    }

    /// Stays to answer repeats of the peer's END.
    pub(super) fn linger(&mut self, now: Instant) {
        let polled_again = self.receiver.as_ref().is_some_and(Receiver::polled_again);
        self.life.linger(now, self.sender.rtt(), polled_again, &self.config);
    }
}

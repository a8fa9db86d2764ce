//! ICMP about a segment of this connection: believed only if it quotes a number that is under way, and
//! never the end of a connection that has come about [RFC 5927 4.1, 5.2, 7.2; RFC 1122 4.2.3.9].

use skyhaul_core::event::Refusal;
use skyhaul_core::{CloseReason, ResetReason};

use super::{Connection, Context, State};
use crate::call::Call;
use crate::icmp::{IcmpMessage, Unreachable};
use crate::sequence::expand;

/// Credit that a message gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belief {
    /// It quotes what is not under way, or cannot be true: forged, or late.
    Forged,
    /// It counts.
    Taken,
    /// It counts for this connection's search alone, which tries the size next.
    Hint,
    /// It counts for every connection with this peer: packets are this large at most.
    Mtu(u32),
}

impl Connection {
    /// Takes a message about the segment with this number.
    pub(crate) fn handle_icmp(
        &mut self,
        message: IcmpMessage,
        sequence: u32,
        context: &mut Context<'_>,
    ) -> Belief {
        if self.is_signal(message) {
            return self.handle_signal(message, sequence, context);
        }
        let belief = match message {
            _ if self.under_way(sequence).is_none() => Belief::Forged,
            IcmpMessage::PacketTooBig { mtu_bytes } => {
                match self.sender.believed_bytes(mtu_bytes, context.path) {
                    Some(bytes) => Belief::Mtu(bytes),
                    None if self.sender.take_mtu_hint(mtu_bytes, context.now) => Belief::Hint,
                    None => Belief::Forged,
                }
            }
            _ => Belief::Taken,
        };
        if belief == Belief::Taken {
            self.miss_answer(context.now);
        }
        match belief {
            Belief::Forged => self.refuse(Refusal::Absurd, context),
            Belief::Mtu(bytes) => self.limit_packets(bytes, context),
            Belief::Taken if self.life.state() == State::SynSent && message.is_hard() => {
                let is_port = message == IcmpMessage::Unreachable(Unreachable::Port);
                let refused = CloseReason::Reset(Some(ResetReason::Refused));
                self.close(Some(if is_port { refused } else { CloseReason::Unreachable }));
                self.tell_state(context);
            }
            Belief::Hint => {}
            // It may pass. If not, it says why nothing came.
            Belief::Taken => self.silence.on_unreachable(),
        }
        belief
    }

    /// Number of what is under way that a message quotes, if it is.
    pub(super) fn under_way(&self, sequence: u32) -> Option<u64> {
        let number = expand(sequence, self.sender.max());
        let is_under_way = (self.sender.una()..self.sender.max()).contains(&number);
        (is_under_way && !self.life.is_closed()).then_some(number)
    }

    /// Nothing larger is sent from now on: a router said so, here or to another connection with this peer.
    pub(crate) fn limit_packets(&mut self, bytes: u32, context: &mut Context<'_>) {
        let may_repeat = self.life.state().may_send();
        let mut call = Call::new(self.id, &mut self.stats, context);
        self.sender.limit_packets(bytes, may_repeat, &mut call);
        self.check_invariants();
    }
}

//! ICMP about a segment of this connection: believed only if it quotes a number that is under way, and
//! never the end of a connection that has come about [RFC 5927 4.1, 5.2, 7.2; RFC 1122 4.2.3.9].

use skyhaul_core::event::Refusal;
use skyhaul_core::{CloseReason, ResetReason};

use super::{Connection, Context, State};
use crate::icmp::{IcmpMessage, Unreachable};
use crate::sequence::expand;

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belief {
    /// It quotes what is not under way, or cannot be true: forged, or late.
    Forged,
    /// It counts.
    Taken,
    /// It counts for every connection with this peer: packets are this large at most.
    Mtu(u32),
}

impl Connection {
    /// A message about the segment with this number.
    pub(crate) fn handle_icmp(
        &mut self,
        message: IcmpMessage,
        sequence: u32,
        context: &mut Context<'_>,
    ) -> Belief {
        let number = expand(sequence, self.sending.max);
        let is_under_way = (self.sending.una..self.sending.max).contains(&number);
        if self.state == State::Closed || !is_under_way {
            self.refuse(Refusal::Absurd, context);
            return Belief::Forged;
        }
        if let IcmpMessage::PacketTooBig { mtu_bytes } = message {
            let believed = self.on_too_big(mtu_bytes, context);
            if believed.is_none() {
                self.refuse(Refusal::Absurd, context);
            }
            return believed.map_or(Belief::Forged, Belief::Mtu);
        }
        if self.state == State::SynSent && message.is_hard() {
            let is_port = message == IcmpMessage::Unreachable(Unreachable::Port);
            self.close(Some(if is_port {
                CloseReason::Reset(Some(ResetReason::Refused))
            } else {
                CloseReason::Unreachable
            }));
            self.tell_state(context);
        } else {
            // It may pass. If not, it says why nothing came.
            self.is_unreachable = true;
        }
        Belief::Taken
    }

    /// Why a connection ends to which no answer comes.
    pub(super) fn silence_reason(&self) -> CloseReason {
        match (self.is_unreachable, self.state.is_opening()) {
            (true, _) => CloseReason::Unreachable,
            (false, true) => CloseReason::ConnectTimeout,
            (false, false) => CloseReason::Silence,
        }
    }
}

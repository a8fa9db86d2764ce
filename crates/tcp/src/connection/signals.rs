//! Signals of routers to connections that speak SCPS-TP [SCPS-TP 3.1]: of damage, of a link that is down or
//! back, of congestion.

use skyhaul_core::event::Refusal;

use super::{Belief, Connection, Context};
use crate::call::Call;
use crate::icmp::IcmpMessage;
use crate::sequence::expand;

impl Connection {
    /// True for what means something where SCPS-TP is spoken alone. To others, and while our SYN is not
    /// acknowledged, which must go again, a link that is down is a host out of reach.
    pub(super) fn is_signal(&self, message: IcmpMessage) -> bool {
        use IcmpMessage::{CorruptionExperienced, LinkOutage, LinkRestored, SourceQuench};
        let is_spoken = self.sender.agreed().scps.is_some() && !self.life.is_opening();
        match message {
            LinkOutage => is_spoken,
            _ => matches!(message, CorruptionExperienced | LinkRestored | SourceQuench),
        }
    }

    /// Takes a signal about the segment with this number.
    pub(super) fn handle_signal(
        &mut self,
        message: IcmpMessage,
        sequence: u32,
        context: &mut Context<'_>,
    ) -> Belief {
        let is_agreed = self.sender.agreed().scps.is_some();
        let is_taken = is_agreed
            && match message {
                IcmpMessage::CorruptionExperienced => self.take_damage(sequence, context),
                _ => self.take_word(message, sequence, context),
            };
        if !is_taken {
            self.refuse(Refusal::Absurd, context);
            return Belief::Forged;
        }
        Belief::Taken
    }

    /// Routers say that they damage what the peer sends, a segment with this number: believed where it lies
    /// within a window of the next one.
    fn take_damage(&mut self, sequence: u32, context: &Context<'_>) -> bool {
        let next = self.receiver.next();
        let window = self.sender.agreed().receive_limit_bytes(&self.config);
        let is_near = expand(sequence, next).abs_diff(next) <= window && !self.life.is_closed();
        if is_near {
            self.report_damage(context.now);
        }
        is_near
    }

    /// A message about what we sent: believed where that is under way.
    fn take_word(&mut self, message: IcmpMessage, sequence: u32, context: &mut Context<'_>) -> bool {
        let Some(number) = self.under_way(sequence) else { return false };
        let mut call = Call::new(self.id, &mut self.stats, context);
        match message {
            IcmpMessage::LinkOutage => self.sender.on_link_outage(number, &mut call),
            IcmpMessage::LinkRestored => self.sender.on_link_restored(&mut call),
            _ => self.sender.on_source_quench(number, &mut call),
        }
    }
}

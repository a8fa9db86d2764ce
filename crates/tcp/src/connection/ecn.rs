//! Explicit congestion notification [RFC 3168 6.1].

use skyhaul_core::Ecn;

use super::{Connection, Context, State};
use crate::segment::{Segment, flags};

/// Both bits of the negotiation.
const SETUP: u8 = flags::ECE | flags::CWR;

/// What this end knows and owes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    /// Both ends speak it.
    pub(super) agreed: bool,
    /// Each acknowledgement says that a mark arrived, until the peer has answered.
    echo: bool,
    /// The window was reduced, and the peer is not told yet.
    reduced: bool,
    /// Further echoes below this number belong to the window already answered.
    answered_to: u64,
}

impl Connection {
    /// ECN bits of our SYN. A repeat asks no more: something on the way may not like the question
    /// [RFC 3168 6.1.1.1].
    pub(super) fn ecn_setup(&self) -> u8 {
        match self.state {
            State::SynSent if self.config.ecn && self.timeouts == 0 => SETUP,
            State::SynReceived if self.marks.agreed => flags::ECE,
            _ => 0,
        }
    }

    /// What the peer's SYN says. One that says both with ACK merely mirrors ours.
    pub(super) fn learn_ecn(&mut self, segment: &Segment<'_>) {
        let expected = if segment.has(flags::ACK) { flags::ECE } else { SETUP };
        let offered = self.state != State::SynSent || self.timeouts == 0;
        self.marks.agreed = self.config.ecn && offered && segment.flags & SETUP == expected;
    }

    /// The peer asked again, without: it is not spoken to in it [RFC 3168 6.1.1.1].
    pub(super) fn relearn_ecn(&mut self, segment: &Segment<'_>) {
        self.marks.agreed &= segment.has(SETUP);
    }

    /// The IP header of a segment with acceptable data. Nothing else is marked, or else lies [RFC 3168 6.1.5].
    pub(super) fn take_mark(&mut self, segment: &Segment<'_>, ecn: Ecn) {
        if !self.marks.agreed {
            return;
        }
        if segment.has(flags::CWR) {
            self.marks.echo = false;
        }
        if ecn == Ecn::Ce && segment.payload_bytes() > 0 {
            self.stats.ce_packets += 1;
            self.marks.echo = true;
        }
    }

    /// The peer saw a mark: one answer for a window of data, and none where a loss was answered
    /// [RFC 3168 6.1.2].
    pub(super) fn take_echo(
        &mut self,
        segment: &Segment<'_>,
        acknowledgement: u64,
        in_flight_bytes: u64,
        context: &mut Context<'_>,
    ) {
        let is_echo = self.marks.agreed && segment.has(flags::ECE) && !segment.has(flags::SYN);
        let answered_to = self.marks.answered_to.max(self.recovered_to);
        if is_echo && acknowledgement > answered_to && self.repair.is_none() && in_flight_bytes > 0 {
            self.stats.ecn_reductions += 1;
            self.marks.answered_to = self.sending.max;
            self.controller.on_ecn(context.now, in_flight_bytes);
            self.on_window_reduced();
        }
    }

    /// Whether losses of the running window were answered as a mark already.
    pub(super) fn is_answered(&self) -> bool {
        self.marks.agreed && self.sending.una < self.marks.answered_to
    }

    /// For whatever reason: the peer is told.
    pub(super) fn on_window_reduced(&mut self) {
        self.marks.reduced = self.marks.agreed;
    }

    /// Bits of a segment, and its field of the IP header. New data alone is marked as capable: repeats, probes
    /// and bare acknowledgements are not [RFC 3168 6.1.4 to 6.1.6].
    pub(super) fn ecn_bits(&mut self, bits: u8, is_new_data: bool) -> (u8, Ecn) {
        let marks = &mut self.marks;
        if !marks.agreed || bits & (flags::SYN | flags::RST) != 0 {
            return (bits, Ecn::NotEct);
        }
        let echo = if marks.echo { flags::ECE } else { 0 };
        if !is_new_data {
            return (bits | echo, Ecn::NotEct);
        }
        let reduced = if core::mem::take(&mut marks.reduced) { flags::CWR } else { 0 };
        (bits | echo | reduced, Ecn::Ect0)
    }
}

//! Negative acknowledgements, as the sender takes them [SCPS-TP 3.3.2]: what is asked for goes again at once,
//! and no segment twice within a smoothed round trip, unless each request is to count.

use skyhaul_congestion::Signal;
use skyhaul_core::Instant;

use super::Sender;
use super::rack::Found;
use crate::call::Call;
use crate::scps::{self, Damage, Said, SnackTerms};
use crate::segment::Segment;

impl Sender {
    /// Takes what a segment says that acknowledges everything below `acknowledgement`: what it asks for, as
    /// far as that was sent and is not under way again. Late ones are not heard.
    pub(super) fn take_snacks(
        &mut self,
        terms: SnackTerms,
        acknowledgement: u64,
        segment: &Segment<'_>,
        call: &mut Call<'_>,
    ) -> Found {
        let (now, mut all) = (call.now, Found::default());
        if acknowledgement < self.waited_for() {
            return all;
        }
        let una = acknowledgement.max(self.space.una());
        let (max, situation) = (self.space.max(), self.situation(una, now));
        let counts_each = self.config.scps.as_ref().is_some_and(|scps| scps.repeats_each_request);
        let limits = (terms.unit_bytes, if counts_each { 0 } else { situation.srtt_ns });
        scps::read(&segment.options.extra, acknowledgement, terms, |said| match said {
            Said::Arrived(first, end) => self.take_arrived(una, (first, end.min(max)), now),
            Said::Missing(first, end) => {
                let (first, end) =
                    self.mtu_search.requested(acknowledgement, (first, end.min(max)), terms.unit_bytes);
                self.board.forget(first, end);
                let Some(rack) = self.rack.as_mut() else { return };
                all.add(rack.on_request((first, end), limits, &self.board, &situation));
            }
        });
        if let Some(rack) = self.rack.as_mut().filter(|rack| rack.has_early_requests()) {
            let waits = (limits.1, self.timer.ack_wait_ns());
            all.add(rack.on_request_due(waits, &self.board, &situation));
        }
        all.add(self.settle_requests(una, call));
        all
    }

    /// True if what is asked for may have been overtaken alone, and the controller would slow down for it. A
    /// probe of the path's MTU has its own judgement.
    pub(super) fn doubts_requests(&self) -> bool {
        self.agreed.snack().is_some() && !self.cuts_nothing() && !self.mtu_search.is_trying()
    }

    /// Losses among what was asked for and may have been overtaken alone, with everything below `una`
    /// acknowledged. Where a repair began for nothing else, all goes on as before [RFC 4015 3].
    pub(super) fn settle_requests(&mut self, una: u64, call: &mut Call<'_>) -> Found {
        let situation = self.situation(una, call.now);
        let rtt = self.timer.rtt();
        let rtt_min_ns = rtt.is_known().then(|| rtt.min_ns());
        let Some(rack) = self.rack.as_mut() else { return Found::default() };
        let settled = rack.settle(rtt_min_ns, &self.board, &situation);
        if settled.is_confirmed {
            self.recovery.set_doubtful(false);
        }
        if settled.has_erred && !settled.is_open && self.recovery.is_doubtful() {
            rack.take_back();
            call.stats.spurious_repairs += 1;
            self.recovery.take_doubt();
            self.recovery.undo(self.space.una());
            self.controller.on_signal(call.now, Signal::Spurious);
        }
        settled.found
    }

    /// What was asked for too soon may go again.
    pub(super) fn take_due_requests(&mut self, now: Instant) -> Found {
        let situation = self.situation(self.space.una(), now);
        let Some(rack) = self.rack.as_mut() else { return Found::default() };
        let waits = (situation.srtt_ns, self.timer.ack_wait_ns());
        rack.on_request_due(waits, &self.board, &situation)
    }

    /// What lies between holes has left the network. The oldest number has not arrived, whatever is said.
    fn take_arrived(&mut self, una: u64, (first, end): (u64, u64), now: Instant) {
        if una < first && first < end {
            self.sampling.on_sacked(&self.board, first, end);
            self.time_block((first, end), now);
            self.board.insert(first, end);
        }
    }

    /// Takes what a segment of a peer that speaks SCPS-TP says of damage [SCPS-TP 3.1.2].
    pub(super) fn take_damage(&mut self, segment: &Segment<'_>) {
        if self.agreed.scps.is_some() {
            self.verdicts.take_damage(Damage::is_told(&segment.options.extra));
        }
    }
}

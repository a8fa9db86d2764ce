//! When the next data may leave: the controller's pace, and the budget of the path, together.

use skyhaul_core::{Event, Instant, MS, Pacer};

use super::{Connection, Context};

/// A sender that wakes up late catches up so much: as much as the kernel hands down at once.
const BURST_NS: u64 = MS;

/// What holds data back other than windows.
#[derive(Clone, Debug, Default)]
pub(super) struct Pace {
    /// Only while the controller wants one.
    pacer: Option<Pacer>,
    /// What is to go next waits until then.
    pub(super) held_until: Option<Instant>,
}

impl Connection {
    /// When the data may leave that paces or the path's rate held back when it was last asked.
    pub(crate) fn paced_at(&self) -> Option<Instant> {
        self.pace.held_until
    }

    /// When data may leave, if that is not now.
    pub(super) fn held_until(&self, context: &Context<'_>) -> Option<Instant> {
        let budget = context.path.budget.as_ref().map(Pacer::ready_at);
        let own = self.pace.pacer.as_ref().map(Pacer::ready_at);
        budget.into_iter().chain(own).max().filter(|&at| at > context.now)
    }

    /// Charges a packet: everything to the path's budget, data to the controller's pace.
    pub(super) fn charge(&mut self, wire_bytes: u32, is_data: bool, context: &mut Context<'_>) {
        if let Some(budget) = context.path.budget.as_mut() {
            budget.spend(context.now, wire_bytes);
        }
        if !is_data {
            return;
        }
        let Some(rate_bps) = self.controller.pacing_rate_bps(self.rto.rtt().smoothed_ns()) else { return };
        let start = || Pacer::starting_at(rate_bps, BURST_NS, context.now);
        let is_new = self.pace.pacer.is_none();
        let pacer = self.pace.pacer.get_or_insert_with(start);
        let changes = is_new || pacer.rate_bps() != rate_bps;
        pacer.set_rate(rate_bps);
        pacer.spend(context.now, wire_bytes);
        if changes {
            self.emit(context, Event::Rate { rate_bps });
        }
    }
}

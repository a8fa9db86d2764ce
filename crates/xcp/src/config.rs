//! Parameters of a router.

use skyhaul_core::{MS, SECOND};

/// Rule by which positive feedback is handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discipline {
    /// Equal shares for all flows, as draft-03 has it.
    #[default]
    Xcp,
    /// More, in proportion to the flows that take less than their share [P-XCP Fig. 6].
    PXcp,
    /// More, in proportion to the feedback that was not taken. Ours.
    Untaken,
}

/// Parameters of a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterConfig {
    /// Rule by which positive feedback is handed out.
    pub discipline: Discipline,
    /// A share that a packet refuses is set against what others are to lose. In draft-03 it is, in the
    /// formulas of [P-XCP (2) to (4)] it is lost.
    pub set_off: bool,
    /// Shortest control interval, above 0.
    pub(crate) min_interval_ns: u64,
    /// Longest control interval, at least the shortest one.
    pub(crate) max_interval_ns: u64,
}

impl RouterConfig {
    /// Queue that is tolerated, as the time in which it drains [XCP 4.2.5].
    pub(crate) const ALLOWED_QUEUE_NS: u64 = 2 * MS;

    /// Router of this discipline, in front of a link of this propagation delay [XCP 4.2.4].
    pub fn new(discipline: Discipline, propagation_delay_ns: u64) -> Self {
        Self {
            discipline,
            set_off: discipline.sets_off(),
            min_interval_ns: propagation_delay_ns.max(10 * MS),
            max_interval_ns: propagation_delay_ns.max(SECOND),
        }
    }
}

impl Discipline {
    /// True if its authors set a refused share off.
    pub fn sets_off(self) -> bool {
        self != Self::PXcp
    }
}

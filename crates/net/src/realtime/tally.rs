//! Counters of a gate.

use skyhaul_core::Instant;

use super::LatenessReport;
use super::lateness::Lateness;

/// Counters of a gate until some moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct GateReport {
    /// When the first packet came in.
    pub first_packet: Option<Instant>,
    /// Packets that were not let in: from a stranger, or without anybody to go to.
    pub strays: u64,
    /// How late packets left here.
    pub lateness: LatenessReport,
    /// Packets that were to leave here and that the system refused to send.
    pub send_failures: u64,
}

/// Counters of all gates.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// At each of them.
    pub gates: Vec<GateReport>,
    /// How late packets left, wherever that was.
    pub lateness: LatenessReport,
    /// Processor time that the medium's thread has taken, in user and kernel mode; some turns old while it
    /// works, exact once it is stopped.
    pub processor_ns: u64,
}

impl Counted {
    pub(super) fn of(tallies: &[Tally], processor_ns: u64) -> Self {
        let mut all = Lateness::default();
        for tally in tallies {
            all.add(&tally.lateness);
        }
        Self { gates: tallies.iter().map(Tally::report).collect(), lateness: all.report(), processor_ns }
    }
}

/// Counters while they count.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) lateness: Lateness,
    pub(super) first_packet: Option<Instant>,
    pub(super) strays: u64,
    pub(super) send_failures: u64,
}

impl Tally {
    fn report(&self) -> GateReport {
        let &Self { first_packet, strays, send_failures, .. } = self;
        GateReport { first_packet, strays, lateness: self.lateness.report(), send_failures }
    }
}

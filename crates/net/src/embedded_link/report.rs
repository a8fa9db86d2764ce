//! What an embedded link counted.

use skyhaul_core::Instant;
use skyhaul_link::Counters;

use super::LatenessReport;
use super::lateness::Lateness;

/// What an embedded link counted until some moment.
#[derive(Clone, Copy, Debug)]
pub struct LinkReport {
    /// That moment, in the link's time.
    pub at: Instant,
    /// Whether no outage covers it.
    pub is_up: bool,
    /// From side A to side B.
    pub forward: DirectionReport,
    /// From side B to side A.
    pub reverse: DirectionReport,
}

/// One direction of an embedded link.
#[derive(Clone, Copy, Debug, Default)]
pub struct DirectionReport {
    /// What the link itself counted.
    pub counters: Counters,
    /// Packets that the link will still deliver.
    pub packets_inside: usize,
    /// How exactly the link was emulated.
    pub lateness: LatenessReport,
    /// When the first packet came in.
    pub first_packet: Option<Instant>,
    /// Datagrams that were not let into the link: from a stranger, or without anybody to go to.
    pub strays: u64,
    /// Packets that the link delivered and the system then refused to send.
    pub send_failures: u64,
}

impl LinkReport {
    /// What to tell the user if the link was not emulated properly, see [`LatenessReport::warning`].
    pub fn warning(&self) -> Option<String> {
        let directions = [("forward", self.forward), ("reverse", self.reverse)];
        let texts = directions.into_iter().filter_map(|(name, direction)| {
            direction.lateness.warning().map(|text| format!("{name}: {text}"))
        });
        let text = texts.collect::<Vec<_>>().join("; ");
        (!text.is_empty()).then_some(text)
    }
}

/// What is counted around one direction of the link.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) lateness: Lateness,
    pub(super) first_packet: Option<Instant>,
    pub(super) strays: u64,
    pub(super) send_failures: u64,
}

impl Tally {
    pub(super) fn report(&self, counters: Counters, packets_inside: usize) -> DirectionReport {
        DirectionReport {
            counters,
            packets_inside,
            lateness: self.lateness.report(),
            first_packet: self.first_packet,
            strays: self.strays,
            send_failures: self.send_failures,
        }
    }
}

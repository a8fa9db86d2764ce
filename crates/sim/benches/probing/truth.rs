//! What a sender sent and when, and what became of it beside what it took it for.

use skyhaul_core::{Event, EventSink, Instant};
use skyhaul_sim::{Confusion, SOURCES_PER_HOST};

/// Type bits of SD.
const SD: u8 = skyhaul_stp::segment::types::SD;

/// A packet of the sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) at: Instant,
    pub(crate) wire_bytes: u32,
    pub(crate) has_data: bool,
    pub(crate) is_new: bool,
}

/// Follows one transfer.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    pub(crate) sent: Vec<Sent>,
    verdicts: skyhaul_sim::Truth,
}

impl Truth {
    /// Packets judged lost, by truth and verdict.
    pub(crate) fn confusion(&self) -> &Confusion {
        self.verdicts.confusion()
    }
}

impl EventSink for Truth {
    fn emit(&mut self, at: Instant, source: u64, event: Event) {
        self.verdicts.emit(at, source, event);
        if let Event::Sent { types, wire_bytes, repeat, .. } = event
            && source < SOURCES_PER_HOST
        {
            let has_data = types & SD != 0;
            self.sent.push(Sent { at, wire_bytes, has_data, is_new: has_data && repeat.is_none() });
        }
    }
}

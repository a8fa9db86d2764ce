//! Packets of a sender, their times, their fates, and the causes that it took losses for.

use skyhaul_core::{Event, EventSink, Instant};
use skyhaul_sim::{Confusion, LossOracle, Source};

/// Type bits of SD.
const SD: u8 = skyhaul_stp::segment::types::SD;

/// A packet of the sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentPacket {
    pub(crate) at: Instant,
    pub(crate) wire_bytes: u32,
    pub(crate) has_data: bool,
    pub(crate) is_new: bool,
}

/// Follows one transfer.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    pub(crate) sent: Vec<SentPacket>,
    verdicts: LossOracle,
}

impl Observer {
    /// Packets judged lost, by cause and verdict.
    pub(crate) fn confusion(&self) -> &Confusion {
        self.verdicts.confusion()
    }
}

impl EventSink<Source> for Observer {
    fn emit(&mut self, at: Instant, source: Source, event: Event) {
        self.verdicts.emit(at, source, event);
        if let Event::Sent { types, wire_bytes, repeat, .. } = event
            && source.host() == Some(0)
        {
            let has_data = types & SD != 0;
            self.sent.push(SentPacket { at, wire_bytes, has_data, is_new: has_data && repeat.is_none() });
        }
    }
}

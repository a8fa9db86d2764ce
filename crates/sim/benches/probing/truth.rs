//! What really became of each packet, beside what the sender took it for.

use std::collections::BTreeMap;

use skyhaul_core::event::DropCause;
use skyhaul_core::{Event, EventSink, Instant, Verdict};
use skyhaul_sim::{LINK_SOURCE, SOURCES_PER_HOST};

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
    /// Last transmission of each packet number (24 bits).
    last: BTreeMap<u64, u64>,
    dropped: BTreeMap<u64, DropCause>,
    /// Packets by truth (congestion, corruption, outage, not lost at all) and verdict (congestion,
    /// corruption, outage, unknown).
    pub(crate) confusion: [[u64; 4]; 4],
}

impl Truth {
    fn on_sent(&mut self, sent: Sent, number: u64) {
        if sent.has_data {
            self.last.insert(number, self.sent.len() as u64);
        }
        self.sent.push(sent);
    }

    fn on_lost(&mut self, number: u64, verdict: Verdict) {
        let cause = self.last.get(&(number & 0xff_ffff)).and_then(|order| self.dropped.get(order));
        let truth = match cause {
            Some(DropCause::QueueFull) => 0,
            Some(DropCause::Outage) => 2,
            Some(_) => 1,
            None => 3,
        };
        self.confusion[truth][verdict as usize] += 1;
    }
}

impl EventSink for Truth {
    fn emit(&mut self, at: Instant, source: u64, event: Event) {
        match event {
            Event::LinkDrop { port: 0, order, cause, .. } if source == LINK_SOURCE => {
                self.dropped.insert(order, cause);
            }
            Event::Sent { types, number, wire_bytes, repeat, .. } if source < SOURCES_PER_HOST => {
                let has_data = types & SD != 0;
                let is_new = has_data && repeat.is_none();
                self.on_sent(Sent { at, wire_bytes, has_data, is_new }, number);
            }
            Event::Lost { first, end, verdict } if source < SOURCES_PER_HOST => {
                (first..end).for_each(|number| self.on_lost(number, verdict));
            }
            _ => {}
        }
    }
}

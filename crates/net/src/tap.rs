//! Packets of an endpoint, and its events, on their way into a capture.

use bytes::Bytes;
use skyhaul_capture::{Assembly, Direction, Heads, Inlet, Record};
use skyhaul_core::{Event, Instant};

use crate::Clock;

/// Interface of a capture that an endpoint's packets are of: the only one.
const INTERFACE: u32 = 0;
/// Name of the endpoint among the ends of an [`Assembly`]: the only one.
const END: u32 = 0;

/// Tap of an endpoint.
#[derive(Debug)]
pub(crate) struct Tap {
    inlet: Inlet,
    /// Time of the world when the endpoint's clock showed zero, ns since 1970.
    origin_ns: u64,
    assembly: Assembly,
    /// Segments that the engine has told of, and segments seen: they come in one order.
    told: u64,
    seen: u64,
}

impl Tap {
    /// Tap of an endpoint with this clock.
    pub(crate) fn new(inlet: Inlet, clock: Clock) -> Self {
        let origin_ns = clock.unix_origin_ns();
        Self { inlet, origin_ns, assembly: Assembly::default(), told: 0, seen: 0 }
    }

    /// The engine says something.
    pub(crate) fn event(&mut self, at: Instant, event: Event) {
        let packet = matches!(event, Event::Sent { .. }).then_some(self.told);
        self.told += u64::from(packet.is_some());
        self.assembly.event(at, END, event, packet);
    }

    /// A packet arrived, which the engine gets next. `heads` as in [`Record::heads`].
    pub(crate) fn arrived(&mut self, now: Instant, heads: Option<Heads>, bytes: &[u8]) {
        let record = self.record(now, Direction::Inbound, heads, bytes);
        let before = self.assembly.arrived(now, record);
        if let Some(before) = before {
            self.inlet.offer(before);
        }
    }

    /// The engine has handled what arrived.
    pub(crate) fn handled(&mut self) {
        if let Some(record) = self.assembly.take() {
            self.inlet.offer(record);
        }
    }

    /// A packet leaves: a segment of the engine behind `heads`, or the IP layer's own.
    pub(crate) fn left(&mut self, now: Instant, heads: Option<Heads>, bytes: &[u8]) {
        let mut record = self.record(now, Direction::Outbound, heads, bytes);
        if heads.is_some() {
            record.events = self.assembly.of_sent(self.seen);
            self.seen += 1;
        }
        self.inlet.offer(record);
    }

    fn record(&self, now: Instant, direction: Direction, heads: Option<Heads>, bytes: &[u8]) -> Record {
        let at_ns = self.origin_ns.saturating_add(now.as_ns());
        let bytes = Bytes::copy_from_slice(bytes);
        Record { at_ns, interface: INTERFACE, direction, heads, bytes, events: Vec::new() }
    }
}

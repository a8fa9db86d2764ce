//! Packets of an endpoint, and its events, on their way into a capture.

use bytes::Bytes;
use skyhaul_capture::{Assembly, Direction, Heads, Inlet, Record};
use skyhaul_core::{Event, Instant};

use crate::Clock;

/// Interface of a capture that an endpoint's packets are of: the only one.
const INTERFACE: u32 = 0;
/// Name of the endpoint among the ends of an [`Assembly`]: the only one.
const END: u32 = 0;

/// Numbers of segments told of, and seen.
#[derive(Debug, Default)]
struct Order {
    told: u64,
    seen: u64,
}

/// Tap of an endpoint.
#[derive(Debug)]
pub(crate) struct Tap {
    inlet: Inlet,
    /// Time of the world when the endpoint's clock showed zero, ns since 1970.
    origin_ns: u64,
    assembly: Assembly,
    /// Segments that the engine has told of, and segments seen: they come in one order. `None`: there are
    /// datagrams among them that it does not tell of, and events stand with the next that leaves.
    order: Option<Order>,
}

impl Tap {
    /// Tap of an endpoint with this clock. `tells_all`: its engine tells of each segment that leaves.
    pub(crate) fn new(inlet: Inlet, clock: Clock, tells_all: bool) -> Self {
        let origin_ns = clock.unix_origin_ns();
        let order = tells_all.then(Order::default);
        Self { inlet, origin_ns, assembly: Assembly::default(), order }
    }

    /// The engine says something.
    pub(crate) fn event(&mut self, at: Instant, event: Event) {
        let order = self.order.as_mut().filter(|_| matches!(event, Event::Sent { .. }));
        let packet = order.map(|order| {
            order.told += 1;
            order.told - 1
        });
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
            record.events = match &mut self.order {
                Some(order) => {
                    order.seen += 1;
                    self.assembly.of_sent(order.seen - 1)
                }
                None => self.assembly.take_loose(END),
            };
        }
        self.inlet.offer(record);
    }

    fn record(&self, now: Instant, direction: Direction, heads: Option<Heads>, bytes: &[u8]) -> Record {
        let at_ns = self.origin_ns.saturating_add(now.as_ns());
        let bytes = Bytes::copy_from_slice(bytes);
        Record { at_ns, interface: INTERFACE, direction, heads, bytes, events: Vec::new() }
    }
}

//! Packets at the ends of links, for those who watch.

use std::fmt;

use skyhaul_core::{Event, EventSink, Instant, Packet};

/// End of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkEnd {
    /// Number of the link.
    pub link: u32,
    /// Port, 0 or 1.
    pub port: u32,
}

/// Watcher of the packets at the ends of all links.
pub trait LinkTap: fmt::Debug + Send {
    /// A packet went into the link at `end`. `drops`: what the link dropped in that call, this packet as a
    /// rule.
    fn entered(&mut self, now: Instant, end: LinkEnd, packet: &Packet, drops: &[Event]);

    /// A packet came out of the link at `end`.
    fn left(&mut self, now: Instant, end: LinkEnd, packet: &Packet);
}

/// Sink that keeps the drops of a link, in front of another one.
pub(super) struct DropSink<'a> {
    pub(super) drops: Vec<Event>,
    pub(super) sink: &'a mut dyn EventSink,
}

impl EventSink for DropSink<'_> {
    fn emit(&mut self, now: Instant, source: u64, event: Event) {
        self.drops.push(event);
        if self.sink.wants() {
            self.sink.emit(now, source, event);
        }
    }
}

//! Sources of a run's events, by which those of all engines and links are told apart.

use std::fmt;

use skyhaul_core::{ConnectionId, Event, EventSink, Instant};
use skyhaul_scenario::Protocol;

/// Engine of a host, by its place among the host's engines.
pub type EngineId = u8;

/// Connection of an engine of a host. 0: the engine itself, which answers segments of no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// Number of the node.
    pub host: u32,
    /// Engine.
    pub engine: EngineId,
    /// Connection.
    pub connection: ConnectionId,
}

/// Source of an event of a run.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// Link with this number.
    Link(u32),
    /// Host with this node number.
    Host(u32),
    /// Engine of a host.
    Engine {
        /// Connection.
        origin: Origin,
        /// Family that the engine belongs to.
        protocol: &'static dyn Protocol,
        /// Packet that a `Sent` event tells of (`PacketMeta::id`); `None`: an event of another kind.
        packet: Option<u64>,
    },
}

impl Source {
    /// Node number of the host; `None`: a link.
    pub fn host(&self) -> Option<u32> {
        match *self {
            Self::Link(_) => None,
            Self::Host(host) => Some(host),
            Self::Engine { origin, .. } => Some(origin.host),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(link) => write!(f, "link {link}"),
            Self::Host(host) => write!(f, "host {host}"),
            Self::Engine { origin: Origin { host, connection, .. }, protocol, .. } => {
                write!(f, "host {host} {} {connection}", protocol.name())
            }
        }
    }
}

/// Sink of one link's events, in front of the run's.
pub(crate) struct LinkSink<'a> {
    pub(crate) link: u32,
    pub(crate) sink: &'a mut dyn EventSink<Source>,
}

impl EventSink for LinkSink<'_> {
    fn wants(&self) -> bool {
        self.sink.wants()
    }

    fn emit(&mut self, now: Instant, _: u64, event: Event) {
        self.sink.emit(now, Source::Link(self.link), event);
    }
}

/// Sink of one engine's events, in front of the run's. It names the packet of each `Sent` event.
pub(crate) struct EngineSink<'a> {
    pub(crate) host: u32,
    pub(crate) engine: EngineId,
    pub(crate) protocol: &'static dyn Protocol,
    /// Packet that the next `Sent` event tells of.
    pub(crate) next_told: u64,
    pub(crate) sink: &'a mut dyn EventSink<Source>,
}

impl EventSink for EngineSink<'_> {
    fn wants(&self) -> bool {
        self.sink.wants()
    }

    fn emit(&mut self, now: Instant, connection: ConnectionId, event: Event) {
        let packet = matches!(event, Event::Sent { .. }).then_some(self.next_told);
        self.next_told += u64::from(packet.is_some());
        let origin = Origin { host: self.host, engine: self.engine, connection };
        self.sink.emit(now, Source::Engine { origin, protocol: self.protocol, packet }, event);
    }
}

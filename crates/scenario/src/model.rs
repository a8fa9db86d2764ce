//! A scenario with its names resolved and its values checked: what one run simulates.

use std::fmt;

use skyhaul_core::{SignalNumbers, Weight};
use skyhaul_link::{ArqConfig, LinkConfig, SignalConfig};

use crate::protocol::{Carrier, EndConfig, Protocol};
use crate::sizes::{Keep, Sizes};

/// Scenario of one run. Nodes are numbered by their place in `nodes`.
#[derive(Clone, Debug, Default)]
pub struct Scenario {
    /// Name, for reports.
    pub name: String,
    /// Hosts and routers.
    pub nodes: Vec<Node>,
    /// Links between them.
    pub links: Vec<LinkBetween>,
    /// Routes that are not the shortest ones.
    pub routes: Vec<Route>,
    /// Transfer: who sends what to whom.
    pub flows: Vec<Flow>,
    /// Headers around each segment.
    pub carrier: Carrier,
    /// When the run ends.
    pub stop: Stop,
    /// Warm-up: deliveries before this time do not count.
    pub warm_up_ns: u64,
    /// Metrics beside the totals.
    pub metrics: Metrics,
}

/// A node.
#[derive(Clone, PartialEq)]
pub struct Node {
    /// Unique name; keys its random stream.
    pub name: String,
    /// Its kind.
    pub kind: NodeKind,
    /// Signals that it sends, where it is a router; `None`: none. Of an end, the numbers of those that it
    /// hears count alone.
    pub signals: Option<SignalConfig>,
}

impl Node {
    /// Signals that it sends.
    pub fn signals_sent(&self) -> Option<SignalConfig> {
        self.signals.filter(|_| self.kind == NodeKind::Router)
    }

    /// Numbers of the signals that it sends or hears.
    pub fn signal_numbers(&self) -> SignalNumbers {
        self.signals.map(|signals| signals.numbers).unwrap_or_default()
    }
}

impl fmt::Debug for Node {
    /// Text that digests of scenarios are made of: a field that came later is shown where it says something.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, kind, signals } = self;
        let mut text = f.debug_struct("Node");
        text.field("name", name).field("kind", kind);
        if let Some(signals) = signals {
            text.field("signals", signals);
        }
        text.finish()
    }
}

/// Kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Has an endpoint and is the end of flows.
    Host,
    /// Forwards.
    Router,
    /// Splits flows: it is an end of each of their hops there, and forwards nothing.
    Relay,
}

/// A link with the nodes at its two ports.
#[derive(Clone)]
pub struct LinkBetween {
    /// The link; its name keys its random streams.
    pub config: LinkConfig,
    /// Nodes at port 0 and port 1.
    pub ends: [usize; 2],
    /// Link layer that repeats what the link loses; `None`: there is none.
    pub arq: Option<ArqConfig>,
}

impl fmt::Debug for LinkBetween {
    /// Text that digests of scenarios are made of: a field that came later is shown where it says something.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { config, ends, arq } = self;
        let mut text = f.debug_struct("LinkBetween");
        text.field("config", config).field("ends", ends);
        if let Some(arq) = arq {
            text.field("arq", arq);
        }
        text.finish()
    }
}

/// Packets at node `at` for node `to` leave by `link`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Where.
    pub at: usize,
    /// Destination.
    pub to: usize,
    /// Number of a link that `at` is an end of.
    pub link: usize,
}

/// A group of equal flows.
#[derive(Clone)]
pub struct Flow {
    /// Unique name.
    pub name: String,
    /// Node that opens the connections.
    pub from: usize,
    /// Node that accepts them.
    pub to: usize,
    /// How many.
    pub count: u32,
    /// When the first begins.
    pub start_ns: u64,
    /// How much later each further one begins.
    pub stagger_ns: u64,
    /// How much each gets of the rate of a path that it shares with others between the same hosts.
    pub weight: Weight,
    /// Transport that carries them, on the first hop.
    pub transport: Transport,
    /// Relays on their way, in the order of it.
    pub via: Vec<Via>,
    /// Layer that confirms end to end, above all hops.
    pub end_to_end: Option<EndToEnd>,
    /// Workload that they carry.
    pub workload: Workload,
}

/// Parameters of the end-to-end layer, UTL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndToEnd {
    /// Octets of a batch that is confirmed at once.
    pub batch_bytes: u32,
    /// Batches that are not confirmed, at most.
    pub window_batches: u32,
    /// Time in which a batch must be confirmed, or the connection ends.
    pub timeout_ns: u64,
}

impl fmt::Debug for Flow {
    /// Text that digests of scenarios are made of: a field that came later is shown where it says something.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            from,
            to,
            count,
            start_ns,
            stagger_ns,
            weight,
            transport,
            via,
            end_to_end,
            workload,
        } = self;
        let mut text = f.debug_struct("Flow");
        text.field("name", name).field("from", from).field("to", to).field("count", count);
        text.field("start_ns", start_ns).field("stagger_ns", stagger_ns).field("weight", weight);
        text.field("transport", transport);
        if !via.is_empty() {
            text.field("via", via);
        }
        if let Some(end_to_end) = end_to_end {
            text.field("utl", end_to_end);
        }
        text.field("workload", workload).finish()
    }
}

/// Relay on the way of a flow, and the hop that begins there.
#[derive(Clone, Debug)]
pub struct Via {
    /// The relay.
    pub node: usize,
    /// Transport of the hop.
    pub transport: Transport,
    /// Bounds of the relay's buffer, in either direction.
    pub buffer: RelayBuffer,
}

/// Bounds of a relay's buffer for one connection and direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelayBuffer {
    /// Octets from which on whoever sends is held back.
    pub threshold_bytes: u64,
    /// Octets at most.
    pub size_bytes: u64,
    /// True if senders are held back in the way of their protocol; false: by its window alone.
    pub holds: bool,
}

/// Part of a flow between two ends of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Hop<'a> {
    /// Node that opens.
    pub from: usize,
    /// Node that accepts.
    pub to: usize,
    /// Protocol and parameters of both ends.
    pub transport: &'a Transport,
}

impl Flow {
    /// Hops of the flow from its first node to its last: each begins where the one before it ends. A flow has
    /// one hop if no node relays it.
    pub fn hops(&self) -> Vec<Hop<'_>> {
        let starts = [(self.from, &self.transport)].into_iter();
        let starts = starts.chain(self.via.iter().map(|via| (via.node, &via.transport)));
        let ends = self.via.iter().map(|via| via.node).chain([self.to]);
        starts.zip(ends).map(|((from, transport), to)| Hop { from, to, transport }).collect()
    }
}

impl Scenario {
    /// Families that speak at a node, in the order of their names.
    pub fn protocols_at(&self, node: usize) -> Vec<&'static dyn Protocol> {
        let hops = self.flows.iter().flat_map(Flow::hops);
        let mut found: Vec<_> = hops
            .filter(|hop| [hop.from, hop.to].contains(&node))
            .map(|hop| hop.transport.protocol())
            .collect();
        found.sort_by_key(|protocol| protocol.name());
        found.dedup_by_key(|protocol| protocol.name());
        found
    }

    /// Parameters of the connections of a family that a node accepts: those of the first hop there whose
    /// acceptor sends data, too, or else of the first hop. They suit all its flows there.
    pub fn acceptor_at(&self, node: usize, protocol: &dyn Protocol) -> Option<&EndConfig> {
        let here = |flow: &'_ Flow| {
            let mut hops = flow.hops().into_iter();
            let place =
                hops.position(|hop| hop.to == node && hop.transport.protocol().name() == protocol.name());
            place.map(|place| place.checked_sub(1))
        };
        let of = |flow: &'_ Flow| here(flow).is_some();
        let mut sending = self.flows.iter().filter(|flow| flow.workload.is_answered());
        let flow = sending.find(|flow| of(flow)).or_else(|| self.flows.iter().find(|flow| of(flow)))?;
        let transport = here(flow)?.map_or(&flow.transport, |via| &flow.via[via].transport);
        Some(&transport.acceptor)
    }
}

/// Transport of a flow.
#[derive(Clone, Debug)]
pub struct Transport {
    /// Name, for reports.
    pub name: String,
    /// Parameters of the end that opens.
    pub opener: EndConfig,
    /// Parameters of the end that accepts. All flows of one protocol that end at one node have the same, but
    /// for what counts only where data is sent ([`Protocol::receiving`]).
    pub acceptor: EndConfig,
}

impl Transport {
    /// True if both ends want streams to go on behind what is missing.
    pub fn leaves_gaps(&self) -> bool {
        [&self.opener, &self.acceptor].iter().all(|end| self.protocol().leaves_gaps(end))
    }

    /// Family of both ends.
    pub fn protocol(&self) -> &'static dyn Protocol {
        self.opener.protocol()
    }
}

/// Flows that end at one host at most: each has a port of its own there.
pub const MAX_FLOWS_PER_HOST: usize = 0xC000 - 4;
/// Bytes of a stream's head, where it has one: a number that the reader does not know before.
pub const HEAD_BYTES: u64 = 8;
/// Objects of a page at most.
pub const MAX_OBJECTS: u32 = 10_000;

/// Workload of a flow. Every byte is made, checked on arrival and counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Workload {
    /// One stream from the opener to the acceptor.
    Bulk {
        /// Its length; `None`: until the run ends.
        bytes: Option<u64>,
        /// Bytes that the application writes at a time.
        chunk_bytes: u64,
        /// Streaming rate of the application; `None`: it always has something to write.
        rate_bps: Option<u64>,
    },
    /// Transactions one after the other: a request by the opener, a response by the acceptor.
    Requests {
        /// Bytes of a request.
        request_bytes: Sizes,
        /// Bytes of a response.
        response_bytes: Sizes,
        /// Pause after each response.
        think_ns: u64,
        /// How many; `None`: until the run ends.
        requests: Option<u64>,
        /// Connections that carry them.
        keep: Keep,
    },
    /// Pages of objects, as a reader of the web asks for them.
    Web(WebLoad),
    /// One stream that is written at `rate_bps` for a while, then not for a while, and so on.
    OnOff {
        /// Rate while on.
        rate_bps: u64,
        /// Mean of the exponentially distributed times on.
        on_ns: u64,
        /// Mean of the exponentially distributed times off.
        off_ns: u64,
        /// Bytes that the application writes at a time.
        chunk_bytes: u64,
    },
}

/// Pages of objects, each object over a connection of its own: a request by the opener, a response by the
/// acceptor. Pages follow each other, first one object, then the others that it names, a few at a time; or an
/// open loop begins them whatever becomes of those before, and asks for all objects of a page at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WebLoad {
    /// Bytes of a request; at least 8.
    pub request_bytes: u64,
    /// Mean number of objects of a page, geometrically distributed; at least 1.
    pub objects: f64,
    /// Mean size of an object, Pareto distributed.
    pub object_bytes: u64,
    /// Shape of that distribution, above 1: the smaller, the heavier its tail.
    pub shape: f64,
    /// Larger objects are cut off, which lowers the mean.
    pub max_object_bytes: u64,
    /// Connections open at a time.
    pub parallel: u32,
    /// Mean pause after a page, exponentially distributed; 0: none.
    pub think_ns: u64,
    /// Mean time from the beginning of a page to that of the next, exponentially distributed: an open loop.
    /// `None`: a closed one, in which `parallel` and `think_ns` say how pages are read.
    pub every_ns: Option<u64>,
    /// How many; `None`: until the run ends.
    pub pages: Option<u64>,
}

impl Workload {
    /// True if it has an end of its own.
    pub fn ends(&self) -> bool {
        match self {
            Self::Bulk { bytes, .. } => bytes.is_some(),
            Self::Requests { requests, .. } => requests.is_some(),
            Self::Web(load) => load.pages.is_some(),
            Self::OnOff { .. } => false,
        }
    }

    /// True if the acceptor sends data, too.
    pub fn is_answered(&self) -> bool {
        matches!(self, Self::Requests { .. } | Self::Web(_))
    }
}

/// When a run ends. One of the first two is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// At this time at the latest.
    pub duration_ns: Option<u64>,
    /// As soon as every flow that has an end of its own is done.
    pub when_done: bool,
    /// After so many events (deliveries by links and wake-ups of hosts).
    pub max_events: u64,
    /// When the send buffers of all flows together have held so much.
    pub max_memory_bytes: u64,
}

/// Events of a run at most, unless the scenario says otherwise: a quarter of an hour and more.
pub const DEFAULT_MAX_EVENTS: u64 = 2_000_000_000;
/// Bytes that send buffers of a run hold at most, unless the scenario says otherwise.
pub const DEFAULT_MAX_MEMORY_BYTES: u64 = 1 << 30;

impl Default for Stop {
    fn default() -> Self {
        Self {
            duration_ns: None,
            when_done: true,
            max_events: DEFAULT_MAX_EVENTS,
            max_memory_bytes: DEFAULT_MAX_MEMORY_BYTES,
        }
    }
}

/// Metrics beside the totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Compare each loss verdict with what the links did.
    pub verdicts: bool,
    /// A sample of every flow and link this often.
    pub series_ns: Option<u64>,
    /// Every packet with its departure and arrival, for ladder diagrams.
    pub ladder: bool,
}

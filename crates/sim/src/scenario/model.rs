//! A scenario with its names resolved and its values checked: what one run simulates.

use skyhaul_core::{Weight, ip_udp_bytes};
use skyhaul_link::LinkConfig;

use crate::engines::{EndConfig, Protocol};

/// What one run simulates. Nodes are numbered by their place in `nodes`.
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
    /// Who sends what to whom.
    pub flows: Vec<Flow>,
    /// What is around each segment.
    pub carrier: Carrier,
    /// When the run ends.
    pub stop: Stop,
    /// What is delivered before this time does not count.
    pub warm_up_ns: u64,
    /// What is measured beside the totals.
    pub metrics: Metrics,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Unique name; keys its random stream.
    pub name: String,
    /// What it does.
    pub kind: NodeKind,
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Has an endpoint and is the end of flows.
    Host,
    /// Forwards.
    Router,
}

/// A link with the nodes at its two ports.
#[derive(Clone, Debug)]
pub struct LinkBetween {
    /// The link; its name keys its random streams.
    pub config: LinkConfig,
    /// Nodes at port 0 and port 1.
    pub ends: [usize; 2],
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
#[derive(Clone, Debug)]
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
    /// What carries them.
    pub transport: Transport,
    /// What they carry.
    pub workload: Workload,
}

/// What carries a flow.
#[derive(Clone, Debug)]
pub struct Transport {
    /// Name, for reports.
    pub name: String,
    /// Parameters of the end that opens.
    pub opener: EndConfig,
    /// Parameters of the end that accepts. All flows of one protocol that end at one node
    /// have the same.
    pub acceptor: EndConfig,
}

impl Transport {
    /// The protocol of both ends.
    pub fn protocol(&self) -> Protocol {
        self.opener.protocol()
    }
}

/// What a flow carries. Every byte is made, checked on arrival and counted.
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
        /// Bytes of a request; at least 1.
        request_bytes: u64,
        /// Bytes of a response; at least 1.
        response_bytes: u64,
        /// Pause after each response.
        think_ns: u64,
        /// How many; `None`: until the run ends.
        requests: Option<u64>,
        /// All over one connection, instead of one each.
        keep: bool,
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

/// Pages, one after the other: first one object, then the others that it names, a few at a time. Each over a
/// connection of its own: a request by the opener, a response by the acceptor.
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
    /// How many; `None`: until the run ends.
    pub pages: Option<u64>,
}

impl Workload {
    /// Whether it has an end of its own.
    pub fn ends(&self) -> bool {
        match self {
            Self::Bulk { bytes, .. } => bytes.is_some(),
            Self::Requests { requests, .. } => requests.is_some(),
            Self::Web(load) => load.pages.is_some(),
            Self::OnOff { .. } => false,
        }
    }
}

/// What is around each segment on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Carrier {
    /// IPv4, UDP and the envelope, as between real endpoints: 29 octets.
    #[default]
    Udp,
    /// IPv4 alone, as in the papers: 20 octets.
    Ip,
}

impl Carrier {
    /// Headers that are counted, not stored.
    pub fn header_bytes(self) -> u32 {
        match self {
            Self::Udp => ip_udp_bytes([10, 0, 0, 1].into()),
            Self::Ip => 20,
        }
    }

    /// Octets of the envelope in front of every segment.
    pub fn envelope_bytes(self) -> u32 {
        match self {
            Self::Udp => 1,
            Self::Ip => 0,
        }
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
/// What send buffers of a run hold at most, unless the scenario says otherwise.
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

/// What is measured beside the totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Compare each loss verdict with what the links did.
    pub verdicts: bool,
    /// A sample of every flow and link this often.
    pub series_ns: Option<u64>,
    /// Every packet with its departure and arrival, for ladder diagrams.
    pub ladder: bool,
}

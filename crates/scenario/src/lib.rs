//! Scenario files: nodes, links, flows, and the axes of a sweep, read, checked and explained by the same
//! lists of keys.
#![forbid(unsafe_code)]

mod check;
mod error;
pub mod fields;
mod file;
pub mod keys;
pub mod kinds;
mod model;
mod nearest;
mod page;
mod path;
mod protocol;
mod reference;
mod resolve;
mod routes;
mod sizes;
mod sweep;
mod tables;
mod trace;
pub mod tree;
mod wanted;
mod way;

#[cfg(test)]
mod fields_tests;

pub use error::{Place, ScenarioError};
pub use file::{File, MAX_FILE_BYTES, MAX_POINTS, Point, Settings};
pub use keys::TransportTable;
pub use model::{
    DEFAULT_MAX_EVENTS, DEFAULT_MAX_MEMORY_BYTES, EndToEnd, Flow, HEAD_BYTES, Hop, LinkBetween,
    MAX_FLOWS_PER_HOST, MAX_OBJECTS, Metrics, Node, NodeKind, RelayBuffer, Route, Scenario, Stop, Transport,
    Via, WebLoad, Workload,
};
pub use nearest::did_you_mean;
pub use page::Page;
pub use protocol::{
    Addressed, Carrier, EndConfig, Grounds, HostEngine, HostSetup, MTU_BYTES, Open, Protocol, Purpose,
    RacerEntry, Register, SegmentLabel, SentSegment, payload_per_packet,
};
pub use reference::reference;
pub use routes::Routes;
pub use sizes::{Keep, MAX_DRAWN_BYTES, Sizes};
pub use sweep::{Axis, Label};
pub use trace::{MAX_TRACE_BYTES, MAX_TRACE_ROWS};
pub use wanted::Wanted;

//! Scenarios: what one run simulates, and the files that users write them in.

mod model;

pub use model::{
    Carrier, Flow, LinkBetween, Metrics, Node, NodeKind, Route, Scenario, Stop, Transport, Workload,
};

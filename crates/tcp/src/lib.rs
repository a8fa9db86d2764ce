//! TCP as a state machine: time and segments go in; segments, events and the next deadline come out. What is
//! built of which RFC, and the test of each, is in `docs/spec/tcp-conformance.md`.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod accelerated;
mod ack_policy;
mod agreed;
mod call;
mod config;
mod connection;
mod endpoint;
mod explicit;
pub mod icmp;
mod loss;
mod profiles;
mod receive;
mod route;
pub mod scps;
pub mod segment;
mod send;
mod sequence;

pub use accelerated::{AcceleratedOpen, Cookie as FastOpenCookie, FastOpenFacts};
pub use ack_policy::{AckPolicy, MAX_ACKS_PER_ROUND_TRIP};
pub use agreed::{MIN_MSS_BYTES, MIN_SCPS_MSS_BYTES};
pub use config::{Config, Keepalive, Recovery};
pub use connection::State;
pub use endpoint::{Endpoint, EndpointConfig, EndpointStats};
pub use explicit::{Asks, ExplicitConfig};
pub use icmp::{IcmpMessage, MessageNumbers, SignalNumbers, Unreachable};
pub use loss::{LossEvidence, LossJudge, LossSign};
pub use route::{MAX_ROUTES, Prefix, Route, RouteError, RouteRate, Routes, Signals};
pub use skyhaul_congestion::{ControllerKind, Counting};

//! Virtual time: the shipped engines over the shipped links, as fast as the machine can compute.
//! Networks of hosts and routers, workloads, metrics, scenario files, sweeps.
#![forbid(unsafe_code)]

mod app;
mod build;
mod engines;
mod flows;
pub mod fuzz;
mod host;
mod measure;
mod network;
pub mod scenario;
mod share;
mod simulate;
pub mod sweep;
mod transfer;

pub use app::App;
pub use build::LINK_SOURCE;
pub use engines::{EndConfig, Engines, Peer, Protocol, TCP_IDS};
pub use flows::{
    Flows, MAX_COMPLETIONS, MAX_FLOWS_PER_HOST, Record, fill_pattern, pattern, wrong_in_pattern,
};
pub use host::{Host, SOURCES_PER_HOST};
pub use measure::{Confusion, LadderLine, MAX_LADDER_PACKETS, MAX_SAMPLES, Sample, TRUTHS, Truth, VERDICTS};
pub use network::{Ended, Middle, Network, Node, Until, Wire};
pub use share::{PACKET_BYTES, limit_bytes, payload_per_packet};
pub use simulate::{Measured, RunError, Simulation, simulate};
pub use transfer::{Outcome, Transfer};

//! Virtual time: the shipped engines over the shipped links, as fast as the machine can compute.
//! Networks of hosts and routers, workloads, metrics, scenario files, sweeps.
#![forbid(unsafe_code)]

mod capture;
mod fabric;
mod flows;
mod host;
mod measure;
mod network;
mod protocols;
mod relays;
mod run;
mod share;
mod simulate;
mod source;
pub mod sweep;
mod transfer;

pub use capture::{Interfaces, RunCapture};
pub use fabric::{Edge, LinkEnd, LinkTap, Middle, OversizedPacket, RunError, SignalCounters};
pub use flows::{Flows, MAX_COMPLETIONS, Record, fill_pattern, pattern, wrong_in_pattern};
pub use host::{App, Around, ConnectionKey, Engines, Host, SegmentBatch, Standstills};
pub use measure::{
    CAUSES, Confusion, LadderLine, LossOracle, MAX_LADDER_PACKETS, MAX_SAMPLES, Sample, VERDICTS,
    damaged_packets, is_metric, wrong_bytes_in_words,
};
pub use network::{Ended, Network, Node, Until};
#[cfg(test)]
pub(crate) use protocols::standard;
pub use protocols::{
    SCPS_TP, SEALED_STP, STP, STPP, ScpsTp, SealedStp, Stp, StpEngine, Stpp, TCP, Tcp, TcpEngine,
};
pub use relays::{RelayRecord, Relays};
pub use share::{PACKET_BYTES, limit_bytes};
pub use simulate::{Measured, Simulation, simulate};
pub use source::{EngineId, Origin, Source};
pub use transfer::{Outcome, Transfer};

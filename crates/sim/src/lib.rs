//! Virtual time: the shipped engines over the shipped links, as fast as the machine can compute.
//! Two hosts and one link today; topologies, scenario files and sweeps grow from here.
#![forbid(unsafe_code)]

mod apps;
pub mod fuzz;
mod host;
mod pair;
pub mod scenario;
mod share;
mod transfer;

pub use apps::{App, BulkReceiver, BulkSender, pattern};
pub use host::{Host, SOURCES_PER_HOST};
pub use pair::{Ended, Pair};
pub use share::{limit_bytes, payload_per_packet};
pub use transfer::{LINK_SOURCE, Outcome, Transfer, TransferError};

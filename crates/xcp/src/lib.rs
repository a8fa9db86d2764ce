//! Explicit rate control: the congestion header of XCP as octets, and the router of one queue as a state
//! machine without a clock. Packets report to the [`Router`] when they arrive, are queued, and depart; it
//! measures load and queue, and lowers the change that each packet asks for to the share that the link has
//! for it. `docs/spec/xcp.md` has bits and formulas.
//!
//! `[XCP n]` is section n of draft-falk-xcp-spec-03, `[P-XCP n]` of Zhou, Yeung and Li.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod config;
mod discipline;
mod header;
#[cfg(test)]
mod header_tests;
mod load;
#[cfg(test)]
mod properties_tests;
mod router;
#[cfg(test)]
mod router_tests;
mod shares;
mod standing_queue;

pub use config::{Discipline, RouterConfig};
pub use header::{HEADER_BYTES, HeaderError, decode, encode, rewrite};
pub use router::Router;

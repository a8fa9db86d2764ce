//! What every skyhaul engine and link is made of: time as a number, packets as bytes with meta
//! data, packet numbers, sets of numbers, estimators, pacing, checksums, seeded random streams, the event
//! vocabulary, and the contract of an engine with what every protocol tells of its connections. Nothing here reads a clock, opens a socket or starts a thread.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod checksum;
mod connection;
mod engine;
mod estimate;
pub mod event;
#[cfg(test)]
mod event_tests;
mod internet_checksum;
mod number;
mod pacer;
pub mod packet;
mod path;
mod paths;
mod random;
mod ranges;
mod rate_control;
mod rtt;
mod shares;
mod stats;
mod time;
mod timers;
mod turns;
pub mod units;

pub use connection::{CloseReason, ConnectError, ConnectionId, ResetReason, StreamError, StreamEvent};
pub use engine::{Connections, Engine, Transmit};
pub use estimate::PathEstimate;
pub use event::{Event, EventSink, NullSink, Verdict};
pub use internet_checksum::{internet_checksum, internet_sum, pseudo_header_sum};
pub use number::{NUMBER_MODULUS, expand, nearest, wire};
pub use pacer::Pacer;
pub use packet::{Class, Ecn, Packet, PacketMeta};
pub use path::{Path, ip_bytes, ip_udp_bytes};
pub use paths::{DeclaredRate, Paths};
pub use random::Stream;
pub use ranges::RangeSet;
pub use rate_control::{Interval, PathSample, RateControl};
pub use rtt::RttEstimator;
pub use shares::{Shares, Weight};
pub use stats::Stats;
pub use time::{Instant, MS, SECOND, US};
pub use timers::{Timer, Timers};
pub use turns::{Turn, Turns};

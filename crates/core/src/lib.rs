//! Parts of every skyhaul engine and link: time as a number, packets as bytes with meta data, packet
//! numbers, sets of numbers, estimators, pacing, checksums, seeded random streams, the event vocabulary, and
//! the contract of an engine with what every protocol tells of its connections. Nothing here reads a clock,
//! opens a socket or starts a thread.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod black_hole;
pub mod checksum;
mod circuit_breaker;
mod connection;
pub mod endpoint;
mod engine;
pub mod envelope;
pub mod event;
#[cfg(test)]
mod event_tests;
mod fair_queue;
mod integrity;
mod internet_checksum;
pub mod ip;
mod limits;
mod number;
mod octets;
mod pacer;
pub mod packet;
mod path;
mod path_controller;
mod path_header;
#[cfg(test)]
mod path_header_tests;
mod path_mtu;
mod paths;
mod random;
mod ranges;
pub mod rice;
mod rtt;
mod scheduler;
mod signal_numbers;
mod stats;
mod step;
mod time;
mod timers;
mod token_bucket;
mod tournament;
pub mod units;
mod usual_losses;

pub use connection::{CloseReason, ConnectError, ConnectionId, Gap, ResetReason, StreamError, StreamEvent};
pub use engine::{Connections, Engine, Transmit};
pub use event::{Event, EventSink, NullSink, Verdict};
pub use fair_queue::Weight;
pub use integrity::Integrity;
pub use internet_checksum::{internet_checksum, internet_sum, pseudo_header_sum};
pub use limits::{Limit, LimitTimes};
pub use number::{NUMBER_MODULUS, expand, nearest, truncate_number};
pub use octets::{Description, OctetQueue, Octets};
pub use pacer::Pacer;
pub use packet::{Class, Ecn, NetworkFields, Packet, PacketMeta, Sizing};
pub use path::{DeclaredRate, Path, PathConfig, Peak, RateCaps, Terms, host_number, ip_bytes, ip_udp_bytes};
pub use path_controller::{
    Demand, Interval, Others, PathController, PathEstimate, PathFeedback, PathSample, UNMEASURED_RATE_BPS,
};
pub use path_header::{HeaderFormat, HeaderTime, OpenRequests, PathHeader, PathUse, QUEUE_GAIN, SPARE_GAIN};
pub use path_mtu::{
    BASE_MTU_BYTES, MAX_MTU_BYTES, MIN_IPV4_MTU_BYTES, MIN_IPV6_MTU_BYTES, MtuBounds, MtuState, PathMtu,
};
pub use paths::{PathIndex, PathName, Paths};
pub use random::Stream;
pub use ranges::RangeSet;
pub use rtt::RttEstimator;
pub use scheduler::{AfterTurn, Scheduler, SchedulerEntry};
pub use signal_numbers::{MessageNumbers, NumberConflict, SignalNumbers};
pub use stats::Stats;
pub use step::Step;
pub use time::{Instant, MS, SECOND, US};
pub use timers::{Timer, TimerQueue};
pub use tournament::Tournament;

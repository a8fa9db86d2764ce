#![doc = include_str!("manual/index.md")]
#![forbid(unsafe_code)]

pub mod config;
pub mod control;
mod endpoint;
pub mod errors;
pub mod events;
pub mod manual;
pub mod sans_io;
#[cfg(feature = "sim")]
pub mod simulate;
mod stream;

#[doc(inline)]
pub use config::Config;
#[doc(inline)]
pub use endpoint::{Counters, Endpoint, EndpointOptions, Limits, Listener};
#[doc(inline)]
pub use stream::{Limit, LimitTimes, Monitor, ReadHalf, Stats, Stream, Weight, WriteHalf};

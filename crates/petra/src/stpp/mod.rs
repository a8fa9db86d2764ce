//! STPP, the transport of the satellite hop [PETRA III-F]: a sliding window of numbered PDUs, repeated as
//! statuses ask for them. The paper prints no layouts, no opening and no closing: those are of
//! `docs/spec/petra.md`, as are the rules that were mended.

mod call;
mod config;
mod connection;
mod endpoint;
pub mod pdu;
mod receive;
mod send;

pub use config::Config;
pub use connection::{Connection, State};
pub use endpoint::{Endpoint, EndpointConfig, EndpointStats, Stpp};
pub use pdu::{MAX_PAYLOAD_BYTES, MAX_SDU_HEADER_BYTES, MAX_WINDOW_PDUS, MaskCoding};

//! UTL, the end-to-end layer above the hops of a split path [PETRA III-C]: what relays have acknowledged is
//! worth nothing here. A stream is cut into batches, and each is confirmed once the far application has read
//! all of it; what is not confirmed in time ends the connection with an error that says how much that is.
//! Nothing is repeated: that is what the hops are for (`docs/spec/petra.md`, 9).

mod config;
mod error;
mod frame;
mod layer;
mod receiver;
mod sender;
#[cfg(test)]
mod sender_tests;

pub use config::Config;
pub use error::UtlError;
pub use frame::{FRAME_BYTES, Frame};
pub use layer::{UtlEvent, UtlLayer};
pub use sender::RoundTrips;

//! Protected associations between two machines (`docs/spec/protection.md`): handshake, keys, datagram
//! numbers and replay windows as a state machine. Nothing here reads a clock, opens a socket or has
//! randomness of its own: time and secrets come with the calls.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod aead;
mod keys;
#[cfg(test)]
mod keys_tests;
#[cfg(test)]
mod nonces;
mod record;
#[cfg(test)]
mod record_tests;
mod replay;
#[cfg(test)]
mod replay_tests;
mod secret;

pub use keys::{
    GENERATION_DATAGRAMS, LATE_NS, MAX_GENERATION_NS, MAX_GENERATIONS_AHEAD, NumbersUsedUp, Opened,
    OpeningKeys, Protection, SealingKeys,
};
pub use record::{Addressee, HEAD_BYTES, Head, Index, MAX_INDEX, OVERHEAD_BYTES, RecordError};
pub use replay::{REPLAY_WINDOW, Replay, ReplayWindow};
pub use secret::{SECRET_BYTES, Secret};

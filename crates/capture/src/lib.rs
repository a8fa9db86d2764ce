//! Captures: packets, and what engines and links say of them, as pcapng for Wireshark and tshark.
//!
//! Whoever sees packets makes a [`Record`] of each and hands it to an [`Inlet`]; the [`Recorder`] behind it
//! writes the file, on a thread of its own. An [`Assembly`] finds out which events stand with which packet.
#![forbid(unsafe_code)]

mod assembly;
mod comment;
mod heads;
mod pcapng;
mod record;
mod recorder;

pub use assembly::Assembly;
pub use heads::Heads;
pub use record::{Direction, Record};
pub use recorder::{Inlet, MAX_WAITING_BYTES, MAX_WAITING_RECORDS, Recorded, Recorder};
